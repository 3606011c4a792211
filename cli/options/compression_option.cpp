#include <cli/options/compression_option.hpp>
#include <holotone/io/file_format_detail.hpp>
#include <utility>

namespace holotone::cli {
namespace {

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

}  // namespace holotone::cli
