#include <algorithm>
#include <cmath>
#include <holotone/core/error.hpp>
#include <holotone/recipes/panel_limits.hpp>

namespace holotone {
namespace {

/// Share of a pixel's light that meets the panel along one axis; the light spreads by `reach` to both sides of `x`.
double lit_share(double x, double reach, double half_panel) {
  if (reach <= 0) return 1;
  return std::max(0.0, std::min(x + reach, half_panel) - std::max(x - reach, -half_panel)) / (2 * reach);
}

}  // namespace

std::int64_t suited_hogel_px(const FieldGrid& grid, double nearest_m) {
  constexpr std::int64_t min_side = 16;
  constexpr std::int64_t max_side = 1024;
  const double limit = std::min(grid.wavelength_m * std::abs(nearest_m) / (4 * grid.pitch_m * grid.pitch_m),
                                static_cast<double>(std::max(grid.nx, grid.ny)) / 4);
  std::int64_t side = min_side;
  while (side < max_side && static_cast<double>(2 * side) <= limit) side *= 2;
  return side;
}

double white_tint(const FieldGrid& grid, const std::vector<double>& wavelengths_m, const std::array<double, 2>& size_m,
                  double distance_m) {
  if (wavelengths_m.empty()) throw_argument("white_tint", "wavelengths_m", "at least one", "none");
  const std::array<double, 2> half_panel{static_cast<double>(grid.nx) * grid.pitch_m / 2,
                                         static_cast<double>(grid.ny) * grid.pitch_m / 2};
  constexpr int steps = 8;  // from the middle to the edge
  const auto [shortest_m, longest_m] = std::ranges::minmax(wavelengths_m);
  double low = 1e300;
  double high = 0;
  for (int i = 0; i < steps * steps; ++i) {
    double ratio = 1;
    for (std::size_t axis = 0; axis < 2; ++axis) {
      const double x = size_m[axis] / 2 * static_cast<double>(axis == 0 ? i % steps : i / steps) / steps;
      const auto share = [&](double wavelength_m) {
        return lit_share(x, wavelength_m * std::abs(distance_m) / (2 * grid.pitch_m), half_panel[axis]);
      };
      if (share(shortest_m) > 0) ratio *= share(longest_m) / share(shortest_m);
    }
    low = std::min(low, ratio);
    high = std::max(high, ratio);
  }
  return high > 0 ? (high - low) / (high + low) : 0;
}

std::optional<double> nearest_undisturbed_m(const FieldGrid& grid, Encoding encoding,
                                            const std::array<double, 2>& extent_m) {
  const bool columns = encoding == Encoding::burckhardt;
  if (!columns && encoding != Encoding::double_phase) return std::nullopt;
  const double band = columns ? 1.0 / 6 : 1.0 / 4;  // cycles a pixel
  double width = static_cast<double>(grid.nx) * grid.pitch_m + extent_m[0];
  if (!columns) width = std::max(width, static_cast<double>(grid.ny) * grid.pitch_m + extent_m[1]);
  return width * grid.pitch_m / (2 * grid.wavelength_m * band);
}

PlaneSharpness find_plane_sharpness(const FieldGrid& grid, double distance_m) {
  constexpr double min_spread_px = 4;
  constexpr double max_detail_px = 16;
  const double side = static_cast<double>(std::min(grid.nx, grid.ny)) * grid.pitch_m;
  const double distance = std::abs(distance_m);
  PlaneSharpness sharpness;
  sharpness.spread_px = grid.wavelength_m * distance / (grid.pitch_m * grid.pitch_m);
  sharpness.detail_px = grid.wavelength_m * distance / (2 * side * grid.pitch_m);
  sharpness.is_too_near = sharpness.spread_px < min_spread_px;
  sharpness.is_too_far = !sharpness.is_too_near && sharpness.detail_px > max_detail_px;
  return sharpness;
}

}  // namespace holotone
