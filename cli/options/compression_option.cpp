#include <cli/options/compression_option.hpp>
#include <fmt/format.h>
#include <holotone/io/file_format_detail.hpp>
#include <utility>

namespace holotone::cli {
namespace {

constexpr std::string_view scale_name = "--scale-codes";

std::optional<int> parse_level(std::string_view option, const std::string& text) {
  if (text == "auto") return std::nullopt;
  if (text.empty() || text.find_first_not_of("0123456789") != std::string::npos) {
    reject(option, "auto, or a whole number from 0 to 9", text);
  }
  return static_cast<int>(whole_number(option, text, 0, 9));
}

}  // namespace

OptionRow compression_option(std::optional<int>& level, const std::string* output) {
  Applies applies;
  if (output != nullptr) {
    const auto compresses = [output] { return io::has_format(*output, io::formats::pictures_with_metadata); };
    applies = {compresses, "an output ending in .png or .tif", [output] { return *output; }};
  }
  return {.names = "--compression",
          .target = parsed(level, parse_level, "auto"),
          .value = "LEVEL",
          .help = "Compression of a PNG or TIFF: 0 (none, fastest) to 9 (smallest), or auto, which suits holograms",
          .applies = std::move(applies)};
}

OptionRow scale_codes_option(bool& scales, const std::string& output) {
  const auto writes = [&output] { return io::has_format(output, io::formats::written_pictures); };
  return {.names = scale_name.data(),
          .target = &scales,
          .help = "Write codes of fewer than 8 bits as 0 (black) to 255 (white), for people; Holotone reads them back",
          .applies = {writes, "an output ending in .png, .tif or .bmp", [&output] { return output; }}};
}

int scaled_bits_of(bool scales, int bits) {
  if (scales && bits > 7) reject(scale_name, "codes of at most 7 bits", fmt::format("{}", bits));
  return scales ? bits : 0;
}

}  // namespace holotone::cli
