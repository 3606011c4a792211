#include <algorithm>
#include <holotone/core/kernel_parts_cuda.cuh>
#include <holotone/retrieval/retrieval_engine.hpp>
#include <holotone/retrieval/retrieval_math.h>
#include <holotone/retrieval/sums_cuda.cuh>
#include <holotone/retrieval/vectors_cuda.hpp>

namespace holotone::retrieval {
namespace {

constexpr int blocks = 264;     ///< whose sums are added: two for each multiprocessor of an H200
constexpr int max_left = 3;     ///< vectors on the left of a pass of dots
constexpr int max_right = 132;  ///< on the right: 64 pairs, those of a step that is tried, and a gradient

struct DotPairs {
  const float* left[max_left];
  const float* right[max_right];
  int right_count;
  std::int64_t size;
};

/// Elements of a thread and of a block in a round of dots_kernel.
constexpr int own_elements = 8;
constexpr int tile = sum_threads * own_elements;

/// Elements 4 k .. 4 k + 3 of a vector, zeros from `size` on.
__device__ __forceinline__ float4 four_of(const float* vector, std::int64_t k, std::int64_t size) {
  if (4 * k + 4 <= size) return reinterpret_cast<const float4*>(vector)[k];
  float4 four{0, 0, 0, 0};
  if (4 * k < size) four.x = vector[4 * k];
  if (4 * k + 1 < size) four.y = vector[4 * k + 1];
  if (4 * k + 2 < size) four.z = vector[4 * k + 2];
  return four;
}

__device__ __forceinline__ float dot_product(float4 a, float4 b) {
  return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
}

/// Sums of a block's tiles: parts[block][left][right]. A thread keeps its elements of the left vectors while those of
/// the right vectors pass by; its eight products are added in float32, all else in float64.
template <int Left>
__global__ void __launch_bounds__(sum_threads) dots_kernel(DotPairs arguments, double* __restrict__ parts) {
  constexpr int warps = sum_threads / 32;
  extern __shared__ double sums_of_warps[];  // [left][right][warp]
  const int right_count = arguments.right_count;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const bool leads = threadIdx.x % 32 == 0;
  for (int i = static_cast<int>(threadIdx.x); i < Left * right_count * warps; i += sum_threads) sums_of_warps[i] = 0;
  __syncthreads();
  for (std::int64_t begin = static_cast<std::int64_t>(blockIdx.x) * tile; begin < arguments.size;
       begin += static_cast<std::int64_t>(gridDim.x) * tile) {
    const std::int64_t first = begin / 4 + threadIdx.x;
    const std::int64_t second = first + sum_threads;
    float4 left[Left][2];
#pragma unroll
    for (int l = 0; l < Left; ++l) {
      left[l][0] = four_of(arguments.left[l], first, arguments.size);
      left[l][1] = four_of(arguments.left[l], second, arguments.size);
    }
#pragma unroll 4
    for (int j = 0; j < right_count; ++j) {
      const float4 right[2] = {four_of(arguments.right[j], first, arguments.size),
                               four_of(arguments.right[j], second, arguments.size)};
#pragma unroll
      for (int l = 0; l < Left; ++l) {
        const double sum =
            warp_sum(static_cast<double>(dot_product(left[l][0], right[0]) + dot_product(left[l][1], right[1])));
        if (leads) sums_of_warps[(l * right_count + j) * warps + warp] += sum;
      }
    }
  }
  __syncthreads();
  for (int pair = static_cast<int>(threadIdx.x); pair < Left * right_count; pair += sum_threads) {
    double sum = 0;
    for (int warp = 0; warp < warps; ++warp) sum += sums_of_warps[pair * warps + warp];
    parts[static_cast<std::int64_t>(blockIdx.x) * Left * right_count + pair] = sum;
  }
}

/// Adds the blocks' parts of each pair.
__global__ void __launch_bounds__(sum_threads)
    add_parts_kernel(const double* __restrict__ parts, int part_count, double* __restrict__ sums) {
  double sum = 0;
  for (int part = threadIdx.x; part < part_count; part += sum_threads) sum += parts[part * gridDim.x + blockIdx.x];
  sum = block_sum(sum);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

struct Combination {
  const float* vectors[max_right];
  float factors[max_right];
  int count;
};

__global__ void combine_kernel(Combination combination, float* out, std::int64_t size) {
  const std::int64_t i = cuda::thread_index();
  if (i >= size) return;
  float sum = 0;
#pragma unroll 8
  for (int k = 0; k < combination.count; ++k) sum += combination.factors[k] * combination.vectors[k][i];
  out[i] = sum;
}

__global__ void adam_kernel(const float* __restrict__ derivative, float* __restrict__ m, float* __restrict__ v,
                            float* __restrict__ phase, AdamStep step, std::int64_t size) {
  const std::int64_t i = cuda::thread_index();
  if (i < size) move_by_adam(step, derivative[i], m[i], v[i], phase[i]);
}

__global__ void level_distances_kernel(const float* __restrict__ phase, const float* __restrict__ levels, int count,
                                       unsigned long long* __restrict__ bins, std::int64_t size) {
  __shared__ unsigned block_bins[level_bins];
  for (int bin = threadIdx.x; bin < level_bins; bin += blockDim.x) block_bins[bin] = 0;
  __syncthreads();
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = cuda::thread_index(); i < size; i += stride) {
    atomicAdd(&block_bins[level_bin(nearest_level(phase[i], levels, count).distance, level_bins)], 1U);
  }
  __syncthreads();
  for (int bin = threadIdx.x; bin < level_bins; bin += blockDim.x) {
    if (block_bins[bin] != 0) atomicAdd(&bins[bin], static_cast<unsigned long long>(block_bins[bin]));
  }
}

__global__ void round_kernel(float* __restrict__ phase, const float* __restrict__ levels, int count, float reach,
                             std::int64_t size) {
  const std::int64_t i = cuda::thread_index();
  if (i >= size) return;
  const Nearest nearest = nearest_level(phase[i], levels, count);
  if (nearest.distance <= reach) phase[i] = nearest.level;
}

__global__ void hold_kernel(const float* __restrict__ phase, const float* __restrict__ levels, int count,
                            float* __restrict__ derivative, std::int64_t size) {
  const std::int64_t i = cuda::thread_index();
  if (i < size && nearest_level(phase[i], levels, count).distance == 0) derivative[i] = 0;
}

unsigned blocks_over(std::int64_t size) { return cuda::blocks_for(size, sum_threads); }

}  // namespace

CudaVectors::CudaVectors(std::int64_t size, const Queue& queue)
    : size_(size), queue_(queue), parts_({(blocks + 1) * max_left * max_right}, queue) {}

std::vector<double> CudaVectors::dots(std::span<const float* const> a, std::span<const float* const> b) {
  const cuda::DeviceScope scope(queue_.device());
  const cudaStream_t stream = cuda::stream_of(queue_);
  std::vector<double> result(a.size() * b.size());
  for (std::size_t left = 0; left < a.size(); left += max_left) {
    for (std::size_t right = 0; right < b.size(); right += max_right) {
      const auto rows = a.subspan(left, std::min<std::size_t>(max_left, a.size() - left));
      const auto columns = b.subspan(right, std::min<std::size_t>(max_right, b.size() - right));
      DotPairs arguments{};
      std::ranges::copy(rows, arguments.left);
      std::ranges::copy(columns, arguments.right);
      arguments.right_count = static_cast<int>(columns.size());
      arguments.size = size_;
      const std::size_t pairs = rows.size() * columns.size();
      double* const sums = parts_.data() + blocks * pairs;
      const std::size_t shared_bytes = pairs * (sum_threads / 32) * sizeof(double);
      if (rows.size() == 1) dots_kernel<1><<<blocks, sum_threads, shared_bytes, stream>>>(arguments, parts_.data());
      if (rows.size() == 2) dots_kernel<2><<<blocks, sum_threads, shared_bytes, stream>>>(arguments, parts_.data());
      if (rows.size() == 3) dots_kernel<3><<<blocks, sum_threads, shared_bytes, stream>>>(arguments, parts_.data());
      cuda::check_launch("products of vectors");
      add_parts_kernel<<<static_cast<unsigned>(pairs), sum_threads, 0, stream>>>(parts_.data(), blocks, sums);
      cuda::check_launch("sums of products");
      std::vector<double> host_sums(pairs);
      copy_bytes(host_sums.data(), Device{}, sums, queue_.device(), pairs * sizeof(double), queue_);
      queue_.synchronize();
      for (std::size_t i = 0; i < pairs; ++i) {
        result[(left + i / columns.size()) * b.size() + right + i % columns.size()] = host_sums[i];
      }
    }
  }
  return result;
}

void CudaVectors::combine(std::span<const double> factors, std::span<const float* const> vectors, float* out) {
  const cuda::DeviceScope scope(queue_.device());
  if (vectors.size() > max_right) {
    throw_argument("combine", "vectors", "at most " + std::to_string(max_right), std::to_string(vectors.size()));
  }
  Combination combination{};
  std::ranges::copy(vectors, combination.vectors);
  std::ranges::transform(factors, combination.factors, [](double factor) { return static_cast<float>(factor); });
  combination.count = static_cast<int>(vectors.size());
  combine_kernel<<<blocks_over(size_), sum_threads, 0, cuda::stream_of(queue_)>>>(combination, out, size_);
  cuda::check_launch("sum of vectors");
}

void CudaVectors::adam(const float* derivative, float* m, float* v, float* phase, double rate, int iteration) {
  const cuda::DeviceScope scope(queue_.device());
  adam_kernel<<<blocks_over(size_), sum_threads, 0, cuda::stream_of(queue_)>>>(derivative, m, v, phase,
                                                                               adam_step(rate, iteration), size_);
  cuda::check_launch("Adam");
}

const float* CudaVectors::on_device(const std::vector<float>& levels) {
  if (levels != levels_) {
    levels_ = levels;
    device_levels_ = copy_of(View<const float, 1>(levels.data(), {std::ssize(levels)}), queue_.device());
  }
  return device_levels_.data();
}

std::vector<std::int64_t> CudaVectors::level_distances(const float* phase, const std::vector<float>& levels) {
  const cuda::DeviceScope scope(queue_.device());
  const cudaStream_t stream = cuda::stream_of(queue_);
  Array<unsigned long long, 1> bins({level_bins}, queue_);
  cuda::check(cudaMemsetAsync(bins.data(), 0, bins.bytes(), stream), "cudaMemsetAsync");
  level_distances_kernel<<<std::min(blocks_over(size_), 2U * blocks), sum_threads, 0, stream>>>(
      phase, on_device(levels), static_cast<int>(levels.size()), bins.data(), size_);
  cuda::check_launch("distances to levels");
  std::vector<unsigned long long> counts(level_bins);
  copy_bytes(counts.data(), Device{}, bins.data(), queue_.device(), bins.bytes(), queue_);
  queue_.synchronize();
  return {counts.begin(), counts.end()};
}

void CudaVectors::round_to_levels(float* phase, const std::vector<float>& levels, float reach) {
  const cuda::DeviceScope scope(queue_.device());
  round_kernel<<<blocks_over(size_), sum_threads, 0, cuda::stream_of(queue_)>>>(
      phase, on_device(levels), static_cast<int>(levels.size()), reach, size_);
  cuda::check_launch("rounding to levels");
}

void CudaVectors::hold_levels(const float* phase, const std::vector<float>& levels, float* derivative) {
  const cuda::DeviceScope scope(queue_.device());
  hold_kernel<<<blocks_over(size_), sum_threads, 0, cuda::stream_of(queue_)>>>(
      phase, on_device(levels), static_cast<int>(levels.size()), derivative, size_);
  cuda::check_launch("holding levels");
}

}  // namespace holotone::retrieval
