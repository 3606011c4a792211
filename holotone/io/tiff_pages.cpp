#include <algorithm>
#include <bit>
#include <fmt/format.h>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/file_part_detail.hpp>
#include <holotone/io/tiff_pages_detail.hpp>

namespace holotone::io {
namespace {

constexpr std::size_t max_pages = 1 << 20;

/// One directory: its kind of picture, and the offset of the next.
struct Directory {
  bool page = true;
  bool mask = false;  ///< of a page, not of a reduced copy
  std::uint64_t bytes = 0;
  std::uint64_t next = 0;
};

class TiffList {
 public:
  TiffList(const ReadAt& read, std::uint64_t size) : read_(read), size_(size) {}

  /// Offset of the first directory; 0: no TIFF file.
  std::uint64_t first() {
    std::string head = bytes_at(0, 8);
    if (head.size() < 8) return 0;
    order_ = head[0] == 'M' ? std::endian::big : std::endian::little;
    big_ = load<std::uint16_t>(head.data() + 2, order_) == 43;
    if (!big_) return load<std::uint32_t>(head.data() + 4, order_);
    head = bytes_at(8, 8);
    return head.size() < 8 ? 0 : load<std::uint64_t>(head.data(), order_);
  }

  /// False if the directory does not lie in the file.
  bool take(std::uint64_t offset, Directory& directory) {
    constexpr std::uint64_t max_entries = 1 << 16;
    const std::uint64_t count_bytes = big_ ? 8 : 2;
    const std::string head = bytes_at(offset, count_bytes);
    if (head.size() < count_bytes) return false;
    const std::uint64_t entries =
        big_ ? load<std::uint64_t>(head.data(), order_) : load<std::uint16_t>(head.data(), order_);
    if (entries == 0 || entries > max_entries) return false;
    const std::uint64_t entry_bytes = big_ ? 20 : 12;
    const std::uint64_t next_bytes = big_ ? 8 : 4;
    const std::string table = bytes_at(offset + count_bytes, entries * entry_bytes + next_bytes);
    if (table.empty()) return false;
    directory = {};
    directory.bytes = count_bytes + table.size();
    for (std::uint64_t i = 0; i < entries; ++i) read_kind(table.data() + i * entry_bytes, directory);
    const char* const next = table.data() + entries * entry_bytes;
    directory.next = big_ ? load<std::uint64_t>(next, order_) : load<std::uint32_t>(next, order_);
    return true;
  }

 private:
  void read_kind(const char* entry, Directory& directory) const {
    constexpr std::uint16_t new_kind = 254;  // NewSubfileType: bit 0 a reduced copy, bit 2 a mask
    constexpr std::uint16_t old_kind = 255;  // SubfileType: 2 a reduced copy
    constexpr std::uint16_t word = 3;
    const auto tag = load<std::uint16_t>(entry, order_);
    if (tag != new_kind && tag != old_kind) return;
    const char* const at = entry + (big_ ? 12 : 8);
    const bool is_word = load<std::uint16_t>(entry + 2, order_) == word;
    const std::uint32_t value = is_word ? load<std::uint16_t>(at, order_) : load<std::uint32_t>(at, order_);
    if (tag == new_kind ? (value & 5U) != 0 : value == 2) directory.page = false;
    if (tag == new_kind && (value & 5U) == 4) directory.mask = true;
  }

  std::string bytes_at(std::uint64_t position, std::uint64_t count) {
    if (position > size_ || count > size_ - position) return {};
    std::string bytes(count, '\0');
    return read_(bytes.data(), count, position) ? bytes : std::string();
  }

  const ReadAt& read_;
  std::uint64_t size_;
  std::endian order_ = std::endian::little;
  bool big_ = false;
};

}  // namespace

bool is_tiff(std::string_view bytes) {
  return bytes.starts_with(std::string_view("II*\0", 4)) || bytes.starts_with(std::string_view("MM\0*", 4)) ||
         bytes.starts_with(std::string_view("II+\0", 4)) || bytes.starts_with(std::string_view("MM\0+", 4));
}

TiffPages find_tiff_pages(const ReadAt& read, std::uint64_t size) {
  TiffList list(read, size);
  TiffPages pages;
  std::vector<std::uint64_t> copies;
  std::uint64_t walked = 0;
  for (std::uint64_t offset = list.first(); offset != 0;) {
    Directory directory;
    const bool complete = list.take(offset, directory);
    walked += directory.bytes;
    // Directories do not overlap: a list that leads back into itself would be longer than the file.
    if (!complete || walked > size || pages.directories.size() + copies.size() >= max_pages) {
      pages.damaged = true;
      break;
    }
    (directory.page ? pages.directories : copies).push_back(offset);
    if (directory.page) pages.masks.push_back(0);
    if (directory.mask && !pages.masks.empty() && pages.masks.back() == 0) pages.masks.back() = offset;
    offset = directory.next;
  }
  if (pages.directories.empty()) {
    pages.directories = std::move(copies);
    pages.masks.assign(pages.directories.size(), 0);
  } else {
    pages.others = std::ssize(copies);
  }
  return pages;
}

std::int64_t count_pages(const std::string& path) {
  if (!split_part(path).part.empty() || !is_tiff(read_first_bytes(path, 4))) return 1;
  std::uint64_t size = 0;
  const FileHandle file = open_file(path, size);
  const auto read = [&](char* target, std::uint64_t count, std::uint64_t position) {
    return read_at(file, target, count, position) == 0;
  };
  return std::max<std::int64_t>(std::ssize(find_tiff_pages(read, size).directories), 1);
}

std::vector<std::string> page_names(const std::string& path) {
  const std::int64_t count = count_pages(path);
  if (count == 1) return {path};
  std::vector<std::string> names;
  for (std::int64_t page = 1; page <= count; ++page) names.push_back(fmt::format("{}:{}", path, page));
  return names;
}

}  // namespace holotone::io
