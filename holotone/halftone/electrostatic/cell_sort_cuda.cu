// Dots sorted by cell on CUDA: a counting sort, within a cell in the caller's order where results are deterministic.
#include <holotone/core/cuda_check.hpp>
#include <holotone/core/sorting/sorting_cuda.hpp>
#include <holotone/halftone/electrostatic/kernels_cuda.cuh>

namespace holotone::electrostatic {
namespace {

constexpr int threads = 256;

__device__ __forceinline__ std::int64_t thread_number() {
  return static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x;
}

/// Resets the counts to zero for the next sort.
__device__ __forceinline__ void clear_fill(int* fill, int cells) {
  for (std::int64_t c = thread_number(); c < cells; c += static_cast<std::int64_t>(gridDim.x) * threads) fill[c] = 0;
}

__device__ __forceinline__ void copy_dot(const DotArrays& from, std::int64_t source, const DotArrays& to, int target,
                                         float2 place) {
  to.place[target] = place;
  to.velocity[target] = from.velocity[source];
  to.number[target] = from.number[source];
}

__global__ void __launch_bounds__(threads)
    scatter_kernel(const __grid_constant__ DotArrays from, const __grid_constant__ DotArrays to, std::int64_t count,
                   const __grid_constant__ CellGrid cells, const int* __restrict__ start, const int* __restrict__ rank,
                   int* fill) {
  clear_fill(fill, cells.count());
  const std::int64_t i = thread_number();
  if (i >= count) return;
  const float2 place = from.place[i];
  copy_dot(from, i, to, start[find_cell(cells, place)] + rank[i], place);
}

/// Writes number and index of every dot, sorted by cell only.
__global__ void __launch_bounds__(threads)
    slot_kernel(const __grid_constant__ DotArrays from, std::int64_t count, const __grid_constant__ CellGrid cells,
                const int* __restrict__ start, const int* __restrict__ rank, int2* __restrict__ slots, int* fill) {
  clear_fill(fill, cells.count());
  const std::int64_t i = thread_number();
  if (i >= count) return;
  slots[start[find_cell(cells, from.place[i])] + rank[i]] = make_int2(from.number[i], static_cast<int>(i));
}

/// Rank of a dot in its cell: number of dots there that precede it in the caller's order.
__global__ void __launch_bounds__(threads)
    ordered_scatter_kernel(const __grid_constant__ DotArrays from, const __grid_constant__ DotArrays to,
                           std::int64_t count, const __grid_constant__ CellGrid cells, const int* __restrict__ start,
                           const int2* __restrict__ slots) {
  const std::int64_t i = thread_number();
  if (i >= count) return;
  const int2 slot = slots[i];
  const float2 place = from.place[slot.y];
  const int cell = find_cell(cells, place);
  const int begin = start[cell];
  const int end = start[cell + 1];
  int before = 0;
  for (int k = begin; k < end; ++k) before += slots[k].x < slot.x ? 1 : 0;
  copy_dot(from, slot.y, to, begin + before, place);
}

}  // namespace

CellSort::CellSort(const CellGrid& cells, std::int64_t maximum, bool deterministic, const Queue& queue)
    : cells_(cells),
      deterministic_(deterministic),
      fill_({cells.count() + 1}, queue),
      start_({cells.count() + 1}, queue),
      rank_({maximum}, queue),
      slots_({deterministic ? maximum : 0}, queue),
      scan_area_(cuda::exclusive_sum_bytes<int>(cells.count() + 1), queue) {}

std::size_t CellSort::bytes() const {
  return fill_.bytes() + start_.bytes() + rank_.bytes() + slots_.bytes() + scan_area_.bytes();
}

void CellSort::clear(cudaStream_t stream) {
  cuda::check(cudaMemsetAsync(fill_.data(), 0, fill_.bytes(), stream), "cudaMemsetAsync");
}

void CellSort::sort(const DotArrays& from, const DotArrays& to, std::int64_t count, cudaStream_t stream) {
  cuda::exclusive_sum(scan_area_.data(), scan_area_.bytes(), fill_.data(), start_.data(), cells_.count() + 1, stream);
  const unsigned blocks = cuda::blocks_for(count, threads);
  if (deterministic_) {
    slot_kernel<<<blocks, threads, 0, stream>>>(from, count, cells_, start_.data(), rank_.data(), slots_.data(),
                                                fill_.data());
    ordered_scatter_kernel<<<blocks, threads, 0, stream>>>(from, to, count, cells_, start_.data(), slots_.data());
  } else {
    scatter_kernel<<<blocks, threads, 0, stream>>>(from, to, count, cells_, start_.data(), rank_.data(), fill_.data());
  }
  cuda::check_launch("electrostatic sort");
}

}  // namespace holotone::electrostatic
