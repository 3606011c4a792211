// Source: SVG 2, section 13; CSS Color 4, sections 4 to 7.
#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <holotone/io/dots/svg_paint_detail.hpp>
#include <holotone/io/text_reader_detail.hpp>
#include <optional>

namespace holotone::io {
namespace {

/// Red, green, blue and opacity, from 0 to 1.
using Colour = std::array<double, 4>;

std::string lower_case(std::string_view text) {
  std::string lower(trim(text));
  std::ranges::transform(lower, lower.begin(),
                         [](char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); });
  return lower;
}

std::optional<Colour> parse_hex(std::string_view digits) {
  const std::size_t width = digits.size() > 4 ? 2 : 1;
  if (digits.size() % width != 0 || digits.size() / width < 3 || digits.size() / width > 4) return std::nullopt;
  Colour colour{0, 0, 0, 1};
  for (std::size_t i = 0; i < digits.size(); ++i) {
    const auto digit = std::string_view("0123456789abcdef").find(digits[i]);
    if (digit == std::string_view::npos) return std::nullopt;
    double& channel = colour[i / width];
    channel = (i % width == 0 ? 0 : 16 * channel) + static_cast<double>(digit);
  }
  const double largest = width == 2 ? 255 : 15;
  for (std::size_t i = 0; i < digits.size() / width; ++i) colour[i] /= largest;
  return colour;
}

/// CSS Color 4, 7.1: hue in degrees.
Colour colour_of_hue(double hue, double saturation, double light, double opacity) {
  const double spread = saturation * std::min(light, 1 - light);
  const auto channel = [&](double n) {
    const double k = std::fmod(std::fmod(n + hue / 30, 12) + 12, 12);
    return light - spread * std::max(-1.0, std::min({k - 3, 9 - k, 1.0}));
  };
  return {channel(0), channel(8), channel(4), opacity};
}

/// "rgb(255, 50%, 0)", "rgb(0 0 0 / 50%)", "hsl(120, 50%, 30%)" with the hue in degrees.
std::optional<Colour> parse_function(std::string_view text) {
  const auto open = text.find('(');
  if (open == std::string_view::npos || !text.ends_with(')')) return std::nullopt;
  const auto name = text.substr(0, open);
  std::string inside(text.substr(open + 1, text.size() - open - 2));
  std::ranges::replace(inside, ',', ' ');
  std::ranges::replace(inside, '/', ' ');
  std::array<double, 4> numbers{0, 0, 0, 1};
  std::array<bool, 4> shares{};
  std::size_t count = 0;
  for (std::string_view rest = trim(std::string_view(inside)); !rest.empty(); rest = trim(rest), ++count) {
    if (count == numbers.size() || !take_svg_number(rest, numbers[count])) return std::nullopt;
    shares[count] = rest.starts_with('%');
    if (shares[count]) numbers[count] /= 100;
    if (!rest.empty() && !is_blank(rest.front())) rest.remove_prefix(std::min(rest.find(' '), rest.size()));
  }
  if (count < 3) return std::nullopt;
  if (name == "hsl" || name == "hsla") {
    if (!shares[1] || !shares[2]) return std::nullopt;
    return colour_of_hue(numbers[0], std::clamp(numbers[1], 0.0, 1.0), std::clamp(numbers[2], 0.0, 1.0), numbers[3]);
  }
  if (name != "rgb" && name != "rgba") return std::nullopt;
  Colour colour{0, 0, 0, numbers[3]};
  for (std::size_t i = 0; i < 3; ++i) colour[i] = std::clamp(shares[i] ? numbers[i] : numbers[i] / 255, 0.0, 1.0);
  return colour;
}

/// None for names other than white, black and transparent, and for what is no plain colour.
std::optional<Colour> parse_colour(std::string_view text) {
  const std::string lower = lower_case(text);
  if (lower.starts_with('#')) return parse_hex(std::string_view(lower).substr(1));
  if (lower == "white") return Colour{1, 1, 1, 1};
  if (lower == "black") return Colour{0, 0, 0, 1};
  if (lower == "transparent") return Colour{0, 0, 0, 0};
  return parse_function(lower);
}

double alpha_of(std::string_view paint) {
  const auto colour = parse_colour(paint);
  return lower_case(paint) == "none" ? 0 : colour ? std::clamp((*colour)[3], 0.0, 1.0) : 1;
}

bool same_colour(std::string_view a, std::string_view b) {
  const auto first = parse_colour(a);
  const auto second = parse_colour(b);
  if (!first || !second) return lower_case(a) == lower_case(b);
  return std::equal(first->begin(), first->begin() + 3, second->begin(),
                    [](double x, double y) { return std::abs(x - y) < 1e-3; });
}

/// "0.5" or "50%"; 1 for what is no number.
double parse_opacity(std::string_view text) {
  double value = 1;
  if (!take_svg_number(text, value) || !std::isfinite(value)) return 1;
  return std::clamp(trim(text).starts_with('%') ? value / 100 : value, 0.0, 1.0);
}

std::string_view resolved(std::string_view paint, std::string_view color) {
  return lower_case(paint) == "currentcolor" ? color : paint;
}

}  // namespace

std::optional<double> opacity_of_colour(std::string_view text) {
  if (const auto colour = parse_colour(text)) return std::clamp((*colour)[3], 0.0, 1.0);
  const bool is_name = std::ranges::all_of(text, [](unsigned char c) { return std::isalpha(c) != 0; });
  return is_name && !text.empty() ? std::optional(1.0) : std::nullopt;
}

void SvgPaint::apply(const SvgStyle& style) {
  const auto take = [&](SvgProperty property, std::string_view initial, std::string_view& target) {
    if (!is_inherited(style[property])) target = style[property] == "initial" ? initial : style[property];
  };
  const auto take_share = [&](SvgProperty property, double& target) {
    if (!is_inherited(style[property])) target = parse_opacity(style[property]);
  };
  take(SvgProperty::fill, "black", fill);
  take(SvgProperty::stroke, "none", stroke);
  take(SvgProperty::stroke_width, "1", stroke_width);
  if (lower_case(style[SvgProperty::color]) != "currentcolor") take(SvgProperty::color, "black", color);
  take_share(SvgProperty::fill_opacity, fill_opacity);
  take_share(SvgProperty::stroke_opacity, stroke_opacity);
  if (!is_inherited(style[SvgProperty::opacity])) opacity *= parse_opacity(style[SvgProperty::opacity]);
  scales_stroke = style[SvgProperty::vector_effect] != "non-scaling-stroke";
}

std::string_view SvgPaint::fill_colour() const { return resolved(fill, color); }

bool SvgPaint::is_filled() const { return opacity * fill_opacity * alpha_of(fill_colour()) > 0; }

bool SvgPaint::is_stroked() const { return opacity * stroke_opacity * alpha_of(resolved(stroke, color)) > 0; }

SvgLook look_of(const SvgPaint& paint, bool has_width, std::string_view page_colour) {
  const auto line = resolved(paint.stroke, paint.color);
  const bool filled = paint.is_filled();
  const bool stroked = has_width && paint.is_stroked();
  if (!filled && !stroked) return {SvgMark::nothing};
  const bool inside = filled && !same_colour(paint.fill_colour(), page_colour);
  const bool rim = stroked && !same_colour(line, page_colour);
  const bool clear_inside = inside && paint.opacity * paint.fill_opacity * alpha_of(paint.fill_colour()) < 1;
  const bool clear_rim = rim && paint.opacity * paint.stroke_opacity * alpha_of(line) < 1;
  if (!inside && !rim) return {SvgMark::page};
  if (rim) return {inside ? SvgMark::disc : SvgMark::ring, 0.5, clear_inside || clear_rim};
  return {SvgMark::disc, stroked ? -0.5 : 0, clear_inside};
}

}  // namespace holotone::io
