#include <holotone/core/kernel_opencl.hpp>
#include <holotone/hologram/stereogram/stereogram_device.hpp>

namespace holotone::stereogram {
namespace {

constexpr auto source = "holotone/hologram/stereogram/stereogram_opencl.cl";
// Both are read by the kernels.
static_assert(sizeof(Hogel) == 11 * sizeof(cl_long) && sizeof(Frame) == 7 * sizeof(cl_long) && max_layers == 255);

class OpenclEngine final : public DeviceEngine {
 public:
  OpenclEngine(const Geometry& geometry, const Queue& queue)
      : DeviceEngine(geometry, queue), scatter_(queue, source, "scatter"), write_(queue, source, "write_waves") {}

 private:
  void clear(void* data, std::size_t bytes) override { opencl::clear(data, bytes, queue()); }

  void scatter(const Frame& frame, const Batch& batch, int layer) override {
    scatter_({static_cast<std::size_t>(frame.max_rays), static_cast<std::size_t>(batch.hogels), 1}, {64, 1, 1}, frame,
             cl_int{layer}, batch.hogel, batch.amplitude, batch.layer, batch.spectrum);
  }

  void write(const Frame& frame, const Batch& batch, int layer, Complex* output) override {
    const auto n = static_cast<std::size_t>(frame.n);
    write_({n, n, static_cast<std::size_t>(batch.hogels)}, {16, 4, 1}, frame, cl_int{layer}, batch.hogel, batch.turns,
           batch.spectrum, output);
    opencl::check(opencl::queue_of(queue()).flush(), "clFlush");  // computes while the host prepares the next batch
  }

  opencl::Kernel scatter_;
  opencl::Kernel write_;
};

}  // namespace

EnginePointer engine_opencl(const Geometry& geometry, const Queue& queue) {
  return std::make_unique<OpenclEngine>(geometry, queue);
}

}  // namespace holotone::stereogram
