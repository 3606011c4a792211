// Reads circles from SVG: elements, groups and their transforms, styles that hide, the page. Without an XML library.
#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/io/dots/dots_formats_detail.hpp>
#include <holotone/io/dots/svg_style_detail.hpp>
#include <holotone/io/dots/svg_text_detail.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/metadata_text_detail.hpp>
#include <holotone/io/text_reader_detail.hpp>
#include <optional>

namespace holotone::io {
namespace {

constexpr std::size_t deepest = 256;

using Tag = SvgTag;

/// Shapes that are no dots, with the noun of their count.
constexpr std::string_view other_shapes[] = {"path", "rect", "line", "polyline", "polygon", "text", "image"};

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
    refuse_other_shapes();
    auto& classes = builder_.dots().colour_class;
    if (std::all_of(classes.begin(), classes.end(), [](auto c) { return c == 0; })) classes.clear();
    if (uses_ > 0) {
      const std::string used = fmt::format("{} <use> element{}", uses_, uses_ == 1 ? "" : "s");
      if (builder_.dots().position.empty()) throw_io(path_, "circles that stand for themselves", used);
      builder_.file().notes.push_back(
          fmt::format("{}: {} passed over: copies of circles would not be dots", path_, used));
    }
    if (empty_ > 0) {
      builder_.file().notes.push_back(
          fmt::format("{}: left out: {} circle{} of radius 0", path_, empty_, empty_ == 1 ? "" : "s"));
    }
    if (clipped_) builder_.file().notes.push_back(fmt::format("{}: ignored: clip-path, mask", path_));
    return builder_.take();
  }

 private:
  struct Open {
    std::string_view name;
    Affine transform;
    bool hidden = false;     ///< with all that it contains
    bool invisible = false;  ///< but not what it contains and says to be visible
    int layer = -1;          ///< index in the order of layers, -1 outside
    double width = 0;        ///< of the viewport, in its user units; 0: not stated
    double height = 0;
  };

  void refuse_other_shapes() const {
    std::string list;
    for (std::size_t i = 0; i < others_.size(); ++i) {
      if (others_[i] > 0) list += (list.empty() ? "" : ", ") + counted(others_[i], other_shapes[i]);
    }
    if (!list.empty()) throw_io(path_, "circles and ellipses", list + "; hide what is no dot");
  }

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
    while (name_end < inside.size() && !is_svg_name_end(inside[name_end])) ++name_end;
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
    Open open = stack_.empty() ? outermost() : stack_.back();
    open.name = tag.name;
    if (const auto text = find_attribute(tag, "transform")) {
      const auto about = find_attribute(tag, "transform-origin");
      if (about) fail(tag, "transforms about the origin", "transform-origin " + std::string(*about));
      open.transform = open.transform * transform_in(tag, *text);
    }
    if (tag.name == "svg" && !stack_.empty()) enter_viewport(tag, open);
    apply_style(tag, open);
    if (!open.hidden && !open.invisible) take_shape(tag, open);
    if (tag.empty) return;
    if (tag.name == "desc" && stack_.size() == 1) read_metadata();
    if (tag.name == "style") read_sheet(tag);
    if (stack_.size() >= deepest) fail(tag, fmt::format("elements at most {} deep", deepest), tag.name);
    constexpr std::string_view unseen[] = {"defs", "symbol", "clipPath", "mask", "pattern", "marker"};
    open.hidden = open.hidden || std::find(std::begin(unseen), std::end(unseen), tag.name) != std::end(unseen);
    if (tag.name == "g" && find_attribute(tag, "inkscape:groupmode") == std::string_view("layer")) {
      layer_class_.push_back(stated_class(tag));
      open.layer = static_cast<int>(layer_class_.size()) - 1;
    }
    stack_.push_back(open);
  }

  [[nodiscard]] Open outermost() {
    Open open;
    open.width = builder_.dots().width;
    open.height = builder_.dots().height;
    return open;
  }

  void apply_style(const Tag& tag, Open& open) {
    const SvgStyle style = styles_.find(tag);
    const bool is_dot = tag.name == "circle" || tag.name == "ellipse";
    const bool of_dots = style.geometry.size() <= 2;  // cx, cy, r, rx, ry
    if (!style.geometry.empty() && (is_dot || !of_dots)) {
      fail(tag, fmt::format("{} as an attribute", style.geometry), "a style");
    }
    open.hidden = open.hidden || style.display == "none";
    clipped_ = clipped_ || (!open.hidden && (find_attribute(tag, "clip-path").value_or("none") != "none" ||
                                             find_attribute(tag, "mask").value_or("none") != "none"));
    if (!style.visibility.empty() && style.visibility != "inherit") open.invisible = style.visibility != "visible";
  }

  void read_sheet(const Tag& tag) {
    const auto end = std::min(text_.find("</", position_), text_.size());
    const std::string selector = styles_.add_sheet(text_.substr(position_, end - position_));
    if (!selector.empty()) fail(tag, "style sheets that hide by classes alone", selector);
  }

  /// A picture inside the picture: its place, and its viewBox.
  void enter_viewport(const Tag& tag, Open& open) {
    const double x = share(tag, "x", open.width, 0);
    const double y = share(tag, "y", open.height, 0);
    const double width = share(tag, "width", open.width, open.width);
    const double height = share(tag, "height", open.height, open.height);
    open.transform = open.transform * Affine{1, 0, 0, 1, x, y};
    open.width = width;
    open.height = height;
    const auto view = find_attribute(tag, "viewBox");
    if (!view) return;
    const auto box = parse_view_box(*view);
    if (!box || !((*box)[2] > 0 && (*box)[3] > 0)) fail(tag, "a viewBox of four numbers and positive size", *view);
    if (!(width > 0 && height > 0)) fail(tag, "the width and height of an <svg> with a viewBox in another", "none");
    std::string_view expected;
    const auto aspect = find_attribute(tag, "preserveAspectRatio").value_or("");
    open.transform = open.transform * fit_view_box(*box, width, height, aspect, expected);
    if (!expected.empty()) fail(tag, expected, aspect);
    open.width = (*box)[2];
    open.height = (*box)[3];
  }

  /// A length that may be a share of a viewport's side, in per cent.
  double share(const Tag& tag, std::string_view name, double whole, double otherwise) {
    const auto value = find_attribute(tag, name);
    if (!value || value == std::string_view("auto")) return otherwise;
    std::string_view rest = *value;
    double number = 0;
    if (!take_svg_number(rest, number) || trim(rest) != "%") return length(tag, name, otherwise);
    if (!(whole > 0) || !std::isfinite(number)) fail(tag, fmt::format("a length {}", name), *value);
    return number / 100 * whole;
  }

  void read_page(const Tag& tag) {
    Dots& dots = builder_.dots();
    const auto view = find_attribute(tag, "viewBox");
    if (view) {
      const auto box = parse_view_box(*view);
      if (!box) fail(tag, "viewBox of four numbers", *view);
      if (!((*box)[2] > 0 && (*box)[3] > 0)) fail(tag, "a viewBox of positive size", *view);
      to_page_ = {1, 0, 0, 1, -(*box)[0], -(*box)[1]};
      dots.width = (*box)[2];
      dots.height = (*box)[3];
    }
    const auto width = page_side(tag, "width");
    const auto height = page_side(tag, "height");
    if (!view && width && height) {
      dots.width = width->pixels;
      dots.height = height->pixels;
    }
    if (!(width && width->metres > 0 && dots.width > 0)) return;
    dots.pixel_m = width->metres / dots.width;
    if (!(height && height->metres > 0)) return;
    const double down = height->metres / dots.height;
    if (std::abs(down - dots.pixel_m) <= 1e-3 * dots.pixel_m) return;
    const auto aspect = find_attribute(tag, "preserveAspectRatio").value_or("");
    if (trim(aspect).starts_with("none")) fail(tag, "pixels as wide as high", "preserveAspectRatio none");
    const bool slice = trim(aspect).ends_with("slice");
    dots.pixel_m = slice ? std::max(dots.pixel_m, down) : std::min(dots.pixel_m, down);
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
    const auto value = find_attribute(tag, name);
    if (!value) return std::nullopt;
    std::string_view rest = *value;
    double number = 0;
    if (!take_svg_number(rest, number) || !(number > 0 && number <= 1e9))
      fail(tag, fmt::format("a positive {}", name), *value);
    const auto unit = trim(rest);
    if (unit.empty() || unit == "px") return Side{number, 0};
    if (const double metres = metres_of_svg_unit(unit); metres > 0) {
      return Side{number * metres / default_pixel_m, number * metres};
    }
    if (unit == "%") return std::nullopt;
    fail(tag, fmt::format("a {} in mm, cm, in, pt, pc or px", name), *value);
  }

  /// A length inside the picture, in user units.
  double length(const Tag& tag, std::string_view name, double otherwise) {
    const auto value = find_attribute(tag, name);
    if (!value) return otherwise;
    std::string_view rest = *value;
    double number = 0;
    if (take_svg_number(rest, number) && std::isfinite(number)) {
      const auto unit = trim(rest);
      if (unit.empty() || unit == "px") return number;
      if (const double metres = metres_of_svg_unit(unit); metres > 0) return number * metres / default_pixel_m;
    }
    fail(tag, fmt::format("a finite length {}", name), *value);
  }

  void take_shape(const Tag& tag, const Open& open) {
    if (tag.name == "circle" || tag.name == "ellipse") return take_circle(tag, open);
    if (tag.name == "use") ++uses_;
    const auto* const other = std::ranges::find(other_shapes, tag.name);
    if (other == std::end(other_shapes)) return;
    if (tag.name == "path" && trim(find_attribute(tag, "d").value_or("")).empty()) return;
    if (tag.name == "rect" && is_background(tag, open)) return;
    ++others_[static_cast<std::size_t>(other - std::begin(other_shapes))];
  }

  /// True for a rectangle that covers the page.
  bool is_background(const Tag& tag, const Open& open) {
    const Affine t = to_page_ * open.transform;
    const double x = share(tag, "x", open.width, 0);
    const double y = share(tag, "y", open.height, 0);
    const double right = t.a * (x + share(tag, "width", open.width, 0)) + t.e;
    const double bottom = t.d * (y + share(tag, "height", open.height, 0)) + t.f;
    const Dots& page = builder_.dots();
    const double slack = 1e-6 * (page.width + page.height);
    const bool begins = t.a * x + t.e <= slack && t.d * y + t.f <= slack;
    return page.width > 0 && t.b == 0 && t.c == 0 && begins && right >= page.width - slack &&
           bottom >= page.height - slack;
  }

  void take_circle(const Tag& tag, const Open& open) {
    const double cx = length(tag, "cx", 0);
    const double cy = length(tag, "cy", 0);
    const bool circle = tag.name == "circle";
    const double rx = length(tag, circle ? "r" : "rx", 0);
    const double ry = circle ? rx : length(tag, "ry", 0);
    if (rx < 0 || ry < 0) {
      const std::string_view name = circle ? "r" : rx < 0 ? "rx" : "ry";
      fail(tag, fmt::format("{} >= 0", name), *find_attribute(tag, name));
    }
    if (rx == 0 || ry == 0) {
      ++empty_;
      return;
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
    const auto text = find_attribute(tag, "data-class");
    if (!text) return -1;
    double value = 0;
    if (!parse_number(*text, value) || !(value >= 0 && value <= 255) || value != std::floor(value)) {
      fail(tag, "a data-class from 0 to 255", *text);
    }
    return static_cast<int>(value);
  }

  Affine transform_in(const Tag& tag, std::string_view text) {
    std::string_view expected;
    const Affine transform = parse_svg_transforms(text, expected);
    if (!expected.empty()) fail(tag, expected, text);
    return transform;
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
  bool clipped_ = false;
  std::int64_t uses_ = 0;
  std::int64_t empty_ = 0;  ///< circles of radius 0, which are not drawn
  std::array<std::uint64_t, std::size(other_shapes)> others_{};
  SvgStyles styles_;
  bool circles_in_entities_ = false;
  std::vector<int> layer_class_;  // class of each layer in the file's order, -1: none yet
  int outside_class_ = -1;
  int next_class_ = 0;
};

}  // namespace

DotsFile read_dots_svg(std::string_view bytes, std::string_view path) { return SvgReader(bytes, path).read(); }

}  // namespace holotone::io
