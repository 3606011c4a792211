// Sums over listed components in each precision, on CUDA.
#include <algorithm>
#include <holotone/smoe/render/render_kernels.hpp>
#include <holotone/smoe/render/sums/float16_sums_cuda.cuh>
#include <holotone/smoe/render/sums/float64_sums_cuda.cuh>
#include <holotone/smoe/render/sums/tile_sums_cuda.cuh>

namespace holotone::smoe {
namespace {

constexpr int blocks_a_processor = 8;
constexpr unsigned enough_turns = 8;
constexpr unsigned few_exact = 1024;  ///< number of tiles below which each is summed in parts
constexpr unsigned no_block = 0xFFFFFFFFU;

/// Sums and writes a block of one picture, whose list is one unit. All threads call it.
template <int Channels>
__device__ __forceinline__ void sum_floats(const Components& components, const Frame* frames, const PictureGrid& grid,
                                           const ListStore& store, unsigned number, FloatMemory<Channels>& memory,
                                           float* images) {
  const PictureBlock block(store, grid, number);
  const Unit unit{number, block.number * max_in_unit, store.chunk[block.number].count, 0};
  ThreadPixels<Channels> pixels;
  const unsigned listed =
      sum_unit<Channels>(components, frames[block.place.picture], unit, block, store.listed, memory, pixels);
  const bool fits = pixels.write(grid, block, images);
  if (threadIdx.x % 32 == 0) tally(store, blockIdx.x, listed, listed);
  if (!__all_sync(all_lanes, fits) && threadIdx.x % 32 == 0) add_exact(store, number, threadIdx.x / 32);
  __syncthreads();
}

/// Sums blocks whose list is one unit, most of them, in 2^pictures_log2 pictures of a bundle one after another.
/// `Together`: more than one.
template <int Channels, bool Together>
__global__ void __launch_bounds__(sum_threads, blocks_a_processor)
    block_kernel(Components components, const Frame* __restrict__ frames, PictureGrid grid, ListStore store,
                 unsigned pictures_log2, float* __restrict__ images) {
  extern __shared__ char memory[];
  if constexpr (!Together) pictures_log2 = 0;
  const unsigned first = blockIdx.x << pictures_log2;
  const PictureBlock block(store, grid, first);
  asm volatile("prefetch.global.L1 [%0];" ::"l"(store.listed + block.number * max_in_unit + threadIdx.x));
  const BlockSum sum = block.record.sum;
  if ((sum != BlockSum::halves && sum != BlockSum::floats) || block.picture >= block.record.pictures) return;
  const unsigned pictures = Together ? min(1U << pictures_log2, block.record.pictures - block.picture) : 1;
  unsigned left = (1U << pictures) - 1;  // bit mask of the pictures still to sum
  if constexpr (Channels <= max_half_channels) {
    HalfMemory& halves = *reinterpret_cast<HalfMemory*>(memory);
    for (unsigned i = 0; sum == BlockSum::halves && i < pictures; ++i) {
      if (sum_halves<Channels>(components, frames, grid, store, first + i, i > 0, halves, images)) left ^= 1U << i;
    }
  }
  FloatMemory<Channels>& floats = *reinterpret_cast<FloatMemory<Channels>*>(memory);
  for (unsigned i = 0; i < pictures; ++i) {
    if ((left >> i & 1U) != 0) sum_floats<Channels>(components, frames, grid, store, first + i, floats, images);
  }
}

/// Next work of a block of threads, in shared memory. Units are fetched long before they are needed.
class Work {
 public:
  Unit unit;       ///< to be summed in float32; its block is no_block if none is left
  unsigned exact;  ///< or a tile in float64: tiles_a_block times its block's number, plus its own
  int exact_part;  ///< part of that tile; -1: all
  unsigned rough;  ///< bit mask of the current unit's tiles for which float32 is not precise enough

  /// One thread calls it, before next.
  __device__ void begin(const ListStore& store) {
    rough = 0;
    waiting_ = 0;
    listed_ = true;
    later_ = take(store);
    ask(store);
  }
  /// Sets the next work: first the tiles listed for float64, the longest work, then units, finally their rough tiles.
  /// All threads call it.
  __device__ void next(const ListStore& store) {
    __syncthreads();
    if (threadIdx.x == 0) {
      keep_rough(store);
      exact = next_exact(store);
      unit = next_;
    }
    __syncthreads();
  }
  /// Fetches the next unit, and takes the ticket of the one after it. One thread calls it.
  __device__ void ask(const ListStore& store) {
    next_ = later_ < store.counts->units ? store.unit[later_] : Unit{no_block, 0, 0, 0};
    later_ = take(store);
  }

 private:
  __device__ static unsigned take(const ListStore& store) { return atomicAdd(&store.counts->ticket, 1U); }
  __device__ void keep_rough(const ListStore& store) {
    for (; rough != 0; rough &= rough - 1) {
      waits_[waiting_++] = tiles_a_block * unit.block + static_cast<unsigned>(__ffs(static_cast<int>(rough)) - 1);
      atomicAdd(&store.counts->rough, 1U);
    }
  }
  __device__ unsigned next_exact(const ListStore& store) {
    if (listed_) {
      const unsigned number = atomicAdd(&store.counts->exact_ticket, 1U);
      const unsigned parts = store.counts->exact < few_exact ? exact_parts : 1;
      listed_ = number / parts < store.counts->exact;
      exact_part = parts > 1 ? static_cast<int>(number % parts) : -1;
      if (listed_) return store.exact_tile[number / parts];
    }
    exact_part = -1;
    const bool now = next_.block == no_block || waiting_ + tiles_a_block > max_waiting;
    return now && waiting_ > 0 ? waits_[--waiting_] : no_block;
  }

  static constexpr unsigned max_waiting = 64;
  Unit next_;
  unsigned later_;
  bool listed_;
  unsigned waiting_;
  unsigned waits_[max_waiting];  ///< rough tiles, deferred: other blocks may wait for a unit, none for these
};

/// Adds a thread's pixels to the sums of its block's units before; true if the sums are complete. All threads call it.
/// The wait ends: the unit before has an older ticket, and its holder works in the order of tickets.
template <int Channels>
__device__ bool take_turn(const Turns& turns, const PictureBlock& block, const Unit& unit,
                          ThreadPixels<Channels>& pixels) {
  const unsigned slot = block.record.slot + block.picture;
  constexpr int plane = block_side * block_side;
  const int first_pixel = ThreadPlace::current().row * block_side + ThreadPlace::current().column;
  float* const sums = turns.sums + static_cast<std::int64_t>(slot) * (Channels + 2) * plane + first_pixel;
  if (threadIdx.x == 0) {
    while (atomicAdd(turns.turn + slot, 0U) != unit.part) __nanosleep(100);
    __threadfence();
  }
  __syncthreads();
  pixels.each([&](float& number, int of_plane, int row) {
    float* const place = sums + of_plane * plane + row * block_side;
    if (unit.part > 0) number += __ldcg(place);
    __stcg(place, number);
  });
  __threadfence();
  __syncthreads();
  const bool last = unit.part + 1 == block.record.units;
  if (threadIdx.x == 0) atomicExch(turns.turn + slot, last ? 0U : unit.part + 1);
  return last;
}

/// Sums blocks whose lists are several units, and tiles in float64.
template <int Channels>
__global__ void __launch_bounds__(sum_threads, blocks_a_processor)
    unit_kernel(Components components, const Frame* __restrict__ frames, PictureGrid grid, ListStore store, Turns turns,
                float* __restrict__ images) {
  extern __shared__ char memory[];
  __shared__ Work work;
  unsigned most = 0;
  unsigned in_all = 0;
  static_assert(sum_threads == exact_threads);
  if (threadIdx.x == 0) work.begin(store);
  while (true) {
    work.next(store);
    if (work.exact != no_block) {
      const unsigned block = work.exact / tiles_a_block;
      const auto tile = static_cast<int>(work.exact % tiles_a_block);
      ExactMemory& exact = *reinterpret_cast<ExactMemory*>(memory);
      if (work.exact_part >= 0) {
        sum_exact<parts_shares>(components, frames, grid, store, block, tile, work.exact_part, Channels, exact, images);
      } else {
        sum_exact<tile_shares>(components, frames, grid, store, block, tile, 0, Channels, exact, images);
      }
      continue;
    }
    const Unit unit = work.unit;
    if (unit.block == no_block) break;
    if (threadIdx.x == 0) work.ask(store);
    const PictureBlock block(store, grid, unit.block);
    ThreadPixels<Channels> pixels;
    const unsigned listed = sum_unit<Channels>(components, frames[block.place.picture], unit, block, store.listed,
                                               *reinterpret_cast<FloatMemory<Channels>*>(memory), pixels);
    most = max(most, listed);
    in_all += listed;
    if (!take_turn(turns, block, unit, pixels)) continue;
    if (!pixels.write(grid, block, images)) atomicOr(&work.rough, 1U << threadIdx.x / 32);
  }
  if (threadIdx.x % 32 == 0 && in_all > 0) tally(store, blockIdx.x, in_all, most);
}

/// Dynamic shared memory of block_kernel and of unit_kernel.
template <int Channels>
constexpr int of_blocks = std::max(sizeof(FloatMemory<Channels>), sizeof(HalfMemory));
template <int Channels>
constexpr int of_units = std::max(sizeof(FloatMemory<Channels>), sizeof(ExactMemory));

template <int Channels>
void sum_blocks(const Components& components, const Frame* frames, const PictureGrid& grid, const ListStore& store,
                const Turns& turns, float* images, unsigned processors, cudaStream_t stream) {
  const unsigned blocks = blocks_an_area * grid.areas << grid.bundle_log2;
  // Largest number of pictures per list that leaves each multiprocessor enough blocks.
  unsigned together = grid.bundle_log2;
  while (together > 0 && blocks >> together < enough_turns * blocks_a_processor * processors) --together;
  const unsigned launched = blocks >> together;
  auto* const kernel = together > 0 ? block_kernel<Channels, true> : block_kernel<Channels, false>;
  cuda::check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, of_blocks<Channels>),
              "cudaFuncSetAttribute");
  kernel<<<launched, sum_threads, of_blocks<Channels>, stream>>>(components, frames, grid, store, together, images);
  cuda::check_launch("block_kernel");
  cuda::check(
      cudaFuncSetAttribute(unit_kernel<Channels>, cudaFuncAttributeMaxDynamicSharedMemorySize, of_units<Channels>),
      "cudaFuncSetAttribute");
  unit_kernel<Channels><<<std::min(blocks_a_processor * processors, blocks), sum_threads, of_units<Channels>, stream>>>(
      components, frames, grid, store, turns, images);
  cuda::check_launch("unit_kernel");
}

/// Calls call(std::integral_constant<int, channels>), 4 for any larger number.
template <class Call>
void with_channels(int channels, const Call& call) {
  switch (channels) {
    case 1: call(std::integral_constant<int, 1>()); break;
    case 2: call(std::integral_constant<int, 2>()); break;
    case 3: call(std::integral_constant<int, 3>()); break;
    default: call(std::integral_constant<int, 4>()); break;
  }
}

}  // namespace

void sum_components(const Components& components, const Frame* frames, const PictureGrid& grid, int channels,
                    const ListStore& store, const Turns& turns, float* images, unsigned processors,
                    cudaStream_t stream) {
  with_channels(channels, [&](auto number) {
    sum_blocks<number()>(components, frames, grid, store, turns, images, processors, stream);
  });
}

std::vector<KernelResources> sum_kernels(int channels) {
  std::vector<KernelResources> kernels;
  with_channels(channels, [&](auto number) {
    constexpr int q = number();
    kernels = {resources_of("block_kernel", block_kernel<q, false>, sum_threads, of_blocks<q>),
               resources_of("block_kernel, bundles of views", block_kernel<q, true>, sum_threads, of_blocks<q>),
               resources_of("unit_kernel", unit_kernel<q>, sum_threads, of_units<q>)};
  });
  return kernels;
}

}  // namespace holotone::smoe
