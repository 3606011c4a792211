// A stable counting sort, in shared memory, of the points of each tile's kinds.
#include <cub/block/block_scan.cuh>
#include <holotone/hologram/point_cloud/coarse/coarse_lists_cuda.cuh>

namespace holotone::point_cloud {
namespace {

constexpr int sort_threads = 1024;
constexpr int sort_warps = sort_threads / 32;
constexpr int max_classes = 1024;
constexpr unsigned index_mask = (1U << coarse_index_bits) - 1;
/// Counters of a class in shared memory, one of them against conflicts of banks.
constexpr int sort_row = sort_warps + 1;
static_assert(max_classes <= sort_threads);

/// Moves the counters of a warp's entries of a segment on, and calls with each entry and its counter before.
template <class Visit>
__device__ __forceinline__ void count_each(const unsigned* list, const CoarseSegment& segment, int* counters,
                                           const Visit& visit) {
  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  const int share = ((segment.count + sort_warps - 1) / sort_warps + 31) / 32 * 32;
  const int first = min(warp * share, segment.count);
  const int last = min(first + share, segment.count);
  for (int base = first; base < last; base += 32) {
    const bool present = base + lane < last;
    const unsigned entry = present ? list[segment.first + base + lane] : 0;
    const unsigned number = present ? entry >> coarse_index_bits : ~0U;
    const unsigned alike = __match_any_sync(0xffffffffU, number);
    const int rank = __popc(alike & ((1U << lane) - 1));
    int& counter = counters[(present ? number : 0) * sort_row + warp];
    const int before = present ? counter : 0;
    __syncwarp();
    if (present) visit(entry, before + rank);
    if (present && rank == 0) counter = before + __popc(alike);
    __syncwarp();
  }
}

__device__ __forceinline__ void clear_counters(int classes, int* counters) {
  for (int i = threadIdx.x; i < classes * sort_row; i += sort_threads) counters[i] = 0;
  __syncthreads();
}

/// Counts the points of each class: counts[segment][class].
__global__ void __launch_bounds__(sort_threads)
    count_kernel(int classes, const CoarseSegment* segments, const unsigned* list, int* counts) {
  extern __shared__ int counters[];  // [class][warp]
  clear_counters(classes, counters);
  count_each(list, segments[blockIdx.x], counters, [](unsigned, int) {});
  __syncthreads();
  if (threadIdx.x >= classes) return;
  int sum = 0;
  for (int warp = 0; warp < sort_warps; ++warp) sum += counters[threadIdx.x * sort_row + warp];
  counts[std::int64_t{blockIdx.x} * classes + threadIdx.x] = sum;
}

/// Places of the classes of a tile's kind: begins[tile][kind][class] with the end; counts[segment][class] become those
/// of each segment's points.
__global__ void __launch_bounds__(sort_threads)
    place_kernel(int classes, const CoarseTile* tiles, int* counts, int* begins) {
  using Scan = cub::BlockScan<int, sort_threads>;
  __shared__ typename Scan::TempStorage scan_memory;
  const CoarseTile& tile = tiles[blockIdx.x / coarse_kinds];
  const int kind = blockIdx.x % coarse_kinds;
  const auto number = static_cast<int>(threadIdx.x);
  int* const counts_here = counts + number;
  int sum = 0;
  if (number < classes) {
    for (int i = tile.segment[kind]; i < tile.segment[kind + 1]; ++i) sum += counts_here[std::int64_t{i} * classes];
  }
  int before = 0;
  Scan(scan_memory).ExclusiveSum(sum, before);
  before += tile.begin[kind];
  int* const own_begins = begins + static_cast<std::int64_t>(blockIdx.x) * (classes + 1);
  if (number == 0) own_begins[classes] = tile.begin[kind + 1];
  if (number >= classes) return;
  own_begins[number] = before;
  for (int i = tile.segment[kind]; i < tile.segment[kind + 1]; ++i) {
    const int here = counts_here[std::int64_t{i} * classes];
    counts_here[std::int64_t{i} * classes] = before;
    before += here;
  }
}

/// Sorts the points by classes, in their order; places as place_kernel leaves them.
__global__ void __launch_bounds__(sort_threads)
    sort_kernel(int classes, const CoarseSegment* segments, const unsigned* list, const int* places, unsigned* sorted) {
  extern __shared__ int counters[];
  const CoarseSegment segment = segments[blockIdx.x];
  clear_counters(classes, counters);
  count_each(list, segment, counters, [](unsigned, int) {});
  __syncthreads();
  if (threadIdx.x < classes) {
    int before = places[std::int64_t{blockIdx.x} * classes + threadIdx.x];
    for (int warp = 0; warp < sort_warps; ++warp) {
      int& counter = counters[threadIdx.x * sort_row + warp];
      const int here = counter;
      counter = before;
      before += here;
    }
  }
  __syncthreads();
  count_each(list, segment, counters, [sorted](unsigned entry, int place) { sorted[place] = entry & index_mask; });
}

}  // namespace

void sort_coarse(const CoarseShape& shape, const CoarseWork& work, const unsigned* list, int* counts, int* begins,
                 unsigned* sorted, cudaStream_t stream) {
  const int classes = shape.classes();
  const int bytes = classes * sort_row * static_cast<int>(sizeof(int));
  for (const void* const kernel :
       {reinterpret_cast<const void*>(count_kernel), reinterpret_cast<const void*>(sort_kernel)}) {
    cuda::check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes),
                "cudaFuncSetAttribute");
  }
  const auto segments = static_cast<unsigned>(work.segment_count);
  count_kernel<<<segments, sort_threads, bytes, stream>>>(classes, work.segments, list, counts);
  cuda::check_launch("coarse count");
  place_kernel<<<static_cast<unsigned>(work.tile_count * coarse_kinds), sort_threads, 0, stream>>>(classes, work.tiles,
                                                                                                   counts, begins);
  cuda::check_launch("coarse places");
  sort_kernel<<<segments, sort_threads, bytes, stream>>>(classes, work.segments, list, counts, sorted);
  cuda::check_launch("coarse sort");
}

}  // namespace holotone::point_cloud
