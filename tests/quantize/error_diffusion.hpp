#pragma once
// Every code of error diffusion against float64, given the codes before it.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/random.hpp>
#include <holotone/quantize/error_diffusion.hpp>
#include <tests/support/on_each_device.hpp>

namespace holotone::test {

using support::Complex64;

inline DiffusionWeights no_weights() { return {{}, Array<float, 2>({1, 0})}; }

inline Array<Complex, 2> speckle(Shape<2> shape, std::uint64_t seed) {
  Array<Complex, 2> field(shape);
  for (std::int64_t i = 0; i < field.size(); ++i) {
    const auto at = static_cast<std::uint64_t>(i);
    const double modulus = std::sqrt(-std::log(1 - random_uniform64(seed, 2 * at)));
    field.data()[i] = Complex(std::polar(3 * modulus, 2 * M_PI * random_uniform64(seed, 2 * at + 1)));
  }
  return field;
}

inline Array<std::uint8_t, 2> diffuse(const ErrorDiffusionOptions& options, const DiffusionWeights& weights,
                                      View<const Complex, 2> field, float* scale = nullptr) {
  ErrorDiffusionPlan plan(options, weights, field.shape());
  Array<std::uint8_t, 2> codes(field.shape());
  plan.execute(field, codes.view());
  if (scale != nullptr) *scale = plan.report().scale;
  return codes;
}

/// Modulation of code l.
inline Complex64 shown(const ErrorDiffusionOptions& options, int code) {
  const double levels = std::ldexp(1.0, options.bits);
  const bool phase = options.modulation == Modulation::phase;
  if (!options.levels.empty()) {
    const double level = options.levels[static_cast<std::size_t>(code)];
    return phase ? std::polar(1.0, level) : level;
  }
  return phase ? std::polar(1.0, 2 * M_PI * code / levels) : Complex64(code / (levels - 1));
}

/// Distance of u to the code's level minus that to the nearest level: in turns, or in amplitude.
inline double find_excess(const ErrorDiffusionOptions& options, Complex64 u, int code) {
  const int all = options.levels.empty() ? 1 << options.bits : static_cast<int>(options.levels.size());
  const auto distance = [&](int level) {
    const Complex64 q = shown(options, level);
    if (options.modulation == Modulation::amplitude) return std::abs(u.real() - q.real());
    return std::abs(std::arg(u * std::conj(q))) / (2 * M_PI);
  };
  double least = 1e9;
  for (int level = 0; level < all; ++level) least = std::min(least, distance(level));
  return distance(code) - least;
}

/// Computes the errors from the codes in float64 and expects each code to be that of the nearest level.
inline void expect_nearest(const std::string& what, const ErrorDiffusionOptions& options,
                           const DiffusionWeights& weights, View<const Complex, 2> field) {
  float scale = 0;
  const auto codes = diffuse(options, weights, field, &scale);
  const auto [ny, nx] = field.shape();
  const std::int64_t side = options.hogel_px > 0 ? options.hogel_px : std::max(nx, ny);
  const std::int64_t across = (nx + side - 1) / side;
  std::vector<Complex64> errors(static_cast<std::size_t>(nx * ny));
  double worst = 0;
  const auto way = [&](std::int64_t row) { return options.serpentine && row % side % 2 == 1 ? -1 : 1; };
  for (std::int64_t row = 0; row < ny; ++row) {
    for (std::int64_t i = 0; i < nx; ++i) {
      const std::int64_t column = way(row) > 0 ? i : nx - 1 - i;
      const std::int64_t hogel = row / side * across + column / side;
      const std::int64_t set = weights.values.shape()[0] > 1 ? hogel : 0;
      Complex64 u = Complex64(field(row, column)) / static_cast<double>(scale);
      if (options.modulation == Modulation::amplitude) {
        u = (1 + std::clamp(u.real(), -1.0, 1.0)) / 2;
      } else {
        u /= std::max(1.0, std::abs(u));
      }
      for (std::size_t tap = 0; tap < weights.taps.size(); ++tap) {
        const std::int64_t from_row = row - weights.taps[tap].dy;
        if (from_row < 0) continue;
        const std::int64_t from_column = column - way(from_row) * weights.taps[tap].dx;
        const auto& values = way(from_row) > 0 || weights.backward.empty() ? weights.values : weights.backward;
        const bool same = from_row / side == row / side && from_column / side == column / side;
        const bool inside =
            from_row >= 0 && from_column >= 0 && from_column < nx && (same || options.borders == HogelBorders::carry);
        if (!inside) continue;
        u += static_cast<double>(values(set, static_cast<std::int64_t>(tap))) *
             errors[static_cast<std::size_t>(from_row * nx + from_column)];
      }
      const int code = codes(row, column);
      worst = std::max(worst, find_excess(options, u, code));
      Complex64 error = u - shown(options, code);
      if (options.modulation == Modulation::phase && options.bits == 1) error = error.real();
      errors[static_cast<std::size_t>(row * nx + column)] = error;
    }
  }
  support::expect_within(what, worst, 2e-4);
}

inline DiffusionWeights window_filters(Shape<2> hogels, const WeightOptions& options) {
  std::vector<SignalWindow> windows;
  for (std::int64_t i = 0; i < hogels[0] * hogels[1]; ++i) {
    windows.push_back({0.25 - 0.11 * static_cast<double>(i % hogels[1] % 6),
                       0.05 * static_cast<double>(i / hogels[1] % 8), 0.16, 0.2});
  }
  return diffusion_weights(windows, options);
}

}  // namespace holotone::test
