#include <cmath>
#include <holotone/core/kernel_opencl.hpp>
#include <holotone/core/two_floats_opencl.hpp>
#include <holotone/fft/fft.hpp>
#include <holotone/optics/window/window_propagation.hpp>

namespace holotone::window {
namespace {

using opencl::over;
using opencl::two_floats;

constexpr auto source = "holotone/optics/window/window_propagation_opencl.cl";
constexpr opencl::Range group{64, 4, 1};
constexpr opencl::Range line{64, 1, 1};

/// TileAxis of window_propagation_opencl.cl: lengths in wavelengths.
struct OpenclAxis {
  cl_float2 rate;
  cl_float2 step;
  cl_float2 shift;
  cl_float2 between;
  cl_float2 half_width;
  cl_int count;
  cl_int bins;
  cl_int first;
  cl_int period;
};

OpenclAxis in_wavelengths(const TileAxis& axis, double wavelength_m) {
  return {two_floats(axis.rate),
          two_floats(axis.step * wavelength_m),
          two_floats(axis.shift / wavelength_m),
          two_floats(axis.between / wavelength_m),
          two_floats(axis.half / wavelength_m),
          static_cast<cl_int>(axis.count),
          static_cast<cl_int>(axis.bins),
          static_cast<cl_int>(axis.first),
          static_cast<cl_int>(axis.period)};
}

/// Tables of one axis.
struct AxisTables {
  using Bin = std::array<float, 6>;  ///< Bin of window_propagation_opencl.cl

  AxisTables(const RouteAxis& axis, const Queue& queue)
      : kernel({axis.length}, queue), input({axis.tile}, queue), output({axis.bins}, queue) {
    const auto host = chirp_spectrum(axis);
    copy<Complex, 1>(kernel.view(), host.view(), queue);
  }

  Array<Complex, 1> kernel;  ///< spectrum of the chirp
  Array<Complex, 1> input;
  Array<Bin, 1> output;
};

class OpenclEngine final : public Engine {
 public:
  OpenclEngine(const Route& route, const Queue& queue)
      : queue_(queue),
        wavelength_m_(route.wavelength_m),
        field_({route.axis[0].period, route.axis[1].period}, queue),
        work_({route.axis[0].length, route.axis[1].length}, queue),
        down_(route.axis[0], queue),
        right_(route.axis[1], queue),
        forward_(work_.shape(), queue, {.scale_inverse = false, .rows = route.axis[0].tile}),
        inverse_(work_.shape(), queue, {.scale_inverse = false, .rows = route.axis[0].bins}),
        fill_input_(queue, source, "fill_input"),
        fill_output_(queue, source, "fill_output"),
        load_(queue, source, "load_tile"),
        convolve_(queue, source, "convolve"),
        add_bins_(queue, source, "add_bins"),
        crop_(queue, source, "crop"),
        intensity_(queue, source, "mean_intensity") {
    clear();
  }

  void clear() override { opencl::clear(field_.data(), field_.bytes(), queue_); }

  void add(const Samples& tile, const TileWay& way) override {
    const auto down = in_wavelengths(way.axis[0], wavelength_m_);
    const auto right = in_wavelengths(way.axis[1], wavelength_m_);
    fill(down_, down);
    fill(right_, right);
    const auto ly = static_cast<cl_int>(work_.shape()[0]);
    const auto lx = static_cast<cl_int>(work_.shape()[1]);
    load_(over(lx, ly), group, tile.data, cl_long{tile.stride}, work_.data(), ly, lx, down_.input.data(), down.count,
          right_.input.data(), right.count);
    forward_.execute(work_.view(), FftDirection::forward);
    convolve_(over(lx, ly), group, work_.data(), ly, lx, down_.kernel.data(), right_.kernel.data());
    inverse_.execute(work_.view(), FftDirection::inverse);
    const double distance = way.distance_m / wavelength_m_;
    add_bins_(over(right.bins, down.bins), group, work_.data(), lx, field_.data(), down, right, down_.output.data(),
              right_.output.data(), two_floats(distance), static_cast<float>(distance - std::nearbyint(distance)),
              static_cast<float>(wavelength_m_ / way.blur_m), way.gain);
  }

  void transform(std::int64_t rows) override {
    const FftPlan fft(field_.shape(), queue_, {.scale_inverse = false, .rows = rows});
    fft.execute(field_.view(), FftDirection::inverse);
    queue_.synchronize();  // before the plan's memory is freed
  }

  double crop(const Mask& mask) override {
    Array<std::array<float, 2>, 1> sums({mask.count[0]}, queue_);
    crop_(over(mask.count[0] * 64, 1), line, field_.data(), cl_long{field_.shape()[1]},
          static_cast<cl_int>(mask.count[0]), static_cast<cl_int>(mask.count[1]), cl_int{mask.ellipse},
          reinterpret_cast<const Complex*>(sums.data()));
    Array<std::array<float, 2>, 1> host(sums.shape());
    copy<std::array<float, 2>, 1>(host.view(), sums.view(), queue_);
    double sum = 0;
    for (const auto& [high, low] : host.host()) sum += static_cast<double>(high) + static_cast<double>(low);
    return sum;
  }

  void intensity(View<float, 2> output, std::array<std::int64_t, 2> every) override {
    const auto [ny, nx] = output.shape();
    intensity_(over(nx, ny), group, field_.data(), cl_long{field_.shape()[1]}, output.data(), static_cast<cl_int>(ny),
               static_cast<cl_int>(nx), static_cast<cl_int>(every[0]), static_cast<cl_int>(every[1]));
  }

  [[nodiscard]] const Complex* samples() const override { return field_.data(); }

 private:
  void fill(AxisTables& tables, const OpenclAxis& axis) {
    fill_input_(over(axis.count, 1), line, tables.input.data(), axis);
    fill_output_(over(axis.bins, 1), line, tables.output.data(), axis);
  }

  Queue queue_;
  double wavelength_m_;
  Array<Complex, 2> field_;  ///< the window's spectrum, then its samples
  Array<Complex, 2> work_;   ///< a tile's transform
  AxisTables down_;
  AxisTables right_;
  FftPlan forward_;
  FftPlan inverse_;
  opencl::Kernel fill_input_;
  opencl::Kernel fill_output_;
  opencl::Kernel load_;
  opencl::Kernel convolve_;
  opencl::Kernel add_bins_;
  opencl::Kernel crop_;
  opencl::Kernel intensity_;
};

}  // namespace

EnginePointer engine_opencl(const Route& route, const Queue& queue) {
  return std::make_unique<OpenclEngine>(route, queue);
}

}  // namespace holotone::window
