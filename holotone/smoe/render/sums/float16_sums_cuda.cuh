#pragma once
// Sums of tiles on tensor cores, with weights in half precision, on a CUDA device. Not for users.
//
// With dx and dy from the block's middle and every m_k - c affine in them, a pixel's sums
//   sum of w_k {e_k, x_k, y_k, 1, q_k}     so that   y - c = (sum of w e + dx sum of w x + dy sum of w y) / sum of w
// are products of a matrix of weights, pixels by components, and one of numbers that all pixels share. A half holds a
// weight within 2^-11 of itself or 2^-25; two halves hold each of the other numbers. With A_k >= |m_k - c| in half of
// the block and weights of relative error r in float32,
//   error <= sum of ((2^-11 + r) w_k + 2^-25) |m_k - y| / sum of w_k
//         <= (2^-11 + r) root mean square of A_k + number 2^-25 (largest A_k + |y - c|) / sum of w_k
// because the mean square of |m_k - y| is no larger than that of |m_k - c|. The sum of w_k q_k, with q_k = A_k^2, shows
// whether the error is within the tolerance left. Blocks where it is not are summed in float32.
//
// Down a column of pixels the log2 density is a parabola: the ratio of a weight to the one above it changes by a
// constant factor.
#include <cuda_fp16.h>
#include <holotone/smoe/render/sums/float32_sums_cuda.cuh>

namespace holotone::smoe {

/// Components of a matrix product.
inline constexpr unsigned half_step = 8;
/// Components steeper than this per pixel, downwards, have one power of two for each weight of a column. Others derive
/// a column's weights from the one in row `column_anchor`: if that is below the least float32, no weight is above
/// 2^-30.
inline constexpr float steepest_column = 1.25F;
inline constexpr int column_anchor = 3;
/// Ratio of skew to width above which v is computed in float64: it is a small difference.
inline constexpr float max_tilt = 2;
/// 2^-25 over 2^-11, with a margin.
inline constexpr float rounded_away = 6.2e-5F;

/// Sizes of a tile's list.
struct alignas(16) HalfCounts {
  unsigned components;
  unsigned flat;   ///< steps of half_step components
  unsigned steep;  ///< steps of steep components
  unsigned first_steep;
};

struct HalfMemory {
  /// {across, u}, {skew, down}, {v, peak}, {-2 down, 2^(-2 down^2)}. The last component, for padding, has weight 0.
  float2 gate[4][max_in_unit + 1];
  /// Rows of the matrix, 24 halves each: {e, x} of three channels, 1, q of the upper half; remainders of e and x, 0, 0;
  /// {y, remainder of y} of three channels, q of the lower half, 0.
  uint4 row[max_in_unit + 1][3];
  unsigned needed[tiles_a_block][max_in_unit / 32];  ///< bit masks of the components of each tile
  unsigned steep[max_in_unit / 32];
  unsigned short list[tiles_a_block][max_in_unit + 2 * half_step];
  HalfCounts counts[tiles_a_block];
  unsigned max_away;  ///< largest A_k, as bits
};

__device__ __forceinline__ unsigned pack_halves(float low, float high) {
  unsigned both;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
  return both;
}
__device__ __forceinline__ float2 unpack_halves(unsigned both) {
  return __half22float2(*reinterpret_cast<const __half2*>(&both));
}

/// d += a b: sixteen rows of eight halves by eight rows of eight.
__device__ __forceinline__ void add_product(float (&d)[4], unsigned a0, unsigned a1, unsigned b) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a0), "r"(a1), "r"(b));
}

/// Writes a component's part of the memory; returns A_k.
template <int Channels>
__device__ __forceinline__ float stage_component(const Components& components, unsigned component, const Frame& frame,
                                                 double left, double top, const float (&reference)[max_half_channels],
                                                 unsigned i, HalfMemory& memory) {
  const Place place = load_words(components.place + component);
  const Expert expert = load_words(components.expert + component);
  const auto step_x = static_cast<float>(frame.step_x);
  const auto step_y = static_cast<float>(frame.step_y);
  const double exact_x = (place.x - left) * frame.a_step_x;
  const double exact_y = (place.y - top) * frame.a_step_y;
  const auto x = static_cast<float>(exact_x);
  const auto y = static_cast<float>(exact_y);
  const float across = place.across * step_x;
  const float skew = place.skew * step_x;
  const float down = place.down * step_y;
  float v = -fmaf(skew, x, down * y);
  if (fabsf(skew) > max_tilt * across) {
    const ExactShape& shape = components.exact[component];
    v = static_cast<float>(-shape.skew * frame.step_x * exact_x - shape.down * frame.step_y * exact_y);
  }
  memory.gate[0][i] = make_float2(across, -across * x);
  memory.gate[1][i] = make_float2(skew, down);
  memory.gate[2][i] = make_float2(v, place.peak);
  memory.gate[3][i] = make_float2(-2 * down, power_of_two(-2 * down * down));
  unsigned first[4] = {};
  unsigned rest[4] = {};
  unsigned second[4] = {};
  float above = 0;
  float below = 0;
  float finite = 0;  // NaN if a colour is not finite: maxima ignore NaN
#pragma unroll
  for (int c = 0; c < Channels; ++c) {
    const float slope_x = expert.slope_x[c] * step_x;
    const float slope_y = expert.slope_y[c] * step_y;
    const float e = fmaf(-slope_x, x, fmaf(-slope_y, y, expert.colour[c] - reference[c]));
    const float around = fmaf(middle, fabsf(slope_x), 0.5F * (tile_side - 1) * fabsf(slope_y));
    above = fmaxf(above, fabsf(fmaf(-0.5F * tile_side, slope_y, e)) + around);
    below = fmaxf(below, fabsf(fmaf(0.5F * tile_side, slope_y, e)) + around);
    finite = fmaf(0.0F, e, finite);
    first[c] = pack_halves(e, slope_x);
    const float2 held = unpack_halves(first[c]);
    rest[c] = pack_halves(e - held.x, slope_x - held.y);
    second[c] = pack_halves(slope_y, slope_y - unpack_halves(pack_halves(slope_y, slope_y)).x);
  }
  const auto square = [](float away) { return fmaf(1.001F * away, away, 1e-6F); };  // rounded up: not smaller as a half
  first[3] = pack_halves(1, square(above));
  second[3] = pack_halves(square(below), 0);
  memory.row[i][0] = make_uint4(first[0], first[1], first[2], first[3]);
  memory.row[i][1] = make_uint4(rest[0], rest[1], rest[2], rest[3]);
  memory.row[i][2] = make_uint4(second[0], second[1], second[2], second[3]);
  return fmaxf(above, below) + finite;
}

/// Makes the list of a warp's tile: flat components from the front, steep ones from the end, both padded with the
/// component of weight 0.
__device__ __forceinline__ void make_list(HalfMemory& memory, unsigned count) {
  constexpr unsigned room = max_in_unit + 2 * half_step;
  const unsigned lane = threadIdx.x % 32;
  const unsigned warp = threadIdx.x / 32;
  unsigned short* const list = memory.list[warp];
  const unsigned before = (1U << lane) - 1;
  unsigned at_front = 0;
  unsigned at_end = 0;
  for (unsigned chunk = 0; chunk * 32 < count; ++chunk) {
    const unsigned needed = memory.needed[warp][chunk];
    const unsigned end = needed & memory.steep[chunk];
    const unsigned front = needed ^ end;
    if ((needed >> lane & 1U) != 0) {
      const bool is_steep = (end >> lane & 1U) != 0;
      list[is_steep ? room - 1 - at_end - __popc(end & before) : at_front + __popc(front & before)] =
          static_cast<unsigned short>(chunk * 32 + lane);
    }
    at_front += __popc(front);
    at_end += __popc(end);
  }
  const unsigned flat = (at_front + half_step - 1) / half_step;
  const unsigned steep = (at_end + half_step - 1) / half_step;
  if (lane < half_step) {
    if (at_front + lane < flat * half_step) list[at_front + lane] = max_in_unit;
    if (at_end + lane < steep * half_step) list[room - 1 - at_end - lane] = max_in_unit;
  }
  if (lane == 0) memory.counts[warp] = {at_front + at_end, flat, steep, room - steep * half_step};
  __syncwarp();
}

/// Sums of a tile: a lane holds column lane / 4 of its pixels, and of their sums channel lane % 4; every fourth lane
/// {1, q}.
struct HalfSums {
  float first[tile_side / 2][4] = {};  ///< sums of two rows of pixels
  float second[tile_side / 2][4] = {};

  /// Computes the weights of a component in the lane's column. `row`: row `column_anchor` from the block's middle.
  template <bool Steep>
  __device__ static __forceinline__ void weigh(const HalfMemory& memory, unsigned i, float column, float row,
                                               float least, float (&weight)[tile_side]) {
    const auto [across, u0] = memory.gate[0][i];
    const auto [skew, down] = memory.gate[1][i];
    const auto [v0, peak] = memory.gate[2][i];
    const auto [fall, curve] = memory.gate[3][i];
    const float u = fmaf(across, column, u0);
    const float v = fmaf(skew, column, fmaf(down, row, v0));
    const float base = fmaf(-u, u, peak - least);
    if constexpr (Steep) {
#pragma unroll
      for (int i = 0; i < tile_side; ++i) {
        const float value = fmaf(down, static_cast<float>(i - column_anchor), v);
        weight[i] = power_of_two(fmaf(-value, value, base));
      }
    } else {
      constexpr float most = 100;
      const float bend = -down * down;
      float below = power_of_two(fminf(fmaf(fall, v, bend), most));
      float above = power_of_two(fminf(fmaf(-fall, v, bend), most));
      weight[column_anchor] = power_of_two(fmaf(-v, v, base));
#pragma unroll
      for (int i = column_anchor + 1; i < tile_side; ++i) {
        weight[i] = weight[i - 1] * below;
        below *= curve;
      }
#pragma unroll
      for (int i = column_anchor - 1; i >= 0; --i) {
        weight[i] = weight[i + 1] * above;
        above *= curve;
      }
    }
  }

  /// Adds the components of `steps` steps of a list. All lanes call it.
  template <bool Steep>
  __device__ __forceinline__ void add(const HalfMemory& memory, const unsigned short* list, unsigned steps,
                                      float column, float row, float least) {
    const unsigned lane = threadIdx.x % 32;
    const unsigned short* const of_matrix = list + lane % half_step;
    const unsigned short* const of_lane = list + 2 * (lane % 4);
    const auto rows = static_cast<unsigned>(__cvta_generic_to_shared(&memory.row[0][min(lane / half_step, 2U)]));
    for (unsigned step = 0; step < steps; ++step) {
      const unsigned two = *reinterpret_cast<const unsigned*>(of_lane + step * half_step);
      float weight0[tile_side];
      float weight1[tile_side];
      weigh<Steep>(memory, two & 0xFFFFU, column, row, least, weight0);
      weigh<Steep>(memory, two >> 16, column, row, least, weight1);
      // Eight lanes give the addresses of the rows of each matrix.
      unsigned b[4];
      asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                   : "=r"(b[0]), "=r"(b[1]), "=r"(b[2]), "=r"(b[3])
                   : "r"(rows + of_matrix[step * half_step] * static_cast<unsigned>(sizeof(memory.row[0])))
                   : "memory");
#pragma unroll
      for (int i = 0; i < tile_side / 2; ++i) {
        const unsigned a0 = pack_halves(weight0[2 * i], weight1[2 * i]);
        const unsigned a1 = pack_halves(weight0[2 * i + 1], weight1[2 * i + 1]);
        add_product(first[i], a0, a1, b[0]);
        add_product(second[i], a0, a1, b[2]);
        add_product(first[i], a0, a1, b[1]);
      }
    }
  }
};

/// Fills the memory with a block's components for one of its pictures; makes their lists unless `listed` from another
/// picture. All threads call it.
template <int Channels>
__device__ __forceinline__ void stage_halves(const Components& components, const Frame& frame, const ListStore& store,
                                             const PictureBlock& block, bool listed, HalfMemory& memory) {
  const unsigned lane = threadIdx.x % 32;
  const unsigned to_plane = block.to_plane(frame, components);
  const unsigned count = store.chunk[block.number].count;
  float reference[max_half_channels];
#pragma unroll
  for (int c = 0; c < Channels; ++c) reference[c] = block.record.reference[c];
  if (!listed) {
    if (threadIdx.x == 0) {
      memory.gate[0][max_in_unit] = make_float2(0, 0);
      memory.gate[1][max_in_unit] = make_float2(0, 0);
      memory.gate[2][max_in_unit] = make_float2(0, -1e30F);
      memory.gate[3][max_in_unit] = make_float2(0, 1);
      for (uint4& part : memory.row[max_in_unit]) part = make_uint4(0, 0, 0, 0);
      memory.max_away = 0;
    }
    __syncthreads();
  }
  const double left = frame.x + (block.place.first_column + static_cast<double>(middle)) * frame.step_x;
  const double top = frame.y + (block.place.first_row + static_cast<double>(middle)) * frame.step_y;
  for (unsigned i = threadIdx.x; i - lane < count; i += sum_threads) {
    unsigned tiles = 0;
    float away = 0;
    if (i < count) {
      const Listed entry = store.listed[block.number * max_in_unit + i];
      tiles = entry.tiles;
      away = stage_component<Channels>(components, to_plane + entry.component, frame, left, top, reference, i, memory);
    }
    const unsigned max_away = __reduce_max_sync(all_lanes, __float_as_uint(away));
    if (lane == 0) atomicMax(&memory.max_away, max_away);
    if (listed) continue;
    const unsigned steep = __ballot_sync(all_lanes, i < count && memory.gate[1][i].y > steepest_column);
#pragma unroll
    for (int tile = 0; tile < tiles_a_block; ++tile) {
      const unsigned needed = __ballot_sync(all_lanes, (tiles >> tile & 1U) != 0);
      if (lane == tile) memory.needed[tile][i / 32] = needed;
    }
    if (lane == 0) memory.steep[i / 32] = steep;
  }
  __syncthreads();
  if (!listed) make_list(memory, count);
}

/// Sums and writes a block of one picture; `listed`: with the lists of the previous one. False if that is not precise
/// enough. All threads call it.
template <int Channels>
__device__ __forceinline__ bool sum_halves(const Components& components, const Frame* frames, const PictureGrid& grid,
                                           const ListStore& store, unsigned number, bool listed, HalfMemory& memory,
                                           float* images) {
  const PictureBlock block(store, grid, number);
  stage_halves<Channels>(components, frames[block.place.picture], store, block, listed, memory);
  const unsigned lane = threadIdx.x % 32;
  const unsigned warp = threadIdx.x / 32;
  const HalfCounts counts = memory.counts[warp];
  const float shift = block.record.shift[warp] + block.record.half_above;
  const int first_row = static_cast<int>(warp / tiles_across * tile_side);
  const int own_column = static_cast<int>(warp % tiles_across * tile_side + lane / 4);
  const float dx = static_cast<float>(own_column) - middle;
  const float dy = static_cast<float>(first_row) - middle;
  HalfSums sums;
  const unsigned short* const list = memory.list[warp];
  sums.add<false>(memory, list, counts.flat, dx, dy + column_anchor, shift);
  if (counts.steep > 0) {
    sums.add<true>(memory, list + counts.first_steep, counts.steep, dx, dy + column_anchor, shift);
  }
  // Read only now: before, the sums need the registers.
  const BlockPlace& place = block.place;
  const float spread = block.record.half_spread;
  const float lost = rounded_away * static_cast<float>(counts.components) * (__uint_as_float(memory.max_away) + spread);
  const auto channel = static_cast<int>(lane % 4);
  const int column = place.first_column + own_column;
  const int rows = column < grid.width ? min(tile_side, grid.height - place.first_row - first_row) : 0;
  bool holds = true;
  float inverses[tile_side];
#pragma unroll
  for (int i = 0; i < tile_side; ++i) {
    const float own_weight = sums.first[i / 2][i % 2 * 2];
    const float squares = warp < tiles_across ? sums.first[i / 2][i % 2 * 2 + 1] : sums.second[i / 2][i % 2 * 2];
    const float own_inverse = inverse(own_weight);
    const float room = fmaf(-lost, own_inverse, spread);
    holds &= (i >= rows) | ((room > 0) & (squares <= room * room * own_weight));
    inverses[i] = __shfl_sync(all_lanes, own_inverse, static_cast<int>(lane | 3U));
  }
  // All tiles are written; if one is not precise enough, the block is summed again in float32.
  if (channel < Channels) {
    const float own_reference = block.record.reference[channel];
    const std::int64_t first_of_picture =
        static_cast<std::int64_t>(place.picture) * grid.height + place.first_row + first_row;
    float* pixel = images + (first_of_picture * grid.width + column) * Channels + channel;
#pragma unroll
    for (int i = 0; i < tile_side; ++i) {
      const float* const first = sums.first[i / 2] + i % 2 * 2;
      const float* const second = sums.second[i / 2] + i % 2 * 2;
      const float slope_y = second[0] + second[1];
      const float colour = fmaf(first[1], dx, fmaf(slope_y, dy + static_cast<float>(i), first[0]));
      if (i < rows) *pixel = fmaf(colour, inverses[i], own_reference);
      pixel += grid.width * Channels;
    }
  }
  if (__syncthreads_or(channel == 3 && !holds)) return false;
  if (lane == 0) tally(store, blockIdx.x, counts.components, counts.components);
  return true;
}

}  // namespace holotone::smoe
