// Reads circles from SVG: groups and their transforms, what is seen of them, the page. Without an XML library.
#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/io/dots/dots_formats_detail.hpp>
#include <holotone/io/dots/svg_conditions_detail.hpp>
#include <holotone/io/dots/svg_effects_detail.hpp>
#include <holotone/io/dots/svg_paint_detail.hpp>
#include <holotone/io/dots/svg_tags_detail.hpp>
#include <holotone/io/dots/svg_viewport_detail.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/metadata_text_detail.hpp>
#include <holotone/io/text_reader_detail.hpp>
#include <optional>

namespace holotone::io {
namespace {

constexpr std::size_t deepest = 256;

using Tag = SvgTag;

/// Shapes that are no dots, with the noun of their count.
constexpr std::string_view other_shapes[] = {"path",    "rect", "line",  "polyline",
                                             "polygon", "text", "image", "foreignObject"};

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::ranges::find(names, name) != names.end();
}

class SvgReader {
 public:
  SvgReader(std::string_view text, std::string_view path) : tags_(text, path), path_(path), builder_(path) {}

  DotsFile read() {
    Tag tag;
    while (tags_.next(tag)) take(tag);
    if (!root_) throw_io(path_, "an <svg> element", "none");
    if (!stack_.empty()) {
      throw_io(path_, fmt::format("</{}> before the file's end", stack_.back().name), "none");
    }
    refuse_other_shapes();
    auto& classes = builder_.dots().colour_class;
    if (std::all_of(classes.begin(), classes.end(), [](auto c) { return c == 0; })) classes.clear();
    if (builder_.dots().position.empty() && uses_ > 0) {
      throw_io(path_, "circles that stand for themselves", counted(uses_, "<use> element"));
    }
    if (builder_.dots().position.empty() && unseen() > 0) {
      throw_io(path_, "circles that show on the page",
               fmt::format("{} that paint nothing or in its colour", counted(unseen(), "circle")));
    }
    add_notes();
    return builder_.take();
  }

 private:
  struct Open {
    std::string_view name;
    Affine transform;
    SvgPaint paint;
    SvgViewport viewport;
    bool hidden = false;       ///< with all that it contains
    bool invisible = false;    ///< but not what it contains and says to be visible
    bool is_ink = false;       ///< in a layer that states its class, and so is of dots whatever its colour
    bool is_switched = false;  ///< a <switch> one of whose elements is shown
    int layer = -1;            ///< index in the order of layers, -1 outside
  };

  [[nodiscard]] std::uint64_t unseen() const { return unpainted_ + of_page_; }

  void refuse_other_shapes() const {
    std::string list;
    for (std::size_t i = 0; i < others_.size(); ++i) {
      if (others_[i] > 0) list += (list.empty() ? "" : ", ") + counted(others_[i], other_shapes[i]);
    }
    if (!list.empty()) throw_io(path_, "circles and ellipses", list + "; hide what is no dot");
  }

  void note(std::uint64_t count, std::string_view before, std::string_view singular, std::string_view after) {
    if (count == 0) return;
    builder_.file().notes.push_back(fmt::format("{}: {}{}{}", path_, before, counted(count, singular), after));
  }

  void add_notes() {
    auto& notes = builder_.file().notes;
    note(uses_, "", "<use> element", " passed over: copies of circles would not be dots");
    note(empty_, "left out: ", "circle", " of radius 0");
    note(unpainted_, "left out: ", "circle", " without fill and stroke, or of opacity 0");
    note(of_page_, "left out: ", "circle", " in the page's colour; what lies below stays");
    note(languages_, "left out: ", "element", " for other languages than English");
    note(rings_, "", "ring", " read as dots up to the outer edge of the stroke");
    note(translucent_, "", "translucent circle", " read as whole dots");
    if (page_.squeezed) {
      notes.push_back(
          fmt::format("{}: circles are ellipses under preserveAspectRatio none: read as circles of their area", path_));
    }
    if (tags_.has_sheet_elsewhere()) ignored_.add("a style sheet in another file");
    const std::string ignored = ignored_.list();
    if (!ignored.empty()) notes.push_back(fmt::format("{}: ignored: {}", path_, ignored));
  }

  void take(const Tag& tag) {
    if (tag.closing) {
      if (stack_.empty() || stack_.back().name != tag.name) {
        tags_.fail(tag, stack_.empty() ? "no closing tag" : fmt::format("</{}>", stack_.back().name), tag.name);
      }
      stack_.pop_back();
      return;
    }
    if (!root_) {
      if (tag.name != "svg") tags_.fail(tag, "an <svg> element", tag.name);
      root_ = true;
      page_ = read_svg_page(tags_, tag);
      builder_.dots().width = page_.width;
      builder_.dots().height = page_.height;
      builder_.dots().pixel_m = page_.pixel_m;
    }
    Open open = stack_.empty() ? outermost() : stack_.back();
    open.name = tag.name;
    open.is_switched = false;
    apply_conditions(tag, open);
    if (const auto text = find_attribute(tag, "transform")) {
      const auto about = find_attribute(tag, "transform-origin");
      if (about) tags_.fail(tag, "transforms about the origin", "transform-origin " + std::string(*about));
      open.transform = open.transform * transform_in(tag, *text);
    }
    if (tag.name == "svg" && !stack_.empty()) enter_svg_viewport(tags_, tag, open.transform, open.viewport);
    apply_style(tag, open);
    if (!open.hidden && !open.invisible) take_shape(tag, open);
    if (tag.empty) return;
    if (tag.name == "desc" && stack_.size() == 1) read_metadata();
    if (tag.name == "style") read_sheet(tag);
    if (stack_.size() >= deepest) tags_.fail(tag, fmt::format("elements at most {} deep", deepest), tag.name);
    open.hidden = open.hidden || is_one_of(tag.name, {"defs", "symbol", "clipPath", "mask", "pattern", "marker"});
    if (tag.name == "g" && find_attribute(tag, "inkscape:groupmode") == std::string_view("layer")) {
      layer_class_.push_back(stated_class(tag));
      open.is_ink = layer_class_.back() >= 0;
      open.layer = static_cast<int>(layer_class_.size()) - 1;
    }
    stack_.push_back(open);
  }

  [[nodiscard]] Open outermost() const {
    Open open;
    open.viewport = page_.view;
    return open;
  }

  /// Hides what is for other readers, and all but the first element of a <switch> that is not.
  void apply_conditions(const Tag& tag, Open& open) {
    const auto condition = condition_of(tag);
    const bool was_hidden = open.hidden;
    open.hidden = open.hidden || condition != SvgCondition::shown;
    if (!was_hidden && condition == SvgCondition::other_language) ++languages_;
    if (stack_.empty() || stack_.back().name != "switch" || open.hidden) return;
    if (is_one_of(tag.name, {"title", "desc", "metadata", "style", "defs"})) return;
    open.hidden = stack_.back().is_switched;
    stack_.back().is_switched = true;
  }

  void apply_style(const Tag& tag, Open& open) {
    const SvgStyle style = styles_.find(tag);
    const bool is_dot = tag.name == "circle" || tag.name == "ellipse";
    const auto geometry = style[SvgProperty::geometry];
    const bool of_dots = geometry.size() <= 2;  // cx, cy, r, rx, ry
    if (!geometry.empty() && (is_dot || !of_dots)) {
      tags_.fail(tag, fmt::format("{} as an attribute", geometry), "a style");
    }
    open.hidden = open.hidden || is_keyword(style[SvgProperty::display], "none");
    const auto visibility = style[SvgProperty::visibility];
    if (!is_inherited(visibility)) {
      open.invisible = !is_keyword(visibility, "visible") && !is_keyword(visibility, "initial");
    }
    if (!open.hidden) {
      if (const auto unread = style[SvgProperty::unread]; !unread.empty()) {
        tags_.fail(tag, "a style of plain values, without var(), calc() or remarks", unread);
      }
      ignored_.add_those_of(style);
    }
    if (stack_.empty()) apply_page_style(tag, style);
    open.paint.apply(style);
  }

  void apply_page_style(const Tag& tag, const SvgStyle& style) {
    if (const auto size = style[SvgProperty::page_size]; !size.empty()) {
      tags_.fail(tag, fmt::format("{} as an attribute", size), "a style");
    }
    const auto colour = style[SvgProperty::background];
    if (is_inherited(colour) || is_keyword(colour, "none") || is_keyword(colour, "initial")) return;
    const auto opacity = opacity_of_colour(colour);
    if (!opacity || (*opacity > 0 && *opacity < 1)) tags_.fail(tag, "a background of one opaque colour", colour);
    if (*opacity == 1) page_colour_ = colour;
  }

  void read_sheet(const Tag& tag) {
    const auto type = trim(find_attribute(tag, "type").value_or(""));
    if (!type.empty() && !is_keyword(type, "text/css")) {  // another language, which no viewer applies
      return ignored_.add(fmt::format("a style sheet of type {}", in_quotes(type)));
    }
    const auto media = trim(find_attribute(tag, "media").value_or(""));
    if (!media.empty() && !is_keyword(media, "all") && !is_keyword(media, "screen")) {
      tags_.fail(tag, "style sheets of all media or of a screen", media);
    }
    tags_.note_import(tags_.text_to("</"));
    const auto rules = styles_.rules();
    const std::string selector = styles_.add_sheet(tags_.text_to("</"));
    if (!selector.empty()) {
      tags_.fail(tag, "style sheets that hide or paint by one element's name, class or id", selector);
    }
    if (shapes_ > 0 && styles_.rules() > rules) tags_.fail(tag, "style sheets before all shapes", "one after them");
  }

  /// Reads Holotone's own description of the whole picture, in which & < > " are entities.
  void read_metadata() {
    const std::string text(tags_.text_to("<"));
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

  void take_shape(const Tag& tag, const Open& open) {
    if (tag.name == "circle" || tag.name == "ellipse") return take_circle(tag, open);
    if (tag.name == "use") ++uses_;
    if (tag.name == "set" || tag.name.starts_with("animate")) ignored_.add("animations");
    if (tag.name == "script") ignored_.add("scripts");
    if (tag.name == "link" && find_attribute(tag, "rel").value_or("").find("stylesheet") != std::string_view::npos) {
      ignored_.add("a style sheet in another file");
    }
    const auto* const other = std::ranges::find(other_shapes, tag.name);
    if (other == std::end(other_shapes)) return;
    ++shapes_;
    if (tag.name == "path" && trim(find_attribute(tag, "d").value_or("")).empty()) return;
    const bool filled = tag.name != "line" && open.paint.is_filled();
    const bool stroked = open.paint.is_stroked();
    const bool is_foreign = tag.name == "image" || tag.name == "foreignObject";
    if (is_foreign ? open.paint.opacity == 0 : !filled && !stroked) return;
    const bool is_first = builder_.dots().position.empty();
    if (tag.name == "rect" && (is_first || !filled) && is_background(tag, open)) {
      if (filled) page_colour_ = open.paint.fill_colour();
      return;
    }
    ++others_[static_cast<std::size_t>(other - std::begin(other_shapes))];
  }

  /// True for a rectangle that covers the page or its viewBox.
  bool is_background(const Tag& tag, const Open& open) {
    const Affine t = page_.to_page * open.transform;
    const double x = svg_share(tags_, tag, "x", open.viewport.width, 0);
    const double y = svg_share(tags_, tag, "y", open.viewport.height, 0);
    const double right = t.a * (x + svg_share(tags_, tag, "width", open.viewport.width, 0)) + t.e;
    const double bottom = t.d * (y + svg_share(tags_, tag, "height", open.viewport.height, 0)) + t.f;
    const double slack = 1e-6 * (page_.width + page_.height);
    const auto covers = [&](double from_x, double from_y, double to_x, double to_y) {
      return t.a * x + t.e <= from_x + slack && t.d * y + t.f <= from_y + slack && right >= to_x - slack &&
             bottom >= to_y - slack;
    };
    const Affine& p = page_.to_page;
    const double view_x = p.a * page_.view_x + p.e;
    const double view_y = p.d * page_.view_y + p.f;
    return page_.width > 0 && t.b == 0 && t.c == 0 &&
           (covers(0, 0, page_.width, page_.height) ||
            covers(view_x, view_y, view_x + p.a * page_.view.width, view_y + p.d * page_.view.height));
  }

  /// What a circle shows. Neighbours are mostly painted alike.
  [[nodiscard]] SvgLook look_at(const SvgPaint& paint, bool has_width) {
    if (!(known_paint_ && *known_paint_ == paint && known_width_ == has_width)) {
      known_paint_ = paint;
      known_width_ = has_width;
      known_look_ = look_of(paint, has_width, page_colour_);
    }
    return known_look_;
  }

  double stroke_width(const Tag& tag, const SvgPaint& paint, const SvgViewport& viewport) {
    if (paint.stroke == "none") return 0;
    std::string_view rest = paint.stroke_width;
    double share = 0;
    double width = 0;
    if (take_svg_number(rest, share) && trim(rest) == "%") {  // of the diagonal / sqrt(2)
      width = share / 100 * std::sqrt((viewport.width * viewport.width + viewport.height * viewport.height) / 2);
    } else {
      width = parse_svg_length(tags_, tag, "stroke-width", paint.stroke_width);
    }
    if (width > 0 && !paint.scales_stroke && paint.is_stroked()) {
      tags_.fail(tag, "a stroke that is scaled with its circle", "vector-effect non-scaling-stroke");
    }
    return std::max(width, 0.0);
  }

  /// A radius of an ellipse; one that is auto or left out is the other (SVG 2, 9.4).
  double radius(const Tag& tag, std::string_view name, std::string_view other) {
    const auto is_stated = [&](std::string_view radius_name) {
      const auto text = find_attribute(tag, radius_name);
      return text && trim(*text) != "auto";
    };
    if (is_stated(name)) return svg_length(tags_, tag, name, 0);
    return is_stated(other) ? svg_length(tags_, tag, other, 0) : 0;
  }

  void take_circle(const Tag& tag, const Open& open) {
    ++shapes_;
    const double cx = svg_length(tags_, tag, "cx", 0);
    const double cy = svg_length(tags_, tag, "cy", 0);
    const bool circle = tag.name == "circle";
    const double rx = circle ? svg_length(tags_, tag, "r", 0) : radius(tag, "rx", "ry");
    const double ry = circle ? rx : radius(tag, "ry", "rx");
    if (rx < 0 || ry < 0) {
      const std::string_view name = circle ? "r" : rx < 0 && find_attribute(tag, "rx") ? "rx" : "ry";
      tags_.fail(tag, fmt::format("{} >= 0", name), *find_attribute(tag, name));
    }
    if (rx == 0 || ry == 0) {
      ++empty_;
      return;
    }
    const double width = stroke_width(tag, open.paint, open.viewport);
    SvgLook look = look_at(open.paint, width > 0);
    if (look.mark == SvgMark::page && open.is_ink) look = {};
    const double margin = look.margin * width;
    const bool is_covered = std::min(rx, ry) + margin <= 0;  // by its stroke
    if (look.mark == SvgMark::nothing) return void(++unpainted_);
    if (look.mark == SvgMark::page || is_covered) return void(++of_page_);
    rings_ += look.mark == SvgMark::ring ? 1 : 0;
    translucent_ += look.translucent ? 1 : 0;
    const Affine t = page_.to_page * open.transform;
    const std::string where = tags_.line_at(tag.position);
    builder_.add(t.a * cx + t.c * cy + t.e, t.b * cx + t.d * cy + t.f, where);
    builder_.add_radius(std::sqrt((rx + margin) * (ry + margin) * std::abs(t.a * t.d - t.b * t.c)), where);
    builder_.add_class(find_class(tag, open.layer), where);
  }

  int find_class(const Tag& tag, int layer) {
    int& known = layer < 0 ? outside_class_ : layer_class_[static_cast<std::size_t>(layer)];
    if (known < 0) known = next_class_;
    if (known > 255) tags_.fail(tag, "at most 256 layers with circles", "one more");
    next_class_ = std::max(next_class_, known + 1);
    return known;
  }

  /// Class stated by a layer of Holotone. -1 for other layers, which get a class with their first circle.
  int stated_class(const Tag& tag) {
    const auto text = find_attribute(tag, "data-class");
    if (!text) return -1;
    double value = 0;
    if (!parse_number(*text, value) || !(value >= 0 && value <= 255) || value != std::floor(value)) {
      tags_.fail(tag, "a data-class from 0 to 255", *text);
    }
    return static_cast<int>(value);
  }

  Affine transform_in(const Tag& tag, std::string_view text) {
    std::string_view expected;
    const Affine transform = parse_svg_transforms(text, expected);
    if (!expected.empty()) tags_.fail(tag, expected, text);
    return transform;
  }

  SvgTags tags_;
  std::string_view path_;
  DotsBuilder builder_;
  std::vector<Open> stack_;
  SvgPage page_;
  std::string_view page_colour_ = "white";
  bool root_ = false;
  SvgEffects ignored_;
  std::uint64_t shapes_ = 0;  ///< that are not hidden
  std::uint64_t uses_ = 0;
  std::uint64_t empty_ = 0;      ///< circles of radius 0, which are not drawn
  std::uint64_t unpainted_ = 0;  ///< circles that paint nothing
  std::uint64_t of_page_ = 0;    ///< circles in the page's colour
  std::uint64_t rings_ = 0;
  std::uint64_t translucent_ = 0;
  std::uint64_t languages_ = 0;  ///< elements for other languages
  std::array<std::uint64_t, std::size(other_shapes)> others_{};
  SvgStyles styles_;
  std::optional<SvgPaint> known_paint_;
  bool known_width_ = false;
  SvgLook known_look_;
  std::vector<int> layer_class_;  // class of each layer in the file's order, -1: none yet
  int outside_class_ = -1;
  int next_class_ = 0;
};

}  // namespace

DotsFile read_dots_svg(std::string_view bytes, std::string_view path) { return SvgReader(bytes, path).read(); }

}  // namespace holotone::io
