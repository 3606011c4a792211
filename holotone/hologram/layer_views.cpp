#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/units.hpp>
#include <holotone/hologram/layer_views.hpp>
#include <optional>

namespace holotone {
namespace {

constexpr std::string_view where = "LayerViews";

/// Returns the sample nearest to `place`; none beyond the rim and for NaN.
std::optional<std::int64_t> sample_at(double place, std::int64_t count) {
  const double rounded = std::floor(place + 0.5);
  if (!(rounded >= 0 && rounded < static_cast<double>(count))) return {};
  return static_cast<std::int64_t>(rounded);
}

}  // namespace

LayerViews::LayerViews(std::vector<SlicedPicture> channels, double pitch_m)
    : channels_(std::move(channels)), pitch_m_(pitch_m) {
  if (channels_.size() != 1 && channels_.size() != 3) {
    throw_argument(where, "channels", "1 or 3 pictures", fmt::format("{}", channels_.size()));
  }
  require_positive(where, "pitch_m", pitch_m_);
  const auto& first = channels_.front();
  for (const auto& channel : channels_) {
    const Shape<2>& shape = first.intensity.shape();
    require_view<const float, 2>(where, "intensity", channel.intensity.view(), shape, Device{});
    require_view<const std::uint16_t, 2>(where, "layer", channel.layer.view(), shape, Device{});
    if (channel.distance_m != first.distance_m || !std::ranges::equal(channel.layer.host(), first.layer.host())) {
      throw_argument(where, "channels", "the same layers in each", "layers that differ");
    }
  }
}

void LayerViews::look(const Rays& rays, int channel, View<float, 2> intensity, View<float, 2> distance_m) const {
  require_look("LayerViews::look", *this, rays, channel, intensity, distance_m);
  const auto& [light, layer, distances, beyond] = channels_[static_cast<std::size_t>(channel)];
  const auto [ny, nx] = light.shape();
  const double scale = 1 / pitch_m_;
  const double middle_row = 0.5 * static_cast<double>(ny - 1) - rays.y_m * scale;
  const double middle_column = 0.5 * static_cast<double>(nx - 1) + rays.x_m * scale;
  for (std::int64_t r = 0; r < rays.shape[0]; ++r) {
    for (std::int64_t c = 0; c < rays.shape[1]; ++c) {
      double slope_x = 0;
      double slope_y = 0;
      slopes_of(rays, r, c, slope_x, slope_y);
      float seen = 0;
      float from = 0;
      for (std::size_t number = distances.size(); number-- > 0;) {
        const double pixels = distances[number] * scale;
        const auto row = sample_at(middle_row + pixels * slope_y, ny);
        const auto column = sample_at(middle_column - pixels * slope_x, nx);
        if (!row || !column || layer(*row, *column) != number) continue;
        seen = light(*row, *column);
        from = static_cast<float>(distances[number]);
        break;
      }
      intensity(r, c) = seen;
      if (!distance_m.empty()) distance_m(r, c) = from;
    }
  }
}

}  // namespace holotone
