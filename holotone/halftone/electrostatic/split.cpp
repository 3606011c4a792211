// The Ewald split: near share, charge cloud, their error.
#include <algorithm>
#include <cmath>
#include <holotone/halftone/electrostatic/split.hpp>
#include <holotone/nufft/window.hpp>
#include <numbers>

namespace holotone::electrostatic {
namespace {

constexpr double pi = std::numbers::pi;

/// I1(sqrt(square)) / sqrt(square), J1 for negative squares: one entire function.
double first_bessel_over_argument(double square) {
  if (std::abs(square) < 1e-4) return 0.5 + square / 16;
  const double z = std::sqrt(std::abs(square));
  return (square > 0 ? std::cyl_bessel_i(1.0, z) : std::cyl_bessel_j(1.0, z)) / z;
}

}  // namespace

double near_share(const ForceSplit& split, double r) {
  const double s = 1 - (r / split.cutoff) * (r / split.cutoff);
  if (s <= 0) return 0;
  const double beta2 = split.beta * split.beta;
  return s * first_bessel_over_argument(beta2 * s) / first_bessel_over_argument(beta2);
}

double cloud_transform(const ForceSplit& split, double frequency) {
  const double beta2 = split.beta * split.beta;
  const double turns = 2 * pi * frequency * split.cutoff;
  return first_bessel_over_argument(beta2 - turns * turns) / first_bessel_over_argument(beta2);
}

CloudTable::CloudTable(double beta, double most, double step) : entries_per_unit_(1 / step) {
  const auto count = static_cast<std::size_t>(most / step) + 4;
  value_.reserve(count + 1);
  value_.push_back(cloud_transform({beta, 1}, step));
  for (std::size_t k = 0; k < count; ++k) value_.push_back(cloud_transform({beta, 1}, static_cast<double>(k) * step));
}

std::vector<double> near_polynomial(const ForceSplit& split, int terms) {
  // share / s as a Chebyshev series in s, then as powers.
  const auto count = static_cast<std::size_t>(terms);
  const double beta2 = split.beta * split.beta;
  std::vector<double> series(count, 0.0);
  constexpr int samples = 64;
  for (int i = 0; i < samples; ++i) {
    const double angle = pi * (i + 0.5) / samples;
    const double s = 0.5 + 0.5 * std::cos(angle);
    const double value = first_bessel_over_argument(beta2 * s) / first_bessel_over_argument(beta2);
    for (std::size_t k = 0; k < count; ++k) {
      series[k] += (k == 0 ? 1.0 : 2.0) / samples * value * std::cos(static_cast<double>(k) * angle);
    }
  }
  // T_k(2 s - 1) by its recurrence.
  std::vector<double> before(count, 0.0);
  std::vector<double> now(count, 0.0);
  std::vector<double> sum(count, 0.0);
  now[0] = 1;
  for (std::size_t k = 0; k < count; ++k) {
    for (std::size_t i = 0; i <= k; ++i) sum[i] += series[k] * now[i];
    if (k + 1 == count) break;
    std::vector<double> next(count, 0.0);
    const double factor = k == 0 ? 1 : 2;
    for (std::size_t i = 0; i <= k; ++i) {
      next[i] -= factor * now[i];
      next[i + 1] += 2 * factor * now[i];
    }
    for (std::size_t i = 0; i < count; ++i) next[i] -= k == 0 ? 0 : before[i];
    before = now;
    now = next;
  }
  return sum;
}

SplitError::SplitError(int width, double window_beta, double nodes) {
  constexpr int low_radii = 10;
  constexpr int radii = low_radii + 14;
  constexpr int angles = 6;
  constexpr double middle = 0.15;
  // phihat on a fine mesh of frequencies up to 1.5, for the aliases of every place.
  constexpr int samples = 256;
  std::vector<double> transform(3 * samples / 2 + 2);
  const SpreadWindow window{width, window_beta, 2};
  const WindowTransform window_transform(window, 1.6);
  for (std::size_t k = 0; k < transform.size(); ++k) {
    transform[k] = window_transform(static_cast<double>(k) / samples);
  }
  const auto window_at = [&](double frequency) {
    const double place = std::abs(frequency) * samples;
    const auto k = static_cast<std::size_t>(place);
    const double t = place - static_cast<double>(k);
    const double value = transform[k] * (1 - t) + transform[k + 1] * t;
    return value * value;
  };
  for (int a = 0; a < angles; ++a) {
    // By symmetry one eighth of the plane represents all of it; d^2 f = f^2 d(log f) d angle.
    const double angle = (a + 0.5) / angles * pi / 4;
    const double low = std::log(1 / nodes);
    const double low_step = (std::log(middle) - low) / low_radii;
    const double high_step = (0.5 / std::cos(angle) - middle) / (radii - low_radii);
    for (int r = 0; r < radii; ++r) {
      // Places are dense towards the band's end, where the error rises steeply.
      const bool is_low = r < low_radii;
      const double f = is_low ? std::exp(low + low_step * (r + 0.5)) : middle + high_step * (r - low_radii + 0.5);
      Place place{};
      place.area = f * (is_low ? f * low_step : high_step) * 2 * pi / angles;
      for (int m = 0; m < 9; ++m) {
        place.frequency_x[m] = f * std::cos(angle) + m % 3 - 1;
        place.frequency_y[m] = f * std::sin(angle) + m / 3 - 1;
        place.frequency[m] = std::hypot(place.frequency_x[m], place.frequency_y[m]);
        place.window[m] = window_at(place.frequency_x[m]) * window_at(place.frequency_y[m]);
      }
      places_.push_back(place);
    }
  }
}

double SplitError::operator()(const CloudTable& cloud, double cutoff) const {
  double total = 0;
  for (const auto& place : places_) {
    double squares = 0;
    double sum_x = 0;
    double sum_y = 0;
    double weights = 0;
    for (int m = 0; m < 9; ++m) {
      const double f = place.frequency[m];
      const double size = cloud(f * cutoff) / f;
      squares += size * size;
      sum_x += place.window[m] * size * place.frequency_x[m] / f;
      sum_y += place.window[m] * size * place.frequency_y[m] / f;
      weights += place.window[m];
    }
    total += place.area * std::max(0.0, squares - (sum_x * sum_x + sum_y * sum_y) / (weights * weights));
  }
  return total;
}

}  // namespace holotone::electrostatic
