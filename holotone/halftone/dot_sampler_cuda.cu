// Dots placed at random with the density of ink, on CUDA.
#include <algorithm>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <holotone/core/cuda_check.hpp>
#include <holotone/core/random.hpp>
#include <holotone/halftone/dot_sampler_engine.hpp>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <vector>

namespace holotone::dot_sampling {
namespace {

constexpr int threads = 256;
using Sum = unsigned long long;

/// Finds the darkest pixel and the first invalid one. Bits of floats >= 0 are ordered like their values.
__global__ void __launch_bounds__(threads)
    check_kernel(const float* __restrict__ ink, std::int64_t count, unsigned* darkest, Sum* first_bad) {
  unsigned found = 0;
  for (std::int64_t k = blockIdx.x * static_cast<std::int64_t>(threads) + threadIdx.x; k < count;
       k += static_cast<std::int64_t>(gridDim.x) * threads) {
    const float value = ink[k];
    if (!(value >= 0) || isinf(value)) {
      atomicMin(first_bad, static_cast<Sum>(k));
    } else {
      found = max(found, __float_as_uint(value + 0.0F));  // -0 becomes 0
    }
  }
  found = __reduce_max_sync(0xffffffffU, found);
  if (threadIdx.x % 32 == 0) atomicMax(darkest, found);
}

/// Ink of pixel k of the order, in units of 2^-32 of the darkest pixel.
struct InkAt {
  const float* ink;
  const unsigned* order;  ///< null: row by row
  double scale;
  __device__ Sum operator()(std::int64_t k) const {
    return static_cast<Sum>(__double2ull_rn(scale * static_cast<double>(ink[order != nullptr ? order[k] : k])));
  }
};

/// First k with target < sum[k]; pixels without ink are never selected.
__device__ __forceinline__ std::int64_t find_pixel(const Sum* __restrict__ sum, std::int64_t count, Sum target) {
  std::int64_t low = 0;
  std::int64_t high = count - 1;
  while (low < high) {
    const std::int64_t middle = (low + high) / 2;
    if (target < sum[middle]) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

/// pixel + offset as a float32 in [pixel, pixel + 1).
__device__ __forceinline__ float inside(std::int64_t pixel, double offset) {
  const auto at = static_cast<float>(static_cast<double>(pixel) + offset);
  const auto end = static_cast<float>(pixel + 1);
  return at < end ? at : nextafterf(end, 0.0F);
}

__global__ void __launch_bounds__(threads)
    draw_kernel(const Sum* __restrict__ sum, const unsigned* __restrict__ order, std::int64_t pixels, int columns,
                bool stratified, std::int64_t count, std::uint64_t seed, float2* __restrict__ positions) {
  const std::int64_t j = blockIdx.x * static_cast<std::int64_t>(threads) + threadIdx.x;
  if (j >= count) return;
  const auto counter = 3 * static_cast<std::uint64_t>(j);
  double share = random_uniform64(seed, counter);
  if (stratified) share = (static_cast<double>(j) + share) / static_cast<double>(count);
  const Sum total = sum[pixels - 1];
  const Sum target = min(static_cast<Sum>(share * static_cast<double>(total)), total - 1);
  std::int64_t pixel = find_pixel(sum, pixels, target);
  if (order != nullptr) pixel = order[pixel];
  positions[j] = {inside(pixel % columns, random_uniform64(seed, counter + 1)),
                  inside(pixel / columns, random_uniform64(seed, counter + 2))};
}

auto ink_iterator(const InkAt& at) {
  return thrust::make_transform_iterator(thrust::make_counting_iterator(std::int64_t{0}), at);
}

std::size_t scan_bytes(std::int64_t pixels) {
  std::size_t bytes = 0;
  cuda::check(cub::DeviceScan::InclusiveSum(nullptr, bytes, ink_iterator({}), static_cast<Sum*>(nullptr), pixels),
              "DeviceScan::InclusiveSum");
  return bytes;
}

class CudaEngine final : public DotSampler::Engine {
 public:
  CudaEngine(Shape<2> page, Sampling sampling, const Queue& queue)
      : page_(page),
        queue_(queue),
        sum_({element_count(page)}, queue),
        first_bad_({1}, queue),
        darkest_({1}, queue),
        scan_area_(scan_bytes(element_count(page)), queue) {
    if (sampling == Sampling::stratified) {
      const auto order = hilbert_order(page);
      order_ = Array<unsigned, 1>({element_count(page)}, queue);
      copy_bytes(order_.data(), queue.device(), order.data(), Device{}, order_.bytes(), queue);
      queue.synchronize();
    }
  }

  void sample(View<const float, 2> ink, View<float, 2> positions, std::uint64_t seed) override {
    const cuda::DeviceScope scope(queue_.device());
    const auto stream = cuda::stream_of(queue_);
    const std::int64_t pixels = element_count(page_);
    const unsigned* const order = order_.data();
    // 2^31 pixels of at most 2^32 stay below 2^63.
    const InkAt at{ink.data(), order, 0x1p32 / static_cast<double>(checked(ink))};
    std::size_t bytes = scan_area_.bytes();
    cuda::check(cub::DeviceScan::InclusiveSum(scan_area_.data(), bytes, ink_iterator(at), sum_.data(), pixels, stream),
                "DeviceScan::InclusiveSum");
    const std::int64_t count = positions.shape()[0];
    draw_kernel<<<cuda::blocks_for(count, threads), threads, 0, stream>>>(
        sum_.data(), order, pixels, static_cast<int>(page_[1]), order != nullptr, count, seed,
        reinterpret_cast<float2*>(positions.data()));
    cuda::check_launch("dot sampler");
  }

 private:
  /// Returns the darkest pixel's value. Throws for invalid ink.
  float checked(View<const float, 2> ink) {
    const auto stream = cuda::stream_of(queue_);
    cuda::check(cudaMemsetAsync(first_bad_.data(), 0xff, first_bad_.bytes(), stream), "cudaMemsetAsync");
    cuda::check(cudaMemsetAsync(darkest_.data(), 0, darkest_.bytes(), stream), "cudaMemsetAsync");
    const auto blocks = std::min<std::int64_t>(1024, (ink.size() + threads - 1) / threads);
    check_kernel<<<static_cast<unsigned>(blocks), threads, 0, stream>>>(ink.data(), ink.size(), darkest_.data(),
                                                                        first_bad_.data());
    cuda::check_launch("dot sampler check");
    Sum first_bad = 0;
    float darkest = 0;
    copy_bytes(&first_bad, Device{}, first_bad_.data(), queue_.device(), sizeof first_bad, queue_);
    copy_bytes(&darkest, Device{}, darkest_.data(), queue_.device(), sizeof darkest, queue_);
    queue_.synchronize();
    if (first_bad != ~Sum{0}) {
      float value = 0;
      copy_bytes(&value, Device{}, ink.data() + first_bad, queue_.device(), sizeof value, queue_);
      queue_.synchronize();
      throw_bad_ink(page_, static_cast<std::int64_t>(first_bad), value);
    }
    if (darkest == 0) throw_bad_ink(page_, -1, 0);
    return darkest;
  }

  Shape<2> page_;
  Queue queue_;
  Array<unsigned, 1> order_;  ///< empty for Sampling::importance
  Array<Sum, 1> sum_;
  Array<Sum, 1> first_bad_;
  Array<unsigned, 1> darkest_;
  Buffer scan_area_;
};

}  // namespace

EnginePointer engine_cuda(Shape<2> page, Sampling sampling, const Queue& queue) {
  const cuda::DeviceScope scope(queue.device());
  return std::make_unique<CudaEngine>(page, sampling, queue);
}

}  // namespace holotone::dot_sampling
