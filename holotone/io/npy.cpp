#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/npy_detail.hpp>
#include <holotone/io/text_reader_detail.hpp>

namespace holotone::io {
namespace {

constexpr std::string_view magic = "\x93NUMPY";

// Parses the Python dictionary {'descr': '<c8', 'fortran_order': False, 'shape': (3, 4), }.
class DictionaryParser {
 public:
  DictionaryParser(std::string_view text, std::string_view path, NpyHeader& header)
      : text_(text), path_(path), header_(header) {}

  void parse() {
    expect('{');
    bool has_type = false;
    bool has_order = false;
    bool has_shape = false;
    while (!accept('}')) {
      const std::string key = take_string();
      expect(':');
      if (key == "descr") {
        if (peek() != '\'' && peek() != '"') fail("a plain number type", "a structured one");
        header_.type = take_string();
        has_type = true;
      } else if (key == "fortran_order") {
        header_.fortran_order = take_bool();
        has_order = true;
      } else if (key == "shape") {
        take_shape();
        has_shape = true;
      } else {
        fail("keys descr, fortran_order and shape", in_quotes(key));
      }
      if (!accept(',') && peek() != '}') fail("',' or '}'", in_quotes(text_.substr(0, 1)));
    }
    if (!has_type || !has_order || !has_shape) fail("keys descr, fortran_order and shape", "fewer");
  }

 private:
  char peek() {
    text_ = text_.substr(std::min(text_.size(), text_.find_first_not_of(" \t\r\n")));
    return text_.empty() ? '\0' : text_.front();
  }
  bool accept(char c) {
    if (peek() != c || text_.empty()) return false;
    text_.remove_prefix(1);
    return true;
  }
  void expect(char c) {
    if (!accept(c)) fail(fmt::format("'{}'", c), text_.empty() ? "the header's end" : in_quotes(text_.substr(0, 1)));
  }
  std::string take_string() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') fail("a quoted name", in_quotes(text_.substr(0, 1)));
    const auto end = text_.find(quote, 1);
    if (end == std::string_view::npos) fail("a closing quote", "none");
    std::string result(text_.substr(1, end - 1));
    text_.remove_prefix(end + 1);
    return result;
  }
  bool take_bool() {
    peek();
    for (const bool value : {false, true}) {
      const std::string_view name = value ? "True" : "False";
      if (text_.starts_with(name)) {
        text_.remove_prefix(name.size());
        return value;
      }
    }
    fail("True or False", in_quotes(text_.substr(0, 6)));
  }
  void take_shape() {
    header_.shape.clear();
    expect('(');
    while (!accept(')')) {
      peek();
      std::uint64_t extent = 0;
      const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), extent);
      if (error != std::errc{}) fail("an extent", in_quotes(text_.substr(0, 20)));
      text_.remove_prefix(static_cast<std::size_t>(end - text_.data()));
      header_.shape.push_back(extent);
      if (header_.shape.size() > 32) fail("at most 32 dimensions", "more");
      if (!accept(',') && peek() != ')') fail("',' or ')'", in_quotes(text_.substr(0, 1)));
    }
  }
  [[noreturn]] void fail(std::string_view expected, std::string_view got) const {
    throw_io(path_, fmt::format("{} in the NPY header", expected), got);
  }
  std::string_view text_;
  std::string_view path_;
  NpyHeader& header_;
};

void decode_type(NpyHeader& header, std::string_view path) {
  const std::string_view type = header.type;
  const bool known = (type.size() == 3 || type.size() == 4) &&
                     std::string_view("<>|=").find(type[0]) != std::string_view::npos &&
                     std::string_view("fciu").find(type[1]) != std::string_view::npos;
  std::size_t bytes = 0;
  if (known) std::from_chars(type.data() + 2, type.data() + type.size(), bytes);
  const bool real = bytes == 4 || bytes == 8;
  const bool valid = known && ((type[1] == 'f' && real) || (type[1] == 'c' && (bytes == 8 || bytes == 16)) ||
                               ((type[1] == 'i' || type[1] == 'u') && (bytes == 1 || bytes == 2 || real)));
  if (!valid) throw_io(path, "a type such as <f4, <f8, <i4, |u1 or <c8 in the NPY header", in_quotes(type));
  header.kind = type[1];
  header.item_bytes = bytes;
  header.order = type[0] == '>' ? std::endian::big : type[0] == '<' ? std::endian::little : std::endian::native;
}

void check_size(const NpyHeader& header, std::uint64_t file_bytes, std::string_view path) {
  const std::uint64_t available = file_bytes - header.data_begin;
  std::uint64_t needed = header.item_bytes;
  bool overflow = false;
  for (auto extent : header.shape) overflow = overflow || __builtin_mul_overflow(needed, extent, &needed);
  if (overflow || needed != available) {
    throw_io(path,
             fmt::format("{} of data for {} of {}", overflow ? "more than 2^64 bytes" : counted(needed, "byte"),
                         header.shape_text(), header.type),
             counted(available, "byte"));
  }
}

}  // namespace

std::string NpyHeader::shape_text() const {
  std::string text = "{";
  for (std::size_t i = 0; i < shape.size(); ++i) text += fmt::format("{}{}", i ? ", " : "", shape[i]);
  return text + "}";
}

bool is_npy(std::string_view bytes) { return bytes.starts_with(magic); }

NpyHeader parse_npy_header(std::string_view bytes, std::string_view path) {
  return parse_npy_header(bytes, bytes.size(), path);
}

NpyHeader parse_npy_header(std::string_view bytes, std::uint64_t file_bytes, std::string_view path) {
  ByteReader reader(bytes, path, std::endian::little);
  if (!is_npy(bytes)) throw_io(path, "the NPY signature", in_quotes(bytes.substr(0, 6)));
  reader.take_bytes(magic.size(), "NPY signature");
  const auto major = reader.take<std::uint8_t>("NPY version");
  reader.take<std::uint8_t>("NPY version");
  if (major < 1 || major > 3) throw_io(path, "NPY version 1 to 3", fmt::format("{}", major));
  const std::size_t length =
      major == 1 ? reader.take<std::uint16_t>("NPY header length") : reader.take<std::uint32_t>("NPY header length");
  NpyHeader header;
  DictionaryParser(reader.take_bytes(length, "NPY header"), path, header).parse();
  header.data_begin = reader.position();
  decode_type(header, path);
  check_size(header, file_bytes, path);
  return header;
}

NpyHeader read_npy_header(const std::string& path) {
  constexpr std::uint64_t longest = 1 << 20;
  std::uint64_t file_bytes = 0;
  const FileHandle file = open_file(path, file_bytes);
  std::string first(std::min(file_bytes, longest), '\0');
  require_bytes(file, first.data(), first.size(), 0, path);
  return parse_npy_header(first, file_bytes, path);
}

std::string npy_header(std::string_view type, const std::vector<std::int64_t>& shape) {
  std::string extents;
  for (auto extent : shape) extents += fmt::format("{}, ", extent);
  std::string text = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", type,
                                 shape.size() == 1 ? extents : extents.substr(0, extents.size() - 2));
  std::string header(magic);
  header += '\x01';
  header += '\x00';
  constexpr std::size_t prefix = 10;
  const std::size_t total = (prefix + text.size() + 1 + 63) / 64 * 64;
  text.append(total - prefix - text.size() - 1, ' ');
  text += '\n';
  store(header, static_cast<std::uint16_t>(text.size()));
  return header + text;
}

double load_npy_number(const char* data, char kind, std::size_t item_bytes, std::endian order) {
  const auto number = [&]<class T>(T) { return static_cast<double>(load<T>(data, order)); };
  if (kind == 'f') return item_bytes == 4 ? number(float{}) : number(double{});
  const bool is_signed = kind == 'i';
  switch (item_bytes) {
    case 1: return is_signed ? number(std::int8_t{}) : number(std::uint8_t{});
    case 2: return is_signed ? number(std::int16_t{}) : number(std::uint16_t{});
    case 4: return is_signed ? number(std::int32_t{}) : number(std::uint32_t{});
    default: return is_signed ? number(std::int64_t{}) : number(std::uint64_t{});
  }
}

}  // namespace holotone::io
