#include <cli/common/compression_option.hpp>

namespace holotone::cli {
namespace {

constexpr Range level_range = count_range(0, 9);

}  // namespace

OptionRow compression_option(std::string& text) {
  return {.names = "--compression",
          .target = &text,
          .value = "LEVEL",
          .help = "Compression of a PNG or TIFF: 0 (none, fastest) to 9 (smallest), or auto, which suits holograms"};
}

OptionRow compression_option(std::optional<int>& level) {
  return {.names = "--compression",
          .target = parsed(
              level, [](std::string_view, const std::string& text) { return compression_of(text); }, "auto"),
          .value = "LEVEL",
          .help = "Compression of a PNG or TIFF: 0 (none, fastest) to 9 (smallest), or auto, which suits holograms"};
}

std::optional<int> compression_of(const std::string& text) {
  if (text == "auto") return std::nullopt;
  if (text.empty() || text.find_first_not_of("0123456789") != std::string::npos) {
    reject("--compression", "auto, or a whole number from 0 to 9", text);
  }
  return static_cast<int>(whole_number("--compression", text, level_range));
}

}  // namespace holotone::cli
