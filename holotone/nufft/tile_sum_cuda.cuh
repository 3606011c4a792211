#pragma once
// A tile of grid cells that one warp sums in registers, by the tensor cores. For spread_cuda.cu. Not for users.
#include <holotone/nufft/spread_cuda.cuh>

namespace holotone::nufft {

constexpr unsigned all_lanes = 0xFFFFFFFF;
constexpr int queue_size = 64;  ///< length of the queue: at most 7 points wait before 32 more are added
constexpr int group = 8;        ///< points per matrix product

/// Points that reach the tile, queued until there are enough for a product. Positions are in window halves from the
/// tile's first cell.
struct Waiting {
  float4 point[queue_size];  ///< {x, y, re, im}
  float z[queue_size];
};

/// x = high + low, each rounded to the tensor cores' precision.
__device__ __forceinline__ void split(float x, unsigned& high, unsigned& low) {
  high = __float_as_uint(x) & 0xFFFFE000;
  low = __float_as_uint(x - __uint_as_float(high));
}

__device__ __forceinline__ void multiply(float (&c)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

/// Columns of the second factor, split once for all products with it.
struct Columns {
  unsigned high[2];
  unsigned low[2];
};

__device__ __forceinline__ void split_rows(const float (&a)[4], unsigned (&high)[4], unsigned (&low)[4]) {
#pragma unroll
  for (int i = 0; i < 4; ++i) split(a[i], high[i], low[i]);
}

/// c += a b to nearly float32: omits the product of the two low parts.
__device__ __forceinline__ void multiply(float (&c)[4], const unsigned (&high)[4], const unsigned (&low)[4],
                                         const Columns& b) {
  multiply(c, low, b.high);
  multiply(c, high, b.low);
  multiply(c, high, b.high);
}

/// Tile of a warp as accumulators of 16 x 8 x 8 products. The depth is eight points, columns are cells of the fastest
/// axis, rows are cells of the next (complex: eight of them, real parts above imaginary ones). Three dimensions: one
/// product for each plane, or for two planes of real cells.
template <std::size_t Rank, int Components, int Width>
class TileSum {
 public:
  __device__ explicit TileSum(float beta_log2)
      : beta_log2_(beta_log2), lane_(static_cast<int>(threadIdx.x % 32)), node_(static_cast<float>(lane_ / 4) * step) {}

  static constexpr float step = 2.0F / Width;  ///< cells in window halves

  /// Adds eight waiting points from `head` on.
  __device__ __forceinline__ void add(const Waiting& waiting, int head) {
    const int first = (head + lane_ % 4) % queue_size;
    const int second = (head + lane_ % 4 + 4) % queue_size;
    const float4 point[2] = {waiting.point[first], waiting.point[second]};
    if constexpr (Rank == 2) {
      add_to_blocks(point);
    } else {
      add_to_planes(point, waiting.z[first], waiting.z[second]);
    }
  }

  /// Calls store(z, y, x, numbers of two adjacent cells from x on) for all of the lane's cells.
  template <class Store>
  __device__ __forceinline__ void store(const Store& store) const {
    const int row = lane_ / 4;
    const int column = lane_ % 4 * 2;
#pragma unroll
    for (int p = 0; p < products; ++p) {
#pragma unroll
      for (int n = 0; n < blocks; ++n) {
        const float(&c)[4] = sums_[p][n];
        if constexpr (Components == 2) {
          const int z = Rank == 3 ? p : 0;
          const int y = row + (Rank == 3 ? 0 : 8 * p);
          store(z, y, n * 8 + column, make_float4(c[0], c[2], c[1], c[3]));
        } else {
          const int z = Rank == 3 ? 2 * p : 0;
          store(z, row, n * 8 + column, make_float2(c[0], c[1]));
          store(z + (Rank == 3 ? 1 : 0), row + (Rank == 3 ? 0 : 8), n * 8 + column, make_float2(c[2], c[3]));
        }
      }
    }
  }

 private:
  static constexpr int blocks = tile_cells<Rank> / 8;  ///< blocks of eight cells on an axis
  /// Accumulator blocks of 16 rows: of 8 grid rows or a plane if complex, of 16 or two planes if real.
  static constexpr int products = (Rank == 2 ? 2 : 8) * Components / 2;

  __device__ __forceinline__ float weight(float offset) const { return window_at(beta_log2_, node_ + offset); }

  __device__ __forceinline__ Columns compute_columns(const float4 (&point)[2], int block) const {
    Columns columns;
#pragma unroll
    for (int h = 0; h < 2; ++h) split(weight(block * 8 * step - point[h].x), columns.high[h], columns.low[h]);
    return columns;
  }

  /// Blocks of eight cells, two on each axis, that any of the eight windows reaches. Points come bin by bin, so most
  /// windows of a group reach the same blocks.
  struct Reached {
    bool block[2];
  };
  __device__ static Reached reached(float a, float b) {
    constexpr float margin = 1e-4F;
    return {{__any_sync(all_lanes, fminf(a, b) < 7 * step + 1 + margin) != 0,
             __any_sync(all_lanes, fmaxf(a, b) > 8 * step - 1 - margin) != 0}};
  }

  __device__ __forceinline__ void add_to_blocks(const float4 (&point)[2]) {
    const Reached across = reached(point[0].x, point[1].x);
    const Reached down = reached(point[0].y, point[1].y);
    Columns columns[blocks];
#pragma unroll
    for (int n = 0; n < blocks; ++n) {
      if (across.block[n]) columns[n] = compute_columns(point, n);
    }
    float rows[blocks][2] = {};
#pragma unroll
    for (int m = 0; m < blocks; ++m) {
      if (!down.block[m]) continue;
#pragma unroll
      for (int h = 0; h < 2; ++h) rows[m][h] = weight(m * 8 * step - point[h].y);
    }
#pragma unroll
    for (int p = 0; p < products; ++p) {
      if (Components == 2 && !down.block[p]) continue;
      float a[4];
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        a[2 * h] = rows[p][h] * point[h].z;
        a[2 * h + 1] = Components == 2 ? rows[p][h] * point[h].w : rows[blocks - 1][h] * point[h].z;
      }
      unsigned high[4];
      unsigned low[4];
      split_rows(a, high, low);
#pragma unroll
      for (int n = 0; n < blocks; ++n) {
        if (across.block[n]) multiply(sums_[p][n], high, low, columns[n]);
      }
    }
  }

  /// A lane holds the weights of plane lane / 4 for points lane % 4 and 4 more; every product needs those of one or
  /// two planes.
  __device__ __forceinline__ void add_to_planes(const float4 (&point)[2], float first_z, float second_z) {
    const float z[2] = {weight(-first_z), weight(-second_z)};
    const unsigned planes = __ballot_sync(all_lanes, z[0] != 0 || z[1] != 0);
    const Columns columns = compute_columns(point, 0);
    float rows[2];
    float re[2];
    float im[2];
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      rows[h] = weight(-point[h].y);
      re[h] = z[h] * point[h].z;
      im[h] = z[h] * point[h].w;
    }
    constexpr unsigned lanes = Components == 2 ? 0xF : 0xFF;
#pragma unroll
    for (int p = 0; p < products; ++p) {
      const int plane_lane = (Components == 2 ? p : 2 * p) * 4;
      if ((planes >> plane_lane & lanes) == 0) continue;
      float a[4];
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        const int lane = plane_lane + lane_ % 4;
        a[2 * h] = rows[h] * __shfl_sync(all_lanes, re[h], lane);
        a[2 * h + 1] =
            rows[h] * (Components == 2 ? __shfl_sync(all_lanes, im[h], lane) : __shfl_sync(all_lanes, re[h], lane + 4));
      }
      unsigned high[4];
      unsigned low[4];
      split_rows(a, high, low);
      multiply(sums_[p][0], high, low, columns);
    }
  }

  float beta_log2_;
  int lane_;
  float node_;  ///< the lane's cell of a block of eight, in window halves
  float sums_[products][blocks][4] = {};
};

}  // namespace holotone::nufft
