#include <algorithm>
#include <fmt/format.h>
#include <holotone/display/trigger.hpp>
#include <limits>

namespace holotone {
namespace {

/// `channels` numbers a pixel.
template <class T>
void draw(T* codes, Shape<2> shape, std::int64_t channels, const Trigger& trigger) {
  const auto [ny, nx] = shape;
  const std::int64_t side = trigger.side_px;
  if (side < 1 || side > ny || trigger.fields < 1 || trigger.fields > nx / side) {
    throw_argument("draw_trigger", "side_px", fmt::format("squares within {} x {} pixels", nx, ny),
                   fmt::format("{} of {}", trigger.fields, side));
  }
  if (trigger.lit < -1 || trigger.lit >= trigger.fields) {
    throw_argument("draw_trigger", "lit", fmt::format("-1 to {}", trigger.fields - 1), fmt::format("{}", trigger.lit));
  }
  for (std::int64_t field = 0; field < trigger.fields; ++field) {
    const T code = field == trigger.lit ? std::numeric_limits<T>::max() : T{0};
    const std::int64_t x = nx - (trigger.fields - field) * side;
    for (std::int64_t y = ny - side; y < ny; ++y) std::fill_n(codes + (y * nx + x) * channels, side * channels, code);
  }
}

}  // namespace

void draw_trigger(View<std::uint8_t, 2> codes, const Trigger& trigger) {
  require_view("draw_trigger", "codes", codes, codes.shape(), Device{});
  draw(codes.data(), codes.shape(), 1, trigger);
}

void draw_trigger(View<std::uint16_t, 2> codes, const Trigger& trigger) {
  require_view("draw_trigger", "codes", codes, codes.shape(), Device{});
  draw(codes.data(), codes.shape(), 1, trigger);
}

void draw_trigger(View<std::uint8_t, 3> codes, const Trigger& trigger) {
  require_view("draw_trigger", "codes", codes, codes.shape(), Device{});
  draw(codes.data(), {codes.shape()[0], codes.shape()[1]}, codes.shape()[2], trigger);
}

}  // namespace holotone
