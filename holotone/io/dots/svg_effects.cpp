#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <holotone/io/dots/svg_effects_detail.hpp>

namespace holotone::io {
namespace {

struct Effect {
  SvgProperty property;
  std::string_view name;
  std::string_view neutral = "none";  ///< value without an effect
};

constexpr Effect effects[] = {
    {SvgProperty::clip_path, "clip-path, mask"},
    {SvgProperty::mask, "clip-path, mask"},
    {SvgProperty::filter, "filter"},
    {SvgProperty::blend_mode, "mix-blend-mode", "normal"},
    {SvgProperty::paint_order, "paint-order", "normal"},
    {SvgProperty::dash_array, "stroke-dasharray"},
};

}  // namespace

void SvgEffects::add(std::string_view name) {
  if (std::ranges::find(names_, name) == names_.end()) names_.emplace_back(name);
}

void SvgEffects::add_those_of(const SvgStyle& style) {
  for (const auto& [property, name, neutral] : effects) {
    const auto value = style[property];
    if (!is_inherited(value) && !is_keyword(value, "initial") && !is_keyword(value, neutral)) add(name);
  }
}

std::string SvgEffects::list() const { return fmt::format("{}", fmt::join(names_, ", ")); }

}  // namespace holotone::io
