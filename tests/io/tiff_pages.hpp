#pragma once
// Bytes of TIFF files of several pages, written without the library.
#include <cstdint>
#include <string>
#include <tests/io/tiff_bytes.hpp>
#include <vector>

namespace tiff_pages {

/// A directory of grey pixels, and NewSubfileType: 0 a picture, 1 a reduced copy, 2 a page, 4 a mask.
struct Page {
  std::string row;
  std::uint32_t kind = 0;
};

inline void append_long(std::string& bytes, std::uint64_t value, bool little) {
  io_fixtures::append(bytes, static_cast<std::uint32_t>(little ? value : value >> 32), 4, little);
  io_fixtures::append(bytes, static_cast<std::uint32_t>(little ? value >> 32 : value), 4, little);
}

/// TIFF 6.0 or, with `big`, BigTIFF of pages of 8 bits and `rows` rows: directory, then pixels, one page after the
/// other. `description`: ImageDescription of the first.
inline std::string pages_file(const std::vector<Page>& pages, bool little = true, bool big = false,
                              const std::string& description = {}, std::size_t rows = 1) {
  std::string bytes = little ? "II" : "MM";
  io_fixtures::append(bytes, big ? 43 : 42, 2, little);
  if (big) {
    io_fixtures::append(bytes, 8, 2, little);
    io_fixtures::append(bytes, 0, 2, little);
    append_long(bytes, 16, little);
  } else {
    io_fixtures::append(bytes, 8, 4, little);
  }
  for (std::size_t i = 0; i < pages.size(); ++i) {
    const auto& [row, kind] = pages[i];
    const std::string text = i == 0 && !description.empty() ? description + '\0' : "";
    const std::size_t entries = 10 + (text.empty() ? 0 : 1);
    const std::size_t head = big ? 8 + 20 * entries + 8 : 2 + 12 * entries + 4;
    const std::size_t data = bytes.size() + head;
    const auto entry = [&](std::uint32_t tag, std::uint32_t type, std::size_t value, std::size_t count = 1) {
      io_fixtures::append(bytes, tag, 2, little);
      io_fixtures::append(bytes, type, 2, little);
      if (big) append_long(bytes, count, little);
      if (!big) io_fixtures::append(bytes, static_cast<std::uint32_t>(count), 4, little);
      const std::size_t begin = bytes.size();
      io_fixtures::append(bytes, static_cast<std::uint32_t>(value), type == 3 ? 2 : 4, little);
      if (big && type == 2) {
        bytes.resize(begin);
        append_long(bytes, value, little);
      }
      bytes.resize(begin + (big ? 8 : 4));
    };
    if (big) append_long(bytes, entries, little);
    if (!big) io_fixtures::append(bytes, static_cast<std::uint32_t>(entries), 2, little);
    entry(254, 4, kind);
    entry(256, 3, row.size() / rows);
    entry(257, 3, rows);
    entry(258, 3, 8);
    entry(259, 3, 1);
    entry(262, 3, 1);
    if (!text.empty()) entry(270, 2, data + row.size(), text.size());
    entry(273, 4, data);
    entry(277, 3, 1);
    entry(278, 3, rows);
    entry(279, 4, row.size());
    const bool last = i + 1 == pages.size();
    const std::size_t next = last ? 0 : data + row.size() + text.size() + (row.size() + text.size()) % 2;
    if (big) append_long(bytes, next, little);
    if (!big) io_fixtures::append(bytes, static_cast<std::uint32_t>(next), 4, little);
    bytes += row + text;
    if (bytes.size() % 2 == 1) bytes += '\0';
  }
  return bytes;
}

}  // namespace tiff_pages
