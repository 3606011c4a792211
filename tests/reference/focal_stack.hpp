#pragma once
// Incoherent blur of layers in float64, in the plainest form. Includes nothing of the library.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace reference {

/// Share of the area of a disc of radius r around the origin on the unit square around (x, y), by strips: the part of
/// each strip between the chord's ends. Error below 1e-6.
inline double disc_share(double r, double x, double y) {
  const double disc = 3.14159265358979323846 * r * r;
  if (std::hypot(std::abs(x) + 0.5, std::abs(y) + 0.5) <= r) return 1 / disc;
  const int strips = 4000;
  double area = 0;
  for (int i = 0; i < strips; ++i) {
    const double at = x - 0.5 + (i + 0.5) / strips;
    if (std::abs(at) >= r) continue;
    const double half = std::sqrt(r * r - at * at);
    area += std::max(std::min(y + 0.5, half) - std::max(y - 0.5, -half), 0.0) / strips;
  }
  return area / disc;
}

struct FocalScene {
  std::int64_t ny = 0;
  std::int64_t nx = 0;
  double pitch_m = 0;
  std::vector<double> intensity;   ///< {ny, nx}
  std::vector<int> layer;          ///< {ny, nx}; -1: outside the picture
  std::vector<double> distance_m;  ///< far to near
};

/// Picture for a pupil of a diameter at a distance in front of the panel, focused at focus_m; O(pixels x disc).
inline std::vector<double> focal_picture(const FocalScene& scene, double pupil_m, double viewer_m, double focus_m) {
  const auto count = static_cast<std::size_t>(scene.ny * scene.nx);
  std::vector<double> light(count);
  std::vector<double> coverage(count);
  for (std::size_t i = 0; i < count; ++i) coverage[i] = scene.layer[i] < 0 ? 1 : 0;
  for (std::size_t j = 0; j < scene.distance_m.size(); ++j) {
    const double d = scene.distance_m[j];
    const double r = pupil_m * std::abs(d - focus_m) / (viewer_m + d) / 2 / scene.pitch_m;
    const auto reach = static_cast<std::int64_t>(std::ceil(r + 0.5));
    const auto side = static_cast<std::size_t>(reach + 1);
    std::vector<double> share(side * side);
    for (std::size_t y = 0; y < side; ++y) {
      for (std::size_t x = 0; x < side; ++x) {
        share[y * side + x] =
            r <= 0.5 ? (x + y == 0 ? 1 : 0) : disc_share(r, static_cast<double>(x), static_cast<double>(y));
      }
    }
    std::vector<double> blurred(count);
    std::vector<double> mask(count);
    for (std::size_t i = 0; i < count; ++i) {
      if (scene.layer[i] != static_cast<int>(j)) continue;
      const auto row = static_cast<std::int64_t>(i) / scene.nx;
      const auto column = static_cast<std::int64_t>(i) % scene.nx;
      for (std::int64_t y = std::max<std::int64_t>(row - reach, 0); y <= std::min(row + reach, scene.ny - 1); ++y) {
        for (std::int64_t x = std::max<std::int64_t>(column - reach, 0); x <= std::min(column + reach, scene.nx - 1);
             ++x) {
          const double s = share[static_cast<std::size_t>(std::abs(y - row)) * side +
                                 static_cast<std::size_t>(std::abs(x - column))];
          blurred[static_cast<std::size_t>(y * scene.nx + x)] += s * scene.intensity[i];
          mask[static_cast<std::size_t>(y * scene.nx + x)] += s;
        }
      }
    }
    for (std::size_t i = 0; i < count; ++i) {
      light[i] = (1 - mask[i]) * light[i] + blurred[i];
      coverage[i] = (1 - mask[i]) * coverage[i] + mask[i];
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (scene.layer[i] >= 0 && coverage[i] > 0) light[i] /= coverage[i];
  }
  return light;
}

}  // namespace reference
