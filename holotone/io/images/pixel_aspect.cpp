#include <cmath>
#include <fmt/format.h>
#include <holotone/io/images/pixel_aspect_detail.hpp>

namespace holotone::io {

bool note_pixel_aspect(Image& image, double columns, double rows, std::string_view path) {
  constexpr double most = 1e9;
  constexpr double tolerance = 0.01;
  if (!(columns > 0 && columns < most && rows > 0 && rows < most)) return false;
  if (std::abs(columns - rows) <= tolerance * rows) return false;
  image.notes.push_back(
      fmt::format("{}: its pixels are not square, {:.5g} columns and {:.5g} rows on the same length: taken as square",
                  path, columns, rows));
  return true;
}

void note_crop(Image& image, PictureSides picture, PictureSides canvas, std::string_view path) {
  if (canvas.width == 0 || canvas.height == 0 || canvas == picture) return;
  image.notes.push_back(
      fmt::format("{}: a cropped picture of {} x {} pixels, whose place on its canvas of {} x {} is "
                  "ignored",
                  path, picture.width, picture.height, canvas.width, canvas.height));
}

}  // namespace holotone::io
