#include <algorithm>
#include <cmath>
#include <holotone/core/parallel.hpp>
#include <holotone/hologram/point_cloud/engine_cpu.hpp>
#include <limits>

namespace holotone::point_cloud {
namespace {

/// Waves added in float32 before their sum is added in float64.
constexpr std::size_t segment_points = 512;
/// Tiles per thread of one parallel loop: enough for an even load, few enough for several progress reports a second.
constexpr std::int64_t tiles_per_thread = 32;

HOLOTONE_SIMD_CLONES
void fill_axis_turns(std::uint32_t* turns, std::int64_t count, double first, double curvature, double offset) {
  for (std::int64_t i = 0; i < count; ++i) {
    const double u = first + static_cast<double>(static_cast<std::int32_t>(i));
    turns[i] = fixed_turns(curvature * u * u + offset);
  }
}

/// Computes atan2 in units of 1/256 turn, rounded, by an odd minimax polynomial on the octant.
HOLOTONE_SIMD_CLONES
void fill_phase_levels(const float* field, std::uint8_t* levels, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    const float re = field[2 * i];
    const float im = field[2 * i + 1];
    const float x = std::fabs(re);
    const float y = std::fabs(im);
    const float large = x > y ? x : y;
    const float small = x > y ? y : x;
    const float t = small / (large > 0 ? large : 1.0F);
    const float z = t * t;
    float turns = -0.000645637607F;
    turns = turns * z + 0.00348089443F;
    turns = turns * z + -0.00890075966F;
    turns = turns * z + 0.0153476835F;
    turns = turns * z + -0.0221370011F;
    turns = turns * z + 0.0317461161F;
    turns = turns * z + -0.0530461396F;
    turns = turns * z + 0.159154838F;
    turns *= t;
    turns = y > x ? 0.25F - turns : turns;
    turns = re < 0 ? 0.5F - turns : turns;
    turns = im < 0 ? 1.0F - turns : turns;
    levels[i] = static_cast<std::uint8_t>(static_cast<std::int32_t>(turns * 256.0F + 0.5F) & 255);
  }
}

HOLOTONE_SIMD_CLONES
void add_values(const float* __restrict values, std::int64_t count, double* __restrict sums) {
  for (std::int64_t i = 0; i < count; ++i) sums[i] += static_cast<double>(values[i]);
}

/// Writes the sums of a tile to the target.
template <class T>
void write_tile(const Tile& tile, const double* re, const double* im, const RowsOf<T>& target) {
  for (std::int32_t row = tile.row_begin; row < tile.row_end; ++row) {
    T* values = &target(row, tile.column_begin);
    const std::ptrdiff_t offset = static_cast<std::ptrdiff_t>(row - tile.row_begin) * tile.stride;
    for (std::int32_t i = 0; i < tile.column_end - tile.column_begin; ++i) {
      const auto real = static_cast<float>(re[offset + i]);
      if constexpr (real_alone<T>) {
        values[i] = real;
      } else {
        values[i] = T(real, static_cast<float>(im[offset + i]));
      }
    }
  }
}

template <class T>
std::vector<Tile> split_tiles(const RowsOf<T>& target, std::int32_t tile_rows, std::int32_t tile_columns) {
  std::vector<Tile> tiles;
  const auto ny = static_cast<std::int32_t>(target.rows().end());
  const auto nx = static_cast<std::int32_t>(target.view().shape()[1]);
  for (auto row = static_cast<std::int32_t>(target.rows().first_row); row < ny; row += tile_rows) {
    for (std::int32_t column = 0; column < nx; column += tile_columns) {
      const auto column_end = std::min(column + tile_columns, nx);
      const auto stride = (column_end - column + vector_columns - 1) / vector_columns * vector_columns;
      tiles.push_back({row, std::min(row + tile_rows, ny), column, column_end, stride});
    }
  }
  return tiles;
}

}  // namespace

void axis_turns(std::span<std::uint32_t> turns, std::int64_t first, double centre, double curvature, double offset) {
  fill_axis_turns(turns.data(), std::ssize(turns), static_cast<double>(first) - centre, curvature, offset);
}

std::vector<PixelPoint> pixel_points(const PointSources& points, const PointCloudOptions& options) {
  const auto frame = frame_of(options);
  const auto count = points.position_m.shape()[0];
  std::vector<PixelPoint> result;
  result.reserve(static_cast<std::size_t>(count));
  for (std::int64_t j = 0; j < count; ++j) {
    const auto point = to_pixels(frame, points.position_m(j, 0), points.position_m(j, 1), points.position_m(j, 2),
                                 points.amplitude(j), points.phase_rad.empty() ? 0.0F : points.phase_rad(j));
    if (point.amplitude != 0 && point.column_begin < point.column_end) result.push_back(point);
  }
  return result;
}

template <class T>
void sum_tiles(std::span<const PixelPoint> points, std::int32_t tile_rows, std::int32_t tile_columns,
               const TileSum& sum, const RowsOf<T>& target, Progress& progress) {
  constexpr std::string_view stage = "summing points";
  constexpr std::int64_t planes = real_alone<T> ? 1 : 2;
  const auto tiles = split_tiles(target, tile_rows, tile_columns);
  const auto tile_count = std::ssize(tiles);
  const auto segments = static_cast<std::int64_t>((points.size() + segment_points - 1) / segment_points);
  const std::int64_t total = segments * tile_count;
  const std::int64_t batch = std::min(tiles_per_thread * thread_count(), tile_count);
  const std::int64_t plane = std::int64_t{tile_rows} * tile_columns;  // a multiple of vector_columns
  Array<double, 2> sums({batch, planes * plane});
  progress.step(stage, 0, total);
  for (std::int64_t begin = 0; begin < tile_count; begin += batch) {
    const auto end = std::min(begin + batch, tile_count);
    std::fill(sums.data(), sums.data() + sums.size(), 0.0);
    for (std::int64_t segment = 0; segment < segments; ++segment) {
      const auto first = static_cast<std::size_t>(segment) * segment_points;
      const auto part = points.subspan(first, std::min(segment_points, points.size() - first));
      parallel_for(begin, end, [&](std::int64_t i) {
        const auto& tile = tiles[static_cast<std::size_t>(i)];
        const auto size = static_cast<std::int64_t>(tile.rows()) * tile.stride;
        Array<float, 2> block({planes, size});
        std::fill(block.data(), block.data() + block.size(), 0.0F);
        sum(tile, part, block.data(), block.data() + (planes - 1) * size);
        for (std::int64_t p = 0; p < planes; ++p)
          add_values(block.data() + p * size, size, &sums(i - begin, p * plane));
      });
      progress.step(stage, begin * segments + (segment + 1) * (end - begin), total);
    }
    parallel_for(begin, end, [&](std::int64_t i) {
      const double* const re = &sums(i - begin, 0);
      write_tile(tiles[static_cast<std::size_t>(i)], re, re + (planes - 1) * plane, target);
    });
  }
}

std::size_t tile_sum_bytes(std::int32_t tile_rows, std::int32_t tile_columns) {
  const std::size_t bytes = sizeof(float) + tiles_per_thread * sizeof(double);  // of a value for each thread
  return 2 * bytes * static_cast<std::size_t>(tile_rows) * static_cast<std::size_t>(tile_columns) *
         static_cast<std::size_t>(thread_count());
}

template void sum_tiles(std::span<const PixelPoint>, std::int32_t, std::int32_t, const TileSum&, const FieldOfRows&,
                        Progress&);
template void sum_tiles(std::span<const PixelPoint>, std::int32_t, std::int32_t, const TileSum&, const RealOfRows&,
                        Progress&);

namespace {

/// Reports the progress of one sum over some of a part's rows as progress of the part.
class RowsProgress final : public Progress {
 public:
  RowsProgress(Progress& part, std::int64_t rows) : part_(part), rows_(rows) {}
  void begin(std::int64_t rows) {
    done_ += own_;
    own_ = rows;
  }
  bool update(std::string_view stage, std::int64_t done, std::int64_t total) override {
    if (own_ == rows_) return part_.update(stage, done, total);
    const double share = total > 0 ? static_cast<double>(done) / static_cast<double>(total) : 0;
    return part_.update(stage, done_ + static_cast<std::int64_t>(share * static_cast<double>(own_)), rows_);
  }

 private:
  Progress& part_;
  std::int64_t rows_;
  std::int64_t done_ = 0;
  std::int64_t own_ = 0;
};

/// Rows first to first + rows - 1 of a view; an empty view stays empty.
template <class T>
View<T, 2> slice_rows(const View<T, 2>& view, std::int64_t first, std::int64_t rows) {
  if (view.data() == nullptr) return {};
  return {view.data() + first * view.shape()[1], {rows, view.shape()[1]}};
}

PointCloudOutput slice_rows(const PointCloudOutput& output, std::int64_t first, std::int64_t rows) {
  return {slice_rows(output.field, first, rows), slice_rows(output.real, first, rows),
          slice_rows(output.phase, first, rows)};
}

}  // namespace

void BlockEngine::execute(const RowRange& part, const PointCloudOutput& output, Progress& progress) {
  const std::int64_t block = block_rows();
  const std::int64_t nx = options_.shape[1];
  const bool real = has_real_sum() && only_real(output);
  RowsProgress rows_progress(progress, part.rows);
  for (std::int64_t row = part.first_row; row < part.end();) {
    const std::int64_t begin = row / block * block;
    const std::int64_t end = std::min(begin + block, options_.shape[0]);
    if (row == begin && end <= part.end()) {
      const std::int64_t last = part.end() == options_.shape[0] ? part.end() : part.end() / block * block;
      rows_progress.begin(last - row);
      sum_blocks({row, last - row}, slice_rows(output, row - part.first_row, last - row), rows_progress);
      row = last;
      continue;
    }
    const std::int64_t some = std::min(end, part.end()) - row;
    rows_progress.begin(some);
    keep_block({begin, end - begin}, real, rows_progress);
    const auto target = slice_rows(output, row - part.first_row, some);
    const std::int64_t offset = (row - begin) * nx;
    if (real) {
      std::copy_n(kept_real_.data() + offset, some * nx, target.real.data());
    } else {
      const View<const std::complex<float>, 2> from(kept_field_.data() + offset, {some, nx});
      if (target.field.data() != nullptr) std::copy_n(from.data(), some * nx, target.field.data());
      write_parts(from, target);
    }
    row += some;
  }
}

void BlockEngine::sum_blocks(const RowRange& blocks, const PointCloudOutput& output, Progress& progress) {
  if (has_real_sum() && only_real(output)) return sum_real({output.real, blocks.first_row}, progress);
  auto field = output.field;
  if (field.data() == nullptr) {
    const Shape<2> shape{blocks.rows, options_.shape[1]};
    reserve(field_, element_count(shape));
    field = {field_.data(), shape};
  }
  sum({field, blocks.first_row}, progress);
  write_parts(field, output);
}

void BlockEngine::keep_block(const RowRange& block, bool real, Progress& progress) {
  if (kept_ == block && kept_is_real_ == real) return;
  kept_.rows = 0;  // in case the sum is cancelled
  const Shape<2> shape{block.rows, options_.shape[1]};
  if (real) {
    reserve(kept_real_, element_count(shape));
    sum_real({{kept_real_.data(), shape}, block.first_row}, progress);
  } else {
    reserve(kept_field_, element_count(shape));
    sum({{kept_field_.data(), shape}, block.first_row}, progress);
  }
  kept_ = block;
  kept_is_real_ = real;
}

std::size_t BlockEngine::field_bytes() const { return field_.bytes() + kept_field_.bytes() + kept_real_.bytes(); }

void phase_levels(std::span<const std::complex<float>> field, std::span<std::uint8_t> levels) {
  fill_phase_levels(reinterpret_cast<const float*>(field.data()), levels.data(), std::ssize(levels));
}

void write_parts(View<const std::complex<float>, 2> field, const PointCloudOutput& output) {
  const auto nx = field.shape()[1];
  parallel_for(0, field.shape()[0], [&](std::int64_t row) {
    const auto offset = row * nx;
    if (output.real.data() != nullptr) {
      for (std::int64_t i = offset; i < offset + nx; ++i) output.real.data()[i] = field.data()[i].real();
    }
    if (output.phase.data() != nullptr) {
      const auto size = static_cast<std::size_t>(nx);
      phase_levels({field.data() + offset, size}, {output.phase.data() + offset, size});
    }
  });
}

PointSummary summarise_points_cpu(const PointSources& points) {
  PointSummary summary;
  const auto count = points.position_m.shape()[0];
  constexpr float huge = std::numeric_limits<float>::max();
  summary.low.fill(huge);
  summary.high.fill(-huge);
  for (std::int64_t j = 0; j < count; ++j) {
    const float z = points.position_m(j, 2);
    const std::array<float, 4> value = {points.position_m(j, 0), points.position_m(j, 1), -1 / z, -z};
    const bool good = std::isfinite(value[0]) && std::isfinite(value[1]) && std::isfinite(z) && z != 0 &&
                      std::isfinite(points.amplitude(j)) &&
                      (points.phase_rad.empty() || std::isfinite(points.phase_rad(j)));
    if (!good) {
      summary.first_bad = j;
      break;
    }
    for (std::size_t axis = 0; axis < value.size(); ++axis) {
      summary.low[axis] = std::min(summary.low[axis], value[axis]);
      summary.high[axis] = std::max(summary.high[axis], value[axis]);
    }
  }
  return summary;
}

}  // namespace holotone::point_cloud
