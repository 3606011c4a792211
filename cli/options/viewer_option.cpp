#include <array>
#include <cli/options/values.hpp>
#include <cli/options/viewer_option.hpp>
#include <cmath>

namespace holotone::cli {
namespace {

constexpr std::string_view expected = "DISTANCE:SIZE[@X,Y] such as 36mm:9.2mm, 36mm:9.2x6mm or 36mm:9.2mm@2,0mm";

bool is_plain_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("+-.0123456789eE") == std::string_view::npos;
}

/// The unit that a length ends with.
std::string_view unit_of(std::string_view text) {
  const auto last = text.find_last_of("0123456789.");
  return last == std::string_view::npos ? text : text.substr(last + 1);
}

/// Two lengths of "a,b" or "axb"; the first may omit its unit.
std::array<double, 2> pair_of(std::string_view option, std::string_view first, std::string_view second) {
  std::string completed(first);
  if (is_plain_number(first)) completed += unit_of(second);
  return {parse_length(option, completed), parse_length(option, second)};
}

}  // namespace

std::array<double, 2> window_size(std::string_view option, std::string_view size, std::string_view text) {
  const auto cross = size.find('x');
  std::array<double, 2> sides{};
  if (cross == std::string_view::npos) {
    sides.fill(parse_length(option, size));
  } else {
    sides = pair_of(option, size.substr(0, cross), size.substr(cross + 1));
  }
  for (const double side : sides) {
    if (side >= min_length_m && side <= max_distance_m) continue;
    reject(option,
           fmt::format("a window from {} to {} a side", format_length(min_length_m), format_length(max_distance_m)),
           text);
  }
  return sides;
}

std::array<double, 2> parse_place(std::string_view option, std::string_view place, std::string_view text) {
  const auto comma = place.find(',');
  if (comma == std::string_view::npos) reject(option, "a place X,Y such as 2,0mm", text);
  const auto [x, y] = pair_of(option, place.substr(0, comma), place.substr(comma + 1));
  if (std::abs(x) > max_distance_m || std::abs(y) > max_distance_m) {
    reject(option, fmt::format("a place at most {} from the axis", format_length(max_distance_m)), text);
  }
  return {x, y};
}

Viewer viewer_of(std::string_view option, std::string_view text) {
  const auto colon = text.find(':');
  if (colon == std::string_view::npos) reject(option, expected, text);
  const auto at = text.find('@', colon);
  const bool placed = at != std::string_view::npos;
  const auto distance = text.substr(0, colon);
  const auto size = text.substr(colon + 1, placed ? at - colon - 1 : at);
  const auto place = placed ? text.substr(at + 1) : std::string_view();
  const auto comma = place.find(',');
  if (distance.empty() || size.empty() || (placed && comma == std::string_view::npos)) reject(option, expected, text);
  Viewer viewer;
  viewer.distance_m = length_between(option, distance, min_length_m, max_distance_m);
  const auto sides = window_size(option, size, text);
  viewer.width_m = sides[0];
  viewer.height_m = sides[1];
  if (!placed) return viewer;
  const auto [x, y] = parse_place(option, place, text);
  viewer.x_m = x;
  viewer.y_m = y;
  return viewer;
}

std::string to_text(const Viewer& viewer) {
  std::string text = fmt::format("{}:{}", length_text(viewer.distance_m), length_text(viewer.width_m));
  if (viewer.height_m != viewer.width_m) text += fmt::format("x{}", length_text(viewer.height_m));
  if (viewer.x_m != 0 || viewer.y_m != 0) {
    text += fmt::format("@{},{}", length_text(viewer.x_m), length_text(viewer.y_m));
  }
  return text;
}

Aperture aperture_of(std::string_view option, const std::string& text) {
  constexpr std::string_view expected = "X,Y:DIAMETER such as 5mm,0mm:3mm, or DIAMETER";
  Aperture aperture;
  const auto colon = text.find(':');
  if (colon == std::string::npos) {
    if (text.find(',') != std::string::npos) reject(option, expected, text);
    aperture.diameter_m = length_between(option, text, min_length_m, max_distance_m);
    return aperture;
  }
  const auto centre = list(option, text.substr(0, colon), expected);
  if (centre.size() != 2) reject(option, expected, text);
  aperture.x_m = distance_of(option, centre[0]);
  aperture.y_m = distance_of(option, centre[1]);
  aperture.diameter_m = length_between(option, text.substr(colon + 1), min_length_m, max_distance_m);
  return aperture;
}

}  // namespace holotone::cli
