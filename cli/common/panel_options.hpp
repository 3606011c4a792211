#pragma once
#include <holotone/optics/panel.hpp>
#include <string>

namespace CLI {
class App;
}

namespace holotone::cli {

/// Which pixels show the hologram: a preset, or a resolution or size and a pitch.
struct PanelArguments {
  std::string panel;
  std::string resolution;
  std::string size;
  std::string pitch;
};

/// Adds --panel, --resolution, --panel-size and --pitch.
void add_panel_options(CLI::App& command, PanelArguments& arguments);

/// The panel meant: the preset (PLUTO-2.1 if nothing is said), or "custom". Throws invalid_argument.
Panel chosen_panel(const PanelArguments& arguments);

}  // namespace holotone::cli
