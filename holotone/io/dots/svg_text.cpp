#include <algorithm>
#include <cmath>
#include <holotone/io/dots/svg_text_detail.hpp>
#include <holotone/io/text_reader_detail.hpp>
#include <numbers>

namespace holotone::io {
namespace {

struct Unit {
  std::string_view name;
  double metres;
};
constexpr Unit units[] = {{"mm", 1e-3},       {"cm", 1e-2},   {"in", 0.0254}, {"pt", 0.0254 / 72},
                          {"pc", 0.0254 / 6}, {"q", 0.25e-3}, {"Q", 0.25e-3}};

std::optional<Affine> parse_one(std::string_view name, const std::array<double, 6>& v, std::size_t count) {
  const double angle = v[0] * std::numbers::pi / 180;
  if (name == "matrix" && count == 6) return Affine{v[0], v[1], v[2], v[3], v[4], v[5]};
  if (name == "translate" && (count == 1 || count == 2)) return Affine{1, 0, 0, 1, v[0], v[1]};
  if (name == "scale" && (count == 1 || count == 2)) return Affine{v[0], 0, 0, count == 1 ? v[0] : v[1], 0, 0};
  if (name == "rotate" && (count == 1 || count == 3)) {
    const Affine turn{std::cos(angle), std::sin(angle), -std::sin(angle), std::cos(angle), 0, 0};
    return Affine{1, 0, 0, 1, v[1], v[2]} * turn * Affine{1, 0, 0, 1, -v[1], -v[2]};
  }
  if (name == "skewX" && count == 1) return Affine{1, 0, std::tan(angle), 1, 0, 0};
  if (name == "skewY" && count == 1) return Affine{1, std::tan(angle), 0, 1, 0, 0};
  return std::nullopt;
}

/// 0, 1/2 or 1 by "Min", "Mid" or "Max" in an alignment such as "xMidYMax"; negative for another word.
double parse_alignment(std::string_view word) {
  return word == "Min" ? 0 : word == "Mid" ? 0.5 : word == "Max" ? 1 : -1;
}

}  // namespace

bool is_svg_name_end(char c) { return is_blank(c) || c == '=' || c == '/' || c == '>'; }

bool take_attribute(std::string_view& rest, std::string_view& name, std::string_view& value) {
  while (!rest.empty() && (is_blank(rest.front()) || rest.front() == '/')) rest.remove_prefix(1);
  std::size_t end = 0;
  while (end < rest.size() && !is_svg_name_end(rest[end])) ++end;
  name = rest.substr(0, end);
  rest.remove_prefix(end);
  while (!rest.empty() && is_blank(rest.front())) rest.remove_prefix(1);
  if (name.empty() || rest.empty() || rest.front() != '=') return false;
  rest.remove_prefix(1);
  while (!rest.empty() && is_blank(rest.front())) rest.remove_prefix(1);
  if (rest.empty() || (rest.front() != '"' && rest.front() != '\'')) return false;
  const auto stop = rest.find(rest.front(), 1);
  if (stop == std::string_view::npos) return false;
  value = rest.substr(1, stop - 1);
  rest.remove_prefix(stop + 1);
  return true;
}

std::optional<std::string_view> find_attribute(const SvgTag& tag, std::string_view name) {
  std::string_view rest = tag.attributes;
  std::string_view key;
  std::string_view value;
  while (take_attribute(rest, key, value)) {
    if (key == name) return value;
  }
  return std::nullopt;
}

bool take_svg_number(std::string_view& text, double& value) {
  text = trim(text);
  std::size_t end = 0;
  while (end < text.size()) {
    const char c = text[end];
    const bool exponent = (c == 'e' || c == 'E') && end + 1 < text.size() &&
                          (std::string_view("+-0123456789").find(text[end + 1]) != std::string_view::npos);
    const bool sign = (c == '+' || c == '-') && (end == 0 || text[end - 1] == 'e' || text[end - 1] == 'E');
    if (!(c >= '0' && c <= '9') && c != '.' && !sign && !exponent) break;
    ++end;
  }
  if (!parse_number(text.substr(0, end), value)) return false;
  text.remove_prefix(end);
  return true;
}

double metres_of_svg_unit(std::string_view name) {
  const auto* const known = std::ranges::find(units, name, &Unit::name);
  return known == std::end(units) ? 0 : known->metres;
}

Affine parse_svg_transforms(std::string_view text, std::string_view& expected) {
  Affine result;
  std::string_view rest = trim(text);
  while (!rest.empty()) {
    const auto open = rest.find('(');
    const auto close = rest.find(')');
    expected = "transforms such as translate(1,2)";
    if (open == std::string_view::npos || close == std::string_view::npos || close < open) return {};
    std::string numbers(rest.substr(open + 1, close - open - 1));
    std::replace(numbers.begin(), numbers.end(), ',', ' ');
    std::array<double, 6> v{};
    std::size_t count = 0;
    std::string_view left = trim(std::string_view(numbers));
    expected = "transforms of at most six finite numbers";
    for (; !left.empty(); ++count, left = trim(left)) {
      if (count == v.size() || !take_svg_number(left, v[count]) || !std::isfinite(v[count])) return {};
    }
    expected = "matrix, translate, scale, rotate, skewX or skewY with their numbers";
    const auto one = parse_one(trim(rest.substr(0, open)), v, count);
    if (!one) return {};
    result = result * *one;
    rest = rest.substr(close + 1);
    while (!rest.empty() && (is_blank(rest.front()) || rest.front() == ',')) rest.remove_prefix(1);
  }
  expected = {};
  return result;
}

std::optional<std::array<double, 4>> parse_view_box(std::string_view text) {
  std::string numbers(text);
  std::replace(numbers.begin(), numbers.end(), ',', ' ');
  std::string_view rest = numbers;
  std::array<double, 4> box{};
  for (double& value : box) {
    if (!take_svg_number(rest, value) || !(std::abs(value) <= 1e9)) return std::nullopt;
  }
  return box;
}

Affine fit_view_box(const std::array<double, 4>& box, double width, double height, std::string_view aspect,
                    std::string_view& expected) {
  std::string_view rest = aspect;
  auto alignment = take_word(rest);
  if (alignment == "defer") alignment = take_word(rest);
  const auto how = take_word(rest);
  if (alignment.empty()) alignment = "xMidYMid";
  double across = width / box[2];
  double down = height / box[3];
  if (alignment == "none") {
    return {across, 0, 0, down, -across * box[0], -down * box[1]};
  }
  const bool whole = alignment.size() == 8 && alignment[0] == 'x' && alignment[4] == 'Y';
  const double x = whole ? parse_alignment(alignment.substr(1, 3)) : -1;
  const double y = whole ? parse_alignment(alignment.substr(5, 3)) : -1;
  if (x < 0 || y < 0 || !(how.empty() || how == "meet" || how == "slice")) {
    expected = "preserveAspectRatio as none, or as xMidYMid and meet or slice";
    return {};
  }
  across = down = how == "slice" ? std::max(across, down) : std::min(across, down);
  return {across,
          0,
          0,
          down,
          x * (width - across * box[2]) - across * box[0],
          y * (height - down * box[3]) - down * box[1]};
}

}  // namespace holotone::io
