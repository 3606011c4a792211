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
/// Floats of a staged component: x, y, across, skew, down, peak, then colour and both slopes of each channel; a multiple of four.
constexpr int staged_floats(int channels) { return (6 + 3 * channels + 3) / 4 * 4; }

template <int Channels>
struct Shared {
  float4 staged[most_in_unit * staged_floats(Channels) / 4];
  unsigned char tiles[most_in_unit];
  unsigned short list[warps][most_in_unit];
  Unit unit;
  unsigned exact;
};

__device__ __forceinline__ float inverse(float x) {
  float result;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}

/// Hands out units to blocks of threads, each asked for long before it is needed.
class Tickets {
 public:
  __device__ explicit Tickets(const ListStore& store) : store_(store), units_(store.counts->units) {
    if (threadIdx.x != 0) return;
    later_ = take();
    load();
    later_ = take();
  }
  /// The next unit; no_block's after the last one. All threads call it.
  __device__ Unit next(Unit& shared) {
    __syncthreads();
    if (threadIdx.x == 0) shared = next_;
    __syncthreads();
    return shared;
  }
  /// Asks for the one after the next.
  __device__ void ask() {
    if (threadIdx.x != 0) return;
    load();
    later_ = take();
  }

 private:
  __device__ unsigned take() { return atomicAdd(&store_.counts->ticket, 1U); }
  __device__ void load() { next_ = later_ < units_ ? store_.unit[later_] : Unit{no_block, 0, 0, 0}; }

  const ListStore& store_;
  unsigned units_;
  unsigned later_ = 0;
  Unit next_{};
};

/// Sums of one tile: a column of eight pixels a lane, over the components of the lane's group.
template <int Channels>
struct TileSums {
  float weight[tile_side] = {};
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
    const float dx = column - own[0];
    const float dy = row - own[1];
    const float u = own[2] * dx;
    const float base = fmaf(-u, u, own[5] - least);
    const float v0 = fmaf(own[3], dx, own[4] * dy);
    float expert[Channels];
#pragma unroll
    for (int c = 0; c < Channels; ++c) {
      expert[c] = fmaf(own[6 + 3 * c + 1], dx, fmaf(own[6 + 3 * c + 2], dy, own[6 + 3 * c]));
    }
#pragma unroll
    for (int i = 0; i < tile_side; ++i) {
      const float v = fmaf(own[4], static_cast<float>(i), v0);
      const float own_weight = power_of_two(fmaf(-v, v, base));
      weight[i] += own_weight;
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
                                      const Unit& unit, const Listed* listed, Shared<Channels>& shared) {
  const auto step_x = static_cast<float>(frame.step_x);
  const auto step_y = static_cast<float>(frame.step_y);
  const double left = frame.x + place.first_column * frame.step_x;
  const double top = frame.y + place.first_row * frame.step_y;
  constexpr int floats = staged_floats(Channels);
  for (unsigned i = threadIdx.x; i < unit.count; i += threads) {
    const Listed own = listed[unit.begin + i];
    const Place where = components.place[own.component];
    const Expert& expert = components.expert[own.component];
    float values[floats] = {};
    values[0] = static_cast<float>((where.x - left) * frame.a_step_x);
    values[1] = static_cast<float>((where.y - top) * frame.a_step_y);
    values[2] = where.across * step_x;
    values[3] = where.skew * step_x;
    values[4] = where.down * step_y;
    values[5] = where.peak;
#pragma unroll
    for (int c = 0; c < Channels; ++c) {
      values[6 + 3 * c] = expert.colour[c];
      values[6 + 3 * c + 1] = expert.slope_x[c] * step_x;
      values[6 + 3 * c + 2] = expert.slope_y[c] * step_y;
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

/// Adds a thread's two pixels, one above the other, to the sums of its block's units before; whether the sums are whole. All threads
/// call it. The unit before has an older ticket, whose holder works in the order of tickets and so comes to it.
template <int Channels>
__device__ bool take_turn(const Turns& turns, const Block& block, const Unit& unit, int first_pixel, float (&weight)[2],
                          float (&colour)[Channels][2]) {
  constexpr int pixels = block_side * block_side;
  float* const own = turns.sums + static_cast<std::int64_t>(block.slot) * (Channels + 1) * pixels;
  if (threadIdx.x == 0) {
    while (atomicAdd(turns.turn + block.slot, 0U) != unit.part) __nanosleep(100);
    __threadfence();
  }
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    float* const pixel = own + first_pixel + i * block_side;
    if (unit.part > 0) {
      weight[i] += __ldcg(pixel + Channels * pixels);
#pragma unroll
      for (int c = 0; c < Channels; ++c) colour[c][i] += __ldcg(pixel + c * pixels);
    }
    __stcg(pixel + Channels * pixels, weight[i]);
#pragma unroll
    for (int c = 0; c < Channels; ++c) __stcg(pixel + c * pixels, colour[c][i]);
  }
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
  Shared<Channels>& shared = *reinterpret_cast<Shared<Channels>*>(memory);
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int tile = static_cast<int>(threadIdx.x / 32);
  const int column_in_block = tile % tiles_across * tile_side + lane % tile_side;
  const int row_in_block = tile / tiles_across * tile_side;
  const int group = lane / tile_side;
  unsigned most = 0;
  unsigned in_all = 0;
  static_assert(threads == exact_threads);
  // The longest work first.
  while (true) {
    __syncthreads();
    if (threadIdx.x == 0) shared.exact = atomicAdd(&store.counts->exact_ticket, 1U);
    __syncthreads();
    const unsigned number = shared.exact;
    if (number >= store.counts->exact * tiles_a_block) break;
    __syncthreads();
    sum_exact(components, frames, grid, store, store.exact_block[number / tiles_a_block],
              static_cast<int>(number % tiles_a_block), Channels, *reinterpret_cast<ExactMemory*>(memory), images);
  }
  Tickets tickets(store);
  while (true) {
    const Unit unit = tickets.next(shared.unit);
    if (unit.block == no_block) break;
    tickets.ask();
    if (unit.part == exact_part) continue;
    const Block& block = store.block[unit.block];
    const BlockPlace place = place_of(grid, unit.block);
    stage<Channels>(components, frames[place.picture], place, unit, store.listed, shared);
    __syncthreads();
    const unsigned number = compact(shared.tiles, unit.count, shared.list[tile]);
    most = max(most, number);
    in_all += number;
    TileSums<Channels> sums;
    constexpr int fours = staged_floats(Channels) / 4;
    for (unsigned i = static_cast<unsigned>(group); i < number; i += groups) {
      sums.add(shared.staged + shared.list[tile][i] * fours, static_cast<float>(column_in_block),
               static_cast<float>(row_in_block), block.shift[tile]);
    }
    float weight[2];
    float colour[Channels][2];
    join_groups(sums.weight, weight[0], weight[1]);
#pragma unroll
    for (int c = 0; c < Channels; ++c) join_groups(sums.colour[c], colour[c][0], colour[c][1]);
    const int first_row = row_in_block + ((lane & 16) != 0 ? 4 : 0) + ((lane & 8) != 0 ? 2 : 0);
    if (block.units > 1 &&
        !take_turn<Channels>(turns, block, unit, first_row * block_side + column_in_block, weight, colour)) {
      continue;
    }
    const int column = place.first_column + column_in_block;
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int row = place.first_row + first_row + i;
      if (column >= grid.width || row >= grid.height) continue;
      const float scale = weight[i] > 0 ? inverse(weight[i]) : 0;
      float* const pixel =
          images + ((static_cast<std::int64_t>(place.picture) * grid.height + row) * grid.width + column) * Channels;
#pragma unroll
      for (int c = 0; c < Channels; ++c) pixel[c] = colour[c][i] * scale;
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
