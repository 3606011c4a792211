#include <bench/baselines/shimobaba.hpp>
#include <holotone/core/cuda_check.hpp>

namespace bench {
namespace {

using holotone::Queue;
using holotone::View;

constexpr int side = 16;  // the paper's Tx = Ty
constexpr int run_pixels = 8;
constexpr int batch_points = side * side;

__global__ void plain(const float4* points, std::int64_t count, float* intensity, int nx, int ny) {
  const int column = blockIdx.x * side + threadIdx.x;
  const int row = blockIdx.y * side + threadIdx.y;
  if (column >= nx || row >= ny) return;
  const auto x = static_cast<float>(column);
  const auto y = static_cast<float>(row);
  float sum = 0;
  for (std::int64_t j = 0; j < count; ++j) {
    const float4 point = points[j];
    const float dx = x - point.x;
    const float dy = y - point.y;
    sum += point.w * cosf(point.z * (dx * dx + dy * dy));
  }
  intensity[static_cast<std::int64_t>(row) * nx + column] = sum;
}

__global__ void optimised(const float4* points, std::int64_t count, float* intensity, int nx, int ny) {
  __shared__ float4 batch[batch_points];
  const int thread = threadIdx.y * side + threadIdx.x;
  const int column = (blockIdx.x * side + threadIdx.x) * run_pixels;
  const int row = blockIdx.y * side + threadIdx.y;
  const auto x = static_cast<float>(column);
  const auto y = static_cast<float>(row);
  float sum[run_pixels] = {};
  for (std::int64_t base = 0; base < count; base += batch_points) {
    __syncthreads();
    batch[thread] = base + thread < count ? points[base + thread] : float4{};  // an amplitude of 0 adds nothing
    __syncthreads();
#pragma unroll 4
    for (int j = 0; j < batch_points; ++j) {
      const float4 point = batch[j];
      const float dx = x - point.x;
      const float dy = y - point.y;
      const float second = 2 * point.z;
      float gamma = point.z * (dx * dx + dy * dy);
      float delta = point.z * (2 * dx + 1);
#pragma unroll
      for (int n = 0; n < run_pixels; ++n) {
        sum[n] += point.w * __cosf(gamma);
        gamma += delta;
        delta += second;
      }
    }
  }
  if (row >= ny) return;
#pragma unroll
  for (int n = 0; n < run_pixels; ++n) {
    if (column + n < nx) intensity[static_cast<std::int64_t>(row) * nx + column + n] = sum[n];
  }
}

/// Launches a kernel whose threads compute `run` pixels of a row each.
template <class Kernel>
void launch(Kernel kernel, int run, View<const float, 2> points, View<float, 2> intensity, const Queue& queue) {
  const holotone::cuda::DeviceScope scope(queue.device());
  const auto ny = static_cast<int>(intensity.shape()[0]);
  const auto nx = static_cast<int>(intensity.shape()[1]);
  const dim3 grid(holotone::cuda::blocks_for(nx, side * run), holotone::cuda::blocks_for(ny, side));
  kernel<<<grid, dim3(side, side), 0, holotone::cuda::stream_of(queue)>>>(
      reinterpret_cast<const float4*>(points.data()), points.shape()[0], intensity.data(), nx, ny);
  holotone::cuda::check_launch("shimobaba");
}

}  // namespace

void shimobaba_plain_cuda(View<const float, 2> points, View<float, 2> intensity, const Queue& queue) {
  launch(plain, 1, points, intensity, queue);
}

void shimobaba_optimised_cuda(View<const float, 2> points, View<float, 2> intensity, const Queue& queue) {
  launch(optimised, run_pixels, points, intensity, queue);
}

}  // namespace bench
