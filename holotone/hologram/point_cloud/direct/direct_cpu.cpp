// Direct sum: one sine and one cosine for each pair of point and pixel, the cosine alone for the real part.
#include <algorithm>
#include <array>
#include <cmath>
#include <holotone/core/parallel.hpp>
#include <holotone/hologram/point_cloud/engine_cpu.hpp>

namespace holotone::point_cloud {
namespace {

constexpr std::int32_t tile_rows = 64;
constexpr std::int32_t tile_columns = 128;
/// Points per table of column phases: 16 KiB, half of a first-level cache.
constexpr std::size_t block_points = 32;
/// Points added in one pass over a row: the row's sums are loaded and stored once for all of them.
constexpr std::size_t group_points = 4;

/// Phases and amplitudes of a block of points in one tile; entries that pad the last group have amplitude 0.
struct Block {
  std::size_t count = 0;
  alignas(64) std::array<std::uint32_t, block_points * tile_columns> column_turns{};
  std::array<std::uint32_t, block_points * tile_rows> row_turns{};
  std::array<float, block_points> amplitude{};
};

/// Adds every point of the block to every pixel of the tile. T: see add_wave.
template <class T>
HOLOTONE_SIMD_CLONES void add_block(const Block& block, std::int32_t rows, std::int32_t stride, float* __restrict re,
                                    float* __restrict im) {
  for (std::int32_t row = 0; row < rows; ++row) {
    float* __restrict re_row = re + static_cast<std::ptrdiff_t>(row) * stride;
    float* __restrict im_row = im + static_cast<std::ptrdiff_t>(row) * stride;
    for (std::size_t j = 0; j < block.count; j += group_points) {
      const std::uint32_t* columns = block.column_turns.data() + j * tile_columns;
      const std::uint32_t* turns = block.row_turns.data() + static_cast<std::size_t>(row) * block_points + j;
      const float* amplitude = block.amplitude.data() + j;
      for (std::int32_t i = 0; i < stride; ++i) {
        float re_sum = 0;  // sum of the group alone: fewer roundings at the magnitude of the total
        float im_sum = 0;
        for (std::size_t k = 0; k < group_points; ++k) {
          add_wave<T>(columns[k * tile_columns + static_cast<std::size_t>(i)] + turns[k], amplitude[k], re_sum, im_sum);
        }
        re_row[i] += re_sum;
        if constexpr (!real_alone<T>) im_row[i] += im_sum;
      }
    }
  }
}

/// Adds one point to a run of pixels with an amplitude each.
template <class T>
HOLOTONE_SIMD_CLONES void add_weighted_run(const std::uint32_t* turns, const float* amplitude, std::int32_t count,
                                           float* __restrict re, float* __restrict im) {
  for (std::int32_t i = 0; i < count; ++i) add_wave<T>(turns[i], amplitude[i], re[i], im[i]);
}

/// Adds one point to a run of pixels.
template <class T>
HOLOTONE_SIMD_CLONES void add_run(const std::uint32_t* column_turns, std::uint32_t row_turns, float amplitude,
                                  std::int32_t count, float* __restrict re, float* __restrict im) {
  for (std::int32_t i = 0; i < count; ++i) add_wave<T>(column_turns[i] + row_turns, amplitude, re[i], im[i]);
}

/// One point and row for the shortfall of the spherical phase against the Fresnel phase: curvature rho^2 s / (1 +
/// sqrt(1 + s))^2 turns with s = slope rho^2 = (rho / d)^2. No cancellation: r - |d| = rho^2 / (r + |d|).
struct SphericalRow {
  double curvature;
  double slope;        ///< (pitch / d)^2
  double column;       ///< the point's column, counted from the first pixel
  double row_squared;  ///< (row - point.row)^2
};

/// Computes turns[i] of a row: exact Fresnel phases minus the shortfall in float32. For shortfalls that float32
/// resolves.
HOLOTONE_SIMD_CLONES
void spherical_turns_single(const SphericalRow& point, const std::uint32_t* column_turns, std::uint32_t row_turns,
                            std::int32_t count, std::uint32_t* turns) {
  const auto column = static_cast<float>(point.column);
  const auto row_squared = static_cast<float>(point.row_squared);
  const auto slope = static_cast<float>(point.slope);
  const auto scale = static_cast<float>(point.curvature * point.slope * 0x1p24);  // 2^24 units per turn
  for (std::int32_t i = 0; i < count; ++i) {
    const float u = static_cast<float>(i) - column;
    const float squared = u * u + row_squared;
    const float root = 1.0F + std::sqrt(1.0F + slope * squared);
    const float shortfall = scale * squared * squared / (root * root);
    const auto units = static_cast<std::int32_t>(shortfall);
    turns[i] = column_turns[i] + row_turns - (static_cast<std::uint32_t>(units) << 8);
  }
}

/// Computes turns[i] in float64, for points so near that the shortfall is many turns.
HOLOTONE_SIMD_CLONES
void spherical_turns_double(const SphericalRow& point, double phase_turns, std::int32_t count, std::uint32_t* turns) {
  for (std::int32_t i = 0; i < count; ++i) {
    const double u = static_cast<double>(i) - point.column;
    const double squared = u * u + point.row_squared;
    const double root = 1.0 + std::sqrt(1.0 + point.slope * squared);
    turns[i] = fixed_turns(2 * point.curvature * squared / root + phase_turns);
  }
}

/// soft_edge in float32.
HOLOTONE_ALWAYS_INLINE float soft_edge_single(float t) {
  const float x = t < 0 ? 0.0F : t > 1 ? 1.0F : t;
  const float s = x * x * x * (10 + x * (6 * x - 15));
  // cos(pi s)
  const float cosine = cosine_alone(static_cast<std::uint32_t>(static_cast<std::int32_t>(s * 0x1p30F)) << 1U);
  return x >= 1 ? 0.0F : 0.5F + 0.5F * cosine;
}

/// Band limit of the exact wave along a row: weight[i] = amplitude b.
struct LightRow {
  float column;     ///< the point's, counted from the first pixel
  float row;        ///< distance from the point, in pixels
  float slope;      ///< pitch / |d|
  float per_limit;  ///< 1 / s1
  float amplitude;
};
HOLOTONE_SIMD_CLONES
void light_weights(const LightRow& light, std::int32_t count, float* __restrict weight) {
  constexpr auto edge = static_cast<float>(1 / (1 - edge_begin));
  constexpr auto begin = static_cast<float>(edge_begin);
  constexpr auto cone = static_cast<float>(1 / (cone_end - cone_begin));
  const float v = light.row * light.slope;
  for (std::int32_t i = 0; i < count; ++i) {
    const float u = (static_cast<float>(i) - light.column) * light.slope;
    const float cosine = 1.0F / std::sqrt(1.0F + u * u + v * v);  // |d| / r
    const float sx = std::fabs(u) * cosine;
    const float sy = std::fabs(v) * cosine;
    const float sine = std::sqrt(sx * sx + sy * sy);
    weight[i] = light.amplitude * soft_edge_single((sx * light.per_limit - begin) * edge) *
                soft_edge_single((sy * light.per_limit - begin) * edge) *
                soft_edge_single((sine - static_cast<float>(cone_begin)) * cone);
  }
}

/// Multiplies the weights of a row by |d| / r, in float64: points may be far nearer than a pixel.
HOLOTONE_SIMD_CLONES
void fall_off(const SphericalRow& point, std::int32_t count, float* __restrict weight) {
  for (std::int32_t i = 0; i < count; ++i) {
    const double u = static_cast<double>(i) - point.column;
    weight[i] *= static_cast<float>(1.0 / std::sqrt(1.0 + point.slope * (u * u + point.row_squared)));
  }
}

/// True if b is 1 for all directions up to |u| and |v|, in units of |d|.
bool full_light(double u, double v, double limit) {
  const double s = u * u + v * v;
  const double full = edge_begin * limit;
  return u <= full * std::sqrt(1 + u * u) && v <= full * std::sqrt(1 + v * v) && s <= cone_begin * cone_begin * (1 + s);
}

class DirectCpu final : public BlockEngine {
 public:
  explicit DirectCpu(const PointCloudOptions& options) : BlockEngine(options) {}

  void set_points(EnginePoints points, const MethodChoice& /*choice*/) override {
    points_ = std::move(points.pixels);
    forget_block();
  }

  [[nodiscard]] PointCloudInfo info() const override {
    return {PointMethod::direct, "float32, phases in 32-bit turns", point_cloud_tolerance_floor,
            direct_cpu_bytes(options(), std::ssize(points_)) + field_bytes()};
  }

 protected:
  [[nodiscard]] std::int64_t block_rows() const override { return tile_rows; }
  [[nodiscard]] bool has_real_sum() const override { return true; }
  void sum(const FieldOfRows& field, Progress& progress) override { sum_waves(field, progress); }
  void sum_real(const RealOfRows& real, Progress& progress) override { sum_waves(real, progress); }

 private:
  template <class T>
  void sum_waves(const RowsOf<T>& target, Progress& progress) {
    const auto sum_tile = [this](const Tile& tile, std::span<const PixelPoint> points, float* re, float* im) {
      if (options().wave == Wave::fresnel) {
        add_fresnel<T>(tile, points, re, im);
      } else {
        for (const auto& point : points) add_spherical<T>(tile, point, re, im);
      }
    };
    sum_tiles(points_, tile_rows, tile_columns, sum_tile, target, progress);
  }
  template <class T>
  static void add_fresnel(const Tile& tile, std::span<const PixelPoint> points, float* re, float* im);
  template <class T>
  void add_spherical(const Tile& tile, const PixelPoint& point, float* re, float* im) const;

  std::vector<PixelPoint> points_;
};

template <class T>
void add_partly_lit(const Tile& tile, const PixelPoint& point, const Lit& lit, float* re, float* im) {
  std::array<std::uint32_t, tile_columns> column_turns;
  std::array<std::uint32_t, tile_rows> row_turns;
  const auto count = lit.column_end - lit.column_begin;
  axis_turns({column_turns.data(), static_cast<std::size_t>(count)}, lit.column_begin, point.column, point.curvature,
             point.phase_turns);
  axis_turns({row_turns.data(), static_cast<std::size_t>(lit.row_end - lit.row_begin)}, lit.row_begin, point.row,
             point.curvature, 0);
  for (auto row = lit.row_begin; row < lit.row_end; ++row) {
    const std::ptrdiff_t at =
        static_cast<std::ptrdiff_t>(row - tile.row_begin) * tile.stride + lit.column_begin - tile.column_begin;
    add_run<T>(column_turns.data(), row_turns[static_cast<std::size_t>(row - lit.row_begin)], point.amplitude, count,
               re + at, im + at);
  }
}

template <class T>
void DirectCpu::add_fresnel(const Tile& tile, std::span<const PixelPoint> points, float* re, float* im) {
  Block block;
  const auto flush = [&] {
    while (block.count % group_points != 0) block.amplitude[block.count++] = 0;
    add_block<T>(block, tile.rows(), tile.stride, re, im);
    block.count = 0;
  };
  for (const auto& point : points) {
    const Lit lit(tile, point);
    if (lit.none()) continue;
    if (!lit.all_of(tile)) {
      add_partly_lit<T>(tile, point, lit, re, im);
      continue;
    }
    const auto j = block.count++;
    block.amplitude[j] = point.amplitude;
    axis_turns({block.column_turns.data() + j * tile_columns, static_cast<std::size_t>(tile.stride)}, tile.column_begin,
               point.column, point.curvature, point.phase_turns);
    std::array<std::uint32_t, tile_rows> row_turns;
    axis_turns({row_turns.data(), static_cast<std::size_t>(tile.rows())}, tile.row_begin, point.row, point.curvature,
               0);
    for (std::size_t row = 0; row < static_cast<std::size_t>(tile.rows()); ++row) {
      block.row_turns[row * block_points + j] = row_turns[row];
    }
    if (block.count == block_points) flush();
  }
  if (block.count > 0) flush();
}

template <class T>
void DirectCpu::add_spherical(const Tile& tile, const PixelPoint& point, float* re, float* im) const {
  const Lit lit(tile, point);
  if (lit.none()) return;
  const auto count = lit.column_end - lit.column_begin;
  // d from the curvature: pitch^2 / (2 lambda curvature)
  const double slope_root = 2 * options().wavelength_m * point.curvature / options().pitch_m;  // pitch / d
  SphericalRow row_of_point{point.curvature, slope_root * slope_root, point.column - lit.column_begin, 0};
  const double u = std::max(std::abs(lit.column_begin - point.column), std::abs(lit.column_end - 1 - point.column));
  const double v = std::max(std::abs(lit.row_begin - point.row), std::abs(lit.row_end - 1 - point.row));
  const double squared = u * u + v * v;
  const double largest_shortfall = std::abs(point.curvature) * squared * row_of_point.slope * squared / 4;
  // The error of float32 is 3 * 2^-24 of the shortfall, that of its fixed point 2^-24 turns. Their sum in radians stays
  // below a quarter of the tolerance, and the integer below 2^31.
  const bool single =
      largest_shortfall < 64 && two_pi * (3 * largest_shortfall + 1) * 0x1p-24 < options().tolerance / 4;
  const double size = std::abs(slope_root);
  const bool full = !options().band_limit || full_light(u * size, v * size, limit_cosine(options()));
  // At most 1e8, so that squares of pixels times it stay finite.
  LightRow light{static_cast<float>(row_of_point.column), 0, static_cast<float>(std::min(size, 1e8)),
                 static_cast<float>(1 / limit_cosine(options())), point.amplitude};
  std::array<float, tile_columns> weight;
  std::array<std::uint32_t, tile_columns> column_turns;
  std::array<std::uint32_t, tile_columns> turns;
  if (single) {
    axis_turns({column_turns.data(), static_cast<std::size_t>(count)}, lit.column_begin, point.column, point.curvature,
               point.phase_turns);
  }
  for (auto row = lit.row_begin; row < lit.row_end; ++row) {
    const double distance = row - point.row;
    row_of_point.row_squared = distance * distance;
    if (single) {
      spherical_turns_single(row_of_point, column_turns.data(), fixed_turns(point.curvature * row_of_point.row_squared),
                             count, turns.data());
    } else {
      spherical_turns_double(row_of_point, point.phase_turns, count, turns.data());
    }
    const std::ptrdiff_t at =
        static_cast<std::ptrdiff_t>(row - tile.row_begin) * tile.stride + lit.column_begin - tile.column_begin;
    if (full && !options().falloff) {
      add_run<T>(turns.data(), 0, point.amplitude, count, re + at, im + at);
    } else {
      light.row = static_cast<float>(distance);
      if (full) std::fill_n(weight.data(), count, point.amplitude);
      if (!full) light_weights(light, count, weight.data());
      if (options().falloff) fall_off(row_of_point, count, weight.data());
      add_weighted_run<T>(turns.data(), weight.data(), count, re + at, im + at);
    }
  }
}

}  // namespace

std::size_t direct_cpu_bytes(const PointCloudOptions& /*options*/, std::int64_t count) {
  return static_cast<std::size_t>(count) * sizeof(PixelPoint) +
         sizeof(Block) * static_cast<std::size_t>(thread_count()) + tile_sum_bytes(tile_rows, tile_columns);
}

EnginePointer direct_cpu(const PointCloudOptions& options) { return std::make_unique<DirectCpu>(options); }

}  // namespace holotone::point_cloud
