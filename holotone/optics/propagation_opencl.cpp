#include <holotone/core/kernel_opencl.hpp>
#include <holotone/core/two_floats_opencl.hpp>
#include <holotone/fft/padded_filter_opencl.hpp>
#include <holotone/optics/propagation_engine.hpp>
#include <holotone/optics/transfer_opencl.hpp>

namespace holotone::propagation {
namespace {

using opencl::over;
using opencl::two_floats;

constexpr auto source = "holotone/optics/propagation_opencl.cl";
constexpr opencl::Range group{64, 4, 1};
constexpr opencl::Range line{64, 1, 1};

// Structures of propagation_opencl.cl.
struct Frame {
  cl_int ny;
  cl_int nx;
  cl_int ly;
  cl_int lx;
  cl_int row;
  cl_int col;
};
struct OpenclAxis {
  cl_float2 input_rate;
  cl_float2 output_rate;
  cl_float2 step;
  cl_float2 offset_turns;
  cl_int count;
  cl_int length;
  float gain;
};

OpenclAxis in_floats(const FresnelAxis& axis) {
  return {two_floats(axis.input_rate),
          two_floats(axis.output_rate),
          two_floats(axis.step),
          two_floats(axis.offset_turns),
          static_cast<cl_int>(axis.count),
          static_cast<cl_int>(axis.length),
          axis.gain};
}

/// Memory, transform and layout of one padded shape.
struct Workspace {
  Workspace(const Layout& where, Shape<2> field, const Queue& queue)
      : layout(where),
        values(where.padded, queue),
        fft(where.padded, queue, {.scale_inverse = false, .first_row = where.row, .rows = field[0]}),
        frame{static_cast<cl_int>(field[0]),        static_cast<cl_int>(field[1]),
              static_cast<cl_int>(where.padded[0]), static_cast<cl_int>(where.padded[1]),
              static_cast<cl_int>(where.row),       static_cast<cl_int>(where.col)} {}

  [[nodiscard]] std::size_t bytes() const { return values.bytes() + fft.workspace_bytes(); }

  Layout layout;
  Array<Complex, 2> values;
  FftPlan fft;
  Frame frame;
};

/// One axis of a Fresnel transform, on the device.
struct AxisTable {
  AxisTable(std::int64_t count, std::int64_t length, const Queue& queue)
      : compensation({count}, queue),
        chirp({count}, queue),
        samples({3 * count}, queue),
        taps({count * tap_count}, queue) {
    const std::vector<float> host = tap_compensation(count, length);
    copy_bytes(compensation.data(), queue.device(), host.data(), Device{}, compensation.bytes(), queue);
  }

  void fill(opencl::Kernel& kernel, const FresnelAxis& axis) {
    kernel({static_cast<std::size_t>(axis.count), 1, 1}, line, in_floats(axis), compensation.data(), chirp.data(),
           reinterpret_cast<const Sample*>(samples.data()), taps.data());
  }
  [[nodiscard]] std::size_t bytes() const {
    return compensation.bytes() + chirp.bytes() + samples.bytes() + taps.bytes();
  }

  using Sample = std::array<float, 3>;  ///< FresnelSample of propagation_opencl.cl
  Array<float, 1> compensation;
  Array<Complex, 1> chirp;
  Array<float, 1> samples;
  Array<float, 1> taps;
};

/// Angular spectrum of a padded field in three passes.
struct Filter {
  std::unique_ptr<fft::PaddedFilter> filter;
  Array<Complex, 2> transfer;

  /// None where there is no PaddedFilter of the shape.
  static std::unique_ptr<Filter> make(Shape<2> field, Shape<2> padded, const Queue& queue) {
    auto filter = fft::PaddedFilter::make(field, padded, queue);
    if (!filter) return nullptr;
    return std::make_unique<Filter>(
        Filter{std::move(filter), Array<Complex, 2>(fft::PaddedFilter::transfer_shape(padded), queue)});
  }
};

class OpenclEngine final : public Engine {
 public:
  OpenclEngine(const PropagationOptions& options, const Queue& queue)
      : options_(options),
        queue_(queue),
        pad_(queue, source, "pad"),
        crop_(queue, source, "crop"),
        fill_transfer_(queue, source, "fill_transfer"),
        multiply_transfer_(queue, source, "multiply_transfer"),
        fill_axis_(queue, source, "fill_axis"),
        resample_(queue, source, "resample") {
    const auto shape = options.grid.shape();
    if (uses_angular_spectrum(options)) {
      const Layout layout = angular_spectrum_layout(options);
      filter_ = Filter::make(shape, layout.padded, queue);
      if (!filter_) spectrum_ = std::make_shared<Workspace>(layout, shape, queue);
    }
    if (uses_fresnel(options)) {
      const Layout layout = fresnel_layout(options);
      fresnel_ =
          spectrum_ && spectrum_->layout == layout ? spectrum_ : std::make_shared<Workspace>(layout, shape, queue);
      rows_ = std::make_unique<AxisTable>(shape[0], layout.padded[0], queue);
      columns_ = std::make_unique<AxisTable>(shape[1], layout.padded[1], queue);
    }
  }

  void copy(View<const Complex, 2> input, const Target& target) override {
    if (target.field.data() == input.data()) return;
    const auto ny = static_cast<cl_int>(input.shape()[0]);
    const auto nx = static_cast<cl_int>(input.shape()[1]);
    crop(input.data(), target, {ny, nx, ny, nx, 0, 0});
  }

  void angular_spectrum(View<const Complex, 2> input, const Target& target, double distance_m,
                        Spectrum spectrum) override {
    const OpenclTransfer transfer = in_wavelengths(make_transfer(options_, distance_m));
    if (filter_) {
      const auto [rows, columns] = filter_->transfer.shape();
      fill_transfer_(over(columns, rows), group, filter_->transfer.data(), static_cast<cl_int>(columns / 2),
                     static_cast<cl_int>(rows), transfer);
      if (spectrum != Spectrum::kept) filter_->filter->forward(input.data());
      return filter_->filter->apply(filter_->transfer.data(), target.field.data(), target.intensity.data(),
                                    spectrum != Spectrum::none);
    }
    Workspace& work = *spectrum_;
    const Frame& frame = work.frame;
    if (spectrum == Spectrum::kept) {
      holotone::copy<Complex, 2>(work.values.view(), kept_.view(), queue_);
    } else {
      pad(input, work, nullptr, nullptr);
      work.fft.execute(work.values.view(), FftDirection::forward);
      if (spectrum == Spectrum::keep) {
        if (kept_.empty()) kept_ = Array<Complex, 2>(work.values.shape(), queue_);
        holotone::copy<Complex, 2>(kept_.view(), work.values.view(), queue_);
      }
    }
    multiply_transfer_(over(frame.lx / 2 + 1, frame.ly / 2 + 1), group, work.values.data(), frame.ly, frame.lx,
                       transfer);
    work.fft.execute(work.values.view(), FftDirection::inverse);
    crop(work.values.data(), target, frame);
  }

  void fresnel(View<const Complex, 2> input, const Target& target, double distance_m) override {
    Workspace& work = *fresnel_;
    rows_->fill(fill_axis_, make_fresnel_axis(options_, distance_m, 0));
    columns_->fill(fill_axis_, make_fresnel_axis(options_, distance_m, 1));
    pad(input, work, rows_->chirp.data(), columns_->chirp.data());
    work.fft.execute(work.values.view(), FftDirection::forward);
    using Sample = AxisTable::Sample;
    resample_(over(work.frame.nx, work.frame.ny), group, work.values.data(), target.field.data(),
              target.intensity.data(), work.frame, reinterpret_cast<const Sample*>(rows_->samples.data()),
              rows_->taps.data(), reinterpret_cast<const Sample*>(columns_->samples.data()), columns_->taps.data());
  }

  [[nodiscard]] std::size_t workspace_bytes() const override {
    std::size_t bytes = spectrum_ ? spectrum_->bytes() : 0;
    if (filter_) bytes += filter_->filter->workspace_bytes() + filter_->transfer.bytes();
    if (fresnel_ && fresnel_ != spectrum_) bytes += fresnel_->bytes();
    if (rows_) bytes += rows_->bytes() + columns_->bytes();
    return bytes + kept_.bytes();
  }

 private:
  void pad(View<const Complex, 2> input, Workspace& work, const Complex* chirp_y, const Complex* chirp_x) {
    pad_(over(work.frame.lx, work.frame.ly), group, input.data(), work.values.data(), work.frame, chirp_y, chirp_x);
  }

  void crop(const Complex* padded, const Target& target, const Frame& frame) {
    crop_(over(frame.nx, frame.ny), group, padded, target.field.data(), target.intensity.data(), frame);
  }

  PropagationOptions options_;
  Queue queue_;
  opencl::Kernel pad_;
  opencl::Kernel crop_;
  opencl::Kernel fill_transfer_;
  opencl::Kernel multiply_transfer_;
  opencl::Kernel fill_axis_;
  opencl::Kernel resample_;
  std::unique_ptr<Filter> filter_;       ///< of the angular spectrum, or
  std::shared_ptr<Workspace> spectrum_;  ///< where it has none
  Array<Complex, 2> kept_;               ///< a spectrum before its product with H
  std::shared_ptr<Workspace> fresnel_;   ///< shares spectrum_ if the shapes are equal
  std::unique_ptr<AxisTable> rows_;
  std::unique_ptr<AxisTable> columns_;
};

}  // namespace

EnginePointer engine_opencl(const PropagationOptions& options, const Queue& queue) {
  return std::make_unique<OpenclEngine>(options, queue);
}

}  // namespace holotone::propagation
