#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/core/parallel.hpp>
#include <holotone/io/points/ply_rows_detail.hpp>

namespace holotone::io {
namespace {

std::string plural(const PlyElement& element) {
  if (element.name == "vertex") return "vertices";
  return element.name == "face" ? "faces" : fmt::format("rows of '{}'", element.name);
}

}  // namespace

PlyRows::PlyRows(const PlyHeader& header, std::string_view bytes, std::string_view path)
    : path_(path),
      is_text_(header.format == PlyFormat::ascii),
      order_(header.format == PlyFormat::big ? std::endian::big : std::endian::little),
      lines_(bytes.substr(header.data_begin)),
      binary_(bytes.substr(header.data_begin), path, order_) {
  if (is_text_) {
    check_lines(header, bytes.substr(header.data_begin));
  } else {
    check_bytes(header, bytes.size() - header.data_begin);
  }
}

void PlyRows::check_lines(const PlyHeader& header, std::string_view data) const {
  std::uint64_t available = count_filled_lines(data);
  const std::uint64_t lines = available;
  std::uint64_t declared = 0;
  std::string list;
  for (const auto& element : header.elements) {
    if (element.properties.empty()) continue;
    if (element.count > available) {
      throw_io(path_, fmt::format("{} {}", element.count, plural(element)), fmt::format("lines for {}", available));
    }
    available -= element.count;
    declared += element.count;
    list += (list.empty() ? "" : " and ") + fmt::format("{} {}", element.count, plural(element));
  }
  if (available > 0) throw_io(path_, list, fmt::format("{} lines of data, {} too many", lines, lines - declared));
}

void PlyRows::check_bytes(const PlyHeader& header, std::uint64_t available) const {
  bool exact = true;  // true if the smallest size is the exact size
  for (const auto& element : header.elements) {
    const std::uint64_t row = element.smallest_row();
    if (row == 0) continue;
    if (element.count > available / row) {
      throw_io(path_, fmt::format("{} {} ({} bytes each)", element.count, plural(element), row),
               fmt::format("room for {}", available / row));
    }
    exact = exact && !element.has_list();
    if (exact && &element == &header.elements.back() && available / row > element.count) {
      throw_io(path_, fmt::format("{} {} ({} bytes each)", element.count, plural(element), row),
               fmt::format("bytes for {}", available / row));
    }
    available -= element.count * row;
  }
}

std::string PlyRows::row_name(const PlyElement& element, std::uint64_t index) const {
  std::string name = fmt::format("{} {}", element.name, index);
  return is_text_ ? fmt::format("{} (line {} of the data)", name, lines_.number()) : name;
}

std::uint64_t PlyRows::list_length(double value, const PlyElement& element, std::uint64_t index) const {
  // Also rejects NaN. 2^32 entries would not fit the file; list entries are counted one by one.
  if (!(value >= 0 && value <= 4294967295.0 && value == std::floor(value))) {
    throw_io(path_, fmt::format("a list length in {}", row_name(element, index)), fmt::format("{:g}", value));
  }
  return static_cast<std::uint64_t>(value);
}

double PlyRows::take_number(std::string_view& rest, const PlyElement& element, std::uint64_t index,
                            const PlyProperty& property) const {
  const auto word = take_word(rest);
  double value = 0;
  if (!parse_number(word, value)) {
    throw_io(path_, fmt::format("a number for '{}' in {}", property.name, row_name(element, index)),
             word.empty() ? "the end of the line" : in_quotes(word));
  }
  return value;
}

void PlyRows::read_text(const PlyElement& element, std::uint64_t index, std::size_t wanted_list, PlyRow& row) {
  std::string_view rest;
  if (!lines_.next_filled(rest)) throw_io(path_, row_name(element, index), "the end of the file");
  for (std::size_t p = 0; p < element.properties.size(); ++p) {
    const auto& property = element.properties[p];
    row.scalar[p] = take_number(rest, element, index, property);
    if (!property.is_list) continue;
    const std::uint64_t length = list_length(row.scalar[p], element, index);
    for (std::uint64_t i = 0; i < length; ++i) {
      const double value = take_number(rest, element, index, property);
      if (p == wanted_list) row.list.push_back(value);
    }
  }
  if (!trim(rest).empty()) {
    throw_io(path_, fmt::format("the end of the line in {}", row_name(element, index)), in_quotes(trim(rest)));
  }
}

void PlyRows::read_binary(const PlyElement& element, std::uint64_t index, std::size_t wanted_list, PlyRow& row) {
  for (std::size_t p = 0; p < element.properties.size(); ++p) {
    const auto& property = element.properties[p];
    const auto type = property.is_list ? property.count_type : property.type;
    row.scalar[p] = load_number(binary_.take_bytes(type_size(type), element.name).data(), type, order_);
    if (!property.is_list) continue;
    const std::size_t bytes = type_size(property.type);
    const std::uint64_t length = list_length(row.scalar[p], element, index);
    const auto entries = binary_.take_bytes(static_cast<std::size_t>(length) * bytes, row_name(element, index));
    if (p != wanted_list) continue;
    row.list.resize(static_cast<std::size_t>(length));
    for (std::size_t i = 0; i < row.list.size(); ++i) {
      row.list[i] = load_number(entries.data() + i * bytes, property.type, order_);
    }
  }
}

void PlyRows::read(const PlyElement& element, std::uint64_t index, std::size_t wanted_list, PlyRow& row) {
  row.scalar.resize(element.properties.size());
  row.list.clear();
  if (is_text_) {
    read_text(element, index, wanted_list, row);
  } else {
    read_binary(element, index, wanted_list, row);
  }
}

void PlyRows::read_all(const PlyElement& element,
                       const std::function<void(std::size_t index, const PlyRow& row)>& use) {
  const auto count = static_cast<std::size_t>(element.count);  // checked against the file's size
  if (is_text_ || element.has_list()) {
    PlyRow row;
    for (std::size_t i = 0; i < count; ++i) {
      read(element, i, element.properties.size(), row);
      use(i, row);
    }
    return;
  }
  const std::size_t row_bytes = element.smallest_row();
  const std::string_view all = binary_.take_bytes(count * row_bytes, element.name);
  parallel_blocks(static_cast<std::int64_t>(count), [&](std::int64_t begin, std::int64_t end) {
    PlyRow row;
    row.scalar.resize(element.properties.size());
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
      const char* at = all.data() + i * row_bytes;
      for (std::size_t p = 0; p < row.scalar.size(); ++p) {
        const auto type = element.properties[p].type;
        row.scalar[p] = load_number(at, type, order_);
        at += type_size(type);
      }
      use(i, row);
    }
  });
}

void PlyRows::skip(const PlyElement& element) {
  if (element.properties.empty()) return;
  if (!is_text_ && !element.has_list()) {
    binary_.take_bytes(static_cast<std::size_t>(element.count) * element.smallest_row(), element.name);
    return;
  }
  PlyRow row;
  for (std::uint64_t i = 0; i < element.count; ++i) read(element, i, element.properties.size(), row);
}

void PlyRows::finish(const PlyElement& last) const {
  if (is_text_ || binary_.remaining() == 0) return;
  ByteReader rest = binary_;
  const auto left = rest.take_bytes(rest.remaining(), "rest");
  if (std::all_of(left.begin(), left.end(), is_blank)) return;
  throw_io(path_, fmt::format("the end of the file after {} {}", last.count, plural(last)),
           counted(left.size(), "more byte"));
}

}  // namespace holotone::io
