#include <holotone/core/kernel_parts_cuda.cuh>
#include <holotone/hologram/stereogram/stereogram_device.hpp>

namespace holotone::stereogram {
namespace {

using cuda::product;
using cuda::thread_index;
using cuda::threads;

__device__ __forceinline__ float2 turned(float turns) {
  float2 value;
  sincos_turns(turns, value.y, value.x);
  return value;
}

/// blockIdx.y is the hogel, here and in write_kernel.
__global__ void scatter_kernel(Frame frame, const Hogel* __restrict__ hogels, const float* __restrict__ amplitude,
                               const std::uint8_t* __restrict__ layer, int wanted, float2* __restrict__ spectrum) {
  const Hogel hogel = hogels[blockIdx.y];
  const std::int64_t i = thread_index();
  if (i >= hogel.rows * hogel.columns) return;
  const std::int64_t from = blockIdx.y * frame.max_rays + i;
  const float light = amplitude[from];
  if (light == 0 || layer[from] != wanted) return;
  const std::int64_t row = i / hogel.columns;
  const std::int64_t column = i - row * hogel.columns;
  const float2 wave = turned(ray_turns(frame.seed, hogel, frame.n, row, column));
  const std::int64_t down = transform_index(row - hogel.first_ky, frame.n);
  const std::int64_t across = transform_index(hogel.first_kx + column, frame.n);
  spectrum[(blockIdx.y * frame.n + down) * frame.n + across] = {light * wave.x, light * wave.y};
}

__global__ void write_kernel(Frame frame, const Hogel* __restrict__ hogels, const LayerTurns* __restrict__ turns,
                             int layer, const float2* __restrict__ waves, float2* __restrict__ output) {
  const std::int64_t i = thread_index();
  if (i >= frame.n * frame.n) return;
  const std::int64_t number = hogels[blockIdx.y].number;
  const std::int64_t hogel_row = number / frame.across;
  const std::int64_t m = i / frame.n;
  const std::int64_t x = i - m * frame.n;
  const std::int64_t row = hogel_row * frame.n + m - frame.first_row;
  const std::int64_t column = (number - hogel_row * frame.across) * frame.n + x;
  if (row < 0 || row >= frame.ny || column >= frame.nx) return;
  const float scale = 1 / static_cast<float>(frame.n);
  float2 value = waves[blockIdx.y * frame.n * frame.n + i];
  value.x *= scale;
  value.y *= scale;
  const LayerTurns layer_turns = turns[blockIdx.y * max_layers + layer];
  if (layer_turns.high != 0) {
    const double curve = static_cast<double>(layer_turns.high) + static_cast<double>(layer_turns.low);
    value = product(value, product(turned(curved_turns(curve, x, frame.n)), turned(curved_turns(curve, m, frame.n))));
  }
  float2& target = output[row * frame.nx + column];
  if (layer > 0) {
    value.x += target.x;
    value.y += target.y;
  }
  target = value;
}

float2* plain(Complex* values) { return reinterpret_cast<float2*>(values); }

class CudaEngine final : public DeviceEngine {
 public:
  using DeviceEngine::DeviceEngine;

 private:
  void clear(void* data, std::size_t bytes) override {
    const cuda::DeviceScope scope(queue().device());
    cuda::check(cudaMemsetAsync(data, 0, bytes, cuda::stream_of(queue())), "cudaMemsetAsync");
  }

  void scatter(const Frame& frame, const Batch& batch, int layer) override {
    const cuda::DeviceScope scope(queue().device());
    const dim3 rays(cuda::blocks_for(frame.max_rays, threads), static_cast<unsigned>(batch.hogels));
    scatter_kernel<<<rays, threads, 0, cuda::stream_of(queue())>>>(frame, batch.hogel, batch.amplitude, batch.layer,
                                                                   layer, plain(batch.spectrum));
    cuda::check_launch("stereogram scatter");
  }

  void write(const Frame& frame, const Batch& batch, int layer, Complex* output) override {
    const cuda::DeviceScope scope(queue().device());
    const dim3 pixels(cuda::blocks_for(frame.n * frame.n, threads), static_cast<unsigned>(batch.hogels));
    write_kernel<<<pixels, threads, 0, cuda::stream_of(queue())>>>(frame, batch.hogel, batch.turns, layer,
                                                                   plain(batch.spectrum), plain(output));
    cuda::check_launch("stereogram write");
  }
};

}  // namespace

EnginePointer engine_cuda(const Geometry& geometry, const Queue& queue) {
  return std::make_unique<CudaEngine>(geometry, queue);
}

}  // namespace holotone::stereogram
