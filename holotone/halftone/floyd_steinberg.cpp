// Halftoning to one bit by error diffusion with the weights of Floyd and Steinberg.
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/halftone/floyd_steinberg.hpp>

namespace holotone {

Array<std::uint8_t, 2> floyd_steinberg(View<const float, 2> ink) {
  require_device("floyd_steinberg", "ink", Device{}, ink.device());
  if (ink.empty()) throw_argument("floyd_steinberg", "ink", "at least 1 x 1 pixels", "none");
  for (std::int64_t i = 0; i < ink.size(); ++i) {
    const float share = ink.data()[i];
    if (share >= 0 && share <= 1) continue;
    throw_argument("floyd_steinberg", "ink", "from 0 to 1",
                   fmt::format("{} in row {}, column {}", share, i / ink.shape()[1], i % ink.shape()[1]));
  }
  Array<std::uint8_t, 2> bitmap(ink.shape());
  diffuse_errors(
      ink.shape(), [&](std::int64_t row, std::int64_t col) { return static_cast<double>(ink(row, col)); },
      [&](std::int64_t row, std::int64_t col, double value) {
        bitmap(row, col) = value >= 0.5 ? 1 : 0;
        return static_cast<double>(bitmap(row, col));
      });
  return bitmap;
}

Dots dots_of_bitmap(View<const std::uint8_t, 2> bitmap) {
  require_device("dots_of_bitmap", "bitmap", Device{}, bitmap.device());
  Dots dots;
  dots.width = static_cast<double>(bitmap.shape()[1]);
  dots.height = static_cast<double>(bitmap.shape()[0]);
  for (std::int64_t row = 0; row < bitmap.shape()[0]; ++row) {
    for (std::int64_t col = 0; col < bitmap.shape()[1]; ++col) {
      if (bitmap(row, col) == 0) continue;
      dots.position.push_back(static_cast<float>(col) + 0.5F);
      dots.position.push_back(static_cast<float>(row) + 0.5F);
    }
  }
  return dots;
}

}  // namespace holotone
