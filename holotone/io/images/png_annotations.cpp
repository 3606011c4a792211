#include <algorithm>
#include <charconv>
#include <holotone/io/images/png_annotations_detail.hpp>
#include <zlib.h>

namespace holotone::io {
namespace {

constexpr std::size_t longest_text = 1 << 18;
constexpr int max_chunks = 16;

/// Removes the text before a zero byte, and the byte, from the front of `data`.
std::string_view take_part(std::string_view& data) {
  const auto end = std::min(data.find('\0'), data.size());
  const auto part = data.substr(0, end);
  data.remove_prefix(std::min(end + 1, data.size()));
  return part;
}

/// The first bytes of a zlib stream; what is damaged ends it.
std::string unpacked(std::string_view packed) {
  z_stream stream{};
  if (inflateInit(&stream) != Z_OK) return {};
  std::string text(longest_text, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(text.data());
  stream.avail_out = static_cast<uInt>(text.size());
  inflate(&stream, Z_FINISH);
  inflateEnd(&stream);
  return text.substr(0, stream.total_out);
}

/// Bytes of "\nNAME\n LENGTH\n" and lines of hexadecimal digits.
std::string raw_profile(std::string_view text) {
  for (int line = 0; line < 3; ++line) {
    const auto end = text.find('\n');
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + 1);
  }
  std::string digits;
  std::ranges::copy_if(text, std::back_inserter(digits), [](char c) { return c != '\n' && c != '\r' && c != ' '; });
  std::string bytes;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
    unsigned byte = 0;
    const char* const begin = digits.data() + i;
    if (std::from_chars(begin, begin + 2, byte, 16).ptr != begin + 2) break;
    bytes += static_cast<char>(byte);
  }
  return bytes;
}

}  // namespace

void take_annotation(std::string_view type, std::string_view data, PngAnnotations& annotations) {
  constexpr std::string_view exif_name("Exif\0\0", 6);
  constexpr std::string_view xmp_name("http://ns.adobe.com/xap/1.0/\0", 29);
  const std::string_view key = take_part(data);
  const bool packet = key == "XML:com.adobe.xmp";
  const bool profile = key == "Raw profile type icc" || key == "Raw profile type icm";
  const bool raw =
      profile || key == "Raw profile type exif" || key == "Raw profile type APP1" || key == "Raw profile type xmp";
  if ((!packet && !raw) || annotations.chunks >= max_chunks) return;
  ++annotations.chunks;
  bool packed = type == "zTXt";
  if (type == "iTXt") {
    packed = data.starts_with('\1');
    data.remove_prefix(std::min<std::size_t>(2, data.size()));
    take_part(data);  // language
    take_part(data);  // keyword in it
  } else if (packed) {
    data.remove_prefix(std::min<std::size_t>(1, data.size()));  // method
  }
  std::string text = packed ? unpacked(data) : std::string(data.substr(0, longest_text));
  if (raw) text = raw_profile(text);
  if (profile) {
    if (annotations.profile.empty()) annotations.profile = text.empty() ? std::string("damaged") : std::move(text);
  } else if (text.starts_with(xmp_name) || packet || key.ends_with("xmp")) {
    if (annotations.xmp.empty()) annotations.xmp = std::move(text);
  } else if (annotations.exif.empty()) {
    annotations.exif = text.starts_with(exif_name) ? text.substr(exif_name.size()) : std::move(text);
  }
}

}  // namespace holotone::io
