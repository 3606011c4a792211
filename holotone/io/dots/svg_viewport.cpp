// Source: SVG 2, section 8; CSS Images 3, section 4.3 (sizing of an image with an aspect ratio).
#include <cmath>
#include <fmt/format.h>
#include <holotone/io/dots/dots.hpp>
#include <holotone/io/dots/svg_viewport_detail.hpp>
#include <holotone/io/text_reader_detail.hpp>
#include <optional>

namespace holotone::io {
namespace {

constexpr double equal_scales = 1e-3;  // sides of pages are rounded

struct Side {
  double pixels;  ///< of CSS
  double metres;  ///< 0: without a physical unit
};

std::optional<Side> page_side(SvgTags& tags, const SvgTag& tag, std::string_view name) {
  const auto value = find_attribute(tag, name);
  if (!value || trim(*value) == "auto") return std::nullopt;
  std::string_view rest = *value;
  double number = 0;
  if (!take_svg_number(rest, number) || !(number > 0 && number <= 1e9)) {
    tags.fail(tag, fmt::format("a positive {}", name), *value);
  }
  const auto unit = trim(rest);
  if (unit.empty() || unit == "px") return Side{number, 0};
  if (const double metres = metres_of_svg_unit(unit); metres > 0) {
    return Side{number * metres / default_pixel_m, number * metres};
  }
  if (unit == "%") return std::nullopt;
  tags.fail(tag, fmt::format("a {} in mm, cm, in, pt, pc or px", name), *value);
}

std::array<double, 4> view_box(SvgTags& tags, const SvgTag& tag, std::string_view text) {
  const auto box = parse_view_box(text);
  if (!box || !((*box)[2] > 0 && (*box)[3] > 0)) {
    tags.fail(tag, "a viewBox of four numbers and positive size", text);
  }
  return *box;
}

Affine fitted(SvgTags& tags, const SvgTag& tag, const std::array<double, 4>& box, double width, double height) {
  std::string_view expected;
  const auto aspect = find_attribute(tag, "preserveAspectRatio").value_or("");
  const Affine transform = fit_view_box(box, width, height, aspect, expected);
  if (!expected.empty()) tags.fail(tag, expected, aspect);
  return transform;
}

}  // namespace

SvgPage read_svg_page(SvgTags& tags, const SvgTag& tag) {
  SvgPage page;
  const auto width = page_side(tags, tag, "width");
  const auto height = page_side(tags, tag, "height");
  const auto view = find_attribute(tag, "viewBox");
  if (!view) {
    if (width && height) page.view = {width->pixels, height->pixels};
    page.width = page.view.width;
    page.height = page.view.height;
    if (page.width > 0 && width->metres > 0) page.pixel_m = default_pixel_m;
    return page;
  }
  const auto box = view_box(tags, tag, *view);
  page.view = {box[2], box[3]};
  page.view_x = box[0];
  page.view_y = box[1];
  page.width = box[2];
  page.height = box[3];
  page.to_page = {1, 0, 0, 1, -box[0], -box[1]};
  if (width && width->metres > 0) page.pixel_m = width->metres / box[2];
  if (!width && height && height->metres > 0) page.pixel_m = height->metres / box[3];
  if (!width || !height || std::abs(height->pixels / box[3] * box[2] / width->pixels - 1) <= equal_scales) return page;
  const Affine fit = fitted(tags, tag, box, width->pixels, height->pixels);
  page.to_page = Affine{1 / fit.a, 0, 0, 1 / fit.a, 0, 0} * fit;
  page.width = width->pixels / fit.a;
  page.height = height->pixels / fit.a;
  if (!(fit.a > 0 && fit.d > 0 && std::isfinite(page.width) && std::isfinite(page.height))) {
    tags.fail(tag, "a viewBox of about the page's size", *view);
  }
  page.squeezed = std::abs(fit.d / fit.a - 1) > equal_scales;
  if (width->metres > 0) page.pixel_m = width->metres / page.width;
  return page;
}

void enter_svg_viewport(SvgTags& tags, const SvgTag& tag, Affine& transform, SvgViewport& viewport) {
  const double x = svg_share(tags, tag, "x", viewport.width, 0);
  const double y = svg_share(tags, tag, "y", viewport.height, 0);
  const double width = svg_share(tags, tag, "width", viewport.width, viewport.width);
  const double height = svg_share(tags, tag, "height", viewport.height, viewport.height);
  transform = transform * Affine{1, 0, 0, 1, x, y};
  viewport = {width, height};
  const auto view = find_attribute(tag, "viewBox");
  if (!view) return;
  const auto box = view_box(tags, tag, *view);
  if (!(width > 0 && height > 0)) {
    tags.fail(tag, "the width and height of an <svg> with a viewBox in another", "none");
  }
  transform = transform * fitted(tags, tag, box, width, height);
  viewport = {box[2], box[3]};
}

double parse_svg_length(SvgTags& tags, const SvgTag& tag, std::string_view name, std::string_view text) {
  std::string_view rest = text;
  double number = 0;
  if (take_svg_number(rest, number) && std::isfinite(number)) {
    const auto unit = trim(rest);
    if (unit.empty() || unit == "px") return number;
    if (const double metres = metres_of_svg_unit(unit); metres > 0) return number * metres / default_pixel_m;
  }
  tags.fail(tag, fmt::format("a finite length {}", name), text);
}

double svg_length(SvgTags& tags, const SvgTag& tag, std::string_view name, double otherwise) {
  const auto value = find_attribute(tag, name);
  return value ? parse_svg_length(tags, tag, name, *value) : otherwise;
}

double svg_share(SvgTags& tags, const SvgTag& tag, std::string_view name, double whole, double otherwise) {
  const auto value = find_attribute(tag, name);
  if (!value || value == std::string_view("auto")) return otherwise;
  std::string_view rest = *value;
  double number = 0;
  if (!take_svg_number(rest, number) || trim(rest) != "%") return svg_length(tags, tag, name, otherwise);
  if (!(whole > 0) || !std::isfinite(number)) tags.fail(tag, fmt::format("a length {}", name), *value);
  return number / 100 * whole;
}

}  // namespace holotone::io
