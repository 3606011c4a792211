#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/core/parallel.hpp>
#include <holotone/quantize/diffusion_weights.hpp>
#include <numbers>
#include <numeric>

namespace holotone {
namespace {

constexpr std::string_view where = "diffusion_weights";
constexpr int rows_around = 12;
constexpr int columns_around = 24;
static_assert(bounds_of<&WeightOptions::taps>.high == rows_around * (2 * columns_around + 1) + columns_around);
static_assert(bounds_of<&WeightOptions::parallelism>.high == columns_around);
constexpr double min_side = 1e-6;  ///< of windows, cycles a pixel: below the resolution of any panel

double sinc(double x) { return x == 0 ? 1 : std::sin(std::numbers::pi * x) / (std::numbers::pi * x); }

/// |M_s| of Eq. (8).
double window_transform(const SignalWindow& window, int x, int y) {
  return window.width * window.height * sinc(window.width * x) * sinc(window.height * y);
}

/// Eq. (9), with the mask's area at the origin (see diffusion_weights).
double edge_transform(const WeightOptions& options, int x, int y) {
  const double inner = options.kappa_x * options.kappa_y * sinc(options.kappa_x * x) * sinc(options.kappa_y * y);
  return (x == 0 && y == 0 ? 1 : 0) - inner;
}

/// Eq. (1).
double weight(const SignalWindow& window, const WeightOptions& options, int x, int y) {
  const double turns = window.xi * x + window.eta * y;
  return 2 * window_transform(window, x, y) * std::cos(2 * std::numbers::pi * turns) + edge_transform(options, x, y);
}

void require_window(const SignalWindow& window, std::size_t hogel) {
  const auto inside = [](double middle, double side) { return std::abs(middle) + side / 2 <= 0.5 * (1 + 1e-12); };
  const bool some = window.width >= min_side && window.height >= min_side;
  if (some && inside(window.xi, window.width) && inside(window.eta, window.height)) return;
  throw_argument(where, "hogels", "windows within half a cycle a pixel each way, at least 1e-6 wide and high",
                 fmt::format("{:.4g} x {:.4g} around {:.4g}, {:.4g} for hogel {}", window.width, window.height,
                             window.xi, window.eta, hogel));
}

/// A parallel loop that reports after every `each` indices of each thread.
template <class Body>
void for_parts(std::string_view stage, std::int64_t count, std::int64_t each, Progress& progress, const Body& body) {
  const std::int64_t at_once = each * thread_count();
  for (std::int64_t first = 0; first < count; first += at_once) {
    progress.step(stage, first, count);
    parallel_for(first, std::min(first + at_once, count), body);
  }
  progress.step(stage, count, count);
}

/// Taps at causal positions of the neighbourhood.
std::vector<DiffusionTap> causal_taps(int parallelism) {
  std::vector<DiffusionTap> taps;
  for (int dy = 0; dy <= rows_around; ++dy) {
    for (int dx = -columns_around; dx <= columns_around; ++dx) {
      const bool before = dy > 0 || dx > 0;
      const bool early = parallelism == 0 || dx > -parallelism * dy;
      if (before && early) taps.push_back({dx, dy});
    }
  }
  return taps;
}

/// Order of DiffusionWeights::taps.
bool goes_before(const DiffusionTap& a, const DiffusionTap& b) { return a.dy != b.dy ? a.dy > b.dy : a.dx > b.dx; }

/// Eq. (4).
std::vector<DiffusionTap> preselected(std::span<const SignalWindow> hogels, const WeightOptions& options,
                                      Progress& progress) {
  std::vector<DiffusionTap> taps = causal_taps(options.parallelism);
  if (options.taps > static_cast<int>(taps.size())) {
    throw_argument(where, "taps",
                   fmt::format("at most {}, as many as there are for p = {}", taps.size(), options.parallelism),
                   fmt::format("{}", options.taps));
  }
  // Rounded to steps of 1e-12, so that values that differ only by rounding are equal.
  const auto most = [&](const DiffusionTap& tap) {
    double largest = 0;
    for (const auto& window : hogels) largest = std::max(largest, std::abs(window_transform(window, tap.dx, tap.dy)));
    return std::round(1e12 * (2 * largest + std::abs(edge_transform(options, tap.dx, tap.dy))));
  };
  std::vector<std::pair<double, DiffusionTap>> ranked(taps.size());
  for_parts("choosing weights", std::ssize(taps), 16, progress, [&](std::int64_t i) {
    const auto& tap = taps[static_cast<std::size_t>(i)];
    ranked[static_cast<std::size_t>(i)] = {most(tap), tap};
  });
  // Equal values rank by distance, then in raster order, so that the selection is the same on every machine.
  std::stable_sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) {
    const auto distance = [](const DiffusionTap& tap) { return tap.dx * tap.dx + tap.dy * tap.dy; };
    if (a.first != b.first) return a.first > b.first;
    return distance(a.second) < distance(b.second);
  });
  taps.clear();
  for (int i = 0; i < options.taps; ++i) taps.push_back(ranked[static_cast<std::size_t>(i)].second);
  std::sort(taps.begin(), taps.end(), goes_before);
  return taps;
}

void require_given(const std::vector<DiffusionTap>& taps) {
  for (std::size_t i = 0; i < taps.size(); ++i) {
    const auto& [dx, dy] = taps[i];
    const bool causal = dy > 0 || (dy == 0 && dx > 0);
    const bool near = dy <= rows_around && std::abs(dx) <= columns_around;
    if (causal && near && (i == 0 || goes_before(taps[i - 1], taps[i]))) continue;
    throw_argument(where, "given_taps", "taps of diffusion_taps, in its order",
                   fmt::format("{}, {} at place {}", dx, dy, i));
  }
}

double max_sum(const WeightOptions& options) {
  if (options.max_sum > 0) return options.max_sum;
  const bool by_modulus = options.normalization == WeightNormalization::modulus;
  return options.rule == WeightRule::eq1 && by_modulus ? 0.98 : 2.2;
}

double sum_of_moduli(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0,
                         [](double sum, double weight) { return sum + std::abs(weight); });
}

/// Solves a x = b in place (Cholesky), a {n, n} symmetric and positive definite; only its lower half is read.
std::vector<double> solved(std::vector<double> a, std::vector<double> b) {
  const std::size_t n = b.size();
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t k = 0; k < j; ++k) {
      for (std::size_t i = j; i < n; ++i) a[i * n + j] -= a[i * n + k] * a[j * n + k];
    }
    const double root = std::sqrt(std::max(a[j * n + j], 1e-300));
    for (std::size_t i = j; i < n; ++i) a[i * n + j] /= root;
  }
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < i; ++k) b[i] -= a[i * n + k] * b[k];
    b[i] /= a[i * n + i];
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t k = i + 1; k < n; ++k) b[i] -= a[k * n + i] * b[k];
    b[i] /= a[i * n + i];
  }
  return b;
}

/// Solves the normal equations of the sum over m of |1 - W|^2, with the mask of Eq. (1) as m: sum over l of w(k - l)
/// w_l = w(k).
std::vector<double> least_squares(const SignalWindow& window, const std::vector<DiffusionTap>& taps,
                                  const WeightOptions& options) {
  const std::size_t n = taps.size();
  std::vector<double> a(n * n);
  std::vector<double> b(n);
  for (std::size_t k = 0; k < n; ++k) {
    b[k] = weight(window, options, taps[k].dx, taps[k].dy);
    for (std::size_t l = 0; l <= k; ++l) {
      a[k * n + l] = weight(window, options, taps[k].dx - taps[l].dx, taps[k].dy - taps[l].dy);
    }
  }
  const double power = weight(window, options, 0, 0);
  const auto with_ridge = [&](int step) {
    auto axis = a;
    for (std::size_t k = 0; k < n; ++k) axis[k * n + k] += 1e-6 * power * std::pow(1.25, step);
    return solved(std::move(axis), b);
  };
  auto values = with_ridge(0);
  if (sum_of_moduli(values) <= max_sum(options)) return values;
  int too_small = 0;
  int enough = 128;  // 2.5e6 times the power: the moduli are below 1e-3 in sum
  while (enough - too_small > 1) {
    const int middle = (too_small + enough) / 2;
    values = with_ridge(middle);
    (sum_of_moduli(values) <= max_sum(options) ? enough : too_small) = middle;
  }
  return with_ridge(enough);
}

void require_options(std::span<const SignalWindow> hogels, const WeightOptions& options) {
  if (hogels.empty()) throw_argument(where, "hogels", "at least one", "none");
  for (std::size_t i = 0; i < hogels.size(); ++i) require_window(hogels[i], i);
  require_bounds(where, "taps", options.taps, bounds_of<&WeightOptions::taps>);
  require_bounds(where, "parallelism", options.parallelism, bounds_of<&WeightOptions::parallelism>);
  require_bounds(where, "kappa_x", options.kappa_x, bounds_of<&WeightOptions::kappa_x>);
  require_bounds(where, "kappa_y", options.kappa_y, bounds_of<&WeightOptions::kappa_y>);
  if (options.max_sum != 0) require_bounds(where, "max_sum", options.max_sum, bounds_of<&WeightOptions::max_sum>);
}

std::vector<double> compute_weights(const SignalWindow& window, const std::vector<DiffusionTap>& taps,
                                    const WeightOptions& options) {
  if (options.rule == WeightRule::least_squares) return least_squares(window, taps, options);
  std::vector<double> values;
  values.reserve(taps.size());
  for (const auto& tap : taps) values.push_back(weight(window, options, tap.dx, tap.dy));
  const double most = max_sum(options) / sum_of_moduli(values);
  const double factor = options.normalization == WeightNormalization::origin ? 1 / weight(window, options, 0, 0) : 1;
  const bool by_sum = options.normalization == WeightNormalization::modulus || factor > most;
  for (double& value : values) value *= by_sum ? most : factor;
  return values;
}

/// Selection of one hogel: the largest of the common taps.
std::vector<DiffusionTap> largest(const SignalWindow& window, std::vector<DiffusionTap> taps,
                                  const WeightOptions& options) {
  std::stable_sort(taps.begin(), taps.end(), [&](const DiffusionTap& a, const DiffusionTap& b) {
    return std::abs(weight(window, options, a.dx, a.dy)) > std::abs(weight(window, options, b.dx, b.dy));
  });
  taps.resize(static_cast<std::size_t>(options.kept));
  return taps;
}

/// Weights {hogels, taps}.
Array<float, 2> compute_values(std::span<const SignalWindow> hogels, const std::vector<DiffusionTap>& taps,
                               const WeightOptions& options, Progress& progress) {
  Array<float, 2> values({std::ssize(hogels), std::ssize(taps)});
  std::fill_n(values.data(), values.size(), 0.0F);
  const std::int64_t each = options.rule == WeightRule::least_squares ? 1 : 1024;
  for_parts("computing weights", std::ssize(hogels), each, progress, [&](std::int64_t hogel) {
    const auto& window = hogels[static_cast<std::size_t>(hogel)];
    const auto chosen = options.kept > 0 ? largest(window, taps, options) : taps;
    const auto weights = compute_weights(window, chosen, options);
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      const auto at = std::find(taps.begin(), taps.end(), chosen[i]) - taps.begin();
      values(hogel, at) = static_cast<float>(weights[i]);
    }
  });
  return values;
}

}  // namespace

std::string_view to_string(WeightRule rule) { return name_of(rule); }

std::string_view to_string(WeightNormalization normalization) { return name_of(normalization); }

SignalWindow signal_window(const FieldGrid& grid, const Viewer& viewer, double x_m, double y_m) {
  require_grid("signal_window", grid);
  require_positive("signal_window", "width_m", viewer.width_m);
  require_positive("signal_window", "height_m", viewer.height_m);
  require_positive("signal_window", "distance_m", viewer.distance_m);
  const double to_x = viewer.x_m - x_m;
  const double to_y = viewer.y_m - y_m;
  const auto frequency = [&](double along, double across) {
    return grid.pitch_m / grid.wavelength_m * along / std::hypot(along, across, viewer.distance_m);
  };
  const double left = frequency(to_x - viewer.width_m / 2, to_y);
  const double right = frequency(to_x + viewer.width_m / 2, to_y);
  const double bottom = frequency(to_y - viewer.height_m / 2, to_x);
  const double top = frequency(to_y + viewer.height_m / 2, to_x);
  return {(left + right) / 2, -(bottom + top) / 2, right - left, top - bottom};  // rows go down
}

std::vector<DiffusionTap> diffusion_taps(std::span<const SignalWindow> windows, const WeightOptions& options,
                                         Progress& progress) {
  require_options(windows, options);
  return preselected(windows, options, progress);
}

DiffusionWeights diffusion_weights(std::span<const SignalWindow> hogels, const WeightOptions& options,
                                   Progress& progress) {
  require_options(hogels, options);
  require_given(options.given_taps);
  DiffusionWeights weights{options.given_taps.empty() ? preselected(hogels, options, progress) : options.given_taps,
                           {}};
  require_range(where, "kept", options.kept, 0, static_cast<double>(weights.taps.size()));
  weights.values = compute_values(hogels, weights.taps, options, progress);
  if (options.serpentine) {
    std::vector<SignalWindow> mirrored(hogels.begin(), hogels.end());
    for (auto& window : mirrored) window.xi = -window.xi;
    weights.backward = compute_values(mirrored, weights.taps, options, progress);
  }
  return weights;
}

DiffusionWeights floyd_steinberg_weights() {
  DiffusionWeights weights{{{1, 1}, {0, 1}, {-1, 1}, {1, 0}}, Array<float, 2>({1, 4})};
  std::copy_n(std::array{1.0F / 16, 5.0F / 16, 3.0F / 16, 7.0F / 16}.begin(), 4, weights.values.data());
  return weights;
}

}  // namespace holotone
