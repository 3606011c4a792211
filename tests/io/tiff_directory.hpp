#pragma once
// Directories of TIFF files with any tags and strips, written without the library.
#include <algorithm>
#include <cstdint>
#include <string>
#include <tests/io/tiff_bytes.hpp>
#include <vector>

namespace io_fixtures {

/// Type 2: text; 3 and 4: numbers of 16 and 32 bits; 5: pairs of numbers; 12: doubles, a pair of halves each.
struct Tag {
  std::uint32_t tag;
  std::uint32_t type;
  std::vector<std::uint32_t> numbers = {};
  std::string text = {};
};

/// Pixels of one strip a vector entry; an empty strip has offset 0 and count 0.
struct Page {
  std::uint32_t nx;
  std::uint32_t ny;
  std::uint32_t bits;
  std::uint32_t samples;
  std::uint32_t photometric;
  std::vector<std::string> strips;
  std::vector<Tag> tags = {};
};

inline std::string tag_values(const Tag& tag) {
  std::string bytes = tag.type == 2 ? tag.text + '\0' : "";
  for (const auto number : tag.numbers) append(bytes, number, tag.type == 3 ? 2 : 4);
  return bytes;
}

/// The directory at offset `at`, followed by its values and strips; `next`: offset of the next directory.
inline std::string directory_of(const Page& page, std::uint32_t at, std::uint32_t next = 0) {
  const auto strips = static_cast<std::uint32_t>(page.strips.size());
  std::vector<Tag> tags = page.tags;
  for (const Tag& tag : std::vector<Tag>{{256, 4, {page.nx}},
                                         {257, 4, {page.ny}},
                                         {258, 3, std::vector<std::uint32_t>(page.samples, page.bits)},
                                         {259, 3, {1}},
                                         {262, 3, {page.photometric}},
                                         {273, 4, std::vector<std::uint32_t>(strips, 0)},
                                         {277, 3, {page.samples}},
                                         {278, 4, {page.ny / strips}},
                                         {279, 4, {}}}) {
    tags.push_back(tag);
  }
  std::ranges::sort(tags, {}, &Tag::tag);
  std::uint32_t end = at + 2 + 12 * static_cast<std::uint32_t>(tags.size()) + 4;
  for (auto& tag : tags) {
    if (tag.tag == 279) {
      for (const auto& strip : page.strips) tag.numbers.push_back(static_cast<std::uint32_t>(strip.size()));
    }
    const auto size = static_cast<std::uint32_t>(tag_values(tag).size());
    if (size > 4) end += size + size % 2;
  }
  for (auto& tag : tags) {
    if (tag.tag != 273) continue;
    std::uint32_t offset = end;
    for (std::uint32_t i = 0; i < strips; ++i) {
      tag.numbers[i] = page.strips[i].empty() ? 0 : offset;
      offset += static_cast<std::uint32_t>(page.strips[i].size());
    }
  }
  std::string bytes;
  std::string values;
  const std::uint32_t values_at = at + 2 + 12 * static_cast<std::uint32_t>(tags.size()) + 4;
  append(bytes, static_cast<std::uint32_t>(tags.size()), 2);
  for (const auto& tag : tags) {
    std::string stored = tag_values(tag);
    const auto bytes_each = tag.type == 2 ? 1U : tag.type == 3 ? 2U : tag.type == 4 ? 4U : 8U;
    append(bytes, tag.tag, 2);
    append(bytes, tag.type, 2);
    append(bytes, static_cast<std::uint32_t>(stored.size()) / bytes_each, 4);
    if (stored.size() > 4) {
      append(bytes, values_at + static_cast<std::uint32_t>(values.size()), 4);
      values += stored + std::string(stored.size() % 2, '\0');
    } else {
      stored.resize(4);
      bytes += stored;
    }
  }
  append(bytes, next, 4);
  bytes += values;
  for (const auto& strip : page.strips) bytes += strip;
  return bytes;
}

/// A little-endian file of these pages, one after the other.
inline std::string tiff_file(const std::vector<Page>& pages) {
  std::string bytes("II*\0\x08\0\0\0", 8);
  for (std::size_t i = 0; i < pages.size(); ++i) {
    const auto at = static_cast<std::uint32_t>(bytes.size());
    const auto length = static_cast<std::uint32_t>(directory_of(pages[i], at).size());
    bytes += directory_of(pages[i], at, i + 1 < pages.size() ? at + length : 0);
  }
  return bytes;
}

/// A file of one page, `first`, with a picture in its SubIFD.
inline std::string tiff_with_sub_directory(Page first, const Page& picture) {
  first.tags.push_back({330, 4, {0}});
  const auto at = static_cast<std::uint32_t>(8 + directory_of(first, 8).size());
  first.tags.back().numbers = {at};
  return tiff_file({first}) + directory_of(picture, at);
}

}  // namespace io_fixtures
