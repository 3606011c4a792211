#pragma once
// Sums of tiles in float32, on a CUDA device: blocks of threads with a warp for each tile of a block. Not for users.
#include <holotone/smoe/model/warp_cuda.cuh>
#include <holotone/smoe/render/lists/tile_lists_cuda.cuh>

namespace holotone::smoe {

inline constexpr int sum_threads = 32 * tiles_a_block;
/// Groups of adjacent lanes, one for each column of a tile; groups take turns at the components.
inline constexpr int groups = 32 / tile_side;
inline constexpr float middle = 0.5F * (block_side - 1);  ///< middle of a block, pixels
/// Floats of a staged component: across, u, skew, down, v, peak, then colour and both slopes of each channel, u, v and
/// colours (from the block's reference) at the block's middle; a multiple of four.
constexpr int staged_floats(int channels) { return (6 + 3 * channels + 3) / 4 * 4; }

template <int Channels>
struct FloatMemory {
  float4 staged[max_in_unit * staged_floats(Channels) / 4];
  unsigned char tiles[max_in_unit];
  unsigned short list[tiles_a_block][max_in_unit];
};

__device__ __forceinline__ float inverse(float x) {
  float result;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}

/// Sums of one tile: one column of eight pixels per lane, over the components of the lane's group. `Checked`: also of
/// weights times |m_k - c|.
template <int Channels, bool Checked>
struct TileSums {
  float weight[tile_side] = {};
  float spread[Checked ? tile_side : 1] = {};
  float colour[Channels][tile_side] = {};

  __device__ __forceinline__ void add(const float4* staged, float column, float row, float least) {
    float values[staged_floats(Channels)];
#pragma unroll
    for (int i = 0; i < staged_floats(Channels) / 4; ++i) {
      const float4 four = staged[i];
      values[4 * i] = four.x;
      values[4 * i + 1] = four.y;
      values[4 * i + 2] = four.z;
      values[4 * i + 3] = four.w;
    }
    const float u = fmaf(values[0], column, values[1]);
    const float base = fmaf(-u, u, values[5] - least);
    const float v0 = fmaf(values[2], column, fmaf(values[3], row, values[4]));
    float expert[Channels];
#pragma unroll
    for (int c = 0; c < Channels; ++c) {
      expert[c] = fmaf(values[6 + 3 * c + 1], column, fmaf(values[6 + 3 * c + 2], row, values[6 + 3 * c]));
    }
#pragma unroll
    for (int i = 0; i < tile_side; ++i) {
      const float v = fmaf(values[3], static_cast<float>(i), v0);
      const float own_weight = power_of_two(fmaf(-v, v, base));
      weight[i] += own_weight;
      if constexpr (Checked) {
        float away = 0;  // at least that of any channel
#pragma unroll
        for (const float own_channel : expert) away += fabsf(own_channel);
        spread[i] = fmaf(own_weight, away, spread[i]);
      }
#pragma unroll
      for (int c = 0; c < Channels; ++c) {
        colour[c][i] = fmaf(own_weight, expert[c], colour[c][i]);
        expert[c] += values[6 + 3 * c + 2];
      }
    }
  }
};

/// Adds values[i] over all groups; each group ends with the sums of two adjacent pixels (ThreadPlace).
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
__device__ __forceinline__ void stage(const Components& components, const Frame& frame, const PictureBlock& block,
                                      const Unit& unit, const Listed* listed, FloatMemory<Channels>& shared) {
  const auto step_x = static_cast<float>(frame.step_x);
  const auto step_y = static_cast<float>(frame.step_y);
  const unsigned to_plane = block.to_plane(frame, components);
  const double left = frame.x + (block.place.first_column + static_cast<double>(middle)) * frame.step_x;
  const double top = frame.y + (block.place.first_row + static_cast<double>(middle)) * frame.step_y;
  constexpr int floats = staged_floats(Channels);
  for (unsigned i = threadIdx.x; i < unit.count; i += sum_threads) {
    const Listed entry = listed[unit.begin + i];
    const unsigned component = to_plane + entry.component;
    const Place& where = components.place[component];
    const ExactShape shape = components.exact[component];
    const Expert& expert = components.expert[component];
    // In float64: for distant components u and v are small differences of large numbers.
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
                               fmaf(-slope_y, static_cast<float>(y), expert.colour[c] - block.record.reference[c]));
      values[6 + 3 * c + 1] = slope_x;
      values[6 + 3 * c + 2] = slope_y;
    }
#pragma unroll
    for (int k = 0; k < floats / 4; ++k) {
      shared.staged[i * (floats / 4) + k] =
          make_float4(values[4 * k], values[4 * k + 1], values[4 * k + 2], values[4 * k + 3]);
    }
    shared.tiles[i] = static_cast<unsigned char>(entry.tiles);
  }
}

/// Lists the indices of the unit's components that a warp's tile needs; returns their number.
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

/// Position of a thread's pixels in its block.
struct ThreadPlace {
  int row;
  int column;

  __device__ static ThreadPlace current() {
    const int lane = static_cast<int>(threadIdx.x % 32);
    const int tile = static_cast<int>(threadIdx.x / 32);
    return {tile / tiles_across * tile_side + ((lane & 16) != 0 ? 4 : 0) + ((lane & 8) != 0 ? 2 : 0),
            tile % tiles_across * tile_side + lane % tile_side};
  }
};

/// Results of a thread: two pixels of a tile, one above the other.
template <int Channels>
struct ThreadPixels {
  float weight[2];
  float spread[2] = {};
  float colour[Channels][2];

  /// Sums the first `number` components of the warp's list; all of its lanes call it.
  template <bool Checked>
  __device__ __forceinline__ void sum(const FloatMemory<Channels>& shared, unsigned number, float column, float row,
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

  /// Calls body(number, plane, row) for all sums.
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

  /// Writes the pixels; false if the mean of |m_k - c| is too large for float32.
  __device__ __forceinline__ bool write(const PictureGrid& grid, const PictureBlock& block, float* images) const {
    bool fits = true;
    const Block& record = block.record;
    const ThreadPlace place = ThreadPlace::current();
    const int column = block.place.first_column + place.column;
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int row = block.place.first_row + place.row + i;
      if (column >= grid.width || row >= grid.height) continue;
      if (record.checked && !(spread[i] <= record.max_spread * weight[i])) fits = false;
      const float scale = weight[i] > 0 ? inverse(weight[i]) : 0;
      float* const pixel =
          images +
          ((static_cast<std::int64_t>(block.place.picture) * grid.height + row) * grid.width + column) * Channels;
#pragma unroll
      for (int c = 0; c < Channels; ++c) pixel[c] = fmaf(colour[c][i], scale, record.reference[c]);
    }
    return fits;
  }
};

/// Stages a unit and sums it; returns the number of components that the warp's tile needs. All threads call it.
template <int Channels>
__device__ __forceinline__ unsigned sum_unit(const Components& components, const Frame& frame, const Unit& unit,
                                             const PictureBlock& block, const Listed* listed,
                                             FloatMemory<Channels>& memory, ThreadPixels<Channels>& pixels) {
  stage<Channels>(components, frame, block, unit, listed, memory);
  __syncthreads();
  const auto tile = static_cast<int>(threadIdx.x / 32);
  const unsigned number = compact(memory.tiles, unit.count, memory.list[tile]);
  const float column = static_cast<float>(ThreadPlace::current().column) - middle;
  const float row = static_cast<float>(tile / tiles_across * tile_side) - middle;
  if (block.record.checked) {
    pixels.template sum<true>(memory, number, column, row, block.record.shift[tile]);
  } else {
    pixels.template sum<false>(memory, number, column, row, block.record.shift[tile]);
  }
  return number;
}

}  // namespace holotone::smoe
