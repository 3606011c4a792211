// Separation of colours into four inks with grey replaced by black.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/core/parallel.hpp>
#include <holotone/halftone/separation.hpp>
#include <numeric>

namespace holotone {
namespace {

using Free = std::array<bool, 4>;  ///< inks whose coverage is fitted

constexpr double max_apart = 1.7;
constexpr double half_apart = 0.01;  ///< ratio across / within at which apart_of is half of max_apart
/// Minimum power; below it the power mean equals the product to rounding.
constexpr double min_power = 1e-3;

/// Approximate perceived lightness. In linear light, colours that no coverage prints would become pale.
Channels seen(const Channels& light) {
  constexpr double darkest = 0.02;
  Channels result{};
  for (std::size_t k = 0; k < 3; ++k) result[k] = std::sqrt(light[k] + darkest);
  return result;
}

Channels seen_print(const FourInks& inks, const FourShares& coverage) { return seen(printed_light(inks, coverage)); }

double squared_distance(const Channels& a, const Channels& b) {
  double sum = 0;
  for (std::size_t k = 0; k < 3; ++k) sum += (a[k] - b[k]) * (a[k] - b[k]);
  return sum;
}

/// Derivatives of seen_print by the coverage of each free ink.
std::array<Channels, 4> compute_slopes(const FourInks& inks, const FourShares& coverage, const Channels& printed,
                                       const Free& free) {
  constexpr double step = 1e-6;
  std::array<Channels, 4> slopes{};
  for (std::size_t i = 0; i < 4; ++i) {
    if (!free[i]) continue;
    FourShares moved = coverage;
    const double signed_step = coverage[i] > 0.5 ? -step : step;
    moved[i] += signed_step;
    const Channels there = seen_print(inks, moved);
    for (std::size_t k = 0; k < 3; ++k) slopes[i][k] = (there[k] - printed[k]) / signed_step;
  }
  return slopes;
}

/// Solves a symmetric positive definite system by Cholesky's method; entries of inks that are not free are 0.
FourShares solved(std::array<FourShares, 4> matrix, FourShares right, const Free& free) {
  for (std::size_t i = 0; i < 4; ++i) {
    if (!free[i]) {
      matrix[i] = {};
      for (auto& row : matrix) row[i] = 0;
      matrix[i][i] = 1;
      right[i] = 0;
    }
  }
  for (std::size_t j = 0; j < 4; ++j) {
    for (std::size_t k = 0; k < j; ++k) matrix[j][j] -= matrix[j][k] * matrix[j][k];
    matrix[j][j] = std::sqrt(matrix[j][j]);
    for (std::size_t i = j + 1; i < 4; ++i) {
      for (std::size_t k = 0; k < j; ++k) matrix[i][j] -= matrix[i][k] * matrix[j][k];
      matrix[i][j] /= matrix[j][j];
    }
  }
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t k = 0; k < i; ++k) right[i] -= matrix[i][k] * right[k];
    right[i] /= matrix[i][i];
  }
  for (std::size_t i = 4; i-- > 0;) {
    for (std::size_t k = i + 1; k < 4; ++k) right[i] -= matrix[k][i] * right[k];
    right[i] /= matrix[i][i];
  }
  return right;
}

struct Fit {
  FourShares coverage{};
  double error = 0;  ///< squared distance of perceived lightness
};

/// Fits the coverage of the free inks, from `start`, to the perceived colour `wanted` by steps of Levenberg and
/// Marquardt. Coverage is clamped to 0..1; an ink at a bound is fixed in a step that would take it outside.
Fit nearest(const FourInks& inks, const FourShares& start, const Free& free, const Channels& wanted) {
  constexpr int max_steps = 60;
  constexpr double good_enough = 1e-12;
  constexpr double min_step = 1e-6;
  Fit best{start, squared_distance(seen_print(inks, start), wanted)};
  double damping = 1e-4;
  for (int n = 0; n < max_steps && best.error > good_enough && damping < 1e6; ++n) {
    const Channels printed = seen_print(inks, best.coverage);
    const auto slopes = compute_slopes(inks, best.coverage, printed, free);
    std::array<FourShares, 4> matrix{};
    FourShares right{};
    Free moving = free;
    for (std::size_t i = 0; i < 4; ++i) {
      for (std::size_t k = 0; k < 3; ++k) {
        right[i] -= slopes[i][k] * (printed[k] - wanted[k]);
        for (std::size_t j = 0; j < 4; ++j) matrix[i][j] += slopes[i][k] * slopes[j][k];
      }
      matrix[i][i] += damping;
      if ((best.coverage[i] <= 0 && right[i] < 0) || (best.coverage[i] >= 1 && right[i] > 0)) moving[i] = false;
    }
    const FourShares step = solved(matrix, right, moving);
    Fit trial;
    double moved = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      trial.coverage[i] = std::clamp(best.coverage[i] + step[i], 0.0, 1.0);
      moved = std::max(moved, std::abs(trial.coverage[i] - best.coverage[i]));
    }
    if (moved < min_step) break;
    trial.error = squared_distance(seen_print(inks, trial.coverage), wanted);
    const bool better = trial.error < best.error;
    damping *= better ? 0.2 : 8;
    if (better) best = trial;
  }
  return best;
}

FourShares separated(const FourInks& inks, double black, const Channels& darkness) {
  const Channels wanted = seen({1 - darkness[0], 1 - darkness[1], 1 - darkness[2]});
  const double grey = std::min({darkness[0], darkness[1], darkness[2]});
  Fit best;
  for (std::size_t left_out = 0; left_out < 3; ++left_out) {
    FourShares start = {darkness[0] - grey, darkness[1] - grey, darkness[2] - grey, grey};
    Free free = {true, true, true, true};
    start[left_out] = 0;
    free[left_out] = false;
    const Fit fit = nearest(inks, start, free, wanted);
    // The first of equally good fits is kept: the other ink is not needed either.
    if (left_out == 0 || fit.error < best.error - 1e-10) best = fit;
  }
  if (black == 1) return best.coverage;
  best.coverage[3] *= black;
  return nearest(inks, best.coverage, {true, true, true, false}, wanted).coverage;
}

}  // namespace

double apart_of(double within, double across) {
  return across > 0 ? max_apart * across / (across + half_apart * within) : 0;
}

Channels printed_light(const FourInks& inks, const FourShares& coverage) {
  const double total = std::accumulate(coverage.begin(), coverage.end(), 0.0);
  const double power = inks.apart > 0 ? std::exp(-(total / inks.apart) * (total / inks.apart)) : 0;
  Channels printed{};
  for (std::size_t k = 0; k < 3; ++k) {
    double product = 1;
    double sum = -3;
    for (std::size_t i = 0; i < 4; ++i) {
      const double light = 1 - coverage[i] * (1 - inks.light[i][k]);
      product *= light;
      if (power >= min_power) sum += std::pow(light, power);
    }
    printed[k] = power < min_power ? product : sum > 0 ? std::pow(sum, 1 / power) : 0;
  }
  return printed;
}

Separation::Separation(double black, const FourInks& inks) : table_(static_cast<std::size_t>(nodes) * nodes * nodes) {
  require_range("Separation", "black", black, 0, 1);
  require_range("Separation", "apart", inks.apart, 0, 100);
  for (const auto& ink : inks.light) {
    for (const double light : ink) require_range("Separation", "light", light, 0, 1);
  }
  parallel_for(0, nodes, [&](std::int64_t red) {
    for (std::int64_t green = 0; green < nodes; ++green) {
      for (std::int64_t blue = 0; blue < nodes; ++blue) {
        const auto dark = [](std::int64_t node) { return static_cast<double>(node) / (nodes - 1); };
        const FourShares shares = separated(inks, black, {dark(red), dark(green), dark(blue)});
        auto& entry = table_[static_cast<std::size_t>((red * nodes + green) * nodes + blue)];
        for (std::size_t i = 0; i < 4; ++i) entry[i] = static_cast<float>(shares[i]);
      }
    }
  });
}

FourShares Separation::operator()(const Channels& darkness) const {
  constexpr std::array<std::size_t, 3> strides = {static_cast<std::size_t>(nodes) * nodes, nodes, 1};
  Channels offset{};
  std::size_t node = 0;
  for (std::size_t k = 0; k < 3; ++k) {
    const double at = darkness[k] * (nodes - 1);
    const double floor = std::min(std::floor(at), static_cast<double>(nodes - 2));
    offset[k] = at - floor;
    node += static_cast<std::size_t>(floor) * strides[k];
  }
  // Tetrahedral interpolation: from the cell's corner nearest to white to the opposite one, along the largest offset
  // first.
  std::array<std::size_t, 3> order = {0, 1, 2};
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return offset[a] > offset[b]; });
  FourShares shares{};
  const auto add = [&](double weight) {
    for (std::size_t i = 0; i < 4; ++i) shares[i] += weight * static_cast<double>(table_[node][i]);
  };
  add(1 - offset[order[0]]);
  for (std::size_t n = 0; n < 3; ++n) {
    node += strides[order[n]];
    add(offset[order[n]] - (n < 2 ? offset[order[n + 1]] : 0));
  }
  return shares;
}

}  // namespace holotone
