#include <algorithm>
#include <cmath>
#include <holotone/core/parallel.hpp>
#include <holotone/hologram/point_cloud/choice/method.hpp>
#include <holotone/hologram/point_cloud/spectrum/spectrum_sum_cpu.hpp>

namespace holotone::point_cloud {
namespace {

using Complex = std::complex<float>;

const FastCosts costs = fast_cpu_costs();
constexpr std::string_view stage = "summing plane waves";

/// K - 1 / lambda of a tile's frequencies without their linear part.
class SpectrumSurface : public TileSurface {
 public:
  SpectrumSurface(const SpectrumLayout& layout, const SpectrumTile& tile)
      : TileSurface(tile.low, tile.high), layout_(layout), tile_(tile) {}
  void heights(double x, double first, std::span<double> r) const override {
    fill(r, x, first, middle_k() + tile_.slope[1] * x - tile_.slope[0] * tile_.row, tile_.slope[0]);
  }

 protected:
  /// K at the tile's origin.
  [[nodiscard]] double middle_k() const { return 1 / layout_.wavelength_m + tile_.level; }
  /// r[i] = K(x, first + i) - level - slope m, m the row's index.
  void fill(std::span<double> r, double x, double first, double level, double slope) const {
    const double fx = layout_.frequency(1, tile_.column + x);
    const double full = 1 / layout_.wavelength_m;
    fill_column(r.data(), std::ssize(r),
                {tile_.row + first, layout_.frequency(0, 1), full * full - fx * fx,
                 (1 - cone_end * cone_end) * full * full, level, slope});
  }

 private:
  struct Column {
    double first;  ///< m of the first row
    double step;   ///< of fy
    double flat;   ///< K^2 at fy = 0
    double least;  ///< K^2 at the cone's end
    double level;  ///< at row 0
    double slope;
  };
  HOLOTONE_SIMD_CLONES static void fill_column(double* __restrict r, std::int64_t count, const Column& column);

  const SpectrumLayout& layout_;
  SpectrumTile tile_;
};

void SpectrumSurface::fill_column(double* __restrict r, std::int64_t count, const Column& column) {
  for (std::int64_t i = 0; i < count; ++i) {
    const double m = column.first + static_cast<double>(static_cast<std::int32_t>(i));
    const double fy = m * column.step;
    const double rest = column.flat - fy * fy;
    r[i] = std::sqrt(rest > column.least ? rest : column.least) - column.level - column.slope * m;
  }
}

/// The same for what the middle's K leaves of the near term 1 / K: weights K(0, 0) / K - 1.
class NearSurface final : public SpectrumSurface {
 public:
  using SpectrumSurface::SpectrumSurface;
  [[nodiscard]] bool weighted() const override { return true; }
  void weights(double x, double first, std::span<double> weight) const override {
    fill(weight, x, first, 0, 0);
    for (double& k : weight) k = middle_k() / k - 1;
  }
};

/// Multiplies a row of the spectrum, or its conjugate, by i exp(2 pi i d0 (K - 1 / lambda)) scale / K^2 and the light
/// of each frequency.
struct Row {
  double first;     ///< m of the first column
  double step;      ///< of fx
  double full;      ///< 1 / lambda
  double squares;   ///< fy^2
  double least;     ///< K^2 at the cone's end
  double middle_m;  ///< d0
  double scale;
  bool falloff;  ///< scale / K in place of scale / K^2
  float side;    ///< -1: conjugate
};
HOLOTONE_SIMD_CLONES
void multiply_row(float* __restrict values, const float* __restrict light, std::int64_t count, const Row& row) {
  for (std::int64_t i = 0; i < count; ++i) {
    const double fx = (row.first + static_cast<double>(static_cast<std::int32_t>(i))) * row.step;
    const double squares = row.squares + fx * fx;
    const double rest = row.full * row.full - squares;
    const double square = rest > row.least ? rest : row.least;
    const double k = std::sqrt(square);
    const double turns = 0.25 - row.middle_m * squares / (k + row.full);
    float sine = 0;
    float cosine = 0;
    sine_cosine(fixed_turns(turns), sine, cosine);
    const float factor = light[i] * static_cast<float>(row.scale / (row.falloff ? k : square));
    const float re = values[2 * i] * factor;
    const float im = values[2 * i + 1] * factor * row.side;
    values[2 * i] = re * cosine - im * sine;
    values[2 * i + 1] = re * sine + im * cosine;
  }
}

SpectrumLayout checked_layout(std::string_view where, const PointCloudOptions& options, const PanelBlock& block,
                              std::span<const PixelPoint> points) {
  auto layout = choose_spectrum_layout(options, block, points, costs);
  const double numbers = static_cast<double>(layout.period[0]) * static_cast<double>(layout.period[1]);
  if (layout.tile[0] == 0 || numbers > max_spectrum_numbers) {
    throw_unsupported(where, "method", "direct for light of such depths and distances", "fast");
  }
  return layout;
}

}  // namespace

SpectrumSum::SpectrumSum(std::string_view where, const PointCloudOptions& options, const PanelBlock& block,
                         std::span<const PixelPoint> points)
    : options_(options),
      block_(block),
      layout_(checked_layout(where, options, block, points)),
      kernel_(fast_kernel(layout_.window, options.tolerance)),
      transform_(layout_.period, {}, {.scale_inverse = false, .first_row = 0, .rows = block.shape[0]}),
      largest_m_(std::max(std::abs(layout_.depth_m[0]), std::abs(layout_.depth_m[1]))),
      axis_light_{axis_light(layout_, 0), axis_light(layout_, 1)} {
  const Shape<2> extent{2 * layout_.half[0] + 1, 2 * layout_.half[1] + 1};
  const Shape<2> first{layout_.period[0] / 2 - layout_.half[0], layout_.period[1] / 2 - layout_.half[1]};
  for (std::int64_t row = 0; row < extent[0]; row += layout_.tile[0]) {
    for (std::int64_t column = 0; column < extent[1]; column += layout_.tile[1]) {
      const PanelTile place{first[0] + row, first[0] + std::min(row + layout_.tile[0], extent[0]), first[1] + column,
                            first[1] + std::min(column + layout_.tile[1], extent[1])};
      sums_.try_emplace(place.shape(), place.shape(), layout_.window, kernel_);
      tiles_.push_back({place, spectrum_tile(layout_, row - layout_.half[0], column - layout_.half[1], place.shape())});
    }
  }
}

std::string SpectrumSum::tiles() const {
  const auto count = [&](std::size_t axis) {
    return (2 * layout_.half[axis] + layout_.tile[axis]) / layout_.tile[axis];
  };
  return std::to_string(count(1)) + " x " + std::to_string(count(0));
}

/// Sets waves[i] to the spectrum of points[i] about the tile's origin.
void SpectrumSum::set_waves(const Tile& tile, Part part, std::span<const PixelPoint> points,
                            std::vector<TileWave>& waves) const {
  const SpectrumTile& about = tile.about;
  waves.resize(points.size());
  const double row_turns = -1 / static_cast<double>(layout_.period[0]);
  const double column_turns = -1 / static_cast<double>(layout_.period[1]);
  // 1 / (2 pi K)
  const double near_term = layout_.falloff ? 0 : 1 / (two_pi * (about.level + 1 / layout_.wavelength_m));
  parallel_blocks(std::ssize(points), [&](std::int64_t begin, std::int64_t end) {
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
      const auto& point = points[i];
      const double distance = point_distance_m(layout_, point);
      const double depth = distance - layout_.middle_m;
      const double row = row_turns * (point.row - static_cast<double>(block_.first_row));
      const double column = column_turns * (point.column - static_cast<double>(block_.first_column));
      const double amplitude = static_cast<double>(point.amplitude) / largest_m_;
      waves[i] = {row + depth * about.slope[0],
                  column + depth * about.slope[1],
                  depth,
                  row * about.row + column * about.column + depth * about.level + point.phase_turns,
                  {static_cast<float>(amplitude * distance), static_cast<float>(amplitude * near_term)}};
      if (part == Part::derivative) waves[i].amplitude = {static_cast<float>(amplitude), 0};
    }
  });
}

/// Of the tile's waves, keeps the near terms that its middle's K does not serve. Returns false if there are none.
bool SpectrumSum::keep_near_waves(const Tile& tile, std::span<const PixelPoint> points, FastMemory& memory) const {
  const double limit = near_distance_m(layout_, tile.about, tile.place.shape(), options_.tolerance);
  const auto& [least, most] = layout_.depth_m;
  if (least >= limit || most <= -limit) return false;  // all points, on one side of the panel
  memory.near.clear();
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (std::abs(point_distance_m(layout_, points[i])) < limit) memory.near.push_back(static_cast<std::uint32_t>(i));
  }
  std::size_t count = 0;
  for (const auto i : memory.near) {
    auto wave = memory.waves[i];
    wave.amplitude = {0, wave.amplitude.imag()};
    memory.waves[count++] = wave;
  }
  memory.waves.resize(count);
  return count > 0;
}

/// Applies what all points have in common to the spectrum or its conjugate.
void SpectrumSum::multiply(const FieldOfRows& spectrum, bool conjugate) const {
  const double full = 1 / layout_.wavelength_m;
  const double samples = static_cast<double>(element_count(layout_.period)) * layout_.pitch_m * layout_.pitch_m;
  const double wave = layout_.falloff ? 1 : full;
  const std::int64_t count = 2 * layout_.half[1] + 1;
  const std::int64_t first_column = layout_.period[1] / 2 - layout_.half[1];
  parallel_for(0, 2 * layout_.half[0] + 1, [&](std::int64_t row) {
    const std::int64_t m = row - layout_.half[0];
    const double fy = layout_.frequency(0, static_cast<double>(m));
    std::vector<float> light(static_cast<std::size_t>(count));
    for (std::int64_t i = 0; i < count; ++i) {
      const auto at = static_cast<std::size_t>(i);
      light[at] = axis_light_[0][static_cast<std::size_t>(row)] * axis_light_[1][at];
      const double fx = layout_.frequency(1, static_cast<double>(i - layout_.half[1]));
      const double sine = layout_.wavelength_m * std::hypot(fx, fy);
      if (sine > cone_begin) light[at] *= static_cast<float>(light_of_cone(sine));
    }
    auto* const values = reinterpret_cast<float*>(&spectrum(m + layout_.period[0] / 2, first_column));
    multiply_row(values, light.data(), count,
                 {static_cast<double>(-layout_.half[1]), layout_.frequency(1, 1), full, fy * fy,
                  (1 - cone_end * cone_end) * full * full, layout_.middle_m, wave * largest_m_ / samples,
                  layout_.falloff, conjugate ? -1.0F : 1.0F});
  });
}

FieldOfRows SpectrumSum::clear_spectrum(SpectrumMemory& memory) const {
  const Shape<2> period = layout_.period;
  reserve(memory.spectrum, element_count(period));
  const View<Complex, 2> view(memory.spectrum.data(), period, Device{});
  parallel_for(0, period[0], [&](std::int64_t row) { std::fill_n(&view(row, 0), period[1], Complex()); });
  return {view, 0};
}

// Index 0 of the transform is the frequency -period / 2: a sign at every other pixel.

void SpectrumSum::sum(std::span<const PixelPoint> points, const FieldOfRows& field, SpectrumMemory& memory,
                      Progress& progress) const {
  const FieldOfRows spectrum = clear_spectrum(memory);
  run_tiles(std::ssize(tiles_), memory.tiles, stage, progress,
            [&](std::int64_t i, FastMemory& some, const std::function<void()>& stage_done) {
              const Tile& tile = tiles_[static_cast<std::size_t>(i)];
              const FastTile& transform = sums_.at(tile.place.shape());
              set_waves(tile, Part::all, points, some.waves);
              transform.sum(tile.place, SpectrumSurface(layout_, tile.about), true, spectrum, some, stage_done);
              if (!keep_near_waves(tile, points, some)) return;
              transform.sum(tile.place, NearSurface(layout_, tile.about), false, spectrum, some, [] {});
            });
  multiply(spectrum, false);
  transform_.execute(spectrum.view(), FftDirection::inverse);
  parallel_for(0, block_.shape[0], [&](std::int64_t row) {
    Complex* const target = &field(block_.first_row + row, block_.first_column);
    for (std::int64_t column = 0; column < block_.shape[1]; ++column) {
      target[column] = ((row + column) & 1) != 0 ? -spectrum(row, column) : spectrum(row, column);
    }
  });
}

/// Multiplies the spectrum by the factor of a wave's derivative: -2 pi i fx, that of a row's frequency with the other
/// sign, since y falls as the row rises, or that of the phase by d, 2 pi i (K - 1 / lambda).
void SpectrumSum::differentiate(const FieldOfRows& spectrum, PointDerivative by) const {
  const auto [down, across] = layout_.half;
  parallel_for(0, 2 * down + 1, [&, down = down, across = across](std::int64_t row) {
    const auto y = static_cast<double>(row - down);
    for (std::int64_t m = -across; m <= across; ++m) {
      const auto x = static_cast<double>(m);
      double factor = layout_.frequency(0, y);
      if (by == PointDerivative::x) factor = -layout_.frequency(1, x);
      if (by == PointDerivative::z) factor = layout_.depth_frequency(y, x);
      spectrum(row - down + layout_.period[0] / 2, m + layout_.period[1] / 2) *=
          Complex(0, static_cast<float>(two_pi * factor));
    }
  });
}

void SpectrumSum::add_values(Part part, std::span<const PixelPoint> points, const FieldOfRows& spectrum,
                             std::span<Complex> values, SpectrumMemory& memory,
                             const std::function<void()>& stage_done) const {
  memory.tiles.resize(1);  // in sequence, so that values are added in the same order for any number of threads
  FastMemory& some = memory.tiles.front();
  for (const Tile& tile : tiles_) {
    const FastTile& transform = sums_.at(tile.place.shape());
    set_waves(tile, part, points, some.waves);
    transform.sum_transposed(tile.place, SpectrumSurface(layout_, tile.about), spectrum, some, stage_done);
    parallel_for(0, std::ssize(points), [&](std::int64_t i) {
      const auto at = static_cast<std::size_t>(i);
      values[at] += std::conj(some.values[at]);
    });
    if (part == Part::all && keep_near_waves(tile, points, some)) {
      transform.sum_transposed(tile.place, NearSurface(layout_, tile.about), spectrum, some, [] {});
      for (std::size_t i = 0; i < some.near.size(); ++i) values[some.near[i]] += std::conj(some.values[i]);
    }
    stage_done();
  }
}

// The sum is transposed and applied to the conjugate field: all factors keep their signs.
void SpectrumSum::add_adjoint(PointDerivative by, std::span<const PixelPoint> points, View<const Complex, 2> field,
                              std::span<Complex> values, SpectrumMemory& memory, Progress& progress) const {
  const FieldOfRows spectrum = clear_spectrum(memory);
  parallel_for(0, block_.shape[0], [&](std::int64_t row) {
    const Complex* const from = &field(block_.first_row + row, block_.first_column);
    for (std::int64_t column = 0; column < block_.shape[1]; ++column) {
      spectrum(row, column) = ((row + column) & 1) != 0 ? -from[column] : from[column];
    }
  });
  transform_.execute(spectrum.view(), FftDirection::forward);
  multiply(spectrum, true);
  const bool of_distance = by == PointDerivative::z && !layout_.falloff;  // as a factor of the strengths
  const std::int64_t total = (of_distance ? 6 : 3) * std::ssize(tiles_);
  std::int64_t done = 0;
  const auto stage_done = [&] { progress.step(stage, ++done, total); };
  if (of_distance) add_values(Part::derivative, points, spectrum, values, memory, stage_done);
  if (by != PointDerivative::none) differentiate(spectrum, by);
  add_values(Part::all, points, spectrum, values, memory, stage_done);
  if (by == PointDerivative::z) {
    for (Complex& value : values) value = -value;  // z = -d
  }
}

}  // namespace holotone::point_cloud
