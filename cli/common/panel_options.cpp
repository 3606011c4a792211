#include <algorithm>
#include <array>
#include <cctype>
#include <cli/common/panel_options.hpp>
#include <cli/common/values.hpp>
#include <cmath>
#include <holotone/optics/field.hpp>
#include <utility>
#include <vector>

namespace holotone::cli {
namespace {

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

/// {nx, ny} of the panel nearest to a size, "18.4mm" or "18.4x9.2mm" (one unit for both).
std::array<std::int64_t, 2> pixels_of(const std::string& text, double pitch_m) {
  constexpr std::string_view option = "--panel-size";
  const auto cross = text.find('x');
  const std::string height = cross == std::string::npos ? text : text.substr(cross + 1);
  std::string width = cross == std::string::npos ? text : text.substr(0, cross);
  if (width.find_first_not_of("0123456789.") == std::string::npos) {
    width += height.substr(std::min(height.find_first_not_of("0123456789."), height.size()));
  }
  std::array<std::int64_t, 2> pixels{};
  for (std::size_t i = 0; i < 2; ++i) {
    const double side = parse_length(option, i == 0 ? width : height);
    const double count = std::round(side / pitch_m);
    if (!(count >= 1 && count <= static_cast<double>(largest_grid_side))) {
      reject(option, fmt::format("sides of 1 to {} pixels of {}", largest_grid_side, format_length(pitch_m)), text);
    }
    pixels[i] = static_cast<std::int64_t>(count);
  }
  return pixels;
}

}  // namespace

std::vector<OptionRow> panel_options(PanelArguments& arguments) {
  return {
      {.names = "--panel",
       .target = &arguments.panel,
       .value = "NAME",
       .help = "Preset of a light modulator; `holotone panels` lists them",
       .otherwise = panels().front().name,
       .common = true,
       .feeds = "PointCloudPlan.pitch_m|PointCloudPlan.shape|EncodePlan.grid|EncodePlan.level_phase_rad|FftPlan.shape|"
                "Array."},
      {.names = "--resolution",
       .target = &arguments.resolution,
       .value = "WxH",
       .help = "Columns and rows of a panel without a preset; needs --pitch",
       .common = true,
       .excludes = "--panel",
       .feeds = "PointCloudPlan.shape|EncodePlan.grid|FftPlan.shape|Array."},
      {.names = "--panel-size",
       .target = &arguments.size,
       .value = "SIZE",
       .help = "Width, or WIDTHxHEIGHT, of a panel without a preset, such as 18.4x9.2mm, rounded to whole pixels; "
               "needs --pitch",
       .excludes = "--panel --resolution"},
      {.names = "--pitch",
       .target = &arguments.pitch,
       .value = "LENGTH",
       .help = "Pixel pitch of a panel without a preset, such as 8um",
       .common = true,
       .excludes = "--panel",
       .feeds = "PointCloudPlan.pitch_m"}};
}

Panel chosen_panel(const PanelArguments& arguments) {
  const std::string given = !arguments.size.empty() ? "--panel-size" : "--resolution";
  const bool sized = !arguments.resolution.empty() || !arguments.size.empty();
  if (sized != !arguments.pitch.empty()) {
    const auto [missing, other] = sized ? std::pair{"--pitch", given.c_str()} : std::pair{"--resolution", "--pitch"};
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("{}: expected a value, because {} is given and a panel needs both, got none", missing, other));
  }
  if (sized) {
    const double pitch_m = pitch_of("--pitch", arguments.pitch);
    const auto [nx, ny] = arguments.size.empty() ? resolution("--resolution", arguments.resolution, largest_grid_side)
                                                 : pixels_of(arguments.size, pitch_m);
    Panel panel;
    panel.name = "custom";
    panel.title = "custom panel";
    panel.nx = nx;
    panel.ny = ny;
    panel.pitch_m = pitch_m;
    return panel;
  }
  if (arguments.panel.empty()) return panels().front();
  std::vector<std::string_view> names;
  for (const auto& known : panels()) {
    if (known.name == lower(arguments.panel)) return known;
    names.emplace_back(known.name);
  }
  throw Error(ErrorCode::invalid_argument, fmt::format("--panel: expected {}, got '{}'{}", alternatives(names),
                                                       arguments.panel, suggestion(lower(arguments.panel), names)));
}

}  // namespace holotone::cli
