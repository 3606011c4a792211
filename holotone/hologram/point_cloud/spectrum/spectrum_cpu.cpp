// The exact wave by its spectrum (spectrum_layout.hpp has the formula): non-uniform FFTs of type 1 over tiles of
// frequencies, then one inverse FFT for a block of the panel.
#include <algorithm>
#include <cmath>
#include <holotone/core/parallel.hpp>
#include <holotone/fft/fft.hpp>
#include <holotone/hologram/point_cloud/choice/method.hpp>
#include <holotone/hologram/point_cloud/choice/spectrum_layout.hpp>
#include <holotone/hologram/point_cloud/fast/fast_tile_cpu.hpp>
#include <map>
#include <string>

namespace holotone::point_cloud {
namespace {

using Complex = std::complex<float>;

const FastCosts costs = fast_cpu_costs();
constexpr std::string_view stage = "summing plane waves";

/// K - 1 / lambda of a tile's frequencies without their linear part.
class SpectrumSurface final : public TileSurface {
 public:
  SpectrumSurface(const SpectrumLayout& layout, const SpectrumTile& tile)
      : TileSurface(tile.low, tile.high), layout_(layout), tile_(tile) {}
  void heights(double x, double first, std::span<double> r) const override {
    const double fx = layout_.frequency(1, tile_.column + x);
    const double full = 1 / layout_.wavelength_m;
    const double flat = full * full - fx * fx;
    fill(r.data(), std::ssize(r),
         {tile_.row + first, layout_.frequency(0, 1), full, flat, (1 - cone_end * cone_end) * full * full,
          full + tile_.level + tile_.slope[1] * x - tile_.slope[0] * tile_.row, tile_.slope[0]});
  }

 private:
  struct Column {
    double first;  ///< m of the first row
    double step;   ///< of fy
    double full;   ///< 1 / lambda
    double flat;   ///< K^2 at fy = 0
    double least;  ///< K^2 at the cone's end
    double level;  ///< at row 0
    double slope;
  };
  HOLOTONE_SIMD_CLONES static void fill(double* __restrict r, std::int64_t count, const Column& column);

  const SpectrumLayout& layout_;
  SpectrumTile tile_;
};

void SpectrumSurface::fill(double* __restrict r, std::int64_t count, const Column& column) {
  for (std::int64_t i = 0; i < count; ++i) {
    const double m = column.first + static_cast<double>(static_cast<std::int32_t>(i));
    const double fy = m * column.step;
    const double rest = column.flat - fy * fy;
    r[i] = std::sqrt(rest > column.least ? rest : column.least) - column.level - column.slope * m;
  }
}

/// Light of the frequencies m = -half .. half of one axis, without the cone.
std::vector<float> axis_light(const SpectrumLayout& layout, std::size_t axis) {
  const std::int64_t half = layout.half[axis];
  std::vector<float> light(static_cast<std::size_t>(2 * half + 1));
  for (std::int64_t m = -half; m <= half; ++m) {
    const auto size = static_cast<double>(std::abs(m));
    const double cosine = layout.wavelength_m * layout.frequency(axis, size);
    const auto& edge = layout.edge[axis];
    light[static_cast<std::size_t>(m + half)] = static_cast<float>(
        light_of_axis(cosine, layout.limit) * soft_edge((size - edge.full) / (edge.end - edge.full)));
  }
  return light;
}

/// Multiplies a row of the spectrum by i exp(2 pi i d0 (K - 1 / lambda)) scale / K^2 and the light of each frequency.
struct Row {
  double first;     ///< m of the first column
  double step;      ///< of fx
  double full;      ///< 1 / lambda
  double squares;   ///< fy^2
  double least;     ///< K^2 at the cone's end
  double middle_m;  ///< d0
  double scale;
};
HOLOTONE_SIMD_CLONES
void finish_row(float* __restrict values, const float* __restrict light, std::int64_t count, const Row& row) {
  for (std::int64_t i = 0; i < count; ++i) {
    const double fx = (row.first + static_cast<double>(static_cast<std::int32_t>(i))) * row.step;
    const double squares = row.squares + fx * fx;
    const double rest = row.full * row.full - squares;
    const double square = rest > row.least ? rest : row.least;
    const double turns = 0.25 - row.middle_m * squares / (std::sqrt(square) + row.full);
    float sine = 0;
    float cosine = 0;
    sine_cosine(fixed_turns(turns), sine, cosine);
    const float factor = light[i] * static_cast<float>(row.scale / square);
    const float re = values[2 * i] * factor;
    const float im = values[2 * i + 1] * factor;
    values[2 * i] = re * cosine - im * sine;
    values[2 * i + 1] = re * sine + im * cosine;
  }
}

class SpectrumCpu final : public BlockEngine {
 public:
  explicit SpectrumCpu(const PointCloudOptions& options) : BlockEngine(options) {}

  void set_points(EnginePoints points, const MethodChoice& choice) override {
    points_ = std::move(points.pixels);
    block_ = choice.spectrum_block;
    layout_ = {};
    forget_block();
  }

  [[nodiscard]] PointCloudInfo info() const override {
    const auto tiles = [&](std::size_t axis) {
      const auto tile = std::max<std::int64_t>(1, layout_.tile[axis]);  // none before the first sum
      return std::to_string((2 * layout_.half[axis] + tile) / tile);
    };
    return {PointMethod::fast, "float32, spectrum in " + tiles(1) + " x " + tiles(0) + " tiles", options().tolerance,
            workspace_bytes()};
  }

 protected:
  [[nodiscard]] std::int64_t block_rows() const override { return block_[0]; }
  void sum(const FieldOfRows& field, Progress& progress) override;

 private:
  void sum_block(const PanelBlock& block, const FieldOfRows& field, Progress& progress);
  void sum_tiles(const FieldOfRows& spectrum, const PanelBlock& block, std::span<const PixelPoint> points,
                 Progress& progress);
  void set_waves(const SpectrumTile& tile, const PanelBlock& block, std::span<const PixelPoint> points,
                 std::vector<TileWave>& waves) const;
  void finish(const FieldOfRows& spectrum) const;
  [[nodiscard]] std::size_t workspace_bytes() const {
    std::size_t bytes = sizeof(*this) + points_.size() * sizeof(PixelPoint) + field_bytes() + spectrum_.bytes();
    for (const auto& memory : memory_) bytes += memory.bytes();
    return bytes;
  }

  std::vector<PixelPoint> points_;
  Shape<2> block_{1, 1};
  SpectrumLayout layout_;  ///< of the last block
  Array<Complex, 1> spectrum_;
  std::vector<FastMemory> memory_;  ///< one per thread
};

/// Sets waves[i] to the spectrum of points[i] about the tile's origin.
void SpectrumCpu::set_waves(const SpectrumTile& tile, const PanelBlock& block, std::span<const PixelPoint> points,
                            std::vector<TileWave>& waves) const {
  waves.resize(points.size());
  const double row_turns = -1 / static_cast<double>(layout_.period[0]);
  const double column_turns = -1 / static_cast<double>(layout_.period[1]);
  const double near_term = 1 / (two_pi * (tile.level + 1 / layout_.wavelength_m));  // 1 / (2 pi K)
  const double largest = std::max(std::abs(layout_.depth_m[0]), std::abs(layout_.depth_m[1]));
  parallel_blocks(std::ssize(points), [&](std::int64_t begin, std::int64_t end) {
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
      const auto& point = points[i];
      const double distance = point_distance_m(layout_, point);
      const double depth = distance - layout_.middle_m;
      const double row = row_turns * (point.row - static_cast<double>(block.first_row));
      const double column = column_turns * (point.column - static_cast<double>(block.first_column));
      const double amplitude = static_cast<double>(point.amplitude) / largest;
      waves[i] = {row + depth * tile.slope[0],
                  column + depth * tile.slope[1],
                  depth,
                  row * tile.row + column * tile.column + depth * tile.level + point.phase_turns,
                  {static_cast<float>(amplitude * distance), static_cast<float>(amplitude * near_term)}};
    }
  });
}

void SpectrumCpu::sum_tiles(const FieldOfRows& spectrum, const PanelBlock& block, std::span<const PixelPoint> points,
                            Progress& progress) {
  const auto kernel = fast_kernel(layout_.window, options().tolerance);
  const Shape<2> extent{2 * layout_.half[0] + 1, 2 * layout_.half[1] + 1};
  const Shape<2> first{layout_.period[0] / 2 - layout_.half[0], layout_.period[1] / 2 - layout_.half[1]};
  std::map<Shape<2>, FastTile> sums;
  std::vector<PanelTile> tiles;
  for (std::int64_t row = 0; row < extent[0]; row += layout_.tile[0]) {
    for (std::int64_t column = 0; column < extent[1]; column += layout_.tile[1]) {
      const PanelTile tile{first[0] + row, first[0] + std::min(row + layout_.tile[0], extent[0]), first[1] + column,
                           first[1] + std::min(column + layout_.tile[1], extent[1])};
      sums.try_emplace(tile.shape(), tile.shape(), layout_.window, kernel);
      tiles.push_back(tile);
    }
  }
  run_tiles(std::ssize(tiles), memory_, stage, progress,
            [&](std::int64_t i, FastMemory& memory, const std::function<void()>& stage_done) {
              const PanelTile& tile = tiles[static_cast<std::size_t>(i)];
              const auto about = spectrum_tile(layout_, tile.row_begin - layout_.period[0] / 2,
                                               tile.column_begin - layout_.period[1] / 2, tile.shape());
              set_waves(about, block, points, memory.waves);
              sums.at(tile.shape()).sum(tile, SpectrumSurface(layout_, about), true, spectrum, memory, stage_done);
            });
}

/// Applies what all points have in common.
void SpectrumCpu::finish(const FieldOfRows& spectrum) const {
  const double full = 1 / layout_.wavelength_m;
  const auto row_light = axis_light(layout_, 0);
  const auto column_light = axis_light(layout_, 1);
  const double largest = std::max(std::abs(layout_.depth_m[0]), std::abs(layout_.depth_m[1]));
  const double samples = static_cast<double>(element_count(layout_.period)) * layout_.pitch_m * layout_.pitch_m;
  const std::int64_t count = 2 * layout_.half[1] + 1;
  const std::int64_t first_column = layout_.period[1] / 2 - layout_.half[1];
  parallel_for(0, 2 * layout_.half[0] + 1, [&](std::int64_t row) {
    const std::int64_t m = row - layout_.half[0];
    const double fy = layout_.frequency(0, static_cast<double>(m));
    std::vector<float> light(static_cast<std::size_t>(count));
    for (std::int64_t i = 0; i < count; ++i) {
      const auto at = static_cast<std::size_t>(i);
      light[at] = row_light[static_cast<std::size_t>(row)] * column_light[at];
      const double fx = layout_.frequency(1, static_cast<double>(i - layout_.half[1]));
      const double sine = layout_.wavelength_m * std::hypot(fx, fy);
      if (sine > cone_begin) light[at] *= static_cast<float>(light_of_cone(sine));
    }
    auto* const values = reinterpret_cast<float*>(&spectrum(m + layout_.period[0] / 2, first_column));
    finish_row(values, light.data(), count,
               {static_cast<double>(-layout_.half[1]), layout_.frequency(1, 1), full, fy * fy,
                (1 - cone_end * cone_end) * full * full, layout_.middle_m, full * largest / samples});
  });
}

void SpectrumCpu::sum_block(const PanelBlock& block, const FieldOfRows& field, Progress& progress) {
  const bool whole = block.shape == options().shape;
  const auto lit = whole ? std::vector<PixelPoint>() : points_of_block(points_, block);
  const std::span<const PixelPoint> points = whole ? points_ : lit;
  if (points.empty()) {
    for (std::int64_t row = 0; row < block.shape[0]; ++row) {
      std::fill_n(&field(block.first_row + row, block.first_column), block.shape[1], Complex());
    }
    return;
  }
  layout_ = choose_spectrum_layout(options(), block, points, costs);
  const Shape<2> period = layout_.period;
  if (layout_.tile[0] == 0 || static_cast<double>(period[0]) * static_cast<double>(period[1]) > max_spectrum_numbers) {
    throw_unsupported("PointCloudPlan::execute", "method", "direct for light of such depths and distances", "fast");
  }
  if (spectrum_.size() < element_count(period)) spectrum_ = Array<Complex, 1>({element_count(period)});
  const View<Complex, 2> view(spectrum_.data(), period, Device{});
  parallel_for(0, period[0], [&](std::int64_t row) { std::fill_n(&view(row, 0), period[1], Complex()); });
  const FieldOfRows spectrum(view, 0);
  sum_tiles(spectrum, block, points, progress);
  finish(spectrum);
  const FftPlan transform(period, {}, {.scale_inverse = false, .first_row = 0, .rows = block.shape[0]});
  transform.execute(view, FftDirection::inverse);
  // Index 0 of the transform was the frequency -period / 2: a sign at every other pixel.
  parallel_for(0, block.shape[0], [&](std::int64_t row) {
    Complex* const target = &field(block.first_row + row, block.first_column);
    for (std::int64_t column = 0; column < block.shape[1]; ++column) {
      target[column] = ((row + column) & 1) != 0 ? -view(row, column) : view(row, column);
    }
  });
}

void SpectrumCpu::sum(const FieldOfRows& field, Progress& progress) {
  const std::int64_t nx = options().shape[1];
  const RowRange rows = field.rows();
  for (std::int64_t row = rows.first_row; row < rows.end(); row += block_[0]) {
    for (std::int64_t column = 0; column < nx; column += block_[1]) {
      const Shape<2> shape{std::min(block_[0], rows.end() - row), std::min(block_[1], nx - column)};
      sum_block({row, column, shape}, field, progress);
    }
  }
}

}  // namespace

EnginePointer spectrum_cpu(const PointCloudOptions& options) { return std::make_unique<SpectrumCpu>(options); }

}  // namespace holotone::point_cloud
