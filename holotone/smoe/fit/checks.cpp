// Checks of a fit's pictures and of the model it starts from.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/smoe/fit/steps.hpp>

namespace holotone::smoe {
namespace {

constexpr std::int64_t largest_side = 65536;

}  // namespace

void require_views(const char* where, std::span<const SmoeFitView> views) {
  if (views.empty()) throw_argument(where, "views", "1 or more", "none");
  const auto& shape = views.front().image.shape();
  const auto& [ny, nx, channels] = shape;
  if (ny < 1 || nx < 1 || ny > largest_side || nx > largest_side || channels < 1 || channels > max_smoe_channels) {
    throw_argument(where, "image",
                   fmt::format("sides of 1 to {} pixels, 1 to {} channels", largest_side, max_smoe_channels),
                   to_string<3>(shape));
  }
  const auto places = views.front().at.size();
  if (places > 2 || (places == 0 && views.size() > 1)) {
    throw_argument(where, "at", "1 or 2 coordinates for every view", fmt::format("{}", places));
  }
  for (const auto& view : views) {
    require_view(where, "image", view.image, shape, {});
    const auto values = view.image.host();
    const auto bad = std::find_if(values.begin(), values.end(), [](float value) { return !std::isfinite(value); });
    if (bad != values.end()) throw_argument(where, "image", "finite colours", fmt::format("{}", *bad));
    if (view.at.size() != places) {
      throw_argument(where, "at", fmt::format("{} coordinates for every view", places),
                     fmt::format("{}", view.at.size()));
    }
    for (const double value : view.at) require_range(where, "at", value, -1, 1);
  }
}

void require_start(const char* where, const SmoeModel& start, const SmoeFitView& view) {
  require_model(where, start);
  const auto& [ny, nx, channels] = view.image.shape();
  const auto dimensions = 2 + std::ssize(view.at);
  const bool fits = start.dimensions == dimensions && start.channels == channels && start.low[0] == 0 &&
                    start.low[1] == 0 && start.high[0] == static_cast<double>(nx) &&
                    start.high[1] == static_cast<double>(ny);
  if (fits) return;
  throw_argument(where, "start",
                 fmt::format("a model of {} x {} pixels, {} channels and {} dimensions", nx, ny, channels, dimensions),
                 fmt::format("{:g} x {:g} pixels, {} channels, {} dimensions", start.high[0] - start.low[0],
                             start.high[1] - start.low[1], start.channels, start.dimensions));
}

}  // namespace holotone::smoe
