#include <algorithm>
#include <cmath>
#include <holotone/hologram/blur_disc.hpp>
#include <numbers>

namespace holotone {
namespace {

/// Area of a circle of radius r around the origin within [x0, x1] x [y0, y1], 0 <= x0 <= x1, 0 <= y0 <= y1.
double quadrant_area(double r, double x0, double x1, double y0, double y1) {
  const auto half_chord = [r](double y) { return std::sqrt(std::max((r - y) * (r + y), 0.0)); };
  const auto primitive = [r](double x) {
    return (x * std::sqrt(std::max((r - x) * (r + x), 0.0)) + r * r * std::asin(std::min(x / r, 1.0))) / 2;
  };
  // Up to `full` the circle is above y1, from `end` on it is below y0.
  const double full = std::clamp(half_chord(y1), x0, x1);
  const double end = std::clamp(half_chord(y0), x0, x1);
  return (full - x0) * (y1 - y0) + primitive(end) - primitive(full) - (end - full) * y0;
}

/// Share of a disc's area on the pixel at (x, y) >= 0.
double pixel_share(double r, std::int64_t x, std::int64_t y) {
  const double area = std::numbers::pi * r * r;
  const auto [cx, cy] = std::pair(static_cast<double>(x), static_cast<double>(y));
  if (std::hypot(cx + 0.5, cy + 0.5) <= r) return 1 / area;
  const double part = quadrant_area(r, std::max(cx - 0.5, 0.0), cx + 0.5, std::max(cy - 0.5, 0.0), cy + 0.5);
  return (x == 0 ? 2 : 1) * (y == 0 ? 2 : 1) * part / area;
}

}  // namespace

Shape<2> disc_reach(double diameter_px, const Shape<2>& most) {
  Shape<2> reach{};
  for (std::size_t i = 0; i < 2; ++i) {
    const double needed = std::ceil(std::max(diameter_px / 2 - 0.5, 0.0));
    reach[i] = static_cast<std::int64_t>(std::min(needed, static_cast<double>(most[i])));
  }
  return reach;
}

BlurDisc blur_disc(double diameter_px, const Shape<2>& most) {
  BlurDisc disc{disc_reach(diameter_px, most), {}};
  const auto [down, across] = disc.reach;
  disc.weight = Array<float, 2>({2 * down + 1, 2 * across + 1});
  for (std::int64_t y = 0; y <= down; ++y) {
    for (std::int64_t x = 0; x <= across; ++x) {
      // A disc within its own pixel is that pixel, exactly.
      const auto share = static_cast<float>(diameter_px <= 1 ? 1 : pixel_share(diameter_px / 2, x, y));
      for (const std::int64_t row : {down - y, down + y}) {
        for (const std::int64_t column : {across - x, across + x}) disc.weight(row, column) = share;
      }
    }
  }
  return disc;
}

}  // namespace holotone
