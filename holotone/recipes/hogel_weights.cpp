#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/quantize/error_diffusion.hpp>
#include <holotone/recipes/hogel_weights.hpp>
#include <holotone/recipes/off_axis.hpp>
#include <limits>
#include <numbers>
#include <utility>

namespace holotone {
namespace {

/// Minimum side of a window that light reaches, in cycles per pixel: an eye cannot look through a smaller one.
constexpr double min_side = 1e-3;

struct Sides {
  double low;
  double high;
};
Sides find_sides(double middle, double side) { return {middle - side / 2, middle + side / 2}; }

/// Angle from the diffraction angle to the nearest light of the window, in radians; below 0: light reaches a part of
/// it.
double radians_beyond(const FieldGrid& grid, const SignalWindow& window) {
  const auto angle = [&](double frequency) {
    return std::asin(std::min(1.0, frequency * grid.wavelength_m / grid.pitch_m));
  };
  const auto beyond = [&](Sides sides) {
    const double nearest = sides.low > 0 ? sides.low : sides.high < 0 ? -sides.high : 0;
    return angle(nearest) - angle(0.5);
  };
  return std::max(beyond(find_sides(window.xi, window.width)), beyond(find_sides(window.eta, window.height)));
}

struct Place {
  double x_m;
  double y_m;
};

/// Centres of hogels, row by row.
std::vector<Place> middles_of(const FieldGrid& grid, std::int64_t side) {
  const auto hogels = hogels_of(grid.shape(), side);
  const auto middle = [](std::int64_t number, std::int64_t side_px, std::int64_t all) {
    const std::int64_t first = number * side_px;
    return static_cast<double>(first + std::min(first + side_px, all) - all) / 2;
  };
  const std::int64_t side_px = side > 0 ? side : std::max(grid.nx, grid.ny);
  std::vector<Place> places;
  for (std::int64_t row = 0; row < hogels[0]; ++row) {
    for (std::int64_t column = 0; column < hogels[1]; ++column) {
      places.push_back(
          {middle(column, side_px, grid.nx) * grid.pitch_m, -middle(row, side_px, grid.ny) * grid.pitch_m});
    }
  }
  return places;
}

/// Places from which the window is seen: one for each set of weights.
std::vector<Place> places_of(const FieldGrid& grid, const WindowWeightOptions& options) {
  return options.each_hogel ? middles_of(grid, options.hogel_px) : std::vector<Place>{{0, 0}};
}

[[noreturn]] void refuse_window(const FieldGrid& grid, const std::vector<SignalWindow>& windows) {
  double least = std::numeric_limits<double>::infinity();
  for (const auto& window : windows) least = std::min(least, radians_beyond(grid, window));
  constexpr double degrees = 180 / std::numbers::pi;
  const double most = std::asin(std::min(1.0, grid.wavelength_m / (2 * grid.pitch_m)));
  throw_argument(
      "window_weights", "viewer",
      fmt::format("a window that light from the panel reaches, no more than {:.3g} deg from its pixels' axes",
                  most * degrees),
      fmt::format("one {:.3g} deg beyond that", std::max(0.0, least) * degrees));
}

}  // namespace

std::optional<SignalWindow> reached_window(const FieldGrid& grid, const Viewer& viewer, double x_m, double y_m,
                                           const ReferenceBeam& beam) {
  const auto window = less_beam(signal_window(grid, viewer, x_m, y_m), grid, beam);
  const auto cut = [](Sides sides) { return Sides{std::max(sides.low, -0.5), std::min(sides.high, 0.5)}; };
  const Sides x = cut(find_sides(window.xi, window.width));
  const Sides y = cut(find_sides(window.eta, window.height));
  if (x.high - x.low < std::min(min_side, window.width / 2) || y.high - y.low < std::min(min_side, window.height / 2))
    return std::nullopt;
  return SignalWindow{(x.low + x.high) / 2, (y.low + y.high) / 2, x.high - x.low, y.high - y.low};
}

HogelWeights counted_weights(DiffusionWeights weights, std::int64_t clipped, std::int64_t unreached) {
  HogelWeights result;
  result.weights = std::move(weights);
  result.clipped = clipped;
  result.unreached = unreached;
  const auto& values = result.weights.values;
  result.min_used = std::numeric_limits<int>::max();
  result.min_sum = std::numeric_limits<double>::infinity();
  for (std::int64_t hogel = 0; hogel < values.shape()[0]; ++hogel) {
    int used = 0;
    double sum = 0;
    for (std::int64_t i = 0; i < values.shape()[1]; ++i) {
      used += values(hogel, i) != 0 ? 1 : 0;
      sum += std::abs(static_cast<double>(values(hogel, i)));
    }
    result.max_used = std::max(result.max_used, used);
    result.max_sum = std::max(result.max_sum, sum);
    if (used == 0 && result.unreached > 0) continue;
    result.min_used = std::min(result.min_used, used);
    result.min_sum = std::min(result.min_sum, sum);
  }
  return result;
}

std::vector<DiffusionTap> viewer_taps(const FieldGrid& grid, const Viewer& from, const Viewer& to,
                                      const WindowWeightOptions& options, Progress& progress) {
  const auto places = places_of(grid, options);
  std::vector<SignalWindow> wanted;
  std::vector<SignalWindow> reached;
  constexpr int steps = 3;
  for (int step = 0; step < steps * steps * steps; ++step) {
    const auto between = [](double first, double last, int part) {
      return std::lerp(first, last, part / (steps - 1.0));
    };
    const int back = step / (steps * steps);
    const Viewer viewer{between(from.width_m, to.width_m, back), between(from.height_m, to.height_m, back),
                        between(from.distance_m, to.distance_m, back), between(from.x_m, to.x_m, step % steps),
                        between(from.y_m, to.y_m, step / steps % steps)};
    for (const auto& place : places) {
      wanted.push_back(less_beam(signal_window(grid, viewer, place.x_m, place.y_m), grid, options.beam));
      const auto window = reached_window(grid, viewer, place.x_m, place.y_m, options.beam);
      if (window) reached.push_back(*window);
    }
  }
  if (reached.empty()) refuse_window(grid, wanted);
  return diffusion_taps(reached, options.weights, progress);
}

HogelWeights window_weights(const FieldGrid& grid, const Viewer& viewer, const WindowWeightOptions& options,
                            Progress& progress) {
  std::int64_t clipped = 0;
  std::int64_t unreached = 0;
  const auto places = places_of(grid, options);
  std::vector<SignalWindow> wanted;
  std::vector<std::optional<SignalWindow>> reached;
  for (const auto& place : places) {
    wanted.push_back(less_beam(signal_window(grid, viewer, place.x_m, place.y_m), grid, options.beam));
    reached.push_back(reached_window(grid, viewer, place.x_m, place.y_m, options.beam));
  }
  const auto some = std::find_if(reached.begin(), reached.end(), [](const auto& window) { return window.has_value(); });
  if (some == reached.end()) refuse_window(grid, wanted);
  std::vector<SignalWindow> windows;
  for (std::size_t i = 0; i < reached.size(); ++i) {
    windows.push_back(reached[i] ? *reached[i] : **some);
    if (!reached[i]) {
      ++unreached;
    } else if (reached[i]->width < wanted[i].width * (1 - 1e-9) || reached[i]->height < wanted[i].height * (1 - 1e-9)) {
      ++clipped;
    }
  }
  DiffusionWeights weights = diffusion_weights(windows, options.weights, progress);
  for (std::size_t i = 0; i < reached.size(); ++i) {
    if (reached[i]) continue;
    const auto hogel = static_cast<std::int64_t>(i);
    const auto taps = weights.values.shape()[1];
    std::fill_n(&weights.values(hogel, 0), taps, 0.0F);
    if (!weights.backward.empty()) std::fill_n(&weights.backward(hogel, 0), taps, 0.0F);
  }
  return counted_weights(std::move(weights), clipped, unreached);
}

}  // namespace holotone
