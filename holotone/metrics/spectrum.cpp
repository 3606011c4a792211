#include <algorithm>
#include <cmath>
#include <complex>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/metrics/loops_detail.hpp>
#include <holotone/metrics/spectrum.hpp>
#include <holotone/nufft/nufft.hpp>
#include <limits>
#include <numbers>
#include <span>

namespace holotone {
namespace {

using Complex = std::complex<double>;

/// Rows and columns of `count` equal pieces, as square as possible.
Shape<2> max_square(const Region& region, std::int64_t count) {
  Shape<2> best{1, count};
  double best_ratio = std::numeric_limits<double>::infinity();
  for (std::int64_t rows = 1; rows <= count; ++rows) {
    if (count % rows != 0) continue;
    const double width = region.width / static_cast<double>(count / rows);
    const double height = region.height / static_cast<double>(rows);
    const double ratio = std::max(width / height, height / width);
    if (ratio < best_ratio * (1 - 1e-9)) {
      best_ratio = ratio;
      best = {rows, count / rows};
    }
  }
  return best;
}

void require_options(const SpectrumOptions& options) {
  constexpr std::string_view where = "SpectrumPlan";
  require_region(where, options.region);
  require_range(where, "segments", static_cast<double>(options.segments), 1, 65536);
  require_positive(where, "largest_frequency", options.largest_frequency);
  require_range(where, "tolerance", options.tolerance, nufft_tolerance_floor_double, 0.1);
}

/// Modes -n..n along an axis of `length` pixels, clamped to the largest supported number.
std::int64_t modes_along(double length, double largest_frequency) {
  constexpr double most = 1 << 28;
  const double half = std::ceil(largest_frequency * length * (1 - 1e-12));
  return 2 * static_cast<std::int64_t>(std::min(half, most)) + 1;
}

/// Weight of the Hann window along one axis, position 0..1; its mean is 1.
double hann(double t) { return 1 - std::cos(2 * std::numbers::pi * t); }

/// Fourier coefficients of the Hann window.
double hann_coefficient(std::int64_t k) { return k == 0 ? 1 : std::abs(k) == 1 ? -0.5 : 0; }

/// Subtracts the window's transform of the mean density, which is non-zero only at and next to frequency 0.
void subtract_mean(View<Complex, 2> half, double weight) {
  const std::int64_t middle = (half.shape()[0] - 1) / 2;
  const std::int64_t most = std::min<std::int64_t>(middle, 1);
  for (std::int64_t ky = -most; ky <= most; ++ky) {
    for (std::int64_t kx = 0; kx < std::min<std::int64_t>(half.shape()[1], 2); ++kx) {
      half(middle + ky, kx) -= weight * hann_coefficient(ky) * hann_coefficient(kx);
    }
  }
}

/// Number of whole annuli of one width up to a frequency.
std::int64_t annuli_within(double largest, double width) {
  return static_cast<std::int64_t>(std::floor(largest / width - 0.5 + 1e-9));
}

}  // namespace

SpectrumSize spectrum_size(const SpectrumOptions& options) {
  require_options(options);
  SpectrumSize size;
  size.pieces = max_square(options.region, options.segments);
  const double width = options.region.width / static_cast<double>(size.pieces[1]);
  const double height = options.region.height / static_cast<double>(size.pieces[0]);
  size.frequencies = {modes_along(height, options.largest_frequency), modes_along(width, options.largest_frequency)};
  const double largest = std::min(static_cast<double>(size.frequencies[0] / 2) / height,
                                  static_cast<double>(size.frequencies[1] / 2) / width);
  size.annuli = std::max<std::int64_t>(annuli_within(largest, 1 / std::min(width, height)), 0);
  // Many pieces: one thread per piece. Few pieces: all threads on one piece.
  size.workers = options.segments >= thread_count() ? thread_count() : 1;
  // Slope of the peak resident memory of `holotone measure` from 4 to 36 million frequencies, rounded up.
  constexpr double bytes_a_frequency = 82;
  size.bytes =
      bytes_a_frequency * static_cast<double>(element_count(size.frequencies)) * static_cast<double>(size.workers);
  return size;
}

struct SpectrumPlan::State {
  /// Memory for transforming one piece.
  struct Worker {
    NufftPlan<double, 2> nufft;
    Array<Complex, 2> half;   // transform of the piece
    std::vector<double> sum;  // sum of the pieces' periodograms, same layout as `half`
    std::int64_t periodograms = 0;
    std::int64_t points = 0;
  };
  SpectrumOptions options;
  Shape<2> pieces{};
  double piece_width = 0;
  double piece_height = 0;
  Shape<2> modes{};
  std::vector<Worker> workers;  // one for each piece transformed at a time
  std::int64_t sets = 0;

  /// Positions of each piece in periods of the piece, interleaved.
  [[nodiscard]] std::vector<std::vector<double>> cut(View<const float, 2> position) const;
  /// Calls `between` between the stages of the transform.
  template <class Between>
  void add_piece(std::span<const double> inside, Worker& worker, const Between& between) const;
};

SpectrumPlan::SpectrumPlan(const SpectrumOptions& options) : state_(std::make_unique<State>()) {
  const SpectrumSize size = spectrum_size(options);
  if (element_count(size.frequencies) > (std::int64_t{1} << 28)) {
    throw_argument("SpectrumPlan", "largest_frequency", "at most 2^28 frequencies a piece",
                   to_string<2>(size.frequencies) + "; more segments make smaller pieces");
  }
  State& state = *state_;
  state.options = options;
  state.pieces = size.pieces;
  state.piece_width = options.region.width / static_cast<double>(state.pieces[1]);
  state.piece_height = options.region.height / static_cast<double>(state.pieces[0]);
  state.modes = size.frequencies;
  for (std::int64_t i = 0; i < size.workers; ++i) {
    State::Worker worker{NufftPlan<double, 2>(state.modes, Queue{}, NufftOptions{options.tolerance}),
                         Array<Complex, 2>(half_modes_shape(state.modes)),
                         {}};
    worker.sum.assign(static_cast<std::size_t>(worker.half.size()), 0);
    state.workers.push_back(std::move(worker));
  }
}

SpectrumPlan::~SpectrumPlan() = default;
SpectrumPlan::SpectrumPlan(SpectrumPlan&&) noexcept = default;
SpectrumPlan& SpectrumPlan::operator=(SpectrumPlan&&) noexcept = default;

Shape<2> SpectrumPlan::pieces() const { return state_->pieces; }

std::vector<std::vector<double>> SpectrumPlan::State::cut(View<const float, 2> position) const {
  std::vector<std::vector<double>> result(static_cast<std::size_t>(pieces[0] * pieces[1]));
  const auto inside = positions_in(position, options.region);
  for (std::size_t i = 0; i < inside.size(); i += 2) {
    const double x = inside[i] / piece_width;
    const double y = inside[i + 1] / piece_height;
    const auto column = std::min(static_cast<std::int64_t>(x), pieces[1] - 1);
    const auto row = std::min(static_cast<std::int64_t>(y), pieces[0] - 1);
    auto& piece = result[static_cast<std::size_t>(row * pieces[1] + column)];
    piece.push_back(x - static_cast<double>(column));
    piece.push_back(y - static_cast<double>(row));
  }
  return result;
}

template <class Between>
void SpectrumPlan::State::add_piece(std::span<const double> inside, Worker& worker, const Between& between) const {
  const auto count = static_cast<std::int64_t>(inside.size() / 2);
  std::vector<double> strength(static_cast<std::size_t>(count), 1);
  double weight = static_cast<double>(count);
  double squares = weight;
  if (options.window == SpectrumWindow::hann) {
    weight = squares = 0;
    for (std::size_t j = 0; j < strength.size(); ++j) {
      strength[j] = hann(inside[2 * j]) * hann(inside[2 * j + 1]);
      weight += strength[j];
      squares += strength[j] * strength[j];
    }
    if (squares == 0) return;  // all dots are on the edge, where the window is 0
  }
  worker.nufft.set_points({inside.data(), {count, 2}});
  between();
  worker.nufft.type1(view_of(std::span<const double>(strength)), worker.half.view());
  between();
  if (options.window == SpectrumWindow::hann) subtract_mean(worker.half.view(), weight);
  const Complex* const transform = worker.half.data();
  double* const sum = worker.sum.data();
  const std::int64_t all = worker.half.size();
#pragma omp parallel for schedule(static) if (all >= metrics::worth_threads)
  for (std::int64_t i = 0; i < all; ++i) sum[i] += std::norm(transform[i]) / squares;
  ++worker.periodograms;
  worker.points += count;
}

void SpectrumPlan::add(View<const float, 2> position, Progress& progress) {
  require_positions("SpectrumPlan::add", position);
  const auto pieces = state_->cut(position);
  ++state_->sets;
  const auto count = std::ssize(pieces);
  const auto workers = std::ssize(state_->workers);
  for (std::int64_t begin = 0; begin < count; begin += workers) {
    progress.step("transforming dots", begin, count);
    const auto add = [&](std::int64_t i, const auto& between) {
      const auto& piece = pieces[static_cast<std::size_t>(begin + i)];
      if (!piece.empty()) state_->add_piece(piece, state_->workers[static_cast<std::size_t>(i)], between);
    };
    if (workers > 1) {
      parallel_for(0, std::min(workers, count - begin), [&](std::int64_t i) { add(i, [] {}); });
    } else {
      add(0, [&] { progress.step("transforming dots", begin, count); });
    }
  }
}

Spectrum SpectrumPlan::spectrum() const {
  const State& state = *state_;
  const auto [ny, nx] = state.modes;
  const std::int64_t columns = half_modes_shape(state.modes)[1];
  Spectrum spectrum;
  spectrum.power = Array<float, 2>(state.modes);
  spectrum.step_x = 1 / state.piece_width;
  spectrum.step_y = 1 / state.piece_height;
  for (const auto& worker : state.workers) {
    spectrum.periodograms += worker.periodograms;
    spectrum.points += worker.points;
  }
  if (state.sets > 0) {
    spectrum.density =
        static_cast<double>(spectrum.points) / (state.options.region.area() * static_cast<double>(state.sets));
  }
  const double scale = spectrum.periodograms > 0 ? 1 / static_cast<double>(spectrum.periodograms) : 0;
  const std::int64_t middle = (nx - 1) / 2;
  for (std::int64_t row = 0; row < ny; ++row) {
    for (std::int64_t k = 0; k < columns; ++k) {
      double sum = 0;
      for (const auto& worker : state.workers) sum += worker.sum[static_cast<std::size_t>(row * columns + k)];
      const auto power = static_cast<float>(sum * scale);
      spectrum.power(row, middle + k) = power;
      spectrum.power(ny - 1 - row, middle - k) = power;
    }
  }
  return spectrum;
}

Spectrum power_spectrum(View<const float, 2> position, const SpectrumOptions& options, Progress& progress) {
  SpectrumPlan plan(options);
  plan.add(position, progress);
  return plan.spectrum();
}

RadialSpectrum radial_spectrum(const Spectrum& spectrum, double width) {
  const auto [ny, nx] = spectrum.power.shape();
  if (width != 0) require_positive("radial_spectrum", "width", width);
  if (width == 0) width = std::max(spectrum.step_x, spectrum.step_y);
  const double largest =
      std::min(spectrum.step_x * static_cast<double>(nx / 2), spectrum.step_y * static_cast<double>(ny / 2));
  const auto annuli = annuli_within(largest, width);
  if (!(width > 0) || annuli < 1) {
    throw_argument("radial_spectrum", "width", "an annulus within " + std::to_string(largest) + " cycles a pixel",
                   std::to_string(width));
  }
  // Two passes over the independent half plane: the first for the mean, the second for the variance.
  const auto visit = [&, ny = ny, nx = nx](const auto& body) {
    for (std::int64_t row = 0; row < ny; ++row) {
      const double fy = static_cast<double>(row - ny / 2) * spectrum.step_y;
      for (std::int64_t k = row > ny / 2 ? 0 : 1; k <= nx / 2; ++k) {
        const double f = std::hypot(static_cast<double>(k) * spectrum.step_x, fy);
        const auto annulus = static_cast<std::int64_t>(std::floor(f / width + 0.5)) - 1;
        if (annulus < 0 || annulus >= annuli) continue;
        body(static_cast<std::size_t>(annulus), static_cast<double>(spectrum.power(row, nx / 2 + k)));
      }
    }
  };
  const auto size = static_cast<std::size_t>(annuli);
  RadialSpectrum radial{width, std::vector<double>(size), std::vector<double>(size), std::vector<double>(size),
                        std::vector<std::int64_t>(size)};
  visit([&](std::size_t i, double power) {
    radial.power[i] += power;
    radial.samples[i] += 2;
  });
  for (std::size_t i = 0; i < size; ++i) {
    radial.frequency[i] = static_cast<double>(i + 1) * width;
    if (radial.samples[i] > 0) radial.power[i] /= static_cast<double>(radial.samples[i] / 2);
  }
  visit([&](std::size_t i, double power) {
    radial.anisotropy[i] += (power - radial.power[i]) * (power - radial.power[i]);
  });
  for (std::size_t i = 0; i < size; ++i) {
    const auto independent = static_cast<double>(radial.samples[i] / 2);
    const bool known = independent > 1 && radial.power[i] > 0;
    radial.anisotropy[i] = known ? radial.anisotropy[i] / ((independent - 1) * radial.power[i] * radial.power[i])
                                 : std::numeric_limits<double>::quiet_NaN();
  }
  return radial;
}

double anisotropy_db(double anisotropy) { return 10 * std::log10(anisotropy); }

RadialSummary summarise(const RadialSpectrum& radial, const Spectrum& spectrum, std::int64_t min_samples) {
  const std::size_t annuli = radial.power.size();
  if (radial.frequency.size() != annuli || radial.samples.size() != annuli || radial.anisotropy.size() != annuli) {
    throw_argument("summarise", "radial", "frequency, power, anisotropy and samples of equal length",
                   fmt::format("{}, {}, {} and {} numbers", radial.frequency.size(), annuli, radial.anisotropy.size(),
                               radial.samples.size()));
  }
  RadialSummary summary;
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  summary.floor_db = 10 * std::log10(1 / static_cast<double>(std::max<std::int64_t>(spectrum.periodograms, 1)));
  const double low = principal_frequency(spectrum.density) / 2;
  double low_sum = 0;
  double low_samples = 0;
  double sum_db = 0;
  std::int64_t known = 0;
  summary.largest_anisotropy_db = -std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < radial.power.size(); ++i) {
    if (radial.frequency[i] <= low) {
      low_sum += radial.power[i] * static_cast<double>(radial.samples[i]);
      low_samples += static_cast<double>(radial.samples[i]);
    }
    if (radial.samples[i] < min_samples) continue;
    ++summary.annuli;
    if (radial.power[i] > summary.peak_power) {
      summary.peak_power = radial.power[i];
      summary.peak_frequency = radial.frequency[i];
    }
    if (!std::isfinite(radial.anisotropy[i]) || radial.anisotropy[i] <= 0) continue;
    const double db = anisotropy_db(radial.anisotropy[i]);
    sum_db += db;
    summary.largest_anisotropy_db = std::max(summary.largest_anisotropy_db, db);
    ++known;
  }
  summary.low_power = low_samples > 0 ? low_sum / low_samples : none;
  summary.mean_anisotropy_db = known > 0 ? sum_db / static_cast<double>(known) : none;
  if (known == 0) summary.largest_anisotropy_db = none;
  return summary;
}

}  // namespace holotone
