#include <algorithm>
#include <cli/hologram/points/empty_hologram.hpp>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/core/units.hpp>
#include <holotone/recipes/point_coverage.hpp>
#include <holotone/recipes/point_hologram.hpp>

namespace holotone::cli {
std::string why_dark(const HologramJob& job, const Channel& channel, const PointCloud& cloud) {
  const auto coverage = find_coverage(CloudSources(cloud, channel.colour).sources(), job.sum_options(channel));
  if (coverage.is_lit) return {};
  if (!coverage.has_amplitude) {
    return channel.name.empty() ? "every point's amplitude is 0"
                                : fmt::format("no point has any of the colour '{}'", channel.name);
  }
  const auto span = [&](std::size_t axis) {
    return format_length(coverage.low_m[axis]) + " to " + format_length(coverage.high_m[axis]);
  };
  const double pitch = job.panel.pitch_m;
  return fmt::format(
      "the points span x {} and y {}, the panel of {} x {} is centred at 0, and a point lights at most {} around it "
      "(band limit; --no-band-limit removes it)",
      span(0), span(1), format_length(static_cast<double>(job.panel.nx) * pitch),
      format_length(static_cast<double>(job.panel.ny) * pitch), format_length(coverage.reach_m));
}

void require_light(const HologramJob& job, const std::string& input, const std::vector<std::string>& dark) {
  if (job.complex_field) return;
  if (std::any_of(dark.begin(), dark.end(), [](const auto& reason) { return reason.empty(); })) return;
  throw_io(input, "a point that lights the panel", "none: " + dark.front());
}

}  // namespace holotone::cli
