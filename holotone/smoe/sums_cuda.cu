#include <algorithm>
#include <holotone/smoe/exact_cuda.cuh>
#include <holotone/smoe/lanes_cuda.cuh>
#include <holotone/smoe/sums_cuda.cuh>

namespace holotone::smoe {
namespace {

constexpr int warps = tiles_a_block;  ///< a warp for each tile
constexpr int threads = 32 * warps;
constexpr int blocks_a_processor = 8;
constexpr unsigned no_block = 0xFFFFFFFFU;
/// Lanes side by side take a column of a tile each; so many groups of them take turns at the components.
constexpr int groups = 32 / tile_side;
constexpr float middle = 0.5F * (block_side - 1);  ///< of a block, pixels
/// Floats of a staged component: across, u, skew, down, v, peak, then colour and both slopes of each channel, u, v and colours (from the
/// block's reference) at the block's middle; a multiple of four.
constexpr int staged_floats(int channels) { return (6 + 3 * channels + 3) / 4 * 4; }

template <int Channels>
struct Shared {
  float4 staged[most_in_unit * staged_floats(Channels) / 4];
  unsigned char tiles[most_in_unit];
  unsigned short list[warps][most_in_unit];
};

__device__ __forceinline__ float inverse(float x) {
  float result;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}

/// What a block of threads does next, in shared memory. Units are asked for long before they are needed.
class Work {
 public:
  Unit unit;       ///< to be summed in float32; no_block's where none is left
  unsigned exact;  ///< or a tile in float64: its number there and tiles_a_block times its block's
  unsigned rough;  ///< tiles of the unit in hand that float32 is not precise enough for, a bit each

  /// One thread calls it, before next.
  __device__ void begin(const ListStore& store) {
    rough = 0;
    waiting_ = 0;
    listed_ = true;
    later_ = take(store);
    ask(store);
  }
  /// All threads call it: what lists have for float64, the longest work, then units, and at last their rough tiles.
  __device__ void next(const ListStore& store) {
    __syncthreads();
    if (threadIdx.x == 0) {
      keep_rough(store);
      exact = next_exact(store);
      unit = next_;
    }
    __syncthreads();
  }
  /// Asks for the unit after the next. One thread calls it.
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
      listed_ = number < store.counts->exact * tiles_a_block;
      if (listed_) return tiles_a_block * store.exact_block[number / tiles_a_block] + number % tiles_a_block;
    }
    const bool now = next_.block == no_block || waiting_ + tiles_a_block > most_waiting;
    return now && waiting_ > 0 ? waits_[--waiting_] : no_block;
  }

  static constexpr unsigned most_waiting = 64;
  Unit next_;
  unsigned later_;
  bool listed_;
  unsigned waiting_;
  unsigned waits_[most_waiting];  ///< rough tiles: others may wait for a unit, none for these
};

/// Sums of one tile: a column of eight pixels a lane, over the components of the lane's group. `Checked`: of weights times |m_k - c| too.
template <int Channels, bool Checked>
struct TileSums {
  float weight[tile_side] = {};
  float spread[Checked ? tile_side : 1] = {};
  float colour[Channels][tile_side] = {};

  __device__ __forceinline__ void add(const float4* staged, float column, float row, float least) {
    float own[staged_floats(Channels)];
#pragma unroll
    for (int i = 0; i < staged_floats(Channels) / 4; ++i) {
      const float4 four = staged[i];
      own[4 * i] = four.x;
      own[4 * i + 1] = four.y;
      own[4 * i + 2] = four.z;
      own[4 * i + 3] = four.w;
    }
    const float u = fmaf(own[0], column, own[1]);
    const float base = fmaf(-u, u, own[5] - least);
    const float v0 = fmaf(own[2], column, fmaf(own[3], row, own[4]));
    float expert[Channels];
#pragma unroll
    for (int c = 0; c < Channels; ++c) {
      expert[c] = fmaf(own[6 + 3 * c + 1], column, fmaf(own[6 + 3 * c + 2], row, own[6 + 3 * c]));
    }
#pragma unroll
    for (int i = 0; i < tile_side; ++i) {
      const float v = fmaf(own[3], static_cast<float>(i), v0);
      const float own_weight = power_of_two(fmaf(-v, v, base));
      weight[i] += own_weight;
      if constexpr (Checked) {
        float away = 0;  // no less than any channel's
#pragma unroll
        for (const float own_channel : expert) away += fabsf(own_channel);
        spread[i] = fmaf(own_weight, away, spread[i]);
      }
#pragma unroll
      for (int c = 0; c < Channels; ++c) {
        colour[c][i] = fmaf(own_weight, expert[c], colour[c][i]);
        expert[c] += own[6 + 3 * c + 2];
      }
    }
  }
};

/// values[i] of all groups joined: each group ends with the sums of the two pixels from `first` on.
__device__ __forceinline__ void join_groups(float (&values)[tile_side], float& sum0, float& sum1) {
  const bool high = (threadIdx.x & 16U) != 0;
  const bool odd = (threadIdx.x & 8U) != 0;
  float half[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const float send = high ? values[i] : values[i + 4];
    const float keep = high ? values[i + 4] : values[i];
    half[i] = keep + __shfl_xor_sync(all_lanes, send, 16);
  }
  const float send0 = odd ? half[0] : half[2];
  const float send1 = odd ? half[1] : half[3];
  sum0 = (odd ? half[2] : half[0]) + __shfl_xor_sync(all_lanes, send0, 8);
  sum1 = (odd ? half[3] : half[1]) + __shfl_xor_sync(all_lanes, send1, 8);
}

template <int Channels>
__device__ __forceinline__ void stage(const Components& components, const Frame& frame, const BlockPlace& place,
                                      const Unit& unit, const Block& block, const Listed* listed,
                                      Shared<Channels>& shared) {
  const auto step_x = static_cast<float>(frame.step_x);
  const auto step_y = static_cast<float>(frame.step_y);
  const double left = frame.x + (place.first_column + static_cast<double>(middle)) * frame.step_x;
  const double top = frame.y + (place.first_row + static_cast<double>(middle)) * frame.step_y;
  constexpr int floats = staged_floats(Channels);
  for (unsigned i = threadIdx.x; i < unit.count; i += threads) {
    const Listed own = listed[unit.begin + i];
    const Place& where = components.place[own.component];
    const ExactShape shape = components.exact[own.component];
    const Expert& expert = components.expert[own.component];
    // Far from here u and v are small differences of large numbers.
    const double x = (where.x - left) * frame.a_step_x;
    const double y = (where.y - top) * frame.a_step_y;
    const double across = shape.across * frame.step_x;
    const double skew = shape.skew * frame.step_x;
    const double down = shape.down * frame.step_y;
    float values[floats] = {};
    values[0] = static_cast<float>(across);
    values[1] = static_cast<float>(-across * x);
    values[2] = static_cast<float>(skew);
    values[3] = static_cast<float>(down);
    values[4] = static_cast<float>(-skew * x - down * y);
    values[5] = static_cast<float>(shape.peak);
#pragma unroll
    for (int c = 0; c < Channels; ++c) {
      const float slope_x = expert.slope_x[c] * step_x;
      const float slope_y = expert.slope_y[c] * step_y;
      values[6 + 3 * c] = fmaf(-slope_x, static_cast<float>(x),
                               fmaf(-slope_y, static_cast<float>(y), expert.colour[c] - block.reference[c]));
      values[6 + 3 * c + 1] = slope_x;
      values[6 + 3 * c + 2] = slope_y;
    }
#pragma unroll
    for (int k = 0; k < floats / 4; ++k) {
      shared.staged[i * (floats / 4) + k] =
          make_float4(values[4 * k], values[4 * k + 1], values[4 * k + 2], values[4 * k + 3]);
    }
    shared.tiles[i] = static_cast<unsigned char>(own.tiles);
  }
}

/// The numbers of the unit's components that a warp's tile needs.
__device__ __forceinline__ unsigned compact(const unsigned char* tiles, unsigned count, unsigned short* list) {
  const unsigned lane = threadIdx.x % 32;
  const unsigned tile = threadIdx.x / 32;
  unsigned number = 0;
  for (unsigned base = 0; base < count; base += 32) {
    const unsigned i = base + lane;
    const bool needed = i < count && (tiles[i] >> tile & 1U) != 0;
    const unsigned votes = __ballot_sync(all_lanes, needed);
    if (needed) list[number + __popc(votes & ((1U << lane) - 1))] = static_cast<unsigned short>(i);
    number += __popc(votes);
  }
  __syncwarp();
  return number;
}

/// A thread's pixels in the end, two of a tile, one above the other.
template <int Channels>
struct ThreadPixels {
  float weight[2];
  float spread[2] = {};
  float colour[Channels][2];

  /// Of the first `number` components of the warp's list; all of its lanes call it.
  template <bool Checked>
  __device__ __forceinline__ void sum(const Shared<Channels>& shared, unsigned number, float column, float row,
                                      float shift) {
    const unsigned tile = threadIdx.x / 32;
    constexpr int fours = staged_floats(Channels) / 4;
    TileSums<Channels, Checked> sums;
    for (unsigned i = threadIdx.x % 32 / tile_side; i < number; i += groups) {
      sums.add(shared.staged + shared.list[tile][i] * fours, column, row, shift);
    }
    join_groups(sums.weight, weight[0], weight[1]);
    if constexpr (Checked) join_groups(sums.spread, spread[0], spread[1]);
#pragma unroll
    for (int c = 0; c < Channels; ++c) join_groups(sums.colour[c], colour[c][0], colour[c][1]);
  }

  /// body(number, plane) for all numbers.
  template <class Body>
  __device__ __forceinline__ void each(const Body& body) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      body(weight[i], Channels, i);
      body(spread[i], Channels + 1, i);
#pragma unroll
      for (int c = 0; c < Channels; ++c) body(colour[c][i], c, i);
    }
  }
};

/// Adds a thread's pixels to the sums of its block's units before; whether the sums are whole. All threads call it. The unit before has an
/// older ticket, whose holder works in the order of tickets and so comes to it.
template <int Channels>
__device__ bool take_turn(const Turns& turns, const Block& block, const Unit& unit, int first_pixel,
                          ThreadPixels<Channels>& pixels) {
  constexpr int plane = block_side * block_side;
  float* const own = turns.sums + static_cast<std::int64_t>(block.slot) * (Channels + 2) * plane + first_pixel;
  if (threadIdx.x == 0) {
    while (atomicAdd(turns.turn + block.slot, 0U) != unit.part) __nanosleep(100);
    __threadfence();
  }
  __syncthreads();
  pixels.each([&](float& number, int of_plane, int row) {
    float* const place = own + of_plane * plane + row * block_side;
    if (unit.part > 0) number += __ldcg(place);
    __stcg(place, number);
  });
  __threadfence();
  __syncthreads();
  const bool last = unit.part + 1 == block.units;
  if (threadIdx.x == 0) atomicExch(turns.turn + block.slot, last ? 0U : unit.part + 1);
  return last;
}

template <int Channels>
__global__ void __launch_bounds__(threads, blocks_a_processor)
    sum_kernel(Components components, const Frame* __restrict__ frames, PictureGrid grid, ListStore store, Turns turns,
               float* __restrict__ images) {
  extern __shared__ char memory[];
  __shared__ Work work;
  Shared<Channels>& shared = *reinterpret_cast<Shared<Channels>*>(memory);
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int tile = static_cast<int>(threadIdx.x / 32);
  const int column_in_block = tile % tiles_across * tile_side + lane % tile_side;
  const int row_in_block = tile / tiles_across * tile_side;
  unsigned most = 0;
  unsigned in_all = 0;
  static_assert(threads == exact_threads);
  if (threadIdx.x == 0) work.begin(store);
  while (true) {
    work.next(store);
    if (work.exact != no_block) {
      sum_exact(components, frames, grid, store, work.exact / tiles_a_block,
                static_cast<int>(work.exact % tiles_a_block), Channels, *reinterpret_cast<ExactMemory*>(memory),
                images);
      continue;
    }
    const Unit unit = work.unit;
    if (unit.block == no_block) break;
    if (threadIdx.x == 0) work.ask(store);
    if (unit.part == exact_part) continue;
    const Block& block = store.block[unit.block];
    const BlockPlace place = place_of(grid, unit.block);
    stage<Channels>(components, frames[place.picture], place, unit, block, store.listed, shared);
    __syncthreads();
    const unsigned number = compact(shared.tiles, unit.count, shared.list[tile]);
    most = max(most, number);
    in_all += number;
    const float column_from_middle = static_cast<float>(column_in_block) - middle;
    const float row_from_middle = static_cast<float>(row_in_block) - middle;
    ThreadPixels<Channels> pixels;
    if (block.checked) {
      pixels.template sum<true>(shared, number, column_from_middle, row_from_middle, block.shift[tile]);
    } else {
      pixels.template sum<false>(shared, number, column_from_middle, row_from_middle, block.shift[tile]);
    }
    const int first_row = row_in_block + ((lane & 16) != 0 ? 4 : 0) + ((lane & 8) != 0 ? 2 : 0);
    if (block.units > 1 && !take_turn(turns, block, unit, first_row * block_side + column_in_block, pixels)) continue;
    const int column = place.first_column + column_in_block;
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int row = place.first_row + first_row + i;
      if (column >= grid.width || row >= grid.height) continue;
      if (block.checked && !(pixels.spread[i] <= block.most_spread * pixels.weight[i]))
        atomicOr(&work.rough, 1U << tile);
      const float scale = pixels.weight[i] > 0 ? inverse(pixels.weight[i]) : 0;
      float* const pixel =
          images + ((static_cast<std::int64_t>(place.picture) * grid.height + row) * grid.width + column) * Channels;
#pragma unroll
      for (int c = 0; c < Channels; ++c) pixel[c] = fmaf(pixels.colour[c][i], scale, block.reference[c]);
    }
  }
  if (threadIdx.x % 32 == 0 && in_all > 0) {
    atomicAdd(&store.counts->in_all, static_cast<unsigned long long>(in_all));
    atomicMax(&store.counts->most, most);
  }
}

template <int Channels>
void sum_units(const Components& components, const Frame* frames, const PictureGrid& grid, const ListStore& store,
               const Turns& turns, float* images, unsigned processors, cudaStream_t stream) {
  constexpr int bytes = std::max(sizeof(Shared<Channels>), sizeof(ExactMemory));
  cuda::check(cudaFuncSetAttribute(sum_kernel<Channels>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes),
              "cudaFuncSetAttribute");
  sum_kernel<Channels>
      <<<std::min(blocks_a_processor * processors, blocks_an_area * grid.areas), threads, bytes, stream>>>(
          components, frames, grid, store, turns, images);
  cuda::check_launch("sum_kernel");
}

}  // namespace

void sum_components(const Components& components, const Frame* frames, const PictureGrid& grid, int channels,
                    const ListStore& store, const Turns& turns, float* images, unsigned processors,
                    cudaStream_t stream) {
  const auto units = [&](auto sum) { sum(components, frames, grid, store, turns, images, processors, stream); };
  switch (channels) {
    case 1: units(sum_units<1>); break;
    case 2: units(sum_units<2>); break;
    case 3: units(sum_units<3>); break;
    default: units(sum_units<4>); break;
  }
}

}  // namespace holotone::smoe
