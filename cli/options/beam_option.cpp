#include <cli/options/beam_option.hpp>
#include <cli/options/option_value.hpp>

namespace holotone::cli {

BeamChoice parse_beam(std::string_view option, const std::string& text) {
  constexpr std::string_view gaussian = "gaussian:";
  if (text == "flat") return {};
  if (text.starts_with("gauss") && !text.starts_with(gaussian)) {
    reject(option, "flat, gaussian:DIAMETER such as gaussian:4mm, or a picture", text);
  }
  if (!text.starts_with(gaussian)) return {.path = text};
  return {.diameter_m = parse_value(option, text.substr(gaussian.size()), ValueUnit::length, {1e-6, 10}), .path = {}};
}

}  // namespace holotone::cli
