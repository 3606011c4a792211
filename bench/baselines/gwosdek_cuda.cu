#include <bench/baselines/gwosdek.hpp>
#include <cufft.h>
#include <holotone/core/cuda_check.hpp>

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

void check_fft(cufftResult status, const char* call) {
  if (status != CUFFT_SUCCESS) {
    throw holotone::Error(holotone::ErrorCode::device,
                          std::string(call) + ": cuFFT error " + std::to_string(static_cast<int>(status)));
  }
}

class PlaneTransformCuda final : public PlaneTransform {
 public:
  PlaneTransformCuda(const Plane& plane, const Queue& queue) : device_(queue.device()) {
    const holotone::cuda::DeviceScope scope(device_);
    auto side = static_cast<int>(plane.side);
    auto real_row = static_cast<int>(plane.row_length);
    int size[2] = {side, side};
    int real[2] = {side, real_row};
    int half[2] = {side, real_row / 2};
    check_fft(cufftPlanMany(&forward_, 2, size, real, 1, side * real_row, half, 1, side * real_row / 2, CUFFT_R2C, 1),
              "cufftPlanMany");
    check_fft(cufftPlanMany(&inverse_, 2, size, half, 1, side * real_row / 2, real, 1, side * real_row, CUFFT_C2R, 1),
              "cufftPlanMany");
    for (const auto plan : {forward_, inverse_}) {
      check_fft(cufftSetStream(plan, holotone::cuda::stream_of(queue)), "cufftSetStream");
    }
  }
  ~PlaneTransformCuda() override {
    cufftDestroy(forward_);
    cufftDestroy(inverse_);
  }
  PlaneTransformCuda(const PlaneTransformCuda&) = delete;
  PlaneTransformCuda& operator=(const PlaneTransformCuda&) = delete;

  void forward(float* values) override {
    const holotone::cuda::DeviceScope scope(device_);
    check_fft(cufftExecR2C(forward_, values, reinterpret_cast<cufftComplex*>(values)), "cufftExecR2C");
  }
  void inverse(float* values) override {
    const holotone::cuda::DeviceScope scope(device_);
    check_fft(cufftExecC2R(inverse_, reinterpret_cast<cufftComplex*>(values), values), "cufftExecC2R");
  }

 private:
  holotone::Device device_;
  cufftHandle forward_ = 0;
  cufftHandle inverse_ = 0;
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
