#include "panel_options.hpp"
#include "values.hpp"
#include <cctype>
#include <utility>
#include <vector>

namespace holotone::cli {
namespace {

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

}  // namespace

void add_panel_options(CLI::App& command, PanelArguments& arguments) {
  auto* panel =
      command.add_option("--panel", arguments.panel, "Preset of a light modulator; `holotone panels` lists them");
  auto* pixels = command.add_option("--resolution", arguments.resolution, "Pixels of any other panel, WIDTHxHEIGHT");
  auto* pitch = command.add_option("--pitch", arguments.pitch, "Pixel pitch of any other panel, such as 8um");
  pixels->excludes(panel);
  pitch->excludes(panel);
}

Panel chosen_panel(const PanelArguments& arguments) {
  if (arguments.resolution.empty() != arguments.pitch.empty()) {
    const auto [missing, given] =
        arguments.pitch.empty() ? std::pair{"--pitch", "--resolution"} : std::pair{"--resolution", "--pitch"};
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("{}: expected a value, because {} is given and a panel needs both, got none", missing, given));
  }
  if (!arguments.resolution.empty()) {
    const auto [nx, ny] = resolution("--resolution", arguments.resolution);
    Panel panel;
    panel.name = "custom";
    panel.title = "custom panel";
    panel.nx = nx;
    panel.ny = ny;
    panel.pitch_m = pitch_of("--pitch", arguments.pitch);
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
