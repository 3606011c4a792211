#include <algorithm>
#include <cli/hologram/points/panel_coverage.hpp>
#include <cli/options/values.hpp>
#include <cmath>
#include <fmt/format.h>
#include <holotone/recipes/point_coverage.hpp>
#include <holotone/recipes/point_hologram.hpp>

namespace holotone::cli {
namespace {

double lit_share(const PointsRecord& row) {
  return row.points == 0 ? 0 : static_cast<double>(row.unlit) / static_cast<double>(row.points);
}

/// "12 %", and "< 1 %" rather than none.
std::string percent(double share) {
  return share < 0.01 ? std::string("< 1 %") : fmt::format("{:.0f} %", std::floor(100 * share));
}

/// Two digits, rounded down so that the suggested size fits.
double rounded_down(double value) {
  const double unit = std::pow(10.0, std::floor(std::log10(value)) - 1);
  return std::floor(value / unit) * unit;
}

}  // namespace

std::array<double, 2> find_extent(const PointCloud& cloud) {
  std::array<double, 2> extent{};
  for (std::size_t axis = 0; axis < 2 && !cloud.position.empty(); ++axis) {
    const auto [low, high] = std::minmax_element(cloud.position.begin(), cloud.position.end(),
                                                 [&](const Vec3f& a, const Vec3f& b) { return a[axis] < b[axis]; });
    extent[axis] = static_cast<double>((*high)[axis]) - static_cast<double>((*low)[axis]);
  }
  return extent;
}

std::string remedy_of(const HologramJob& job, const PointCloud& cloud) {
  const auto& placement = job.scene.placement;
  if (placement.keep) return {};
  const auto [scale, crosses] =
      fit_to_panel(CloudSources(cloud).sources(), job.sum_options(job.channels.front()), placement.distance_m);
  std::string text = crosses ? "; the object crosses the panel" : "";
  if (!(scale < 1) || !(scale * placement.size_m >= min_length_m)) return text;
  std::string size = format_length(rounded_down(scale * placement.size_m));
  std::erase(size, ' ');
  return text + fmt::format("; --size {} fits", size);
}

std::vector<std::string> lit_zone_warnings(const HologramJob& job, const std::vector<PointsRecord>& rows) {
  const auto& worst = *std::max_element(rows.begin(), rows.end(), [](const PointsRecord& a, const PointsRecord& b) {
    return lit_share(a) < lit_share(b);
  });
  if (worst.unlit == 0) return {};
  const double reach = job.sum.cone_wavelength_m * worst.distance_m / job.panel.pitch_m;
  const double zone_x = static_cast<double>(job.panel.nx) * job.panel.pitch_m + reach;
  const double zone_y = static_cast<double>(job.panel.ny) * job.panel.pitch_m + reach;
  return {
      fmt::format("{} of the points ({} of {}) light no pixel of {}: the object is {} wide and {} high, but at {} a "
                  "panel of {} x {} shows points within {} x {}{}",
                  percent(lit_share(worst)), worst.unlit, worst.points, worst.output, short_length(worst.extent_m[0]),
                  short_length(worst.extent_m[1]), short_length(worst.distance_m),
                  short_length(static_cast<double>(job.panel.nx) * job.panel.pitch_m),
                  short_length(static_cast<double>(job.panel.ny) * job.panel.pitch_m), short_length(zone_x),
                  short_length(zone_y), worst.remedy)};
}

}  // namespace holotone::cli
