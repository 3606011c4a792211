// Masked products on Hopper. A block sums 128 x 128 pixels over a list of points, 64 at a time. Two warpgroups write
// factors X = exp(2 pi i a u^2) and Y = A exp(2 pi i (a v^2 + phi)) in fp16 to shared memory, zero where a point does
// not light a column or row. Two others multiply them:
//     Re = Yr Xr - Yi Xi, Im = Yr Xi + Yi Xr.
#include <algorithm>
#include <cuda_fp16.h>
#include <holotone/core/matrix_product/wgmma_cuda.cuh>
#include <holotone/hologram/point_cloud/fast/masked_products_cuda.cuh>
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
constexpr int add_threads = 256;
constexpr float y_scale = 1024;  ///< keeps the parts of dim points normal numbers in fp16
constexpr std::int64_t min_job = 512;
constexpr std::int64_t max_job = 4096;
/// Jobs that a cloud of short lists is divided into: six for each of an H200's multiprocessors, on every card, for the
/// same bits.
constexpr std::int64_t even_jobs = std::int64_t{6} * 132;
constexpr std::int64_t max_jobs = 2048;  ///< of a launch: 256 MiB of sums

MaskedPoints make_points(const Array<float4, 1>& records, const Array<int, 1>& flags, std::int64_t count,
                         double wave_ratio) {
  const float4* const all = records.data();
  return {all, all + count, all + 2 * count, flags.data(), wave_ratio};
}

__global__ void __launch_bounds__(list_threads)
    record_kernel(FastGrid grid, RawPoints points, AxisRecord* columns, AxisRecord* rows, float4* waves, int* flags) {
  const std::int64_t j = blockIdx.x * static_cast<std::int64_t>(list_threads) + threadIdx.x;
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
  const bool is_coarse =
      grid.coarse_side > 0 && fabs(a - grid.coarse_curvature) <= max_coarse_curvature(grid.coarse_side);
  flags[j] = (is_whole ? 0 : never_whole) | (is_coarse ? may_be_coarse : 0);
}

/// Counts (Fill false) or lists, in their order, the points that light a subtile of a tile that they do not light
/// wholly: one warp for warp_points points and a row of subtiles. counts[subtile][warp], begins: sums of those before.
template <bool Fill>
__global__ void __launch_bounds__(list_threads)
    gather_kernel(Subtiles subtiles, MaskedPoints points, std::int64_t first_point, std::int64_t count, int warps,
                  int* counts, const int* begins, int* list) {
  const int warp = static_cast<int>((blockIdx.x * list_threads + threadIdx.x) / 32);
  const int lane = threadIdx.x % 32;
  if (warp >= warps) return;
  const SubtileExtents row = subtiles.row_extents(static_cast<int>(blockIdx.y));
  AxisRecord column_record[list_rounds];
  unsigned in_row = 0;  // bit r: the point of round r lights the row
  unsigned whole_row = 0;
#pragma unroll
  for (int r = 0; r < list_rounds; ++r) {
    const std::int64_t within = static_cast<std::int64_t>(warp) * warp_points + r * 32 + lane;
    if (within >= count) continue;
    const std::int64_t j = first_point + within;
    const AxisRecord row_record = points.rows[j];
    column_record[r] = points.columns[j];
    in_row |= static_cast<unsigned>(meets(row_record, row.subtile)) << r;
    whole_row |= static_cast<unsigned>(covers(row_record, row.tile) && (points.flags[j] & never_whole) == 0) << r;
  }
  if (!__any_sync(0xffffffffU, in_row != 0)) return;
  for (int column = 0; column < subtiles.columns; ++column) {
    const SubtileExtents extents = subtiles.column_extents(column);
    const int subtile = static_cast<int>(blockIdx.y) * subtiles.columns + column;
    const std::int64_t slot = static_cast<std::int64_t>(subtile) * warps + warp;
    int found = Fill ? begins[slot] : 0;
#pragma unroll
    for (int r = 0; r < list_rounds; ++r) {
      const bool whole = (whole_row >> r & 1U) != 0 && covers(column_record[r], extents.tile);
      const bool listed = (in_row >> r & 1U) != 0 && !whole && meets(column_record[r], extents.subtile);
      const unsigned mask = __ballot_sync(0xffffffffU, listed);
      if constexpr (Fill) {
        if (listed) {
          list[found + __popc(mask & ((1U << lane) - 1))] =
              static_cast<int>(first_point) + warp * warp_points + r * 32 + lane;
        }
      }
      found += __popc(mask);
    }
    if (!Fill && lane == 0) counts[slot] = found;
  }
}

/// Place of each list's first point, and the length of all.
__global__ void begin_kernel(int lists, int warps, const int* begins, int* list_begin) {
  const int list = blockIdx.x * list_threads + threadIdx.x;
  if (list <= lists) list_begin[list] = begins[static_cast<std::int64_t>(list) * warps];
}

#if HOLOTONE_WGMMA_CODE

constexpr int factor_registers = 88;
constexpr int product_registers = 168;
constexpr int factor_warps = 8;
constexpr int product_warps = 8;
constexpr int run = 32;  ///< pixels of a factor warp's rows of shared memory

/// Two points of a lane along an axis.
template <bool Exact>
struct PointPair {
  AxisRecord place[2];
  AxisRecord across[Exact ? 2 : 1];  ///< along the other axis
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
  // Half a turn more: unit_phasor subtracts it.
  const double turns = a * u * u + (of_rows ? static_cast<double>(wave.w) : 0.0) + 0.5;
  return {fixed_turns(turns), fixed_turns(a * (2 * u + 1)), fixed_turns(2 * a),
          lit_of_32(place, static_cast<float>(first))};
}

/// Of the exact wave at `middle` of the other axis. Those of columns are less the phase in the middle of both. Such
/// factors leave out what depends on both axes, some tenths of a radian in a subtile's corners.
__device__ __forceinline__ Run exact_run_of(const AxisRecord& place, const AxisRecord& across, const float4& wave,
                                            int first, double own_middle, double middle, double ratio, bool of_rows) {
  const double a = static_cast<double>(wave.x) + static_cast<double>(wave.y);
  constexpr double half = 0.5 * (run - 1);
  const double u = (first + half - static_cast<double>(place.x)) - static_cast<double>(place.y);
  const double v = (middle - static_cast<double>(across.x)) - static_cast<double>(across.y);
  const LocalWave wave_there(a, ratio, u, v);
  const double bend = curvature_along(wave_there.bend, wave_there.fx, ratio);
  double turns = wave_there.turns - (wave_there.fx - bend * half) * half + 0.5;
  if (of_rows) {
    turns += static_cast<double>(wave.w);
  } else {
    turns -= LocalWave(a, ratio, (own_middle - static_cast<double>(place.x)) - static_cast<double>(place.y), v).turns;
  }
  return {fixed_turns(turns), fixed_turns(wave_there.fx - bend * (2 * half - 1)), fixed_turns(2 * bend),
          lit_of_32(place, static_cast<float>(first))};
}

/// exp(2 pi i (gamma / 2^32 - 1/2)).
__device__ __forceinline__ float2 unit_phasor(unsigned gamma) {
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
        value[p] = unit_phasor(runs[p].gamma);
        const bool dark = Masked && (runs[p].lit & (1U << i)) == 0;
        if constexpr (OfRows) {
          const float shown = dark ? 0.0F : weight[p];
          value[p].x *= shown;
          value[p].y *= shown;
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

/// Makes the factors of a job's points along one axis, from pixel `first` on; the other's begin at `first_across`.
template <bool OfRows, bool Exact>
__device__ __forceinline__ void make_factors(const MaskedPoints& points, const int* list, const MaskedJob& job,
                                             int first, int first_across, float largest, std::uint32_t shared,
                                             std::uint64_t* full, std::uint64_t* empty, int& stage, unsigned& phase) {
  const int lane = threadIdx.x % 32;
  const int own_run = threadIdx.x / 32 % 4 * run;
  const int steps = (job.count + step_points - 1) / step_points;
  const AxisRecord* const places = OfRows ? points.rows : points.columns;
  [[maybe_unused]] const AxisRecord* const across = OfRows ? points.columns : points.rows;
  constexpr double half_side = 0.5 * (side - 1);
  const auto index_at = [&](int step, int p) {
    const int k = step * step_points + p * 32 + lane;
    return k < job.count ? list[job.first + k] : -1;
  };
  const auto load = [&](const int(&index)[2]) {
    PointPair<Exact> pair;
#pragma unroll
    for (int p = 0; p < 2; ++p) {
      const bool present = index[p] >= 0;
      pair.place[p] = present ? places[index[p]] : make_float4(0, 0, 1, 0);
      if constexpr (Exact) pair.across[p] = present ? across[index[p]] : make_float4(0, 0, 0, 0);
      pair.wave[p] = present ? points.waves[index[p]] : make_float4(0, 0, 0, 0);
    }
    return pair;
  };
  int index[2] = {index_at(0, 0), index_at(0, 1)};
  PointPair<Exact> next = load(index);
  index[0] = index_at(1, 0);
  index[1] = index_at(1, 1);
  const float scale = largest > 0 ? y_scale / largest : 0.0F;
  for (int step = 0; step < steps; ++step) {
    Run runs[2];
    float weight[2];
    bool all_lit = true;
#pragma unroll
    for (int p = 0; p < 2; ++p) {
      if constexpr (Exact) {
        runs[p] = exact_run_of(next.place[p], next.across[p], next.wave[p], first + own_run, first + half_side,
                               first_across + half_side, points.wave_ratio, OfRows);
      } else {
        runs[p] = run_of(next.place[p], next.wave[p], first + own_run, OfRows);
      }
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
template <bool Exact>
__global__ void __launch_bounds__(HOLOTONE_WGMMA_CODE ? product_threads : 32, 1)
    product_kernel(Subtiles subtiles, MaskedPoints points, const int* list, const MaskedJob* jobs, int first_job,
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
      const int first_row = subtiles.row_extents(job.subtile / subtiles.columns).subtile.first;
      const int first_column = subtiles.column_extents(job.subtile % subtiles.columns).subtile.first;
      if (threadIdx.x < cuda::warpgroup_threads) {
        make_factors<true, Exact>(points, list, job, first_row, first_column, largest, shared, full, empty, stage,
                                  phase);
      } else {
        make_factors<false, Exact>(points, list, job, first_column, first_row, largest, shared, full, empty, stage,
                                   phase);
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
      float2* const sums = partial_sums + static_cast<std::int64_t>(j) * pixels +
                           (group * cuda::wgmma_rows + warp * 16 + lane / 4) * side + lane % 4 * 2;
#pragma unroll
      for (int i = 0; i < side / 8; ++i) {
        float2* const at = sums + 8 * i;
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
  const Extent columns = subtiles.column_extents(subtile % subtiles.columns).subtile;
  const Extent rows = subtiles.row_extents(subtile / subtiles.columns).subtile;
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

std::int64_t halve(std::int64_t points) { return (points / 2 + warp_points - 1) / warp_points * warp_points; }

}  // namespace

int MaskedProducts::lists() const {
  return has_coarse() ? coarse_lists(subtiles_, coarse_.shape()) : subtiles_.count();
}

void MaskedProducts::set(const FastGrid& grid, const RawPoints& points, float largest_amplitude) {
  const cuda::DeviceScope scope(queue_.device());
  subtiles_ = Subtiles(grid);
  largest_amplitude_ = largest_amplitude;
  count_ = points.count;
  wave_ratio_ = grid.wave_ratio;
  coarse_.set({grid.coarse_side}, {grid.coarse_curvature, grid.wave_ratio});
  reserve(records_, 3 * count_, queue_);
  reserve(flags_, count_, queue_);
  float4* const records = records_.data();
  record_kernel<<<cuda::blocks_for(count_, list_threads), list_threads, 0, cuda::stream_of(queue_)>>>(
      grid, points, records, records + count_, records + 2 * count_, flags_.data());
  cuda::check_launch("masked records");
  // The counts of a turn are added in 32 bits.
  points_a_turn_ =
      std::min<std::int64_t>(count_, std::numeric_limits<int>::max() / lists() / warp_points * warp_points);
  if (has_coarse()) points_a_turn_ = std::min(points_a_turn_, std::int64_t{1} << coarse_index_bits);
  // More turns than one are gathered by sum().
  if (points_a_turn_ == count_ && !gather(0, count_)) points_a_turn_ = halve(count_);
  if (points_a_turn_ == count_ && lists_nothing()) count_ = 0;
}

bool MaskedProducts::gather(std::int64_t first, std::int64_t count) {
  const auto stream = cuda::stream_of(queue_);
  const int all = lists();
  const auto warps = static_cast<int>((count + warp_points - 1) / warp_points);
  const std::int64_t entries = std::int64_t{1} * all * warps + 1;
  reserve(counts_, 2 * entries + all + 1, queue_);
  int* const counts = counts_.data();
  int* const begins = counts + entries;
  int* const list_begin = begins + entries;
  reserve(scan_memory_, static_cast<std::int64_t>(fast_scan_bytes(static_cast<int>(entries - 1))), queue_);
  // The last count is read, but no sum holds it.
  cuda::check(cudaMemsetAsync(counts, 0, static_cast<std::size_t>(entries) * sizeof(int), stream), "cudaMemsetAsync");
  const MaskedPoints points = make_points(records_, flags_, count_, wave_ratio_);
  const dim3 blocks(cuda::blocks_for(std::int64_t{32} * warps, list_threads), static_cast<unsigned>(subtiles_.rows));
  if (has_coarse()) {
    count_coarse(subtiles_, coarse_.shape(), points, first, count, counts, stream);
  } else {
    gather_kernel<false>
        <<<blocks, list_threads, 0, stream>>>(subtiles_, points, first, count, warps, counts, nullptr, nullptr);
    cuda::check_launch("masked count");
  }
  fast_scan(counts, begins, static_cast<int>(entries - 1), scan_memory_.data(), stream);
  begin_kernel<<<cuda::blocks_for(all + 1, list_threads), list_threads, 0, stream>>>(all, warps, begins, list_begin);
  cuda::check_launch("masked begin");
  std::vector<int> begin(static_cast<std::size_t>(all) + 1);
  copy_bytes(begin.data(), Device{}, list_begin, queue_.device(), begin.size() * sizeof(int), queue_);
  queue_.synchronize();
  if (begin.back() > max_listed_ && count > warp_points) return false;
  turn_first_ = first;
  reserve(list_, begin.back(), queue_);
  if (begin.back() > 0 && has_coarse()) {
    list_coarse(subtiles_, coarse_.shape(), points, first, count, begins, list_.data(), stream);
  } else if (begin.back() > 0) {
    gather_kernel<true>
        <<<blocks, list_threads, 0, stream>>>(subtiles_, points, first, count, warps, nullptr, begins, list_.data());
    cuda::check_launch("masked list");
  }
  plan_jobs(begin);
  return true;
}

void MaskedProducts::plan_jobs(const std::vector<int>& begin) {
  jobs_.clear();
  first_job_.clear();
  tiles_.clear();
  segments_.clear();
  const auto subtiles = static_cast<std::size_t>(subtiles_.count());
  const std::int64_t even = begin[subtiles] / even_jobs;
  const auto longest =
      static_cast<int>(std::clamp((even + step_points - 1) / step_points * step_points, min_job, max_job));
  for (std::size_t i = 0; i < subtiles; ++i) {
    first_job_.push_back(static_cast<int>(jobs_.size()));
    for (int first = begin[i]; first < begin[i + 1]; first += longest) {
      jobs_.push_back({static_cast<int>(i), first, std::min(longest, begin[i + 1] - first)});
    }
  }
  first_job_.push_back(static_cast<int>(jobs_.size()));
  for (std::size_t i = subtiles; i + 1 < begin.size(); i += coarse_kinds) {
    if (begin[i] == begin[i + coarse_kinds]) continue;
    CoarseTile tile = coarse_tile(subtiles_, coarse_.shape(), static_cast<int>((i - subtiles) / coarse_kinds));
    for (std::size_t kind = 0; kind <= coarse_kinds; ++kind) {
      tile.begin[kind] = begin[i + kind];
      tile.segment[kind] = static_cast<int>(segments_.size());
      if (kind == coarse_kinds) break;
      for (int first = begin[i + kind]; first < begin[i + kind + 1]; first += max_segment_points) {
        segments_.push_back({first, std::min(max_segment_points, begin[i + kind + 1] - first)});
      }
    }
    tiles_.push_back(tile);
  }
  // The vectors stay as they are until the next synchronisation.
  const auto upload = [this](auto& there, const auto& here) {
    if (here.empty()) return;
    reserve(there, static_cast<std::int64_t>(here.size()), queue_);
    copy_bytes(there.data(), queue_.device(), here.data(), Device{}, here.size() * sizeof here[0], queue_);
  };
  upload(device_jobs_, jobs_);
  upload(device_first_job_, first_job_);
  upload(device_tiles_, tiles_);
  upload(device_segments_, segments_);
}

void MaskedProducts::multiply() {
  const auto stream = cuda::stream_of(queue_);
  const MaskedPoints points = make_points(records_, flags_, count_, wave_ratio_);
  const auto all = static_cast<std::int64_t>(jobs_.size());
  reserve(partial_sums_, std::min(all, max_jobs) * pixels, queue_);
  const auto kernel = wave_ratio_ > 0 ? product_kernel<true> : product_kernel<false>;
  cuda::check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes),
              "cudaFuncSetAttribute");
  for (std::int64_t first = 0; first < all; first += max_jobs) {
    const auto jobs = static_cast<int>(std::min(max_jobs, all - first));
    const auto blocks = static_cast<unsigned>(std::min(jobs, cuda::hopper_processors()));
    kernel<<<blocks, product_threads, shared_bytes, stream>>>(subtiles_, points, list_.data(), device_jobs_.data(),
                                                              static_cast<int>(first), jobs, largest_amplitude_,
                                                              partial_sums_.data());
    cuda::check_launch("masked products");
    add_kernel<<<dim3(pixels / add_threads, static_cast<unsigned>(subtiles_.count())), add_threads, 0, stream>>>(
        subtiles_, partial_sums_.data(), device_first_job_.data(), static_cast<int>(first), jobs,
        largest_amplitude_ / y_scale, panel_.data());
    cuda::check_launch("masked add");
  }
  if (tiles_.empty()) return;
  const MaskedPoints of_turn{points.columns + turn_first_, points.rows + turn_first_, points.waves + turn_first_,
                             points.flags + turn_first_, wave_ratio_};
  const CoarseWork work{device_tiles_.data(), static_cast<int>(tiles_.size()), device_segments_.data(),
                        static_cast<int>(segments_.size())};
  coarse_.add(of_turn, work, reinterpret_cast<const unsigned*>(list_.data()), list_.size(), largest_amplitude_,
              panel_.data(), subtiles_.panel_width);
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
      while (!gather(first, std::min(points_a_turn_, count_ - first))) points_a_turn_ = halve(points_a_turn_);
      multiply();
    }
  }
  return panel_.data();
}

std::size_t MaskedProducts::bytes() const {
  return coarse_.bytes() + device_tiles_.bytes() + device_segments_.bytes() + records_.bytes() + flags_.bytes() +
         counts_.bytes() + scan_memory_.bytes() + list_.bytes() + device_jobs_.bytes() + device_first_job_.bytes() +
         partial_sums_.bytes() + panel_.bytes();
}

}  // namespace holotone::point_cloud
