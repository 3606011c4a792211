#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <holotone/hologram/point_cloud/checks.hpp>
#include <holotone/optics/field.hpp>
#include <utility>

namespace holotone::point_cloud {
namespace {

/// Pixel indices are 32-bit and exact in the engines' arithmetic.
constexpr std::int64_t largest_extent = 1 << 24;

/// Largest |A / d| with falloff, as of a field that a file may hold.
constexpr double max_falling = 1e15;

template <class T, std::size_t Rank>
T element(const View<const T, Rank>& view, std::int64_t index) {
  const View<const T, 1> one(view.data() + index, {1}, view.device());
  return copy_of(one, Device{})(0);
}

}  // namespace

void validate(const PointCloudOptions& options) {
  require_units(where_made, options.pitch_m, options.wavelength_m);
  if (!(options.cone_wavelength_m >= 0 && options.cone_wavelength_m <= options.wavelength_m)) {
    throw_argument(where_made, "cone_wavelength_m",
                   fmt::format("0, or > 0 and at most wavelength_m, {:g}", options.wavelength_m),
                   fmt::format("{:g}", options.cone_wavelength_m));
  }
  for (const auto extent : options.shape) {
    if (extent < 1 || extent > largest_extent) {
      throw_argument(where_made, "shape", fmt::format("{{ny, nx}}, each 1 to {}", largest_extent),
                     to_string<2>(options.shape));
    }
  }
  require_bounds(where_made, "tolerance", options.tolerance, bounds_of<&PointCloudOptions::tolerance>);
  if (options.falloff && options.wave == Wave::fresnel) {
    throw_argument(where_made, "falloff", "wave auto or spherical", "fresnel");
  }
}

std::int64_t checked_count(const PointSources& points, Device plan_device) {
  const auto count = points.position_m.shape()[0];
  if (count < 0 || (count > 0 && (points.position_m.shape()[1] != 3 || points.position_m.data() == nullptr))) {
    throw_argument(where_points, "position_m", "shape {n, 3}", to_string<2>(points.position_m.shape()));
  }
  if (points.amplitude.shape()[0] != count || (count > 0 && points.amplitude.data() == nullptr)) {
    throw_argument(where_points, "amplitude", fmt::format("shape {{{}}}, one for each position", count),
                   to_string<1>(points.amplitude.shape()));
  }
  if (points.phase_rad.data() != nullptr && points.phase_rad.shape()[0] != count) {
    throw_argument(where_points, "phase_rad", fmt::format("shape {{{}}} or an empty view", count),
                   to_string<1>(points.phase_rad.shape()));
  }
  if (count == 0) return 0;
  const Device source = points.position_m.device();
  if (source != plan_device && source.backend != Backend::cpu) {
    throw_argument(where_points, "position_m", fmt::format("an array on device {} or cpu", to_string(plan_device)),
                   "one on device " + to_string(source));
  }
  require_device(where_points, "amplitude", source, points.amplitude.device());
  if (!points.phase_rad.empty()) require_device(where_points, "phase_rad", source, points.phase_rad.device());
  return count;
}

void throw_bad_point(const PointSources& points, std::int64_t index) {
  const auto value = [&](int axis) { return element(points.position_m, 3 * index + axis); };
  std::string got = fmt::format("x = {}, y = {}, z = {}, amplitude = {}", value(0), value(1), value(2),
                                element(points.amplitude, index));
  if (!points.phase_rad.empty()) got += fmt::format(", phase = {}", element(points.phase_rad, index));
  throw_argument(where_points, fmt::format("point {}", index), "finite values and z other than 0 (the panel's plane)",
                 got);
}

void require_falling(const PointSources& points, const point_cloud::PointSummary& summary) {
  const auto refuse = [](std::string argument, double got) {
    throw_argument(where_points, std::move(argument), "amplitude / |z| of at most 1e+15 with falloff",
                   fmt::format("{:g}", got));
  };
  if (points.position_m.device().backend != Backend::cpu) {
    const double nearest =
        std::max(std::abs(static_cast<double>(summary.low[2])), std::abs(static_cast<double>(summary.high[2])));
    const double most = nearest * static_cast<double>(summary.largest);
    if (points.position_m.device().backend == Backend::cuda && !(most <= max_falling)) refuse("points", most);
    return;
  }
  for (std::int64_t j = 0; j < points.amplitude.size(); ++j) {
    const double falling =
        std::abs(static_cast<double>(points.amplitude(j)) / static_cast<double>(points.position_m(j, 2)));
    if (!(falling <= max_falling)) refuse(fmt::format("point {}", j), falling);
  }
}

}  // namespace holotone::point_cloud
