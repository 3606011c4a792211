#include <cli/options/beam_option.hpp>
#include <cli/options/option_value.hpp>
#include <cli/options/viewer_option.hpp>

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

TargetChoice parse_target(std::string_view option, const std::string& text) {
  constexpr std::string_view expected =
      "flat-top:WIDTHxHEIGHT, disc:DIAMETER, ring:OUTERxINNER, line:LENGTHxWIDTH or gaussian:DIAMETER, such as "
      "flat-top:300x200um or disc:0.2mm@1,0mm";
  const auto colon = text.find(':');
  const auto shape = find_value<BeamShape>(text.substr(0, colon));
  if (colon == std::string::npos || !shape) reject(option, expected, text);
  const auto at = text.find('@', colon);
  const auto size = std::string_view(text).substr(colon + 1, at == std::string::npos ? at : at - colon - 1);
  const bool is_round = *shape == BeamShape::disc || *shape == BeamShape::gaussian;
  if (size.empty() || is_round == (size.find('x') != std::string_view::npos)) reject(option, expected, text);
  BeamTarget target{.shape = *shape};
  const auto sides = window_size(option, size, text);
  target.width_m = sides[0];
  target.height_m = sides[1];
  if (*shape == BeamShape::ring && sides[1] >= sides[0]) reject(option, "an outer diameter above the inner", text);
  if (at == std::string::npos) return {target, text};
  const auto place = parse_place(option, std::string_view(text).substr(at + 1), text);
  target.x_m = place[0];
  target.y_m = place[1];
  return {target, text};
}

}  // namespace holotone::cli
