// Masked products on Hopper. A block sums 128 x 128 pixels over a list of points, 64 at a time. Two warpgroups write
// factors X = exp(2 pi i a u^2) and Y = A exp(2 pi i (a v^2 + phi)) in fp16 to shared memory, zero where a point does
// not light a column or row. Two others multiply them:
//     Re = Yr Xr - Yi Xi, Im = Yr Xi + Yi Xr.
#include <algorithm>
#include <cuda_fp16.h>
#include <holotone/core/wgmma_cuda.cuh>
#include <holotone/hologram/point_cloud/masked_products_cuda.cuh>
#include <limits>

namespace holotone::point_cloud {
namespace {

constexpr int side = subtile_side;
constexpr int pixels = side * side;
constexpr int step_points = cuda::wgmma_depth;
constexpr int stages = 3;
constexpr int matrix_bytes = side * cuda::wgmma_row_bytes;
constexpr int stage_bytes = 4 * matrix_bytes;  ///< Yr, Yi, Xr, Xi
constexpr int shared_alignment = 1024;
constexpr int shared_bytes = stages * stage_bytes + shared_alignment;
constexpr int product_threads = 4 * cuda::warpgroup_threads;
constexpr int gather_threads = 256;
constexpr int gather_rounds = 8;
constexpr int warp_points = 32 * gather_rounds;  ///< that a warp of gather_kernel tests
constexpr int add_threads = 256;
constexpr float y_scale = 1024;  ///< keeps the parts of dim points normal numbers in fp16
constexpr std::int64_t least_job = 512;
constexpr std::int64_t most_job = 4096;
/// Jobs that a cloud of short lists is divided into: six for each of an H200's multiprocessors, on every card, for the
/// same bits.
constexpr std::int64_t even_jobs = std::int64_t{6} * 132;
constexpr std::int64_t most_jobs = 2048;  ///< of a launch: 256 MiB of sums

constexpr int never_whole = 1;    ///< the point's curvature is outside the grid's range
constexpr int may_be_coarse = 2;  ///< CoarseSums may sum the point

/// A point along an axis, in pixels: its place is whole + rest, it lights `first` to `last`.
using AxisRecord = float4;  // {whole, rest, first, last}

using Records = CoarsePoints;
Records records_of(const Array<float4, 1>& all, std::int64_t count) {
  return {all.data(), all.data() + count, all.data() + 2 * count};
}

__global__ void __launch_bounds__(gather_threads)
    record_kernel(FastGrid grid, RawPoints points, AxisRecord* columns, AxisRecord* rows, float4* waves, int* flags) {
  const std::int64_t j = blockIdx.x * static_cast<std::int64_t>(gather_threads) + threadIdx.x;
  if (j >= points.count) return;
  const double distance = -static_cast<double>(points.position[3 * j + 2]);
  const double x = points.position[3 * j] * points.inverse_pitch + points.center_x;
  const double y = points.center_y - points.position[3 * j + 1] * points.inverse_pitch;
  const double turns = points.phase_rad != nullptr ? points.phase_rad[j] * 0.15915494309189535 : 0.0;
  const double reach = points.reach_per_metre > 0 ? __dmul_rn(points.reach_per_metre, fabs(distance)) : 1e30;
  const double a = points.turns_metre / distance;
  const PointRecord record = record_of(x, y, a, reach, points.amplitude[j], turns);
  columns[j] = make_float4(record.position.x, record.position.y, record.lit.x, record.lit.y);
  rows[j] = make_float4(record.position.z, record.position.w, record.lit.z, record.lit.w);
  waves[j] = record.wave;
  const bool is_whole = a >= grid.lowest_curvature && a <= grid.highest_curvature;
  const bool is_coarse = grid.coarse && fabs(a - grid.coarse_curvature) <= most_coarse_curvature;
  flags[j] = (is_whole ? 0 : never_whole) | (is_coarse ? may_be_coarse : 0);
}

/// Pixels [first, last] of a subtile, or of its tile, along an axis.
struct Extent {
  int first;
  int last;
};
struct SubtileExtents {
  Extent own;
  Extent tile;
};
__host__ __device__ inline SubtileExtents extents_of(int number, int a_tile, int tile_extent, int extent,
                                                     int panel_extent) {
  const int tile_first = number / a_tile * tile_extent;
  const int tile_last = (tile_first + tile_extent < panel_extent ? tile_first + tile_extent : panel_extent) - 1;
  const int first = tile_first + number % a_tile * extent;
  return {{first, first + extent - 1 < tile_last ? first + extent - 1 : tile_last}, {tile_first, tile_last}};
}
__host__ __device__ inline SubtileExtents columns_of(const Subtiles& s, int column) {
  return extents_of(column, s.across_tile, s.tile_width, s.width, s.panel_width);
}
__host__ __device__ inline SubtileExtents rows_of(const Subtiles& s, int row) {
  return extents_of(row, s.down_tile, s.tile_height, s.height, s.panel_height);
}

__device__ __forceinline__ bool meets(AxisRecord record, Extent extent) {
  return record.z <= static_cast<float>(extent.last) && record.w >= static_cast<float>(extent.first) &&
         extent.first <= extent.last;
}
__device__ __forceinline__ bool covers(AxisRecord record, Extent extent) {
  return record.z <= static_cast<float>(extent.first) && record.w >= static_cast<float>(extent.last);
}

/// Pixels from a point to the middle of a subtile: times twice the curvature the local frequency.
__device__ __forceinline__ float frequency_lever(AxisRecord record, Extent extent) {
  return static_cast<float>(extent.first) + 0.5F * (side - 1) - record.x - record.y;
}

/// Counts (Fill false) or lists, in their order, the points that light a subtile of a tile that they do not light
/// wholly: one warp for warp_points points and a row of subtiles. counts[subtile][warp], begins: sums of those before.
/// Coarse: counts[subtile][0: in part, 1: the subtile wholly][warp]; the latter are listed with their bins.
template <bool Fill, bool Coarse>
__global__ void __launch_bounds__(gather_threads)
    gather_kernel(Subtiles subtiles, Records records, const int* flags, std::int64_t first_point, std::int64_t count,
                  int warps, int* counts, const int* begins, int* list) {
  const int warp = static_cast<int>((blockIdx.x * gather_threads + threadIdx.x) / 32);
  const int lane = threadIdx.x % 32;
  if (warp >= warps) return;
  const SubtileExtents row = rows_of(subtiles, static_cast<int>(blockIdx.y));
  AxisRecord column_record[gather_rounds];
  unsigned in_row = 0;  // bit r: the point of round r lights the row
  unsigned whole_row = 0;
  unsigned coarse_row = 0;  // bit r: it lights the row wholly, and may be coarse
  int bin_row[gather_rounds];
  float twice_curvature[gather_rounds];
#pragma unroll
  for (int r = 0; r < gather_rounds; ++r) {
    const std::int64_t within = static_cast<std::int64_t>(warp) * warp_points + r * 32 + lane;
    if (within >= count) continue;
    const std::int64_t j = first_point + within;
    const AxisRecord row_record = records.rows[j];
    column_record[r] = records.columns[j];
    in_row |= static_cast<unsigned>(meets(row_record, row.own)) << r;
    whole_row |= static_cast<unsigned>(covers(row_record, row.tile) && (flags[j] & never_whole) == 0) << r;
    if constexpr (Coarse) {
      coarse_row |= static_cast<unsigned>(covers(row_record, row.own) && (flags[j] & may_be_coarse) != 0) << r;
      twice_curvature[r] = 2 * records.waves[j].x;
      bin_row[r] = coarse_bin(twice_curvature[r] * frequency_lever(row_record, row.own));
    }
  }
  if (Fill && !__any_sync(0xffffffffU, in_row != 0)) return;
  for (int column = 0; column < subtiles.columns; ++column) {
    const SubtileExtents extents = columns_of(subtiles, column);
    const int subtile = static_cast<int>(blockIdx.y) * subtiles.columns + column;
    const std::int64_t slot = static_cast<std::int64_t>(subtile) * (Coarse ? 2 : 1) * warps + warp;
    int found = Fill ? begins[slot] : 0;
    int found_coarse = Fill && Coarse ? begins[slot + warps] : 0;
#pragma unroll
    for (int r = 0; r < gather_rounds; ++r) {
      const bool whole = (whole_row >> r & 1U) != 0 && covers(column_record[r], extents.tile);
      bool listed = (in_row >> r & 1U) != 0 && !whole && meets(column_record[r], extents.own);
      if constexpr (Coarse) {
        const bool coarse = listed && (coarse_row >> r & 1U) != 0 && covers(column_record[r], extents.own);
        listed = listed && !coarse;
        const unsigned mask = __ballot_sync(0xffffffffU, coarse);
        if (Fill && coarse) {
          const int bin = bin_row[r] * coarse_bins +
                          coarse_bin(twice_curvature[r] * frequency_lever(column_record[r], extents.own));
          list[found_coarse + __popc(mask & ((1U << lane) - 1))] =
              static_cast<int>(static_cast<unsigned>(first_point + warp * warp_points + r * 32 + lane) |
                               static_cast<unsigned>(bin) << coarse_index_bits);
        }
        found_coarse += __popc(mask);
      }
      const unsigned mask = __ballot_sync(0xffffffffU, listed);
      if constexpr (Fill) {
        if (listed) {
          list[found + __popc(mask & ((1U << lane) - 1))] =
              static_cast<int>(first_point) + warp * warp_points + r * 32 + lane;
        }
      }
      found += __popc(mask);
    }
    if (!Fill && lane == 0) {
      counts[slot] = found;
      if (Coarse) counts[slot + warps] = found_coarse;
    }
  }
}

/// Place in the list of each subtile's (and class's) first point, and the length of the list.
__global__ void begin_kernel(int subtiles, int warps, const int* begins, int* list_begin) {
  const int subtile = blockIdx.x * gather_threads + threadIdx.x;
  if (subtile <= subtiles) list_begin[subtile] = begins[static_cast<std::int64_t>(subtile) * warps];
}

#if HOLOTONE_WGMMA_CODE

constexpr int factor_registers = 88;
constexpr int product_registers = 168;
constexpr int factor_warps = 8;
constexpr int product_warps = 8;
constexpr int run = 32;  ///< pixels of a factor warp's rows of shared memory

/// Two points of a lane along an axis.
struct PointPair {
  AxisRecord place[2];
  float4 wave[2];
};

/// Phases of a point along a run, in fixed point: Shimobaba et al. 2010, Eq. (2).
struct Run {
  unsigned gamma;
  unsigned delta;
  unsigned second_difference;
  unsigned lit;  ///< bits of the pixels
};

__device__ __forceinline__ Run run_of(const AxisRecord& place, const float4& wave, int first, bool of_rows) {
  const double a = static_cast<double>(wave.x) + static_cast<double>(wave.y);
  const double u = (static_cast<double>(first) - static_cast<double>(place.x)) - static_cast<double>(place.y);
  // Half a turn more: unit_of subtracts it.
  const double turns = a * u * u + (of_rows ? static_cast<double>(wave.w) : 0.0) + 0.5;
  const int lit_first = max(static_cast<int>(fmaxf(place.z - static_cast<float>(first), 0.0F)), 0);
  const int lit_last = static_cast<int>(fminf(place.w - static_cast<float>(first), static_cast<float>(run - 1)));
  const unsigned lit = lit_last < lit_first ? 0U : (0xffffffffU >> (run - 1 - lit_last)) & (0xffffffffU << lit_first);
  return {fixed_turns(turns), fixed_turns(a * (2 * u + 1)), fixed_turns(2 * a), lit};
}

/// exp(2 pi i (gamma / 2^32 - 1/2)).
__device__ __forceinline__ float2 unit_of(unsigned gamma) {
  // The top 23 bits form a float in [1, 2).
  const float angle = fmaf(__uint_as_float((gamma >> 9) | 0x3f800000U), 6.28318531F, -9.42477796F);
  float2 value;
  __sincosf(angle, &value.y, &value.x);
  return value;
}

__device__ __forceinline__ void store_halves(std::uint32_t address, float left, float right) {
  const __half2 both = __floats2half2_rn(left, right);
  asm volatile("st.shared.b32 [%0], %1;" ::"r"(address), "r"(*reinterpret_cast<const unsigned*>(&both)) : "memory");
}

/// Writes the factors of two points for `run` pixels. `row` is the address of this lane's pair in the first one.
template <bool OfRows, bool Masked>
__device__ __forceinline__ void write_factors(Run (&runs)[2], const float (&weight)[2], std::uint32_t row) {
  // Longer bodies do not fit in the instruction caches: 32 pixels take 1.7 times as long.
#pragma unroll 1
  for (int first = 0; first < run; first += 8) {
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      float2 value[2];
#pragma unroll
      for (int p = 0; p < 2; ++p) {
        value[p] = unit_of(runs[p].gamma);
        const bool dark = Masked && (runs[p].lit & (1U << i)) == 0;
        if constexpr (OfRows) {
          const float own = dark ? 0.0F : weight[p];
          value[p].x *= own;
          value[p].y *= own;
        } else if (dark) {
          value[p] = make_float2(0, 0);
        }
        runs[p].gamma += runs[p].delta;
        runs[p].delta += runs[p].second_difference;
      }
      const std::uint32_t at = (row ^ (static_cast<std::uint32_t>(i) << 4)) + i * cuda::wgmma_row_bytes;
      store_halves(at, value[0].x, value[1].x);
      store_halves(at + matrix_bytes, value[0].y, value[1].y);
    }
    row += 8 * cuda::wgmma_row_bytes;
    runs[0].lit >>= 8;
    runs[1].lit >>= 8;
  }
}

/// Makes the factors of a job's points along one axis.
template <bool OfRows>
__device__ __forceinline__ void make_factors(const Records& records, const int* list, const MaskedJob& job, int first,
                                             float largest, std::uint32_t shared, std::uint64_t* full,
                                             std::uint64_t* empty, int& stage, unsigned& phase) {
  const int lane = threadIdx.x % 32;
  const int own_run = threadIdx.x / 32 % 4 * run;
  const int steps = (job.count + step_points - 1) / step_points;
  const AxisRecord* const places = OfRows ? records.rows : records.columns;
  const auto index_at = [&](int step, int p) {
    const int k = step * step_points + p * 32 + lane;
    return k < job.count ? list[job.first + k] : -1;
  };
  const auto load = [&](const int(&index)[2]) {
    PointPair pair;
#pragma unroll
    for (int p = 0; p < 2; ++p) {
      const bool present = index[p] >= 0;
      pair.place[p] = present ? places[index[p]] : make_float4(0, 0, 1, 0);
      pair.wave[p] = present ? records.waves[index[p]] : make_float4(0, 0, 0, 0);
    }
    return pair;
  };
  int index[2] = {index_at(0, 0), index_at(0, 1)};
  PointPair next = load(index);
  index[0] = index_at(1, 0);
  index[1] = index_at(1, 1);
  const float scale = largest > 0 ? y_scale / largest : 0.0F;
  for (int step = 0; step < steps; ++step) {
    Run runs[2];
    float weight[2];
    bool all_lit = true;
#pragma unroll
    for (int p = 0; p < 2; ++p) {
      runs[p] = run_of(next.place[p], next.wave[p], first + own_run, OfRows);
      weight[p] = next.wave[p].z * scale;
      all_lit = all_lit && runs[p].lit == 0xffffffffU;
    }
    next = load(index);
    index[0] = index_at(step + 2, 0);
    index[1] = index_at(step + 2, 1);
    cuda::wait_barrier(empty + stage, phase ^ 1);
    // This lane's pair of points lies in piece lane / 4 of each row.
    const std::uint32_t row =
        shared + stage * stage_bytes + (OfRows ? 0 : 2 * matrix_bytes) + own_run * cuda::wgmma_row_bytes + lane * 4;
    if (__all_sync(0xffffffffU, all_lit)) {
      write_factors<OfRows, false>(runs, weight, row);
    } else {
      write_factors<OfRows, true>(runs, weight, row);
    }
    cuda::fence_shared_stores();
    __syncwarp();
    if (lane == 0) cuda::arrive(full + stage);
    if (++stage == stages) {
      stage = 0;
      phase ^= 1;
    }
  }
}

#endif

/// Sums the jobs [first_job, first_job + jobs) to partial_sums[job - first_job][row][column].
__global__ void __launch_bounds__(HOLOTONE_WGMMA_CODE ? product_threads : 32, 1)
    product_kernel(Subtiles subtiles, Records records, const int* list, const MaskedJob* jobs, int first_job,
                   int job_count, float largest, float2* partial_sums) {
#if HOLOTONE_WGMMA_CODE
  extern __shared__ char shared_memory[];
  __shared__ std::uint64_t full[stages];
  __shared__ std::uint64_t empty[stages];
  const std::uint32_t start = cuda::shared_address(shared_memory);
  const std::uint32_t shared = start + (shared_alignment - start % shared_alignment) % shared_alignment;
  if (threadIdx.x == 0) {
    for (int i = 0; i < stages; ++i) {
      cuda::init_barrier(full + i, factor_warps);
      cuda::init_barrier(empty + i, product_warps);
    }
    cuda::fence_barriers();
  }
  __syncthreads();
  int stage = 0;
  unsigned phase = 0;
  if (threadIdx.x < 2 * cuda::warpgroup_threads) {
    cuda::give_registers<factor_registers>();
    for (int j = blockIdx.x; j < job_count; j += gridDim.x) {
      const MaskedJob job = jobs[first_job + j];
      const int columns = subtiles.columns;
      if (threadIdx.x < cuda::warpgroup_threads) {
        make_factors<true>(records, list, job, rows_of(subtiles, job.subtile / columns).own.first, largest, shared,
                           full, empty, stage, phase);
      } else {
        make_factors<false>(records, list, job, columns_of(subtiles, job.subtile % columns).own.first, largest, shared,
                            full, empty, stage, phase);
      }
    }
  } else {
    cuda::take_registers<product_registers>();
    const int lane = threadIdx.x % 32;
    const int group = threadIdx.x / cuda::warpgroup_threads - 2;
    const int warp = threadIdx.x % cuda::warpgroup_threads / 32;
    for (int j = blockIdx.x; j < job_count; j += gridDim.x) {
      const int steps = (jobs[first_job + j].count + step_points - 1) / step_points;
      float re[side / 2];
      float im[side / 2];
      int before = -1;
      for (int step = 0; step < steps; ++step) {
        cuda::wait_barrier(full + stage, phase);
        const std::uint32_t y = shared + stage * stage_bytes + group * cuda::wgmma_rows * cuda::wgmma_row_bytes;
        const std::uint32_t x = shared + stage * stage_bytes + 2 * matrix_bytes;
        cuda::begin_products();
#pragma unroll
        for (int k = 0; k < step_points / 16; ++k) {
          const auto yr = cuda::operand_of(y + k * 32);
          const auto yi = cuda::operand_of(y + matrix_bytes + k * 32);
          const auto xr = cuda::operand_of(x + k * 32);
          const auto xi = cuda::operand_of(x + matrix_bytes + k * 32);
          const int add = step > 0 || k > 0;
          cuda::multiply(re, yr, xr, add);
          cuda::multiply(im, yr, xi, add);
          cuda::multiply<-1>(re, yi, xi, 1);
          cuda::multiply(im, yi, xr, 1);
        }
        cuda::commit_products();
        cuda::wait_products<1>();
        if (before >= 0 && lane == 0) cuda::arrive(empty + before);
        before = stage;
        if (++stage == stages) {
          stage = 0;
          phase ^= 1;
        }
      }
      cuda::wait_products<0>();
      cuda::finish(re);
      cuda::finish(im);
      if (lane == 0) cuda::arrive(empty + before);
      float2* const own = partial_sums + static_cast<std::int64_t>(j) * pixels +
                          (group * cuda::wgmma_rows + warp * 16 + lane / 4) * side + lane % 4 * 2;
#pragma unroll
      for (int i = 0; i < side / 8; ++i) {
        float2* const at = own + 8 * i;
        *reinterpret_cast<float4*>(at) = make_float4(re[4 * i], im[4 * i], re[4 * i + 1], im[4 * i + 1]);
        *reinterpret_cast<float4*>(at + 8 * side) =
            make_float4(re[4 * i + 2], im[4 * i + 2], re[4 * i + 3], im[4 * i + 3]);
      }
    }
  }
#endif
}

/// Adds the sums of the jobs [first_job, first_job + jobs) of every subtile to the panel.
__global__ void __launch_bounds__(add_threads)
    add_kernel(Subtiles subtiles, const float2* partial_sums, const int* subtile_job, int first_job, int jobs,
               float scale, float2* panel) {
  const int subtile = blockIdx.y;
  const int begin = max(subtile_job[subtile] - first_job, 0);
  const int end = min(subtile_job[subtile + 1] - first_job, jobs);
  if (begin >= end) return;
  const int pixel = blockIdx.x * add_threads + threadIdx.x;
  const Extent columns = columns_of(subtiles, subtile % subtiles.columns).own;
  const Extent rows = rows_of(subtiles, subtile / subtiles.columns).own;
  const int column = columns.first + pixel % side;
  const int row = rows.first + pixel / side;
  if (column > columns.last || row > rows.last) return;
  float2 sum = make_float2(0, 0);
  for (int job = begin; job < end; ++job) {
    const float2 part = partial_sums[static_cast<std::int64_t>(job) * pixels + pixel];
    sum.x += part.x;
    sum.y += part.y;
  }
  float2& target = panel[static_cast<std::int64_t>(row) * subtiles.panel_width + column];
  target.x += scale * sum.x;
  target.y += scale * sum.y;
}

int shares(int extent) { return std::max(1, (extent + side - 1) / side); }

std::int64_t half_of(std::int64_t points) { return (points / 2 + warp_points - 1) / warp_points * warp_points; }

}  // namespace

Subtiles::Subtiles(const FastGrid& grid)
    : panel_width(grid.panel_width),
      panel_height(grid.panel_height),
      tile_width(grid.tile_width),
      tile_height(grid.tile_height),
      across_tile(shares(grid.tile_width)),
      down_tile(shares(grid.tile_height)),
      width((grid.tile_width + across_tile - 1) / across_tile),
      height((grid.tile_height + down_tile - 1) / down_tile),
      columns(grid.tiles_x * across_tile),
      rows(grid.tiles_y * down_tile) {}

void MaskedProducts::set(const FastGrid& grid, const RawPoints& points, float largest_amplitude) {
  const cuda::DeviceScope scope(queue_.device());
  subtiles_ = Subtiles(grid);
  largest_amplitude_ = largest_amplitude;
  count_ = points.count;
  has_coarse_ = grid.coarse && count_ < std::int64_t{1} << coarse_index_bits;
  if (has_coarse_) coarse_.set(grid.coarse_curvature);
  reserve(records_, 3 * count_, queue_);
  reserve(flags_, count_, queue_);
  float4* const records = records_.data();
  record_kernel<<<cuda::blocks_for(count_, gather_threads), gather_threads, 0, cuda::stream_of(queue_)>>>(
      grid, points, records, records + count_, records + 2 * count_, flags_.data());
  cuda::check_launch("masked records");
  // The counts of a turn are added in 32 bits.
  points_a_turn_ = std::min<std::int64_t>(
      count_, std::numeric_limits<int>::max() / subtiles_.count() / classes() / warp_points * warp_points);
  // More turns than one are gathered by sum().
  if (points_a_turn_ == count_ && !gather(0, count_)) points_a_turn_ = half_of(count_);
  if (points_a_turn_ == count_ && lists_nothing()) count_ = 0;
}

bool MaskedProducts::gather(std::int64_t first, std::int64_t count) {
  const auto stream = cuda::stream_of(queue_);
  const int all = subtiles_.count() * classes();
  const auto warps = static_cast<int>((count + warp_points - 1) / warp_points);
  const std::int64_t entries = std::int64_t{1} * all * warps + 1;
  reserve(counts_, 2 * entries + all + 1, queue_);
  int* const counts = counts_.data();
  int* const begins = counts + entries;
  int* const list_begin = begins + entries;
  reserve(scan_memory_, static_cast<std::int64_t>(fast_scan_bytes(static_cast<int>(entries - 1))), queue_);
  // The last count is read, but no sum holds it.
  cuda::check(cudaMemsetAsync(counts + entries - 1, 0, sizeof(int), stream), "cudaMemsetAsync");
  const dim3 blocks(cuda::blocks_for(std::int64_t{32} * warps, gather_threads), static_cast<unsigned>(subtiles_.rows));
  const auto count_kernel = has_coarse_ ? &gather_kernel<false, true> : &gather_kernel<false, false>;
  count_kernel<<<blocks, gather_threads, 0, stream>>>(subtiles_, records_of(records_, count_), flags_.data(), first,
                                                      count, warps, counts, nullptr, nullptr);
  cuda::check_launch("masked count");
  fast_scan(counts, begins, static_cast<int>(entries - 1), scan_memory_.data(), stream);
  begin_kernel<<<cuda::blocks_for(all + 1, gather_threads), gather_threads, 0, stream>>>(all, warps, begins,
                                                                                         list_begin);
  cuda::check_launch("masked begin");
  std::vector<int> begin(static_cast<std::size_t>(all) + 1);
  copy_bytes(begin.data(), Device{}, list_begin, queue_.device(), begin.size() * sizeof(int), queue_);
  queue_.synchronize();
  if (begin.back() > most_listed_ && count > warp_points) return false;
  plan_jobs(begin);
  if (lists_nothing()) return true;
  reserve(list_, begin.back(), queue_);
  const auto list_kernel = has_coarse_ ? &gather_kernel<true, true> : &gather_kernel<true, false>;
  list_kernel<<<blocks, gather_threads, 0, stream>>>(subtiles_, records_of(records_, count_), flags_.data(), first,
                                                     count, warps, nullptr, begins, list_.data());
  cuda::check_launch("masked list");
  return true;
}

void MaskedProducts::plan_jobs(const std::vector<int>& begin) {
  jobs_.clear();
  first_job_.clear();
  tiles_.clear();
  const auto step = static_cast<std::size_t>(classes());
  std::int64_t listed = 0;
  for (std::size_t i = 0; i + 1 < begin.size(); i += step) listed += begin[i + 1] - begin[i];
  const std::int64_t even = listed / even_jobs;
  const auto longest =
      static_cast<int>(std::clamp((even + step_points - 1) / step_points * step_points, least_job, most_job));
  for (std::size_t i = 0; i + 1 < begin.size(); i += step) {
    const auto subtile = static_cast<int>(i / step);
    first_job_.push_back(static_cast<int>(jobs_.size()));
    for (int first = begin[i]; first < begin[i + 1]; first += longest) {
      jobs_.push_back({subtile, first, std::min(longest, begin[i + 1] - first)});
    }
    if (has_coarse_ && begin[i + 1] < begin[i + 2]) {
      const Extent rows = rows_of(subtiles_, subtile / subtiles_.columns).own;
      const Extent columns = columns_of(subtiles_, subtile % subtiles_.columns).own;
      tiles_.push_back({rows.first, columns.first, rows.last - rows.first + 1, columns.last - columns.first + 1,
                        begin[i + 1], begin[i + 2]});
    }
  }
  first_job_.push_back(static_cast<int>(jobs_.size()));
  if (lists_nothing()) return;
  const auto upload = [this](auto& there, const auto& here) {
    if (here.empty()) return;
    reserve(there, static_cast<std::int64_t>(here.size()), queue_);
    copy_bytes(there.data(), queue_.device(), here.data(), Device{}, here.size() * sizeof here[0], queue_);
  };
  upload(device_jobs_, jobs_);
  upload(device_first_job_, first_job_);
  upload(device_tiles_, tiles_);
  queue_.synchronize();
}

void MaskedProducts::multiply() {
  const auto stream = cuda::stream_of(queue_);
  const auto all = static_cast<std::int64_t>(jobs_.size());
  reserve(partial_sums_, std::min(all, most_jobs) * pixels, queue_);
  cuda::check(cudaFuncSetAttribute(product_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes),
              "cudaFuncSetAttribute");
  for (std::int64_t first = 0; first < all; first += most_jobs) {
    const auto jobs = static_cast<int>(std::min(most_jobs, all - first));
    const auto blocks = static_cast<unsigned>(std::min(jobs, cuda::hopper_processors()));
    product_kernel<<<blocks, product_threads, shared_bytes, stream>>>(
        subtiles_, records_of(records_, count_), list_.data(), device_jobs_.data(), static_cast<int>(first), jobs,
        largest_amplitude_, partial_sums_.data());
    cuda::check_launch("masked products");
    add_kernel<<<dim3(pixels / add_threads, static_cast<unsigned>(subtiles_.count())), add_threads, 0, stream>>>(
        subtiles_, partial_sums_.data(), device_first_job_.data(), static_cast<int>(first), jobs,
        largest_amplitude_ / y_scale, panel_.data());
    cuda::check_launch("masked add");
  }
  if (tiles_.empty()) return;
  coarse_.add(records_of(records_, count_), device_tiles_.data(), static_cast<int>(tiles_.size()),
              reinterpret_cast<const unsigned*>(list_.data()), list_.size(), largest_amplitude_, panel_.data(),
              subtiles_.panel_width);
}

const float2* MaskedProducts::sum() {
  const cuda::DeviceScope scope(queue_.device());
  const std::int64_t panel = std::int64_t{1} * subtiles_.panel_width * subtiles_.panel_height;
  reserve(panel_, panel, queue_);
  cuda::check(
      cudaMemsetAsync(panel_.data(), 0, static_cast<std::size_t>(panel) * sizeof(float2), cuda::stream_of(queue_)),
      "cudaMemsetAsync");
  if (points_a_turn_ == count_) {
    multiply();
  } else {
    for (std::int64_t first = 0; first < count_; first += points_a_turn_) {
      while (!gather(first, std::min(points_a_turn_, count_ - first))) points_a_turn_ = half_of(points_a_turn_);
      multiply();
    }
  }
  return panel_.data();
}

std::size_t MaskedProducts::bytes() const {
  return coarse_.bytes() + device_tiles_.bytes() + records_.bytes() + flags_.bytes() + counts_.bytes() +
         scan_memory_.bytes() + list_.bytes() + device_jobs_.bytes() + device_first_job_.bytes() +
         partial_sums_.bytes() + panel_.bytes();
}

}  // namespace holotone::point_cloud
