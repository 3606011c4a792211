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

}  // namespace holotone::io
