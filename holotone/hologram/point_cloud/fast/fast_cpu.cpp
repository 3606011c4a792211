// The hologram as non-uniform FFTs, one per tile (fast_layout.hpp has the formula). An FFT sums all points that light
// the whole tile. A tile that some points light in part is halved for them, until masked products of factors are
// cheaper.
#include <algorithm>
#include <holotone/core/parallel.hpp>
#include <holotone/hologram/point_cloud/choice/method.hpp>
#include <holotone/hologram/point_cloud/fast/fast_tile_cpu.hpp>
#include <holotone/hologram/point_cloud/separable/separable_cpu.hpp>
#include <iterator>
#include <map>
#include <numeric>
#include <string>

namespace holotone::point_cloud {
namespace {

const FastCosts costs = fast_cpu_costs();
constexpr std::int64_t smallest_tile = 12;
using Complex = std::complex<float>;

std::string_view stage(std::int64_t level) {
  return level == 0 ? "summing points" : "summing points at the band limit";
}

/// r = X^2 + Y^2 of a tile of pixels.
class PixelSurface final : public TileSurface {
 public:
  explicit PixelSurface(double radius_squared) : TileSurface(0, radius_squared) {}
  void heights(double x, double first, std::span<double> r) const override {
    for (std::size_t i = 0; i < r.size(); ++i) {
      const double y = first + static_cast<double>(static_cast<std::int32_t>(i));
      r[i] = x * x + y * y;
    }
  }
};

class FastCpu final : public BlockEngine {
 public:
  explicit FastCpu(const PointCloudOptions& options) : BlockEngine(options) {}

  void set_points(EnginePoints points, const MethodChoice& choice) override {
    points_ = std::move(points.pixels);
    layout_ = choice.layout;
    tiles_.clear();
    kernel_ = std::make_unique<nufft::SpreadKernel<float>>(fast_kernel(layout_.window, options().tolerance));
    forget_block();
  }

  [[nodiscard]] PointCloudInfo info() const override {
    const auto tiles = [&](std::size_t axis) {
      const auto tile = std::max<std::int64_t>(1, layout_.tile[axis]);  // none before set_points
      return std::to_string((options().shape[axis] + tile - 1) / tile);
    };
    return {PointMethod::fast, "float32, non-uniform FFT in " + tiles(1) + " x " + tiles(0) + " tiles",
            options().tolerance, workspace_bytes()};
  }

 protected:
  [[nodiscard]] std::int64_t block_rows() const override { return layout_.tile[0]; }
  void sum(const FieldOfRows& field, Progress& progress) override;

 private:
  /// A tile and the points that may light it.
  struct Job {
    PanelTile tile;
    std::vector<std::uint32_t> candidates;
  };

  [[nodiscard]] std::vector<Job> first_jobs(const RowRange& rows) const;
  /// Adds the waves of a job's points to its tile. Returns the tile's halves with the points left to them.
  std::vector<Job> run(const Job& job, bool first, const FieldOfRows& field, FastMemory& memory,
                       const std::function<void()>& stage_done) const;
  [[nodiscard]] std::vector<Job> halves(const PanelTile& tile, const std::vector<std::uint32_t>& index) const;
  [[nodiscard]] std::size_t workspace_bytes() const {
    std::size_t bytes = sizeof(*this) + points_.size() * sizeof(PixelPoint) + field_bytes();
    for (const auto& memory : memory_) bytes += memory.bytes();
    return bytes;
  }
  void set_waves(const PanelTile& tile, const std::vector<std::uint32_t>& index, std::vector<TileWave>& waves) const;
  void sum_masked(const PanelTile& tile, const std::vector<std::uint32_t>& index, const FieldOfRows& field) const;
  void make_tile(const Shape<2>& shape) { tiles_.try_emplace(shape, shape, layout_.window, *kernel_); }

  std::vector<PixelPoint> points_;
  FastLayout layout_;
  std::unique_ptr<nufft::SpreadKernel<float>> kernel_;
  std::map<Shape<2>, FastTile> tiles_;
  std::vector<FastMemory> memory_;  ///< one per thread
};

/// Sets waves[i] to that of points_[index[i]] about the tile's origin.
void FastCpu::set_waves(const PanelTile& tile, const std::vector<std::uint32_t>& index,
                        std::vector<TileWave>& waves) const {
  waves.resize(index.size());
  const auto row = static_cast<double>(tile.row());
  const auto column = static_cast<double>(tile.column());
  parallel_blocks(std::ssize(index), [&](std::int64_t begin, std::int64_t end) {
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
      const auto& point = points_[index[i]];
      const double v = point.row - row;
      const double u = point.column - column;
      waves[i] = {-2 * point.curvature * v, -2 * point.curvature * u, point.curvature,
                  point.curvature * (u * u + v * v) + point.phase_turns, point.amplitude};
    }
  });
}

void FastCpu::sum_masked(const PanelTile& tile, const std::vector<std::uint32_t>& index,
                         const FieldOfRows& field) const {
  if (index.empty()) return;
  // Coordinates of the tile, so that its sums are no larger than the tile.
  const auto rows_before = static_cast<std::int32_t>(tile.row_begin);
  const auto columns_before = static_cast<std::int32_t>(tile.column_begin);
  std::vector<PixelPoint> kept;
  kept.reserve(index.size());
  for (const auto j : index) {
    PixelPoint point = tile.clipped(points_[j]);
    point.row -= rows_before;
    point.row_begin -= rows_before;
    point.row_end -= rows_before;
    point.column -= columns_before;
    point.column_begin -= columns_before;
    point.column_end -= columns_before;
    kept.push_back(point);
  }
  const Shape<2> shape = tile.shape();
  FactorProducts sums(shape, sum_form(options().tolerance), options().deterministic);
  Array<Complex, 2> total(shape);
  for (std::size_t done = 0; done < kept.size(); done += FactorProducts::full_count) {
    sums.add(std::span(kept).subspan(done, std::min(FactorProducts::full_count, kept.size() - done)));
    sums.move_to(done == 0, total.view(), {});
  }
  for (std::int64_t row = 0; row < shape[0]; ++row) {
    Complex* const target = &field(tile.row_begin + row, tile.column_begin);
    for (std::int64_t column = 0; column < shape[1]; ++column) target[column] += total(row, column);
  }
}

/// Splits a tile across the axis on which more of the points light only a part. A point whose zone ends left and right
/// keeps its rows together and continues in one half.
std::vector<FastCpu::Job> FastCpu::halves(const PanelTile& tile, const std::vector<std::uint32_t>& index) const {
  const auto [rows, columns] = tile.shape();
  std::int64_t cut_rows = 0;
  std::int64_t cut_columns = 0;
  for (const auto j : index) {
    const auto& point = points_[j];
    cut_rows += point.row_begin > tile.row_begin || point.row_end < tile.row_end ? 1 : 0;
    cut_columns += point.column_begin > tile.column_begin || point.column_end < tile.column_end ? 1 : 0;
  }
  const bool rows_can = rows >= 2 * smallest_tile;
  const bool columns_can = columns >= 2 * smallest_tile;
  if (!rows_can && !columns_can) return {};
  PanelTile first = tile;
  PanelTile second = tile;
  if (rows_can && (cut_rows >= cut_columns || !columns_can)) {
    first.row_end = second.row_begin = tile.row();
  } else {
    first.column_end = second.column_begin = tile.column();
  }
  return {{first, index}, {second, index}};
}

std::vector<FastCpu::Job> FastCpu::run(const Job& job, bool first, const FieldOfRows& field, FastMemory& memory,
                                       const std::function<void()>& stage_done) const {
  const PanelTile& tile = job.tile;
  std::vector<std::uint32_t> whole;
  std::vector<std::uint32_t> partly;
  double partly_pixels = 0;
  for (const auto j : job.candidates) {
    const auto& point = points_[j];
    if (tile.wholly_lit(point)) {
      whole.push_back(j);
    } else if (tile.lit(point)) {
      partly.push_back(j);
      const auto clipped = tile.clipped(point);
      partly_pixels +=
          static_cast<double>(clipped.row_end - clipped.row_begin) * (clipped.column_end - clipped.column_begin);
    }
  }
  const auto [rows, columns] = tile.shape();
  const double fast = fast_tile_nanoseconds(tile.shape(), layout_.window, points_, whole, costs);
  if (first ||
      fast < static_cast<double>(whole.size() * static_cast<std::size_t>(rows * columns)) * costs.masked_pair) {
    set_waves(tile, whole, memory.waves);
    const PixelSurface surface(fast_tile_layout(tile.shape(), layout_.window).radius_squared());
    tiles_.at(tile.shape()).sum(tile, surface, first, field, memory, stage_done);
  } else {
    sum_masked(tile, whole, field);
  }
  // Halves pay off if they turn most of the masked pairs into spread points.
  auto next = halves(tile, partly);
  double halved = 0;
  for (const auto& half : next) {
    halved += fast_tile_nanoseconds(half.tile.shape(), layout_.window, points_, partly, costs);
  }
  if (!next.empty() && partly_pixels * costs.masked_pair > halved) return next;
  sum_masked(tile, partly, field);
  return {};
}

std::vector<FastCpu::Job> FastCpu::first_jobs(const RowRange& all_rows) const {
  std::vector<std::uint32_t> all(points_.size());
  std::iota(all.begin(), all.end(), 0U);
  const auto [rows, columns] = layout_.tile;
  std::vector<Job> jobs;
  const std::int64_t nx = options().shape[1];
  for (std::int64_t row = all_rows.first_row; row < all_rows.end(); row += rows) {
    for (std::int64_t column = 0; column < nx; column += columns) {
      jobs.push_back({{row, std::min(row + rows, all_rows.end()), column, std::min(column + columns, nx)}, all});
    }
  }
  return jobs;
}

// Sums level by level: the tiles of one level do not overlap.
void FastCpu::sum(const FieldOfRows& field, Progress& progress) {
  auto jobs = first_jobs(field.rows());
  for (std::int64_t level = 0; !jobs.empty(); ++level) {
    for (const auto& job : jobs) make_tile(job.tile.shape());
    std::vector<std::vector<Job>> next(jobs.size());
    run_tiles(std::ssize(jobs), memory_, stage(level), progress,
              [&](std::int64_t i, FastMemory& memory, const std::function<void()>& stage_done) {
                auto& job = jobs[static_cast<std::size_t>(i)];
                next[static_cast<std::size_t>(i)] = run(job, level == 0, field, memory, stage_done);
                job.candidates = {};
              });
    jobs.clear();
    for (auto& part : next) std::move(part.begin(), part.end(), std::back_inserter(jobs));
  }
}

}  // namespace

std::size_t fast_cpu_bytes(const PointCloudOptions& options, std::int64_t count) {
  // A frequency grid and its transformed rows, of the size above which fast_layout.cpp prefers smaller tiles. A sorted
  // copy of a tile's points with their strengths.
  constexpr double max_numbers = 1 << 27;
  constexpr double max_planes = 64;
  constexpr double upsamplings = 2 * 2;
  const double numbers =
      std::min(max_numbers, max_planes * upsamplings * static_cast<double>(element_count(options.shape)));
  // The exact wave's spectrum, up to four times the panel while blocks can keep it below 1 GiB (spectrum_layout.cpp).
  const double spectrum =
      options.wave == Wave::fresnel ? 0 : std::min(max_numbers, 4 * static_cast<double>(element_count(options.shape)));
  const auto points = static_cast<std::size_t>(count);
  return static_cast<std::size_t>(2 * numbers + spectrum) * sizeof(Complex) +
         points *
             (sizeof(PixelPoint) + 2 * sizeof(nufft::SpreadPoint<float, 3>) + sizeof(Complex) + sizeof(std::uint32_t));
}

EnginePointer fast_cpu(const PointCloudOptions& options) { return std::make_unique<FastCpu>(options); }

}  // namespace holotone::point_cloud
