// The percentile and the tone curve on CUDA: the same comparisons as on the CPU, so the same values.
#include <algorithm>
#include <bit>
#include <holotone/core/cuda_check.hpp>
#include <holotone/optics/tone_detail.hpp>
#include <numeric>

namespace holotone::tone {
namespace {

constexpr int threads = 256;
constexpr unsigned max_blocks = 1024;
constexpr unsigned digits = 2048;
using Count = unsigned long long;

/// Counts the finite pixels whose ordered number has `prefix` above the digit's bits, by that digit.
__global__ void count_kernel(const float* __restrict__ pixels, std::int64_t count, int shift, int bits, unsigned prefix,
                             Count* __restrict__ counts) {
  __shared__ unsigned local_counts[digits];
  for (unsigned i = threadIdx.x; i < digits; i += threads) local_counts[i] = 0;
  __syncthreads();
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * threads;
  for (std::int64_t i = blockIdx.x * static_cast<std::int64_t>(threads) + threadIdx.x; i < count; i += stride) {
    const unsigned word = __float_as_uint(pixels[i]);
    if ((word & 0x7F800000U) == 0x7F800000U) continue;
    const unsigned number = (word & 0x80000000U) != 0 ? ~word : word | 0x80000000U;
    const unsigned above = shift + bits < 32 ? number >> (shift + bits) : 0;
    if (above == prefix) atomicAdd(local_counts + (number >> shift & ((1U << bits) - 1)), 1U);
  }
  __syncthreads();
  for (unsigned i = threadIdx.x; i < digits; i += threads) {
    if (local_counts[i] > 0) atomicAdd(counts + i, static_cast<Count>(local_counts[i]));
  }
}

__global__ void code_kernel(const float* __restrict__ intensity, std::int64_t count, const float* __restrict__ least,
                            const std::uint8_t* __restrict__ guesses, std::uint8_t* __restrict__ codes) {
  __shared__ float bounds[255];
  if (threadIdx.x < 255) bounds[threadIdx.x] = least[threadIdx.x];
  __syncthreads();
  const std::int64_t i = blockIdx.x * static_cast<std::int64_t>(threads) + threadIdx.x;
  if (i >= count) return;
  const float value = intensity[i];
  int code = 0;
  if (value > 0) {
    code = guesses[__float_as_uint(value) >> 16];
    while (code < 255 && value >= bounds[code]) ++code;
  }
  codes[i] = static_cast<std::uint8_t>(code);
}

/// counts[d]: see count_kernel.
std::vector<Count> count_values(std::span<const View<const float, 2>> images, int shift, int bits, unsigned prefix,
                                const Queue& queue) {
  Array<Count, 1> counts({digits}, queue);
  const auto stream = cuda::stream_of(queue);
  cuda::check(cudaMemsetAsync(counts.data(), 0, counts.bytes(), stream), "cudaMemsetAsync");
  for (const auto& image : images) {
    if (image.empty()) continue;
    const unsigned blocks = std::min(cuda::blocks_for(image.size(), threads), max_blocks);
    count_kernel<<<blocks, threads, 0, stream>>>(image.data(), image.size(), shift, bits, prefix, counts.data());
    cuda::check_launch("count_kernel");
  }
  std::vector<Count> result(digits);
  copy<Count, 1>({result.data(), {digits}}, counts.view(), queue);
  queue.synchronize();
  return result;
}

}  // namespace

float percentile_cuda(std::span<const View<const float, 2>> images, double fraction, const Queue& queue) {
  const cuda::DeviceScope scope(queue.device());
  std::int64_t rank = 0;
  unsigned number = 0;
  int shift = 32;
  for (const int bits : {11, 11, 10}) {
    shift -= bits;
    const auto counts = count_values(images, shift, bits, number, queue);
    if (shift == 32 - bits) {
      const auto count = static_cast<std::int64_t>(std::accumulate(counts.begin(), counts.end(), Count{0}));
      if (count == 0) reject_no_pixel();
      rank = rank_of(fraction, count);
    }
    unsigned digit = 0;
    while (rank >= static_cast<std::int64_t>(counts[digit])) rank -= static_cast<std::int64_t>(counts[digit++]);
    number = number << bits | digit;
  }
  return std::bit_cast<float>((number & 0x80000000U) != 0 ? number & 0x7FFFFFFFU : ~number);
}

void codes_cuda(View<const float, 2> intensity, const Table& table, View<std::uint8_t, 2> codes, const Queue& queue) {
  const cuda::DeviceScope scope(queue.device());
  Array<float, 1> least({std::ssize(table.least)}, queue);
  Array<std::uint8_t, 1> guesses({std::ssize(table.guesses)}, queue);
  copy<float, 1>(least.view(), {table.least.data(), least.shape()}, queue);
  copy<std::uint8_t, 1>(guesses.view(), {table.guesses.data(), guesses.shape()}, queue);
  code_kernel<<<cuda::blocks_for(intensity.size(), threads), threads, 0, cuda::stream_of(queue)>>>(
      intensity.data(), intensity.size(), least.data(), guesses.data(), codes.data());
  cuda::check_launch("code_kernel");
}

}  // namespace holotone::tone
