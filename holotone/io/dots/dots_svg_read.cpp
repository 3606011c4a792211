// Reads circles from SVG: elements, groups and their transforms, the page. Without an XML library: everything but
// circles is skipped.
#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/io/dots/dots_formats_detail.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/metadata_text_detail.hpp>
#include <holotone/io/text_reader_detail.hpp>
#include <numbers>
#include <optional>

namespace holotone::io {
namespace {

constexpr std::size_t deepest = 256;

/// x' = a x + c y + e, y' = b x + d y + f
struct Affine {
  double a = 1, b = 0, c = 0, d = 1, e = 0, f = 0;
  [[nodiscard]] Affine operator*(const Affine& right) const {
    return {a * right.a + c * right.b, b * right.a + d * right.b,     a * right.c + c * right.d,
            b * right.c + d * right.d, a * right.e + c * right.f + e, b * right.e + d * right.f + f};
  }
};

/// One tag: name, unparsed attributes, kind of end.
struct Tag {
  std::string_view name;
  std::string_view attributes;
  bool closing = false;  ///< </name>
  bool empty = false;    ///< <name/>
  std::size_t position = 0;
};

bool is_name_end(char c) { return is_blank(c) || c == '=' || c == '/' || c == '>'; }

/// Value of an attribute, quoted by ' or ".
std::optional<std::string_view> attribute(const Tag& tag, std::string_view name) {
  std::string_view rest = tag.attributes;
  for (;;) {
    while (!rest.empty() && (is_blank(rest.front()) || rest.front() == '/')) rest.remove_prefix(1);
    std::size_t end = 0;
    while (end < rest.size() && !is_name_end(rest[end])) ++end;
    const auto key = rest.substr(0, end);
    rest.remove_prefix(end);
    while (!rest.empty() && is_blank(rest.front())) rest.remove_prefix(1);
    if (key.empty() || rest.empty() || rest.front() != '=') return std::nullopt;
    rest.remove_prefix(1);
    while (!rest.empty() && is_blank(rest.front())) rest.remove_prefix(1);
    if (rest.empty() || (rest.front() != '"' && rest.front() != '\'')) return std::nullopt;
    const auto stop = rest.find(rest.front(), 1);
    if (stop == std::string_view::npos) return std::nullopt;
    const auto value = rest.substr(1, stop - 1);
    if (key == name) return value;
    rest.remove_prefix(stop + 1);
  }
}

/// Removes a number from the front of `text`; the rest, such as a unit, stays. False if there is no number.
bool take_number(std::string_view& text, double& value) {
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

struct Unit {
  std::string_view name;
  double metres;
};
constexpr Unit units[] = {{"mm", 1e-3},       {"cm", 1e-2},   {"in", 0.0254}, {"pt", 0.0254 / 72},
                          {"pc", 0.0254 / 6}, {"q", 0.25e-3}, {"Q", 0.25e-3}};

class SvgReader {
 public:
  SvgReader(std::string_view text, std::string_view path) : text_(text), path_(path), builder_(path) {}

  DotsFile read() {
    Tag tag;
    while (next_tag(tag)) take(tag);
    if (!root_) throw_io(path_, "an <svg> element", "none");
    if (!stack_.empty()) {
      throw_io(path_, fmt::format("</{}> before the file's end", stack_.back().name), "none");
    }
    auto& classes = builder_.dots().colour_class;
    if (std::all_of(classes.begin(), classes.end(), [](auto c) { return c == 0; })) classes.clear();
    if (uses_ > 0) {
      const std::string used = fmt::format("{} <use> element{}", uses_, uses_ == 1 ? "" : "s");
      if (builder_.dots().position.empty()) throw_io(path_, "circles that stand for themselves", used);
      builder_.file().notes.push_back(
          fmt::format("{}: {} passed over: copies of circles would not be dots", path_, used));
    }
    return builder_.take();
  }

 private:
  struct Open {
    std::string_view name;
    Affine transform;
    bool hidden = false;
    int layer = -1;  ///< index in the order of layers, -1 outside
  };

  [[nodiscard]] std::string at_line(std::size_t position) {
    // Tags are in order: continues the count of the last call.
    line_ += std::count(text_.begin() + static_cast<std::ptrdiff_t>(counted_to_),
                        text_.begin() + static_cast<std::ptrdiff_t>(std::max(position, counted_to_)), '\n');
    counted_to_ = std::max(position, counted_to_);
    return fmt::format("line {}", line_);
  }
  [[noreturn]] void fail(const Tag& tag, std::string_view expected, std::string_view got) {
    throw_io(path_, fmt::format("{} ({})", expected, at_line(tag.position)), in_quotes(got));
  }

  /// Skips text, comments, declarations and CDATA.
  bool next_tag(Tag& tag) {
    for (;;) {
      const auto begin = text_.find('<', position_);
      if (begin == std::string_view::npos) return false;
      tag = {};
      tag.position = begin;
      if (circles_in_entities_) refuse_entity(tag, text_.substr(position_, begin - position_));
      const auto rest = text_.substr(begin);
      const auto skip_to = [&](std::string_view end) {
        const auto stop = text_.find(end, begin);
        if (stop == std::string_view::npos) fail(tag, fmt::format("'{}'", end), rest.substr(0, 20));
        position_ = stop + end.size();
      };
      if (rest.starts_with("<!--")) {
        skip_to("-->");
      } else if (rest.starts_with("<![CDATA[")) {
        skip_to("]]>");
      } else if (rest.starts_with("<?")) {
        skip_to("?>");
      } else if (rest.starts_with("<!")) {
        skip_declaration(tag);
      } else {
        read_tag(tag);
        return true;
      }
    }
  }

  /// Skips <!DOCTYPE ...[ ... ]>. Entities are not expanded, so none may be used if some contain circles.
  void skip_declaration(const Tag& tag) {
    int brackets = 0;
    for (std::size_t i = tag.position; i < text_.size(); ++i) {
      if (text_[i] == '[') ++brackets;
      if (text_[i] == ']') --brackets;
      if (text_[i] == '>' && brackets <= 0) {
        position_ = i + 1;
        const auto inside = text_.substr(tag.position, position_ - tag.position);
        for (const std::string_view element : {"<circle", "<ellipse", "<use"}) {
          circles_in_entities_ = circles_in_entities_ || inside.find(element) != std::string_view::npos;
        }
        return;
      }
    }
    fail(tag, "'>'", text_.substr(tag.position, 20));
  }

  /// Refuses text between tags that uses an entity, if some entities contain circles.
  void refuse_entity(const Tag& tag, std::string_view between) {
    constexpr std::string_view characters[] = {"&lt;", "&gt;", "&amp;", "&quot;", "&apos;", "&#"};
    for (auto at = between.find('&'); at != std::string_view::npos; at = between.find('&', at + 1)) {
      constexpr std::size_t longest_name = 64;
      auto name = between.substr(at, longest_name);
      name = name.substr(0, name.find(';') + 1);
      const bool plain = std::any_of(std::begin(characters), std::end(characters),
                                     [&](auto character) { return name.starts_with(character); });
      if (!plain && !name.empty()) fail(tag, "circles that stand for themselves", name);
    }
  }

  void read_tag(Tag& tag) {
    char quote = 0;
    std::size_t end = tag.position + 1;
    for (; end < text_.size() && (quote != 0 || text_[end] != '>'); ++end) {
      const char c = text_[end];
      if (quote != 0) {
        if (c == quote) quote = 0;
      } else if (c == '"' || c == '\'') {
        quote = c;
      } else if (c == '<') {
        break;
      }
    }
    if (end >= text_.size() || text_[end] != '>') fail(tag, "a tag's '>'", text_.substr(tag.position, 20));
    std::string_view inside = text_.substr(tag.position + 1, end - tag.position - 1);
    position_ = end + 1;
    tag.closing = inside.starts_with('/');
    if (tag.closing) inside.remove_prefix(1);
    tag.empty = inside.ends_with('/');
    std::size_t name_end = 0;
    while (name_end < inside.size() && !is_name_end(inside[name_end])) ++name_end;
    tag.name = inside.substr(0, name_end);
    if (const auto colon = tag.name.rfind(':'); colon != std::string_view::npos) tag.name.remove_prefix(colon + 1);
    tag.attributes = inside.substr(name_end);
    if (tag.name.empty()) fail(tag, "an element's name", text_.substr(tag.position, 20));
  }

  void take(const Tag& tag) {
    if (tag.closing) {
      if (stack_.empty() || stack_.back().name != tag.name) {
        fail(tag, stack_.empty() ? "no closing tag" : fmt::format("</{}>", stack_.back().name), tag.name);
      }
      stack_.pop_back();
      return;
    }
    if (!root_) {
      if (tag.name != "svg") fail(tag, "an <svg> element", tag.name);
      root_ = true;
      read_page(tag);
    }
    Open open = stack_.empty() ? Open{} : stack_.back();
    open.name = tag.name;
    if (const auto text = attribute(tag, "transform")) open.transform = open.transform * transform_of(tag, *text);
    if (tag.name == "circle" || tag.name == "ellipse") take_circle(tag, open);
    if (tag.name == "use" && !open.hidden) ++uses_;
    if (tag.empty) return;
    if (tag.name == "desc" && stack_.size() == 1) read_metadata();
    if (stack_.size() >= deepest) fail(tag, fmt::format("elements at most {} deep", deepest), tag.name);
    constexpr std::string_view unseen[] = {"defs", "symbol", "clipPath", "mask", "pattern", "marker"};
    open.hidden = open.hidden || std::find(std::begin(unseen), std::end(unseen), tag.name) != std::end(unseen);
    if (tag.name == "g" && attribute(tag, "inkscape:groupmode") == std::string_view("layer")) {
      layer_class_.push_back(stated_class(tag));
      open.layer = static_cast<int>(layer_class_.size()) - 1;
    }
    stack_.push_back(open);
  }

  void read_page(const Tag& tag) {
    Dots& dots = builder_.dots();
    std::array<double, 4> box{};
    const auto view = attribute(tag, "viewBox");
    if (view) {
      std::string text(*view);
      std::replace(text.begin(), text.end(), ',', ' ');
      std::string_view rest = text;
      for (double& value : box) {
        if (!take_number(rest, value) || std::abs(value) > 1e9) fail(tag, "viewBox of four numbers", *view);
      }
      if (!(box[2] > 0 && box[3] > 0)) fail(tag, "a viewBox of positive size", *view);
      to_page_ = {1, 0, 0, 1, -box[0], -box[1]};
      dots.width = box[2];
      dots.height = box[3];
    }
    const auto width = page_side(tag, "width");
    const auto height = page_side(tag, "height");
    if (!view && width && height) {
      dots.width = width->pixels;
      dots.height = height->pixels;
    }
    if (width && width->metres > 0 && dots.width > 0) dots.pixel_m = width->metres / dots.width;
  }

  /// Reads Holotone's own description of the whole picture, in which & < > " are entities.
  void read_metadata() {
    std::string text(text_.substr(position_, text_.find('<', position_) - position_));
    if (!text.starts_with(metadata_first_line)) return;
    constexpr std::pair<std::string_view, char> entities[] = {
        {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&amp;", '&'}};
    std::string plain;
    for (std::size_t i = 0; i < text.size();) {
      const auto rest = std::string_view(text).substr(i);
      const auto known = std::find_if(std::begin(entities), std::end(entities),
                                      [&](const auto& entity) { return rest.starts_with(entity.first); });
      const bool found = known != std::end(entities);
      plain += found ? known->second : rest.front();
      i += found ? known->first.size() : 1;
    }
    builder_.file().metadata = parse_metadata_lines(plain, "desc");
  }

  struct Side {
    double pixels;  ///< of CSS
    double metres;  ///< 0: without a physical unit
  };
  std::optional<Side> page_side(const Tag& tag, std::string_view name) {
    const auto value = attribute(tag, name);
    if (!value) return std::nullopt;
    std::string_view rest = *value;
    double number = 0;
    if (!take_number(rest, number) || !(number > 0 && number <= 1e9))
      fail(tag, fmt::format("a positive {}", name), *value);
    const auto unit = trim(rest);
    if (unit.empty() || unit == "px") return Side{number, 0};
    for (const auto& known : units) {
      if (unit == known.name) return Side{number * known.metres / default_pixel_m, number * known.metres};
    }
    if (unit == "%") return std::nullopt;
    fail(tag, fmt::format("a {} in mm, cm, in, pt, pc or px", name), *value);
  }

  /// A length inside the picture, in user units.
  double length(const Tag& tag, std::string_view name, double otherwise) {
    const auto value = attribute(tag, name);
    if (!value) return otherwise;
    std::string_view rest = *value;
    double number = 0;
    if (take_number(rest, number) && std::isfinite(number)) {
      const auto unit = trim(rest);
      if (unit.empty() || unit == "px") return number;
      for (const auto& known : units) {
        if (unit == known.name) return number * known.metres / default_pixel_m;
      }
    }
    fail(tag, fmt::format("a finite length {}", name), *value);
  }

  void take_circle(const Tag& tag, const Open& open) {
    if (open.hidden || attribute(tag, "display") == std::string_view("none")) return;
    const double cx = length(tag, "cx", 0);
    const double cy = length(tag, "cy", 0);
    const bool circle = tag.name == "circle";
    const double rx = length(tag, circle ? "r" : "rx", 0);
    const double ry = circle ? rx : length(tag, "ry", 0);
    if (rx < 0 || ry < 0) {
      const std::string_view name = circle ? "r" : rx < 0 ? "rx" : "ry";
      fail(tag, fmt::format("{} >= 0", name), *attribute(tag, name));
    }
    const Affine t = to_page_ * open.transform;
    const std::string where = at_line(tag.position);
    builder_.add(t.a * cx + t.c * cy + t.e, t.b * cx + t.d * cy + t.f, where);
    builder_.add_radius(std::sqrt(rx * ry * std::abs(t.a * t.d - t.b * t.c)), where);
    builder_.add_class(find_class(tag, open.layer), where);
  }

  int find_class(const Tag& tag, int layer) {
    int& known = layer < 0 ? outside_class_ : layer_class_[static_cast<std::size_t>(layer)];
    if (known < 0) known = next_class_;
    if (known > 255) fail(tag, "at most 256 layers with circles", "one more");
    next_class_ = std::max(next_class_, known + 1);
    return known;
  }

  /// Class stated by a layer of Holotone. -1 for other layers, which get a class with their first circle.
  int stated_class(const Tag& tag) {
    const auto text = attribute(tag, "data-class");
    if (!text) return -1;
    double value = 0;
    if (!parse_number(*text, value) || !(value >= 0 && value <= 255) || value != std::floor(value)) {
      fail(tag, "a data-class from 0 to 255", *text);
    }
    return static_cast<int>(value);
  }

  /// Parses a sequence of matrix, translate, scale, rotate, skewX, skewY.
  Affine transform_of(const Tag& tag, std::string_view text) {
    Affine result;
    std::string_view rest = trim(text);
    while (!rest.empty()) {
      const auto open = rest.find('(');
      const auto close = rest.find(')');
      if (open == std::string_view::npos || close == std::string_view::npos || close < open) {
        fail(tag, "transforms such as translate(1,2)", text);
      }
      const auto name = trim(rest.substr(0, open));
      std::string numbers(rest.substr(open + 1, close - open - 1));
      std::replace(numbers.begin(), numbers.end(), ',', ' ');
      std::array<double, 6> v{};
      std::size_t count = 0;
      std::string_view left = trim(std::string_view(numbers));
      while (!left.empty()) {
        if (count == v.size() || !take_number(left, v[count]) || !std::isfinite(v[count])) {
          fail(tag, "transforms of at most six finite numbers", text);
        }
        ++count;
        left = trim(left);
      }
      result = result * single_transform(tag, name, v, count, text);
      rest = rest.substr(close + 1);
      while (!rest.empty() && (is_blank(rest.front()) || rest.front() == ',')) rest.remove_prefix(1);
    }
    return result;
  }

  Affine single_transform(const Tag& tag, std::string_view name, const std::array<double, 6>& v, std::size_t count,
                          std::string_view text) {
    const double angle = v[0] * std::numbers::pi / 180;
    if (name == "matrix" && count == 6) return {v[0], v[1], v[2], v[3], v[4], v[5]};
    if (name == "translate" && (count == 1 || count == 2)) return {1, 0, 0, 1, v[0], v[1]};
    if (name == "scale" && (count == 1 || count == 2)) return {v[0], 0, 0, count == 1 ? v[0] : v[1], 0, 0};
    if (name == "rotate" && (count == 1 || count == 3)) {
      const Affine turn{std::cos(angle), std::sin(angle), -std::sin(angle), std::cos(angle), 0, 0};
      return Affine{1, 0, 0, 1, v[1], v[2]} * turn * Affine{1, 0, 0, 1, -v[1], -v[2]};
    }
    if (name == "skewX" && count == 1) return {1, 0, std::tan(angle), 1, 0, 0};
    if (name == "skewY" && count == 1) return {1, std::tan(angle), 0, 1, 0, 0};
    fail(tag, "matrix, translate, scale, rotate, skewX or skewY with their numbers", text);
  }

  std::string_view text_;
  std::string_view path_;
  DotsBuilder builder_;
  std::vector<Open> stack_;
  Affine to_page_;
  std::size_t position_ = 0;
  std::size_t counted_to_ = 0;
  std::ptrdiff_t line_ = 1;
  bool root_ = false;
  std::int64_t uses_ = 0;
  bool circles_in_entities_ = false;
  std::vector<int> layer_class_;  // class of each layer in the file's order, -1: none yet
  int outside_class_ = -1;
  int next_class_ = 0;
};

}  // namespace

DotsFile read_dots_svg(std::string_view bytes, std::string_view path) { return SvgReader(bytes, path).read(); }

}  // namespace holotone::io
