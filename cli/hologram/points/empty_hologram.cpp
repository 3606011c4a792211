#include <algorithm>
#include <cli/hologram/points/empty_hologram.hpp>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/core/units.hpp>
#include <holotone/hologram/scene.hpp>
#include <limits>

namespace holotone::cli {
namespace {

/// True if one of `count` pixel centres lies within `reach` of `foot`, in pixels from the middle.
bool reaches(double foot, double reach, std::int64_t count) {
  const double middle = static_cast<double>(count - 1) / 2;
  const double first = std::max(std::ceil(foot - reach + middle), 0.0);
  const double last = std::min(std::floor(foot + reach + middle), static_cast<double>(count - 1));
  return first <= last;
}

struct Span {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  void take(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  [[nodiscard]] std::string text() const { return format_length(low) + " to " + format_length(high); }
};

}  // namespace

std::string why_dark(const HologramJob& job, const Channel& channel, const PointCloud& cloud) {
  const auto amplitude = channel.colour < 0 ? cloud.amplitude : channel_amplitude(cloud, channel.colour);
  const double pitch = job.panel.pitch_m;
  Span x;
  Span y;
  Span reach;
  for (std::size_t i = 0; i < cloud.size(); ++i) {
    if (amplitude[i] == 0) continue;
    const auto& p = cloud.position[i];
    const double half = job.sum.cone_wavelength_m * std::abs(static_cast<double>(p[2])) / (2 * pitch);
    if (!job.sum.band_limit || (reaches(static_cast<double>(p[0]) / pitch, half / pitch, job.panel.nx) &&
                                reaches(static_cast<double>(p[1]) / pitch, half / pitch, job.panel.ny))) {
      return {};
    }
    x.take(static_cast<double>(p[0]));
    y.take(static_cast<double>(p[1]));
    reach.take(half);
  }
  if (x.low > x.high) {
    return channel.name.empty() ? "every point's amplitude is 0"
                                : fmt::format("no point has any of the colour '{}'", channel.name);
  }
  return fmt::format(
      "the points span x {} and y {}, the panel of {} x {} is centred at 0, and a point lights at most {} around it "
      "(band limit; --no-band-limit removes it)",
      x.text(), y.text(), format_length(static_cast<double>(job.panel.nx) * pitch),
      format_length(static_cast<double>(job.panel.ny) * pitch), format_length(reach.high));
}

void require_light(const HologramJob& job, const std::string& input, const std::vector<std::string>& dark) {
  if (job.complex_field) return;
  if (std::any_of(dark.begin(), dark.end(), [](const auto& reason) { return reason.empty(); })) return;
  throw_io(input, "a point that lights the panel", "none: " + dark.front());
}

}  // namespace holotone::cli
