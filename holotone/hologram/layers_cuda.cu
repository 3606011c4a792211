#include <holotone/core/kernel_parts_cuda.cuh>
#include <holotone/hologram/layers_math.h>

namespace holotone::layers {
namespace {

using cuda::thread_index;
using cuda::threads;

__global__ void compose_kernel(float2* __restrict__ field, std::int64_t count, Source source, Carry carry) {
  const std::int64_t i = thread_index();
  if (i >= count) return;
  const Pixel pixel = layer_pixel(source, i);
  float2 value{pixel.re, pixel.im};
  if (carry != Carry::nothing) {
    const float2 before = field[i];
    const float part = kept(pixel.mask, carry);
    value.x += part * before.x;
    value.y += part * before.y;
  }
  field[i] = value;
}

__global__ void add_kernel(float2* __restrict__ sum, const float2* __restrict__ other, std::int64_t count) {
  const std::int64_t i = thread_index();
  if (i >= count) return;
  sum[i].x += other[i].x;
  sum[i].y += other[i].y;
}

class CudaEngine final : public Engine {
 public:
  explicit CudaEngine(const Queue& queue) : queue_(queue) {}

  void compose(View<Complex, 2> field, const Source& source, Carry carry) override {
    const cuda::DeviceScope scope(queue_.device());
    compose_kernel<<<cuda::blocks_for(field.size(), threads), threads, 0, cuda::stream_of(queue_)>>>(
        reinterpret_cast<float2*>(field.data()), field.size(), source, carry);
    cuda::check_launch("layers compose");
  }

  void add(View<Complex, 2> sum, View<const Complex, 2> other) override {
    const cuda::DeviceScope scope(queue_.device());
    add_kernel<<<cuda::blocks_for(sum.size(), threads), threads, 0, cuda::stream_of(queue_)>>>(
        reinterpret_cast<float2*>(sum.data()), reinterpret_cast<const float2*>(other.data()), sum.size());
    cuda::check_launch("layers add");
  }

 private:
  Queue queue_;
};

}  // namespace

EnginePointer engine_cuda(const Queue& queue) { return std::make_unique<CudaEngine>(queue); }

}  // namespace holotone::layers
