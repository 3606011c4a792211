#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/points/ply_header_detail.hpp>
#include <holotone/io/text_reader_detail.hpp>
#include <optional>

namespace holotone::io {
namespace {

constexpr std::size_t longest_header = 1 << 16;

std::optional<PlyType> type_named(std::string_view name) {
  struct Name {
    std::string_view text;
    PlyType type;
  };
  constexpr Name names[] = {
      {"char", PlyType::int8},       {"int8", PlyType::int8},       {"uchar", PlyType::uint8},
      {"uint8", PlyType::uint8},     {"short", PlyType::int16},     {"int16", PlyType::int16},
      {"ushort", PlyType::uint16},   {"uint16", PlyType::uint16},   {"int", PlyType::int32},
      {"int32", PlyType::int32},     {"uint", PlyType::uint32},     {"uint32", PlyType::uint32},
      {"float", PlyType::float32},   {"float32", PlyType::float32}, {"double", PlyType::float64},
      {"float64", PlyType::float64}, {"Real", PlyType::float64},
  };
  for (const auto& name_of : names) {
    if (name_of.text == name) return name_of.type;
  }
  return std::nullopt;
}

class HeaderParser {
 public:
  HeaderParser(std::string_view bytes, std::string_view path)
      : lines_(bytes.substr(0, longest_header)), path_(path), whole_(bytes.size() <= longest_header) {}

  PlyHeader parse() {
    std::string_view line;
    if (!lines_.next(line) || trim(line) != "ply") fail("'ply' on the first line", line);
    bool has_format = false;
    while (lines_.next(line)) {
      std::string_view rest = line;
      const auto keyword = take_word(rest);
      if (keyword == "end_header") {
        if (!has_format) fail("a 'format' line before 'end_header'", "none");
        header_.data_begin = lines_.position();
        return std::move(header_);
      }
      if (keyword == "format") {
        take_format(rest);
        has_format = true;
      } else if (keyword == "element") {
        take_element(rest);
      } else if (keyword == "property") {
        take_property(rest);
      } else if (!keyword.empty() && keyword != "comment" && keyword != "obj_info") {
        fail("format, element, property, comment or end_header", keyword);
      }
    }
    throw_io(path_, "'end_header'",
             whole_ ? "the end of the file" : fmt::format("{} bytes without it", longest_header));
  }

 private:
  void take_format(std::string_view rest) {
    const auto name = take_word(rest);
    if (name == "ascii") {
      header_.format = PlyFormat::ascii;
    } else if (name == "binary_little_endian") {
      header_.format = PlyFormat::little;
    } else if (name == "binary_big_endian") {
      header_.format = PlyFormat::big;
    } else {
      fail("format ascii, binary_little_endian or binary_big_endian", name);
    }
    const auto version = take_word(rest);
    if (version != "1.0") fail("format version 1.0", version);
  }

  void take_element(std::string_view rest) {
    PlyElement element;
    element.name = take_word(rest);
    const auto count = take_word(rest);
    const auto [end, error] = std::from_chars(count.data(), count.data() + count.size(), element.count);
    if (element.name.empty() || count.empty() || error != std::errc{} || end != count.data() + count.size()) {
      fail("'element NAME COUNT' with a count of at least 0", count);
    }
    header_.elements.push_back(std::move(element));
  }

  void take_property(std::string_view rest) {
    if (header_.elements.empty()) fail("an element before its properties", "none");
    PlyProperty property;
    auto word = take_word(rest);
    if (word == "list") {
      property.is_list = true;
      property.count_type = take_type(take_word(rest));
      if (largest_code(property.count_type) == 0) fail("an integer type for a list's length", "a float type");
      word = take_word(rest);
    }
    property.type = take_type(word);
    property.name = take_word(rest);
    if (property.name.empty()) fail("a property name", "none");
    header_.elements.back().properties.push_back(std::move(property));
  }

  PlyType take_type(std::string_view word) {
    const auto type = type_named(word);
    if (!type) fail("a type such as float, double, uchar or int", word);
    return *type;
  }

  [[noreturn]] void fail(std::string_view expected, std::string_view got) const {
    throw_io(path_, fmt::format("{} (line {})", expected, lines_.number()), in_quotes(got));
  }

  LineReader lines_;
  std::string_view path_;
  bool whole_;
  PlyHeader header_;
};

}  // namespace

std::size_t type_size(PlyType type) {
  switch (type) {
    case PlyType::int8:
    case PlyType::uint8: return 1;
    case PlyType::int16:
    case PlyType::uint16: return 2;
    case PlyType::int32:
    case PlyType::uint32:
    case PlyType::float32: return 4;
    case PlyType::float64: return 8;
  }
  return 0;
}

double largest_code(PlyType type) {
  if (type == PlyType::float32 || type == PlyType::float64) return 0;
  return type == PlyType::uint16 ? 65535 : 255;
}

double load_number(const char* data, PlyType type, std::endian order) {
  switch (type) {
    case PlyType::int8: return load<std::int8_t>(data, order);
    case PlyType::uint8: return load<std::uint8_t>(data, order);
    case PlyType::int16: return load<std::int16_t>(data, order);
    case PlyType::uint16: return load<std::uint16_t>(data, order);
    case PlyType::int32: return load<std::int32_t>(data, order);
    case PlyType::uint32: return load<std::uint32_t>(data, order);
    case PlyType::float32: return static_cast<double>(load<float>(data, order));
    case PlyType::float64: return load<double>(data, order);
  }
  return 0;
}

bool PlyElement::has_list() const {
  return std::any_of(properties.begin(), properties.end(), [](const auto& property) { return property.is_list; });
}

std::size_t PlyElement::smallest_row() const {
  std::size_t bytes = 0;
  for (const auto& property : properties) bytes += type_size(property.is_list ? property.count_type : property.type);
  return bytes;
}

PlyHeader parse_ply_header(std::string_view bytes, std::string_view path) { return HeaderParser(bytes, path).parse(); }

}  // namespace holotone::io
