// Portable float maps (Debevec): text "Pf" or "PF", columns and rows, scale; then float32, the lowest row first.
#include <bit>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/images/image_formats_detail.hpp>

namespace holotone::io {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

/// What a file states before its pixels.
struct PfmHeader {
  std::int64_t channels = 1;
  std::int64_t nx = 0;
  std::int64_t ny = 0;
  double scale = 0;
  std::size_t pixels_begin = 0;
};

/// Next word of the header; an empty one at its end. `at` moves behind it.
std::string_view take_word(std::string_view bytes, std::size_t& at) {
  while (at < bytes.size() && is_blank(bytes[at])) ++at;
  const std::size_t begin = at;
  while (at < bytes.size() && !is_blank(bytes[at])) ++at;
  return bytes.substr(begin, at - begin);
}

template <class Number>
Number number_in(std::string_view word, std::string_view what, std::string_view path) {
  Number number{};
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (word.empty() || error != std::errc() || end != word.data() + word.size()) {
    throw_io(path, fmt::format("{} in the header of a PFM", what), in_quotes(word.substr(0, 20)));
  }
  return number;
}

PfmHeader parse_header(std::string_view bytes, std::string_view path) {
  PfmHeader header;
  std::size_t at = 2;
  header.channels = bytes[1] == 'F' ? 3 : 1;
  header.nx = number_in<std::int64_t>(take_word(bytes, at), "the number of columns", path);
  header.ny = number_in<std::int64_t>(take_word(bytes, at), "the number of rows", path);
  header.scale = number_in<double>(take_word(bytes, at), "the scale", path);
  if (header.nx < 1 || header.ny < 1) {
    throw_io(path, "1 pixel or more", fmt::format("{} x {}", header.nx, header.ny));
  }
  if (!(std::abs(header.scale) > 0) || !std::isfinite(header.scale)) {
    throw_io(path, "a scale other than 0, whose sign is the order of the bytes", fmt::format("{}", header.scale));
  }
  header.pixels_begin = std::min(at + 1, bytes.size());
  return header;
}

}  // namespace

bool is_pfm(std::string_view bytes) {
  return bytes.size() > 2 && bytes[0] == 'P' && (bytes[1] == 'F' || bytes[1] == 'f') && is_blank(bytes[2]);
}

Image read_pfm(std::string_view bytes, std::string_view path, const ImageReadOptions& options) {
  PfmHeader header = parse_header(bytes, path);
  const auto [ny, nx, channels] = Shape<3>{header.ny, header.nx, header.channels};
  check_extents(static_cast<std::uint64_t>(ny), static_cast<std::uint64_t>(nx), static_cast<std::uint64_t>(channels),
                sizeof(float), bytes.size() - header.pixels_begin, 1, path);
  const auto expected = static_cast<std::size_t>(ny * nx * channels) * sizeof(float);
  // A line that ends with two characters: the header's last blank is the second.
  const bool two = bytes.size() - header.pixels_begin == expected + 1 && bytes[header.pixels_begin] == '\n' &&
                   bytes[header.pixels_begin - 1] == '\r';
  if (two) ++header.pixels_begin;
  if (bytes.size() - header.pixels_begin != expected) {
    throw_io(path, fmt::format("{} of {} x {} pixels behind the header", counted(expected, "byte"), nx, ny),
             counted(bytes.size() - header.pixels_begin, "byte"));
  }
  require_accepted({ny, nx, channels}, sizeof(float), options, path);
  auto pixels = make_pixels<float>(static_cast<std::uint64_t>(ny), static_cast<std::uint64_t>(nx),
                                   static_cast<std::uint64_t>(channels));
  const auto order = header.scale < 0 ? std::endian::little : std::endian::big;
  const std::int64_t row_values = nx * channels;
  for (std::int64_t row = 0; row < ny; ++row) {
    const char* const from =
        bytes.data() + header.pixels_begin + static_cast<std::size_t>((ny - 1 - row) * row_values) * sizeof(float);
    float* const to = pixels.data() + row * row_values;
    for (std::int64_t i = 0; i < row_values; ++i) {
      to[i] = load<float>(from + static_cast<std::size_t>(i) * sizeof(float), order);
    }
  }
  Image image{std::move(pixels), {}};
  if (std::abs(header.scale) != 1) {
    image.notes.push_back(fmt::format("{}: its scale {:g} is not applied to the values", path, std::abs(header.scale)));
  }
  return image;
}

}  // namespace holotone::io
