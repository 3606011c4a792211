#include <algorithm>
#include <cmath>
#include <cstdint>
#include <holotone/recipes/point_coverage.hpp>
#include <limits>

namespace holotone {
namespace {

/// Lit half width over |d|; that of the exact wave for Wave::automatic, whose directions have sines up to 0.98
/// (docs/holograms.md).
double find_rise(const PointCloudOptions& sum) {
  const double cone_m = sum.cone_wavelength_m > 0 ? sum.cone_wavelength_m : sum.wavelength_m;
  const double limit = cone_m / (2 * sum.pitch_m);
  if (sum.wave == Wave::fresnel) return limit;
  constexpr double steepest = 0.98;
  const double corner = std::min(std::sqrt(2.0) * limit, steepest);
  return std::min(limit, steepest) / std::sqrt(1 - corner * corner);
}

/// True if one of `count` pixel centres lies within `reach` of `foot`, in pixels from the middle.
bool reaches(double foot, double reach, std::int64_t count) {
  const double middle = static_cast<double>(count - 1) / 2;
  const double first = std::max(std::ceil(foot - reach + middle), 0.0);
  const double last = std::min(std::floor(foot + reach + middle), static_cast<double>(count - 1));
  return first <= last;
}

}  // namespace

PointCoverage find_coverage(const PointSources& points, const PointCloudOptions& sum) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  PointCoverage coverage{.low_m = {infinity, infinity}, .high_m = {-infinity, -infinity}};
  const double pitch = sum.pitch_m;
  const double blur_px = sum.wave == Wave::fresnel ? 0 : 2;  // of exact light, which has no sharp end
  const std::int64_t counts[] = {sum.shape[1], sum.shape[0]};
  for (std::int64_t i = 0; i < points.amplitude.size(); ++i) {
    if (points.amplitude.data()[i] == 0) continue;
    coverage.has_amplitude = true;
    const float* const p = points.position_m.data() + 3 * i;
    const double reach = find_rise(sum) * std::abs(static_cast<double>(p[2]));
    bool lit = true;
    for (std::size_t axis = 0; axis < 2; ++axis) {
      const auto place = static_cast<double>(p[axis]);
      lit = lit && (!sum.band_limit || reaches(place / pitch, reach / pitch + blur_px, counts[axis]));
      coverage.low_m[axis] = std::min(coverage.low_m[axis], place);
      coverage.high_m[axis] = std::max(coverage.high_m[axis], place);
    }
    coverage.reach_m = std::max(coverage.reach_m, reach);
    if (!lit) continue;
    coverage.is_lit = true;
    break;
  }
  return coverage;
}

PanelFit fit_to_panel(const PointSources& points, const PointCloudOptions& sum, double distance_m) {
  const double middle = std::abs(distance_m);
  const double rise = find_rise(sum);
  const std::int64_t counts[] = {sum.shape[1], sum.shape[0]};
  PanelFit fit;
  for (std::int64_t i = 0; i < points.position_m.shape()[0]; ++i) {
    const float* const position = points.position_m.data() + 3 * i;
    const double distance = -static_cast<double>(position[2]) * (distance_m < 0 ? -1 : 1);
    fit.crosses = fit.crosses || distance <= 0 || distance_m == 0;
    const double further = distance - middle;
    if (further < 0) fit.scale = std::min(fit.scale, middle / -further);
    for (std::size_t axis = 0; axis < 2; ++axis) {
      const double half = static_cast<double>(counts[axis] - 1) * sum.pitch_m / 2 + rise * middle;
      const double steepness = std::abs(static_cast<double>(position[axis])) - rise * further;
      if (steepness > 0) fit.scale = std::min(fit.scale, half / steepness);
    }
  }
  return fit;
}

}  // namespace holotone
