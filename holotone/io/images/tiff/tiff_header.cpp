#include <algorithm>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/images/tiff/tiff_header_detail.hpp>
#include <holotone/io/metadata_text_detail.hpp>
#include <vector>

namespace holotone::io {
namespace {

enum class Type : std::uint16_t { ascii = 2, word = 3, number = 4, long_number = 16 };

/// One entry of the directory: its values as bytes.
struct Entry {
  std::uint16_t tag;
  Type type;
  std::uint64_t count;
  std::string values;
};

Entry word(std::uint16_t tag, std::uint16_t value) {
  Entry entry{tag, Type::word, 1, {}};
  store(entry.values, value);
  return entry;
}

Entry number(std::uint16_t tag, std::uint32_t value) {
  Entry entry{tag, Type::number, 1, {}};
  store(entry.values, value);
  return entry;
}

constexpr std::uint64_t classic_limit = 3'900'000'000;  // above it offsets need BigTIFF's 64 bits
constexpr std::uint64_t alignment = 16;

/// Sizes of the two kinds of TIFF: a number of the directory's lengths and offsets has 4 or 8 bytes.
struct Kind {
  bool big;
  [[nodiscard]] std::uint64_t offset_bytes() const { return big ? 8 : 4; }
  [[nodiscard]] std::uint64_t first_bytes() const { return big ? 16 : 8; }
  [[nodiscard]] std::uint64_t count_bytes() const { return big ? 8 : 2; }
  [[nodiscard]] std::uint64_t entry_bytes() const { return big ? 20 : 12; }

  void store_offset(std::string& bytes, std::uint64_t value) const {
    if (big) {
      store(bytes, value);
    } else {
      store(bytes, static_cast<std::uint32_t>(value));
    }
  }
};

/// Strips of about 256 KiB.
struct Strips {
  std::int64_t rows;  ///< of a strip
  std::int64_t count;
};
Strips strips_of(Shape<2> shape, std::uint64_t row_bytes) {
  constexpr std::int64_t strip_bytes = 1 << 18;
  const std::int64_t rows = std::clamp<std::int64_t>(strip_bytes / static_cast<std::int64_t>(row_bytes), 1, shape[0]);
  return {rows, (shape[0] + rows - 1) / rows};
}

void set_strips(Entry& offsets, Entry& lengths, Shape<2> shape, Strips strips, std::uint64_t row_bytes, Kind kind,
                std::uint64_t data_begin) {
  offsets.values.clear();
  lengths.values.clear();
  for (std::int64_t first = 0; first < shape[0]; first += strips.rows) {
    kind.store_offset(offsets.values, data_begin + static_cast<std::uint64_t>(first) * row_bytes);
    const std::int64_t rows = std::min(strips.rows, shape[0] - first);
    store(lengths.values, static_cast<std::uint32_t>(static_cast<std::uint64_t>(rows) * row_bytes));
  }
}

/// The values that do not fit in their entry, each at an even position.
std::uint64_t beside(const Entry& entry, Kind kind) {
  return entry.values.size() <= kind.offset_bytes() ? 0 : (entry.values.size() + 1) / 2 * 2;
}

}  // namespace

std::string tiff_header(Shape<2> shape, int bits, const Metadata& metadata) {
  const std::uint64_t row_bytes = static_cast<std::uint64_t>(shape[1]) * static_cast<std::uint64_t>(bits / 8);
  const Kind kind{static_cast<std::uint64_t>(shape[0]) * row_bytes > classic_limit};
  const Strips strips = strips_of(shape, row_bytes);
  const auto strip_count = static_cast<std::uint64_t>(strips.count);
  Entry offsets{273, kind.big ? Type::long_number : Type::number, strip_count, {}};
  Entry lengths{279, Type::number, strip_count, {}};
  set_strips(offsets, lengths, shape, strips, row_bytes, kind, 0);

  std::vector<Entry> entries{number(256, static_cast<std::uint32_t>(shape[1])),
                             number(257, static_cast<std::uint32_t>(shape[0])),
                             word(258, static_cast<std::uint16_t>(bits)), word(259, 1),  // not compressed
                             word(262, 1)};                                              // 0 is black
  if (!metadata.empty()) {
    const std::string text = metadata_lines(metadata) + '\0';
    entries.push_back({270, Type::ascii, text.size(), text});
  }
  entries.push_back(offsets);
  const std::size_t offsets_at = entries.size() - 1;
  for (const auto& entry : {word(274, 1), word(277, 1), number(278, static_cast<std::uint32_t>(strips.rows)), lengths,
                            word(284, 1), word(339, 1)}) {
    entries.push_back(entry);
  }

  const std::uint64_t values_begin =
      kind.first_bytes() + kind.count_bytes() + entries.size() * kind.entry_bytes() + kind.offset_bytes();
  std::uint64_t data_begin = values_begin;
  for (const auto& entry : entries) data_begin += beside(entry, kind);
  data_begin = (data_begin + alignment - 1) / alignment * alignment;
  set_strips(entries[offsets_at], lengths, shape, strips, row_bytes, kind, data_begin);

  std::string bytes = "II";
  store(bytes, static_cast<std::uint16_t>(kind.big ? 43 : 42));
  if (kind.big) {
    store(bytes, static_cast<std::uint16_t>(8));
    store(bytes, static_cast<std::uint16_t>(0));
  }
  kind.store_offset(bytes, kind.first_bytes());
  if (kind.big) {
    store(bytes, static_cast<std::uint64_t>(entries.size()));
  } else {
    store(bytes, static_cast<std::uint16_t>(entries.size()));
  }
  std::string values;
  for (const auto& entry : entries) {
    store(bytes, entry.tag);
    store(bytes, static_cast<std::uint16_t>(entry.type));
    kind.store_offset(bytes, entry.count);
    if (beside(entry, kind) > 0) {
      kind.store_offset(bytes, values_begin + values.size());
      values += entry.values;
      values.resize((values.size() + 1) / 2 * 2);
    } else {
      bytes += entry.values;
      bytes.resize(bytes.size() + kind.offset_bytes() - entry.values.size());
    }
  }
  kind.store_offset(bytes, 0);  // no further picture
  bytes += values;
  bytes.resize(data_begin);
  return bytes;
}

}  // namespace holotone::io
