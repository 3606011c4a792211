#include <algorithm>
#include <array>
#include <cctype>
#include <cli/options/panel_options.hpp>
#include <cli/options/values.hpp>
#include <cmath>
#include <holotone/optics/field.hpp>
#include <utility>
#include <vector>

namespace holotone::cli {
namespace {

constexpr std::string_view panel_name = "--panel";
constexpr std::string_view panel_size_name = "--panel-size";
constexpr std::string_view resolution_name = "--resolution";
constexpr std::string_view pitch_name = "--pitch";

std::string lower(std::string_view name) {
  std::string text(name);
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

/// Width and height of "18.4mm" or "18.4x9.2mm" (one unit for both).
std::array<double, 2> panel_size(std::string_view option, const std::string& text) {
  const auto cross = text.find('x');
  const std::string height = cross == std::string::npos ? text : text.substr(cross + 1);
  std::string width = cross == std::string::npos ? text : text.substr(0, cross);
  if (width.find_first_not_of("0123456789.") == std::string::npos) {
    width += height.substr(std::min(height.find_first_not_of("0123456789."), height.size()));
  }
  return {parse_length(option, width), parse_length(option, height)};
}

/// {nx, ny} of the panel nearest to a size.
std::array<std::int64_t, 2> parse_pixels(const std::array<double, 2>& size_m, double pitch_m) {
  std::array<std::int64_t, 2> pixels{};
  for (std::size_t i = 0; i < 2; ++i) {
    const double count = std::round(size_m[i] / pitch_m);
    if (!(count >= 1 && count <= static_cast<double>(largest_grid_side))) {
      reject<&PanelChoice::size_m>(
          fmt::format("sides of 1 to {} pixels of {}", largest_grid_side, format_length(pitch_m)),
          length_text(size_m[i]));
    }
    pixels[i] = static_cast<std::int64_t>(count);
  }
  return pixels;
}

}  // namespace

std::vector<OptionRow> panel_options(PanelChoice& choice) {
  return {{.names = panel_name,
           .target = parsed(choice.preset, parse_panel),
           .value = "NAME",
           .help = "Preset of a light modulator; `holotone panels` lists them",
           .otherwise = panels().front().name,
           .common = true,
           .feeds = "PointCloudPlan.pitch_m|PointCloudPlan.shape|EncodePlan.grid|EncodePlan.level_phase_rad|FftPlan."
                    "shape|Array."},
          {.names = resolution_name,
           .target = parsed_member<&PanelChoice::resolution>(choice,
                                                             [](std::string_view option, const std::string& text) {
                                                               return resolution(option, text, largest_grid_side);
                                                             }),
           .value = "WxH",
           .help = "Columns and rows of a panel without a preset; needs --pitch",
           .common = true,
           .excludes = panel_name,
           .feeds = "PointCloudPlan.shape|EncodePlan.grid|FftPlan.shape|Array."},
          {.names = panel_size_name,
           .target = parsed_member<&PanelChoice::size_m>(choice, panel_size),
           .value = "SIZE",
           .help = "Width, or WIDTHxHEIGHT, of a panel without a preset, such as 18.4x9.2mm, rounded to whole pixels; "
                   "needs --pitch",
           .excludes = "--panel --resolution"},
          {.names = pitch_name,
           .target = number(choice.pitch_m, ValueUnit::length, {min_pitch_m, max_pitch_m}),
           .value = "LENGTH",
           .help = "Pixel pitch of a panel without a preset, such as 8um",
           .common = true,
           .excludes = panel_name,
           .feeds = "PointCloudPlan.pitch_m"}};
}

Panel parse_panel(std::string_view option, std::string_view name) {
  std::vector<std::string_view> names;
  for (const auto& known : panels()) {
    if (known.name == lower(name)) return known;
    names.emplace_back(known.name);
  }
  throw Error(ErrorCode::invalid_argument, fmt::format("{}: expected {}, got '{}'{}", option, alternatives(names), name,
                                                       suggestion(lower(name), names)));
}

Panel chosen_panel(const PanelChoice& choice) {
  const bool sized = choice.resolution || choice.size_m;
  if (sized != choice.pitch_m.has_value()) {
    const std::string_view given = choice.size_m ? panel_size_name : resolution_name;
    const auto [missing, other] = sized ? std::pair<std::string_view, std::string_view>{pitch_name, given}
                                        : std::pair<std::string_view, std::string_view>{resolution_name, pitch_name};
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("{}: expected a value, because {} is given and a panel needs both, got none", missing, other));
  }
  if (!sized) return choice.preset.value_or(panels().front());
  const auto [nx, ny] = choice.resolution ? *choice.resolution : parse_pixels(*choice.size_m, *choice.pitch_m);
  Panel panel;
  panel.name = "custom";
  panel.title = "custom panel";
  panel.nx = nx;
  panel.ny = ny;
  panel.pitch_m = *choice.pitch_m;
  return panel;
}

}  // namespace holotone::cli
