#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/hologram/view_source.hpp>

namespace holotone {

void require_look(std::string_view where, const ViewSource& source, const Rays& rays, int channel,
                  View<float, 2> intensity, View<float, 2> distance_m) {
  if (channel < 0 || channel >= source.channels()) {
    throw_argument(where, "channel", fmt::format("0 to {}", source.channels() - 1), std::to_string(channel));
  }
  require_view(where, "intensity", intensity, rays.shape, Device{});
  if (distance_m.data() != nullptr) require_view(where, "distance_m", distance_m, rays.shape, Device{});
}

}  // namespace holotone
