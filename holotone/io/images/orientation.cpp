#include <bit>
#include <fmt/format.h>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/images/orientation_detail.hpp>
#include <holotone/io/images/row_loop_detail.hpp>
#include <utility>

namespace holotone::io {
namespace {

bool swaps_sides(Orientation orientation) { return orientation >= Orientation::left_top; }

/// True if the first stored row is shown at the bottom or at the right.
bool rows_fall(Orientation orientation) {
  return orientation == Orientation::bottom_right || orientation == Orientation::bottom_left ||
         orientation == Orientation::right_top || orientation == Orientation::right_bottom;
}

/// True if the first stored column is shown at the right or at the bottom.
bool columns_fall(Orientation orientation) {
  return orientation == Orientation::top_right || orientation == Orientation::bottom_right ||
         orientation == Orientation::right_bottom || orientation == Orientation::left_bottom;
}

template <class T>
Array<T, 3> turned_pixels(const Array<T, 3>& stored, Orientation orientation) {
  Array<T, 3> shown(turned(stored.shape(), orientation));
  const auto [ny, nx, channels] = shown.shape();
  const std::int64_t stored_rows = stored.shape()[0];
  const std::int64_t stored_columns = stored.shape()[1];
  const T* const from = stored.data();
  T* const to = shown.data();
  const auto fill_row = [&, columns = nx, values = channels](std::int64_t row) {
    for (std::int64_t column = 0; column < columns; ++column) {
      std::int64_t y = row;
      std::int64_t x = column;
      if (swaps_sides(orientation)) std::swap(y, x);
      if (rows_fall(orientation)) y = stored_rows - 1 - y;
      if (columns_fall(orientation)) x = stored_columns - 1 - x;
      const T* const pixel = from + (y * stored_columns + x) * values;
      T* const target = to + (row * columns + column) * values;
      for (std::int64_t c = 0; c < values; ++c) target[c] = pixel[c];
    }
  };
  for_each_row(shown.shape(), 1 << 20, fill_row);
  return shown;
}

}  // namespace

Orientation orientation_of(std::uint32_t number) {
  return number >= 1 && number <= 8 ? static_cast<Orientation>(number) : Orientation::top_left;
}

Orientation exif_orientation(std::string_view block) {
  constexpr std::uint16_t tag_orientation = 274;
  constexpr std::uint16_t type_byte = 1;
  constexpr std::uint16_t type_short = 3;
  constexpr std::uint16_t type_long = 4;
  constexpr std::size_t head_bytes = 8;
  constexpr std::size_t entry_bytes = 12;
  const bool little = block.starts_with(std::string_view("II*\0", 4));
  if (block.size() < head_bytes || (!little && !block.starts_with(std::string_view("MM\0*", 4)))) {
    return Orientation::top_left;
  }
  const auto order = little ? std::endian::little : std::endian::big;
  const std::size_t directory = load<std::uint32_t>(block.data() + 4, order);
  if (directory > block.size() - 2) return Orientation::top_left;
  const std::size_t first = directory + 2;
  const std::size_t entries = load<std::uint16_t>(block.data() + directory, order);
  for (std::size_t i = 0; i < entries; ++i) {
    if ((i + 1) * entry_bytes > block.size() - first) break;
    const char* const entry = block.data() + first + i * entry_bytes;
    if (load<std::uint16_t>(entry, order) != tag_orientation) continue;
    if (load<std::uint32_t>(entry + 4, order) != 1) return Orientation::top_left;
    // A SHORT by Exif 2.3, 4.6.4 A; other writers store a BYTE or a LONG.
    switch (load<std::uint16_t>(entry + 2, order)) {
      case type_byte: return orientation_of(static_cast<unsigned char>(entry[8]));
      case type_short: return orientation_of(load<std::uint16_t>(entry + 8, order));
      case type_long: return orientation_of(load<std::uint32_t>(entry + 8, order));
      default: return Orientation::top_left;
    }
  }
  return Orientation::top_left;
}

Orientation xmp_orientation(std::string_view packet) {
  constexpr std::string_view key = "tiff:Orientation";
  auto at = packet.find(key);
  if (at == std::string_view::npos) return Orientation::top_left;
  at = packet.find_first_not_of("=\"'> \t\r\n", at + key.size());
  if (at == std::string_view::npos || packet[at] < '1' || packet[at] > '8') return Orientation::top_left;
  return orientation_of(static_cast<std::uint32_t>(packet[at] - '0'));
}

void note_xmp_orientation(Image& image, Orientation stated, Orientation applied, std::string_view path) {
  if (stated == Orientation::top_left || stated == applied) return;
  image.notes.push_back(fmt::format("{}: its orientation {} (XMP) is not applied", path, static_cast<int>(stated)));
}

Shape<3> turned(const Shape<3>& stored, Orientation orientation) {
  return swaps_sides(orientation) ? Shape<3>{stored[1], stored[0], stored[2]} : stored;
}

void turn(Image& image, Orientation orientation) {
  if (orientation == Orientation::top_left) return;
  std::visit([&](auto& pixels) { pixels = turned_pixels(pixels, orientation); }, image.pixels);
}

std::int64_t turning_bytes(std::int64_t element_bytes, Orientation orientation) {
  return orientation == Orientation::top_left ? element_bytes : 2 * element_bytes;
}

}  // namespace holotone::io
