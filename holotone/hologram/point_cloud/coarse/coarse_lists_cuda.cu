#include <holotone/hologram/point_cloud/coarse/coarse_lists_cuda.cuh>

namespace holotone::point_cloud {
namespace {

HOLOTONE_HOST_DEVICE Extent joined(Extent first, Extent last) { return {first.first, last.last}; }
HOLOTONE_HOST_DEVICE Extent rows_of_tile(const Subtiles& subtiles, int parts, int row) {
  return joined(subtiles.row_extents(row * parts).subtile, subtiles.row_extents(row * parts + parts - 1).subtile);
}
HOLOTONE_HOST_DEVICE Extent columns_of_tile(const Subtiles& subtiles, int parts, int column) {
  return joined(subtiles.column_extents(column * parts).subtile,
                subtiles.column_extents(column * parts + parts - 1).subtile);
}

constexpr int max_parts = 4;  ///< subtiles of a tile along an axis
static_assert(max_parts * list_rounds <= 32);

/// How a point lights a tile along an axis.
enum class Along { dark, whole, cut, otherwise };

struct AlongAxis {
  Along how;
  int number;  ///< that encodes the lit strips (cut)
};

/// Pixels from a point's foot to the middle of a tile.
__device__ __forceinline__ float find_lever(const CoarseShape& shape, AxisRecord record, Extent extent) {
  return static_cast<float>(extent.first) + shape.middle() - record.x - record.y;
}

/// Number of the bin of a local frequency, which counts modulo one.
__device__ __forceinline__ int find_bin(const CoarseShape& shape, float frequency) {
  const float within = frequency - rintf(frequency);
  return min(max(static_cast<int>((within + 0.5F) * static_cast<float>(shape.bins())), 0), shape.bins() - 1);
}

/// The strips from c on are lit: strips - 1 - c. Those to c: 2 strips - 1 - c. So the points that light a strip have
/// numbers in a row.
__device__ __forceinline__ AlongAxis along(const CoarseShape& shape, AxisRecord record, Extent extent) {
  if (!meets(record, extent)) return {Along::dark, 0};
  const bool from_first = record.z <= static_cast<float>(extent.first);
  const bool to_last = record.w >= static_cast<float>(extent.last);
  if (from_first && to_last) return {Along::whole, 0};
  if (from_first == to_last) return {Along::otherwise, 0};
  const int edge = static_cast<int>(from_first ? record.w : record.z) - extent.first;
  return {Along::cut, (from_first ? 2 : 1) * shape.strips() - 1 - edge / 32};
}

/// One warp for warp_points points and a row of tiles.
template <bool Fill, bool Exact>
__global__ void __launch_bounds__(list_threads)
    gather_kernel(Subtiles subtiles, CoarseShape shape, MaskedPoints points, std::int64_t first_point,
                  std::int64_t count, int warps, int* counts, const int* begins, int* list) {
  const int warp = static_cast<int>((blockIdx.x * list_threads + threadIdx.x) / 32);
  const int lane = threadIdx.x % 32;
  if (warp >= warps) return;
  const int parts = shape.parts();
  const auto tile_row = static_cast<int>(blockIdx.y);
  const Extent rows = rows_of_tile(subtiles, parts, tile_row);
  [[maybe_unused]] const auto wave_ratio = static_cast<float>(points.wave_ratio);
  AxisRecord column_record[list_rounds];
  float twice_curvature[list_rounds];
  float row_lever[list_rounds];
  AlongAxis in_rows[list_rounds];
  unsigned in_parts = 0;  // bit 4 r + i: the point of round r lights row i of the tiles' subtiles
  unsigned coarse = 0;
#pragma unroll
  for (int r = 0; r < list_rounds; ++r) {
    const std::int64_t within = static_cast<std::int64_t>(warp) * warp_points + r * 32 + lane;
    in_rows[r] = {Along::dark, 0};
    if (within >= count) continue;
    const std::int64_t j = first_point + within;
    const AxisRecord row_record = points.rows[j];
    column_record[r] = points.columns[j];
    twice_curvature[r] = 2 * points.waves[j].x;
    in_rows[r] = along(shape, row_record, rows);
    row_lever[r] = find_lever(shape, row_record, rows);
    if (!Exact && in_rows[r].how == Along::whole)
      in_rows[r].number = find_bin(shape, twice_curvature[r] * row_lever[r]);
    coarse |= static_cast<unsigned>((points.flags[j] & may_be_coarse) != 0) << r;
    for (int part = 0; part < parts; ++part) {
      const bool lit = meets(row_record, subtiles.row_extents(tile_row * parts + part).subtile);
      in_parts |= static_cast<unsigned>(lit) << (max_parts * r + part);
    }
  }
  // The columns of tiles that some point of this warp lights.
  const int tile_columns = subtiles.columns / parts;
  int first_column = tile_columns;
  int last_column = -1;
  const auto find_column = [&](float pixel) {
    return static_cast<int>(fminf(fmaxf(pixel, 0.0F), static_cast<float>(subtiles.panel_width - 1))) /
           (subtiles.width * parts);
  };
#pragma unroll
  for (int r = 0; r < list_rounds; ++r) {
    if (in_rows[r].how == Along::dark) continue;
    first_column = min(first_column, find_column(column_record[r].z));
    last_column = max(last_column, find_column(column_record[r].w));
  }
  first_column = __reduce_min_sync(0xffffffffU, first_column);
  last_column = __reduce_max_sync(0xffffffffU, last_column);
  const unsigned below = (1U << lane) - 1;
  for (int tile_column = first_column; tile_column <= last_column; ++tile_column) {
    const Extent columns = columns_of_tile(subtiles, parts, tile_column);
    const int tile = tile_row * tile_columns + tile_column;
    const auto slot_of = [&](int of_list) { return static_cast<std::int64_t>(of_list) * warps + warp; };
    const std::int64_t slot = slot_of(subtiles.count() + coarse_kinds * tile);
    int found[coarse_kinds];
#pragma unroll
    for (int kind = 0; kind < coarse_kinds; ++kind) found[kind] = Fill ? begins[slot + kind * std::int64_t{warps}] : 0;
    unsigned rest = 0;
#pragma unroll
    for (int r = 0; r < list_rounds; ++r) {
      int kind = coarse_kinds;
      unsigned number = 0;
      if (in_rows[r].how != Along::dark) {
        AlongAxis in_columns = along(shape, column_record[r], columns);
        if (in_columns.how != Along::dark) {
          const float lever = find_lever(shape, column_record[r], columns);
          float bend = twice_curvature[r];
          if constexpr (Exact) {
            const float slope = bend * wave_ratio;  // 1 / |d|
            bend *= rsqrtf(1 + slope * slope * (lever * lever + row_lever[r] * row_lever[r]));
            if (in_rows[r].how == Along::whole) in_rows[r].number = find_bin(shape, bend * row_lever[r]);
          }
          if (in_columns.how == Along::whole) in_columns.number = find_bin(shape, bend * lever);
          const bool is_coarse = (coarse >> r & 1U) != 0;
          if (is_coarse && in_rows[r].how == Along::whole && in_columns.how != Along::otherwise) {
            kind = in_columns.how == Along::whole ? lit_wholly : cut_columns;
            number = in_rows[r].number * shape.bins() + in_columns.number;
          } else if (is_coarse && in_rows[r].how == Along::cut && in_columns.how == Along::whole) {
            kind = cut_rows;
            number = in_columns.number * shape.bins() + in_rows[r].number;
          } else {
            rest |= 1U << r;
          }
        }
      }
      if (!__any_sync(0xffffffffU, kind != coarse_kinds)) continue;
      const unsigned index = static_cast<unsigned>(warp * warp_points + r * 32 + lane);
#pragma unroll
      for (int k = 0; k < coarse_kinds; ++k) {
        const unsigned mask = __ballot_sync(0xffffffffU, kind == k);
        if (Fill && kind == k) {
          list[found[k] + __popc(mask & below)] = static_cast<int>(index | number << coarse_index_bits);
        }
        found[k] += __popc(mask);
      }
    }
    if (!Fill && lane == 0) {
#pragma unroll
      for (int kind = 0; kind < coarse_kinds; ++kind) counts[slot + kind * std::int64_t{warps}] = found[kind];
    }
    if (!__any_sync(0xffffffffU, rest != 0)) continue;
    for (int part = 0; part < parts * parts; ++part) {
      const int column = tile_column * parts + part % parts;
      const Extent extent = subtiles.column_extents(column).subtile;
      const std::int64_t own_slot = slot_of((tile_row * parts + part / parts) * subtiles.columns + column);
      int place = Fill ? begins[own_slot] : 0;
#pragma unroll
      for (int r = 0; r < list_rounds; ++r) {
        const bool listed =
            (rest >> r & in_parts >> (max_parts * r + part / parts) & 1U) != 0 && meets(column_record[r], extent);
        const unsigned mask = __ballot_sync(0xffffffffU, listed);
        if (Fill && listed) {
          list[place + __popc(mask & below)] = static_cast<int>(first_point) + warp * warp_points + r * 32 + lane;
        }
        place += __popc(mask);
      }
      if (!Fill && lane == 0) counts[own_slot] = place;
    }
  }
}

template <bool Fill>
void gather(const Subtiles& subtiles, const CoarseShape& shape, const MaskedPoints& points, std::int64_t first,
            std::int64_t count, int* counts, const int* begins, int* list, cudaStream_t stream) {
  const auto warps = static_cast<int>((count + warp_points - 1) / warp_points);
  const dim3 blocks(cuda::blocks_for(std::int64_t{32} * warps, list_threads),
                    static_cast<unsigned>(subtiles.rows / shape.parts()));
  const auto kernel = points.wave_ratio > 0 ? gather_kernel<Fill, true> : gather_kernel<Fill, false>;
  kernel<<<blocks, list_threads, 0, stream>>>(subtiles, shape, points, first, count, warps, counts, begins, list);
  cuda::check_launch("coarse lists");
}

}  // namespace

int coarse_tiles(const Subtiles& subtiles, const CoarseShape& shape) {
  return subtiles.count() / (shape.parts() * shape.parts());
}

CoarseTile coarse_tile(const Subtiles& subtiles, const CoarseShape& shape, int number) {
  const int tile_columns = subtiles.columns / shape.parts();
  const Extent rows = rows_of_tile(subtiles, shape.parts(), number / tile_columns);
  const Extent columns = columns_of_tile(subtiles, shape.parts(), number % tile_columns);
  return {rows.first, columns.first, rows.last - rows.first + 1, columns.last - columns.first + 1, {}, {}};
}

void count_coarse(const Subtiles& subtiles, const CoarseShape& shape, const MaskedPoints& points, std::int64_t first,
                  std::int64_t count, int* counts, cudaStream_t stream) {
  gather<false>(subtiles, shape, points, first, count, counts, nullptr, nullptr, stream);
}

void list_coarse(const Subtiles& subtiles, const CoarseShape& shape, const MaskedPoints& points, std::int64_t first,
                 std::int64_t count, const int* begins, int* list, cudaStream_t stream) {
  gather<true>(subtiles, shape, points, first, count, nullptr, begins, list, stream);
}

}  // namespace holotone::point_cloud
