// Two additions per pixel and point: Shimobaba et al. 2010, Eq. (2), in fixed-point turns, in which they are exact.
//
// A vector holds sixteen neighbouring pixels of one row and steps sixteen pixels at a time:
//   gamma_(n+1) = gamma_n + delta_n,  delta_(n+1) = delta_n + second,  second = 2 curvature 16^2
// Each tile is an anchor: gamma and delta of its first sixteen columns are computed in float64. The row only
// shifts gamma, so one anchor serves every row of the tile.
#include <array>
#include <holotone/core/parallel.hpp>
#include <holotone/hologram/point_cloud/engine_cpu.hpp>

namespace holotone::point_cloud {
namespace {

constexpr std::int32_t lanes = vector_columns;
constexpr std::int32_t tile_rows = 32;
/// Maximum steps of a tile: a row of sums (re and im) then fills an eighth of a first-level cache.
constexpr std::int64_t max_steps = 32;
/// Points added in one pass over a row: the row's sums are loaded and stored once for all of them.
constexpr std::size_t group_points = 4;

struct Anchor {
  alignas(64) std::array<std::uint32_t, lanes> gamma{};
  alignas(64) std::array<std::uint32_t, lanes> delta{};
  std::uint32_t second = 0;
  float amplitude = 0;
  std::array<std::uint32_t, tile_rows> row_turns{};
};
using Group = std::array<Anchor, group_points>;

template <class T>
HOLOTONE_ALWAYS_INLINE void step(std::uint32_t& gamma, std::uint32_t& delta, std::uint32_t second, float amplitude,
                                 float& re, float& im) {
  add_wave<T>(gamma, amplitude, re, im);
  gamma += delta;
  delta += second;
}

/// Adds four points to every pixel of the tile. T: see add_wave.
template <class T>
HOLOTONE_SIMD_CLONES void add_group(const Group& group, std::int32_t rows, std::int32_t stride, float* __restrict re,
                                    float* __restrict im) {
  for (std::int32_t row = 0; row < rows; ++row) {
    alignas(64) std::uint32_t gamma[group_points][lanes];
    alignas(64) std::uint32_t delta[group_points][lanes];
    for (std::size_t k = 0; k < group_points; ++k) {
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        gamma[k][lane] = group[k].gamma[lane] + group[k].row_turns[static_cast<std::size_t>(row)];
        delta[k][lane] = group[k].delta[lane];
      }
    }
    for (std::int32_t column = 0; column < stride; column += lanes) {
      float* __restrict re_here = re + static_cast<std::ptrdiff_t>(row) * stride + column;
      float* __restrict im_here = im + static_cast<std::ptrdiff_t>(row) * stride + column;
#pragma omp simd
      for (std::int32_t lane = 0; lane < lanes; ++lane) {
        float re_sum = 0;  // sum of the group alone: fewer roundings at the magnitude of the total
        float im_sum = 0;
        step<T>(gamma[0][lane], delta[0][lane], group[0].second, group[0].amplitude, re_sum, im_sum);
        step<T>(gamma[1][lane], delta[1][lane], group[1].second, group[1].amplitude, re_sum, im_sum);
        step<T>(gamma[2][lane], delta[2][lane], group[2].second, group[2].amplitude, re_sum, im_sum);
        step<T>(gamma[3][lane], delta[3][lane], group[3].second, group[3].amplitude, re_sum, im_sum);
        re_here[lane] += re_sum;
        if constexpr (!real_alone<T>) im_here[lane] += im_sum;
      }
    }
  }
}

/// Adds one point to the lit rows, with an amplitude for each column (zero where it is not lit).
template <class T>
HOLOTONE_SIMD_CLONES void add_weighted(const Anchor& anchor, const float* weight, std::int32_t row_begin,
                                       std::int32_t row_end, std::int32_t stride, float* __restrict re,
                                       float* __restrict im) {
  for (std::int32_t row = row_begin; row < row_end; ++row) {
    alignas(64) std::uint32_t gamma[lanes];
    alignas(64) std::uint32_t delta[lanes];
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      gamma[lane] = anchor.gamma[lane] + anchor.row_turns[static_cast<std::size_t>(row)];
      delta[lane] = anchor.delta[lane];
    }
    for (std::int32_t column = 0; column < stride; column += lanes) {
      float* __restrict re_here = re + static_cast<std::ptrdiff_t>(row) * stride + column;
      float* __restrict im_here = im + static_cast<std::ptrdiff_t>(row) * stride + column;
#pragma omp simd
      for (std::int32_t lane = 0; lane < lanes; ++lane) {
        step<T>(gamma[lane], delta[lane], anchor.second, weight[column + lane], re_here[lane], im_here[lane]);
      }
    }
  }
}

Anchor anchor_at(const Tile& tile, const PixelPoint& point) {
  Anchor anchor;
  axis_turns(anchor.gamma, tile.column_begin, point.column, point.curvature, point.phase_turns);
  for (std::int32_t lane = 0; lane < lanes; ++lane) {
    const double u = tile.column_begin + lane - point.column;
    anchor.delta[static_cast<std::size_t>(lane)] = fixed_turns(point.curvature * lanes * (2 * u + lanes));
  }
  anchor.second = fixed_turns(2 * point.curvature * lanes * lanes);
  anchor.amplitude = point.amplitude;
  axis_turns({anchor.row_turns.data(), static_cast<std::size_t>(tile.rows())}, tile.row_begin, point.row,
             point.curvature, 0);
  return anchor;
}

template <class T>
void add_points(const Tile& tile, std::span<const PixelPoint> points, float* re, float* im) {
  Group group;
  std::size_t count = 0;
  std::array<float, lanes * max_steps> weight;
  for (const auto& point : points) {
    const Lit lit(tile, point);
    if (lit.none()) continue;
    if (lit.all_of(tile)) {
      group[count++] = anchor_at(tile, point);
      if (count == group_points) add_group<T>(group, tile.rows(), tile.stride, re, im);
      count %= group_points;
    } else {
      for (std::int32_t i = 0; i < tile.stride; ++i) {
        const auto column = tile.column_begin + i;
        weight[static_cast<std::size_t>(i)] =
            column >= lit.column_begin && column < lit.column_end ? point.amplitude : 0.0F;
      }
      add_weighted<T>(anchor_at(tile, point), weight.data(), lit.row_begin - tile.row_begin,
                      lit.row_end - tile.row_begin, tile.stride, re, im);
    }
  }
  if (count > 0) {
    for (auto k = count; k < group_points; ++k) group[k].amplitude = 0;
    add_group<T>(group, tile.rows(), tile.stride, re, im);
  }
}

std::int64_t steps_for(double tolerance) { return std::min(recurrence_anchor_steps(tolerance), max_steps); }

class RecurrenceCpu final : public BlockEngine {
 public:
  explicit RecurrenceCpu(const PointCloudOptions& options)
      : BlockEngine(options), steps_(steps_for(options.tolerance)) {}

  void set_points(EnginePoints points, const MethodChoice& /*choice*/) override {
    points_ = std::move(points.pixels);
    forget_block();
  }

  [[nodiscard]] PointCloudInfo info() const override {
    return {PointMethod::recurrence, "float32, 32-bit turns, anchored every " + std::to_string(steps_) + " steps",
            two_pi * recurrence_error_turns(steps_) + point_cloud_tolerance_floor / 2,
            recurrence_cpu_bytes(options(), std::ssize(points_)) + field_bytes()};
  }

 protected:
  [[nodiscard]] std::int64_t block_rows() const override { return tile_rows; }
  [[nodiscard]] bool has_real_sum() const override { return true; }
  void sum(const FieldOfRows& field, Progress& progress) override { sum_waves(field, progress); }
  void sum_real(const RealOfRows& real, Progress& progress) override { sum_waves(real, progress); }

 private:
  template <class T>
  void sum_waves(const RowsOf<T>& target, Progress& progress) {
    sum_tiles(points_, tile_rows, lanes * static_cast<std::int32_t>(steps_), add_points<T>, target, progress);
  }

  std::int64_t steps_;
  std::vector<PixelPoint> points_;
};

}  // namespace

std::size_t recurrence_cpu_bytes(const PointCloudOptions& options, std::int64_t count) {
  const auto columns = static_cast<std::int32_t>(lanes * steps_for(options.tolerance));
  return static_cast<std::size_t>(count) * sizeof(PixelPoint) + tile_sum_bytes(tile_rows, columns);
}

EnginePointer recurrence_cpu(const PointCloudOptions& options) { return std::make_unique<RecurrenceCpu>(options); }

}  // namespace holotone::point_cloud
