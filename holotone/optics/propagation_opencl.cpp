#include <holotone/core/kernel_opencl.hpp>
#include <holotone/core/two_floats_opencl.hpp>
#include <holotone/fft/padded_filter_opencl.hpp>
#include <holotone/optics/propagation_workspace.hpp>
#include <holotone/optics/transfer_opencl.hpp>

namespace holotone::propagation {
namespace {

using opencl::over;
using opencl::two_floats;

constexpr auto source = "holotone/optics/propagation_opencl.cl";
constexpr opencl::Range group{64, 4, 1};
constexpr opencl::Range line{64, 1, 1};

/// Structure of propagation_opencl.cl.
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
  [[nodiscard]] std::size_t bytes() const { return filter->workspace_bytes() + transfer.bytes(); }
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
        resample_(queue, source, "resample"),
        memory_(options, queue) {}

  void copy(View<const Complex, 2> input, const Target& target) override {
    if (target.field.data() == input.data()) return;
    const auto ny = static_cast<cl_int>(input.shape()[0]);
    const auto nx = static_cast<cl_int>(input.shape()[1]);
    crop(input.data(), target, {ny, nx, ny, nx, 0, 0});
  }

  void angular_spectrum(View<const Complex, 2> input, const Target& target, double distance_m,
                        Spectrum spectrum) override {
    const OpenclTransfer transfer = in_wavelengths(make_transfer(options_, distance_m));
    if (memory_.filter) {
      auto& [filter, table] = *memory_.filter;
      const auto [rows, columns] = table.shape();
      fill_transfer_(over(columns, rows), group, table.data(), static_cast<cl_int>(columns / 2),
                     static_cast<cl_int>(rows), transfer);
      if (spectrum != Spectrum::kept) filter->forward(input.data());
      return filter->apply(table.data(), target.field.data(), target.intensity.data(), spectrum != Spectrum::none);
    }
    Workspace& work = *memory_.spectrum;
    const Frame& frame = work.frame;
    memory_.transform(spectrum, queue_, [&] { pad(input, work, nullptr, nullptr); });
    multiply_transfer_(over(frame.lx / 2 + 1, frame.ly / 2 + 1), group, work.values.data(), frame.ly, frame.lx,
                       transfer);
    work.fft.execute(work.values.view(), FftDirection::inverse);
    crop(work.values.data(), target, frame);
  }

  void fresnel(View<const Complex, 2> input, const Target& target, double distance_m) override {
    Workspace& work = *memory_.fresnel;
    memory_.rows->fill(fill_axis_, make_fresnel_axis(options_, distance_m, 0));
    memory_.columns->fill(fill_axis_, make_fresnel_axis(options_, distance_m, 1));
    pad(input, work, memory_.rows->chirp.data(), memory_.columns->chirp.data());
    work.fft.execute(work.values.view(), FftDirection::forward);
    using Sample = AxisTable::Sample;
    resample_(over(work.frame.nx, work.frame.ny), group, work.values.data(), target.field.data(),
              target.intensity.data(), work.frame, reinterpret_cast<const Sample*>(memory_.rows->samples.data()),
              memory_.rows->taps.data(), reinterpret_cast<const Sample*>(memory_.columns->samples.data()),
              memory_.columns->taps.data());
  }

  [[nodiscard]] std::size_t workspace_bytes() const override { return memory_.bytes(); }

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
  Workspaces<Filter, AxisTable> memory_;
};

}  // namespace

EnginePointer engine_opencl(const PropagationOptions& options, const Queue& queue) {
  return std::make_unique<OpenclEngine>(options, queue);
}

}  // namespace holotone::propagation
