#include <bench/baselines/gwosdek.hpp>
#include <holotone/core/cuda_check.hpp>
#include <holotone/fft/cuda_handle.hpp>

namespace bench::gwosdek {
namespace {

using holotone::Queue;

constexpr int threads = 256;
/// From this number of dots on each thread of the direct sum has four.
constexpr std::int64_t many_dots = 131072;

template <class Body>
__global__ void __launch_bounds__(threads) each_kernel(const __grid_constant__ Body body, std::int64_t count) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x;
  if (i < count) body(i);
}

__device__ __forceinline__ float approximate_inverse(float x) {
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

/// Sums `Each` dots in each thread over tiles of `threads` dots.
template <int Each>
__global__ void __launch_bounds__(threads)
    direct_kernel(const Pair* __restrict__ dots, std::int64_t count, Pair* __restrict__ repulsion) {
  __shared__ Pair tile[threads];
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * (threads * Each) + threadIdx.x;
  Pair dot[Each];
  Pair sum[Each];
#pragma unroll
  for (int t = 0; t < Each; ++t) {
    const std::int64_t index = first + t * threads;
    dot[t] = index < count ? dots[index] : Pair{0, 0};
    sum[t] = {0, 0};
  }
  for (std::int64_t begin = 0; begin < count; begin += threads) {
    const std::int64_t source = begin + threadIdx.x;
    __syncthreads();
    // Padding is so far away that its force is 0.
    tile[threadIdx.x] = source < count ? dots[source] : Pair{1e18F, 1e18F};
    __syncthreads();
#pragma unroll 8
    for (int k = 0; k < threads; ++k) {
      const Pair other = tile[k];
#pragma unroll
      for (int t = 0; t < Each; ++t) {
        const float dx = dot[t].x - other.x;
        const float dy = dot[t].y - other.y;
        const float size = approximate_inverse(fmaf(dx, dx, fmaf(dy, dy, 1e-30F)));
        sum[t] = {fmaf(size, dx, sum[t].x), fmaf(size, dy, sum[t].y)};
      }
    }
  }
#pragma unroll
  for (int t = 0; t < Each; ++t) {
    const std::int64_t index = first + t * threads;
    if (index < count) repulsion[index] = sum[t];
  }
}

class PlaneTransformCuda final : public PlaneTransform {
 public:
  PlaneTransformCuda(const Plane& plane, const Queue& queue) : device_(queue.device()) {
    const holotone::cuda::DeviceScope scope(device_);
    long long size[2] = {plane.side, plane.side};
    long long real_extents[2] = {plane.side, plane.row_length};
    long long half_extents[2] = {plane.side, plane.row_length / 2};
    const holotone::fft::Handle::Layout real{real_extents, 1, plane.side * plane.row_length};
    const holotone::fft::Handle::Layout half{half_extents, 1, plane.side * plane.row_length / 2};
    area_ = holotone::Buffer(
        std::max(forward_.plan(2, size, real, half, CUFFT_R2C, 1), inverse_.plan(2, size, half, real, CUFFT_C2R, 1)),
        queue);
    for (const auto* plan : {&forward_, &inverse_}) {
      plan->set_stream(holotone::cuda::stream_of(queue));
      plan->set_work_area(area_.data());
    }
  }
  void forward(float* values) override {
    const holotone::cuda::DeviceScope scope(device_);
    forward_.execute(values, reinterpret_cast<float2*>(values));
  }
  void inverse(float* values) override {
    const holotone::cuda::DeviceScope scope(device_);
    inverse_.execute(reinterpret_cast<float2*>(values), values);
  }

 private:
  holotone::Device device_;
  holotone::fft::Handle forward_;
  holotone::fft::Handle inverse_;
  holotone::Buffer area_;
};

}  // namespace

std::unique_ptr<PlaneTransform> plane_transform_cuda(const Plane& plane, const Queue& queue) {
  return std::make_unique<PlaneTransformCuda>(plane, queue);
}

template <class Body>
void each_cuda(const Body& body, std::int64_t count, const Queue& queue) {
  const holotone::cuda::DeviceScope scope(queue.device());
  each_kernel<<<holotone::cuda::blocks_for(count, threads), threads, 0, holotone::cuda::stream_of(queue)>>>(body,
                                                                                                            count);
  holotone::cuda::check_launch("gwosdek");
}
template void each_cuda(const Spread&, std::int64_t, const Queue&);
template void each_cuda(const Scale&, std::int64_t, const Queue&);
template void each_cuda(const Gather&, std::int64_t, const Queue&);
template void each_cuda(const Insert&, std::int64_t, const Queue&);
template void each_cuda(const Near&, std::int64_t, const Queue&);
template void each_cuda(const CountFound&, std::int64_t, const Queue&);
template void each_cuda(const CountWithin&, std::int64_t, const Queue&);
template void each_cuda(const WriteForce&, std::int64_t, const Queue&);
template void each_cuda(const Move&, std::int64_t, const Queue&);
template void each_cuda(const Place&, std::int64_t, const Queue&);

void clear_cuda(void* target, int byte, std::size_t bytes, const Queue& queue) {
  const holotone::cuda::DeviceScope scope(queue.device());
  holotone::cuda::check(cudaMemsetAsync(target, byte, bytes, holotone::cuda::stream_of(queue)), "cudaMemsetAsync");
}

void direct_cuda(const Pair* dots, std::int64_t count, Pair* repulsion, const Queue& queue) {
  const holotone::cuda::DeviceScope scope(queue.device());
  const auto stream = holotone::cuda::stream_of(queue);
  if (count >= many_dots) {
    direct_kernel<4><<<holotone::cuda::blocks_for(count, 4 * threads), threads, 0, stream>>>(dots, count, repulsion);
  } else {
    direct_kernel<1><<<holotone::cuda::blocks_for(count, threads), threads, 0, stream>>>(dots, count, repulsion);
  }
  holotone::cuda::check_launch("gwosdek direct_kernel");
}

}  // namespace bench::gwosdek
