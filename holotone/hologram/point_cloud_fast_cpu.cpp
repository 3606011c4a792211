// The hologram as non-uniform FFTs, one a tile (point_cloud_fast_layout.hpp has the formula). Points that light a whole tile are
// spread over a grid of frequencies; along its rows and columns go FFTs, and each pixel sums over the planes of the third
// axis with its own phase, as a polynomial in exp(2 pi i r / steps). Points that light a tile in part go through products of
// masked factors.
#include <algorithm>
#include <cmath>
#include <holotone/core/parallel.hpp>
#include <holotone/hologram/point_cloud_cpu.hpp>
#include <holotone/hologram/point_cloud_fast_layout.hpp>
#include <holotone/hologram/point_cloud_separable_cpu.hpp>
#include <holotone/nufft/axis_pass_cpu.hpp>
#include <holotone/nufft/spread_cpu.hpp>
#include <optional>

namespace holotone::point_cloud {
namespace {

using Complex = std::complex<float>;

/// Two threads of a Zen 4 core with AVX-512 (docs/performance.md); others change all of them much alike.
constexpr FastCosts costs{.spread_point = 25, .spread_node = 0.25, .transform_sample = 4.0, .masked_pair = 0.03};
constexpr double polynomial_share = 0.05;
constexpr std::int64_t slab_rows = 16;

Complex unit(double turns) {
  float sine = 0;
  float cosine = 0;
  sine_cosine(fixed_turns(turns), sine, cosine);
  return {cosine, sine};
}

/// One tile of the panel.
struct PanelTile {
  std::int64_t row_begin, row_end, column_begin, column_end;
  [[nodiscard]] std::int64_t rows() const { return row_end - row_begin; }
  [[nodiscard]] std::int64_t columns() const { return column_end - column_begin; }
  /// The origin is the middle pixel.
  [[nodiscard]] std::int64_t row() const { return row_begin + rows() / 2; }
  [[nodiscard]] std::int64_t column() const { return column_begin + columns() / 2; }
  [[nodiscard]] bool wholly_lit(const PixelPoint& point) const {
    return point.row_begin <= row_begin && point.row_end >= row_end && point.column_begin <= column_begin &&
           point.column_end >= column_end;
  }
  /// The point's lit pixels in this tile; none if row_begin == row_end.
  [[nodiscard]] PixelPoint clipped(PixelPoint point) const {
    point.row_begin = std::max(point.row_begin, static_cast<std::int32_t>(row_begin));
    point.row_end = std::min(point.row_end, static_cast<std::int32_t>(row_end));
    point.column_begin = std::max(point.column_begin, static_cast<std::int32_t>(column_begin));
    point.column_end = std::min(point.column_end, static_cast<std::int32_t>(column_end));
    if (point.row_begin >= point.row_end || point.column_begin >= point.column_end) point.row_begin = point.row_end = 0;
    return point;
  }
};

/// Frequencies of one axis on its grid: cells first .. first + count - 1, taken modulo `period` by the transform. A box narrower
/// than the period needs no folding; otherwise the box is the period.
struct Box {
  std::int64_t first = 0;
  std::int64_t count = 0;
  bool whole = false;
};

class FastCpu final : public PointCloudPlan::Engine {
 public:
  explicit FastCpu(const PointCloudOptions& options) : options_(options) {}

  void set_points(const PointSources& points) override {
    points_ = pixel_points(points, options_);
    range_ = {};
    if (!points_.empty()) {
      const auto [low, high] = std::minmax_element(
          points_.begin(), points_.end(), [](const auto& a, const auto& b) { return a.curvature < b.curvature; });
      range_ = {low->curvature, high->curvature};
    }
    layout_ = choose_fast_layout(options_.shape, range_, points_, options_.tolerance, costs);
    kernel_.emplace(layout_.window, polynomial_share * options_.tolerance);
    for (const std::size_t axis : {0, 1}) {
      lines_[axis].emplace(layout_.grid[axis], 1, layout_.grid[axis], FftDirection::inverse);
    }
    make_depth_table();
  }

  void execute(const PointCloudOutput& output, Progress& progress) override;

  [[nodiscard]] PointCloudInfo info() const override {
    return {
        PointMethod::fast, "float32 (non-uniform FFT)", options_.tolerance,
        points_.size() * sizeof(PixelPoint) + sorted_.bytes() + cells_.bytes() + between_.bytes() + memory_.bytes()};
  }

 private:
  void sum_tile(const PanelTile& tile, View<Complex, 2> field);
  void spread_tile(const PanelTile& tile);
  void transform_rows(const PanelTile& tile);
  void transform_columns(const PanelTile& tile, View<Complex, 2> field);
  void make_depth_table();
  [[nodiscard]] float depth_factor(double steps) const;

  PointCloudOptions options_;
  std::vector<PixelPoint> points_;
  CurvatureRange range_;
  FastLayout layout_;
  std::optional<nufft::SpreadKernel<float>> kernel_;
  std::array<std::optional<fft::LinePlan<float>>, 2> lines_;
  std::vector<float> depth_table_;

  // The tile in hand.
  double middle_curvature_ = 0;
  double middle_radius_ = 0;
  std::int64_t first_plane_ = 0;
  std::array<Box, 2> box_;  ///< rows, columns
  nufft::SpreadGrid<3> grid_;
  nufft::SpreadPoints<float, 3> sorted_;
  std::vector<Complex> strength_;
  Array<float, 1> cells_;
  Array<Complex, 1> between_;
  nufft::ThreadMemory<Complex> memory_;
  FieldMemory field_memory_;
};

constexpr int depth_table_size = 1024;

/// 1 / phihat over the third axis, |r - r0| / depth_steps <= 1 / (2 upsampling).
void FastCpu::make_depth_table() {
  depth_table_.resize(depth_table_size + 2);
  for (std::size_t i = 0; i < depth_table_.size(); ++i) {
    const double frequency = 0.5 / layout_.window.upsampling * static_cast<double>(i) / depth_table_size;
    depth_table_[i] = static_cast<float>(1 / window_transform(layout_.window, frequency));
  }
}

float FastCpu::depth_factor(double frequency) const {
  const auto place = static_cast<float>(std::abs(frequency) * 2 * layout_.window.upsampling * depth_table_size);
  const auto index = std::min(static_cast<int>(place), depth_table_size);
  const float rest = place - static_cast<float>(index);
  const auto at = static_cast<std::size_t>(index);
  return depth_table_[at] + rest * (depth_table_[at + 1] - depth_table_[at]);
}

/// Lays the box of the tile's frequencies, sorts the points that light it wholly and spreads them.
void FastCpu::spread_tile(const PanelTile& tile) {
  const int width = kernel_->width;
  const double depth_steps = layout_.depth_steps();
  middle_curvature_ = 0.5 * (range_.low + range_.high);
  middle_radius_ = 0.5 * layout_.radius_squared();
  const std::array<double, 2> steps{static_cast<double>(layout_.grid[0]), static_cast<double>(layout_.grid[1])};
  const auto frequency = [&](const PixelPoint& point, std::size_t axis) {
    const double from_origin =
        axis == 0 ? point.row - static_cast<double>(tile.row()) : point.column - static_cast<double>(tile.column());
    return -2 * point.curvature * from_origin * steps[axis];
  };
  for (const std::size_t axis : {0, 1}) {
    double low = 1e300;
    double high = -1e300;
#pragma omp parallel for reduction(min : low) reduction(max : high) schedule(static)
    for (std::int64_t j = 0; j < std::ssize(points_); ++j) {
      const auto& point = points_[static_cast<std::size_t>(j)];
      if (!tile.wholly_lit(point)) continue;
      const double own = frequency(point, axis);
      low = std::min(low, own);
      high = std::max(high, own);
    }
    const double first = std::floor(low - 0.5 * width);
    const double count = low > high ? 0 : std::ceil(high + 0.5 * width) - first + 1;
    const bool whole = count >= steps[axis];
    box_[axis] = whole ? Box{0, layout_.grid[axis], true}
                       : Box{static_cast<std::int64_t>(first), static_cast<std::int64_t>(count), false};
  }
  const double depth_low = (range_.low - middle_curvature_) * depth_steps;
  first_plane_ = static_cast<std::int64_t>(std::floor(depth_low - 0.5 * width));
  grid_.extent = {layout_.planes(range_) + 1, box_[0].count, box_[1].count};
  grid_.halo = (width + 3) / 4 * 4;
  strength_.resize(points_.size());
  sorted_.sort(
      box_[0].count == 0 ? 0 : std::ssize(points_), grid_, slab_rows,
      [&](std::int64_t j, nufft::SpreadPoint<float, 3>& spread_point) {
        const auto& point = points_[static_cast<std::size_t>(j)];
        if (!tile.wholly_lit(point)) return false;
        for (const std::size_t axis : {0, 1}) {
          double own = frequency(point, axis);
          const Box& box = box_[axis];
          if (box.whole) {
            own -= std::floor(own / steps[axis]) * steps[axis];
            if (own >= steps[axis]) own = 0;
          } else {
            own -= static_cast<double>(box.first);
          }
          nufft::place_on_axis(own, width, box.count, spread_point.cell[1 - axis], spread_point.place[1 - axis]);
        }
        const double depth = (point.curvature - middle_curvature_) * depth_steps - static_cast<double>(first_plane_);
        nufft::place_on_axis(depth, width, grid_.extent[0], spread_point.cell[2], spread_point.place[2]);
        const double u = point.column - static_cast<double>(tile.column());
        const double v = point.row - static_cast<double>(tile.row());
        strength_[static_cast<std::size_t>(j)] =
            point.amplitude * unit(point.curvature * (u * u + v * v) +
                                   (point.curvature - middle_curvature_) * middle_radius_ + point.phase_turns);
        return true;
      });
  const std::int64_t numbers = 2 * grid_.cells();
  if (cells_.size() < numbers) cells_ = Array<float, 1>({numbers});
  const std::int64_t row = 2 * grid_.stride();
  parallel_for(0, grid_.planes() * grid_.rows(),
               [&](std::int64_t i) { std::fill_n(cells_.data() + i * row, row, 0.0F); });
  nufft::spread<float, 3, 2>(sorted_, *kernel_, grid_, reinterpret_cast<const float*>(strength_.data()), cells_.data());
}

/// between[plane][row of frequencies][column of pixels] = the rows' transforms, with the windows' factor of the columns.
void FastCpu::transform_rows(const PanelTile& tile) {
  const std::int64_t planes = grid_.extent[0];
  const std::int64_t rows = box_[0].count;
  const std::int64_t length = layout_.grid[1];
  const std::int64_t columns = tile.columns();
  const std::int64_t before = tile.column() - tile.column_begin;  // X = -before .. columns - before - 1
  std::vector<float> factor(static_cast<std::size_t>(columns));
  for (std::int64_t i = 0; i < columns; ++i) {
    factor[static_cast<std::size_t>(i)] = static_cast<float>(
        1 / window_transform(layout_.window, static_cast<double>(i - before) / static_cast<double>(length)));
  }
  if (between_.size() < planes * rows * columns) between_ = Array<Complex, 1>({planes * rows * columns});
  memory_.reserve(static_cast<std::size_t>(std::max(length, nufft::AxisPass<float>::block * (layout_.grid[0] + 16))));
  const auto* const cells = reinterpret_cast<const Complex*>(cells_.data());
  const std::int64_t stride = grid_.stride();
  // A box as long as the period holds in its halo what belongs to its beginning.
  const std::int64_t filled = box_[1].whole ? box_[1].count + grid_.halo : box_[1].count;
  const std::int64_t filled_rows = box_[0].whole ? rows + grid_.halo : rows;
  parallel_for(0, planes * rows, [&](std::int64_t i) {
    const std::int64_t plane = i / rows;
    Complex* const line = memory_.own();
    std::fill_n(line, length, Complex());
    for (std::int64_t r = i % rows; r < filled_rows; r += rows) {
      const Complex* const from = cells + (plane * grid_.rows() + r) * stride;
      std::int64_t to = ((box_[1].first % length) + length) % length;
      for (std::int64_t c = 0; c < filled; ++c) {
        line[to] += from[c];
        if (++to == length) to = 0;
      }
    }
    lines_[1]->execute(line);
    Complex* const target = between_.data() + i * columns;
    for (std::int64_t c = 0; c < columns; ++c) {
      const std::int64_t x = c - before;
      target[c] = line[x < 0 ? x + length : x] * factor[static_cast<std::size_t>(c)];
    }
  });
}

/// sum over planes of value[plane] rho^plane, from the last to the first: sum = sum rho + value.
HOLOTONE_SIMD_CLONES
void horner_step(std::int64_t count, const float* __restrict rho_re, const float* __restrict rho_im,
                 const Complex* __restrict value, float* __restrict re, float* __restrict im) {
  const auto* const numbers = reinterpret_cast<const float*>(value);
  for (std::int64_t i = 0; i < count; ++i) {
    const float r = re[i] * rho_re[i] - im[i] * rho_im[i];
    const float s = re[i] * rho_im[i] + im[i] * rho_re[i];
    re[i] = r + numbers[2 * i];
    im[i] = s + numbers[2 * i + 1];
  }
}

/// Columns' transforms, the sum over planes and the phase a0 r, a block of columns at a time.
void FastCpu::transform_columns(const PanelTile& tile, View<Complex, 2> field) {
  const std::int64_t planes = grid_.extent[0];
  const std::int64_t box_rows = box_[0].count;
  const std::int64_t length = layout_.grid[0];
  const std::int64_t columns = tile.columns();
  const std::int64_t rows = tile.rows();
  const std::int64_t row_before = tile.row() - tile.row_begin;
  const double depth_steps = layout_.depth_steps();
  std::vector<float> row_factor(static_cast<std::size_t>(rows));
  for (std::int64_t i = 0; i < rows; ++i) {
    row_factor[static_cast<std::size_t>(i)] = static_cast<float>(
        1 / window_transform(layout_.window, static_cast<double>(i - row_before) / static_cast<double>(length)));
  }
  parallel_for(0, columns, [&](std::int64_t c) {
    Complex* const line = memory_.own();
    std::vector<float> rho_re(static_cast<std::size_t>(rows));
    std::vector<float> rho_im(static_cast<std::size_t>(rows));
    std::vector<float> re(static_cast<std::size_t>(rows));
    std::vector<float> im(static_cast<std::size_t>(rows));
    std::vector<Complex> value(static_cast<std::size_t>(rows));
    const auto x = static_cast<double>(tile.column_begin + c - tile.column());
    for (std::int64_t i = 0; i < rows; ++i) {
      const auto y = static_cast<double>(i - row_before);
      const Complex rho = unit((x * x + y * y - middle_radius_) / depth_steps);
      rho_re[static_cast<std::size_t>(i)] = rho.real();
      rho_im[static_cast<std::size_t>(i)] = rho.imag();
    }
    for (std::int64_t plane = planes - 1; plane >= 0; --plane) {
      const Complex* const from = between_.data() + plane * box_rows * columns + c;
      std::fill_n(line, length, Complex());
      std::int64_t to = ((box_[0].first % length) + length) % length;
      for (std::int64_t k = 0; k < box_rows; ++k) {
        line[to] = from[k * columns];
        if (++to == length) to = 0;
      }
      lines_[0]->execute(line);
      for (std::int64_t i = 0; i < rows; ++i) {
        const std::int64_t y = i - row_before;
        value[static_cast<std::size_t>(i)] = line[y < 0 ? y + length : y];
      }
      horner_step(rows, rho_re.data(), rho_im.data(), value.data(), re.data(), im.data());
    }
    for (std::int64_t i = 0; i < rows; ++i) {
      const auto y = static_cast<double>(i - row_before);
      const double r = x * x + y * y;
      const double third = (r - middle_radius_) / depth_steps;
      const Complex phase = unit(middle_curvature_ * r + static_cast<double>(first_plane_) * third);
      const float factor = row_factor[static_cast<std::size_t>(i)] * depth_factor(third);
      const Complex sum(re[static_cast<std::size_t>(i)], im[static_cast<std::size_t>(i)]);
      field(tile.row_begin + i, tile.column_begin + c) = sum * phase * factor;
    }
  });
}

void FastCpu::sum_tile(const PanelTile& tile, View<Complex, 2> field) {
  spread_tile(tile);
  if (sorted_.points().empty()) {
    for (std::int64_t row = tile.row_begin; row < tile.row_end; ++row) {
      std::fill_n(&field(row, tile.column_begin), tile.columns(), Complex());
    }
    return;
  }
  transform_rows(tile);
  transform_columns(tile, field);
}

void FastCpu::execute(const PointCloudOutput& output, Progress& progress) {
  constexpr std::string_view stage = "summing points";
  const auto field = field_memory_.target(output, options_.shape);
  const std::int64_t total = element_count(layout_.tiles);
  FactorProducts masked(options_.shape, product_form(options_.tolerance));
  std::vector<PixelPoint> partly;
  progress.step(stage, 0, total);
  for (std::int64_t i = 0; i < total; ++i) {
    PanelTile tile{};
    tile.row_begin = i / layout_.tiles[1] * layout_.tile[0];
    tile.row_end = std::min(tile.row_begin + layout_.tile[0], options_.shape[0]);
    tile.column_begin = i % layout_.tiles[1] * layout_.tile[1];
    tile.column_end = std::min(tile.column_begin + layout_.tile[1], options_.shape[1]);
    sum_tile(tile, field);
    partly.clear();
    for (const auto& point : points_) {
      if (tile.wholly_lit(point)) continue;
      if (const auto own = tile.clipped(point); own.row_begin != own.row_end) partly.push_back(own);
    }
    for (std::size_t done = 0; done < partly.size();) {
      const auto count = std::min(FactorProducts::full_count - masked.count(), partly.size() - done);
      masked.add(std::span(partly).subspan(done, count));
      done += count;
      if (masked.count() == FactorProducts::full_count) masked.move_to(false, field, {});
    }
    progress.step(stage, i + 1, total);
  }
  if (masked.count() > 0) masked.move_to(false, field, {});
  write_parts(field, output);
}

}  // namespace

EnginePointer fast_cpu(const PointCloudOptions& options) { return std::make_unique<FastCpu>(options); }

}  // namespace holotone::point_cloud
