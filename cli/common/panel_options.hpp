#pragma once
#include <cli/common/option_table.hpp>
#include <holotone/optics/panel.hpp>
#include <string>
#include <vector>

namespace holotone::cli {

/// Panel of the hologram, as typed: a preset, or a resolution or size and a pitch.
struct PanelArguments {
  std::string panel;
  std::string resolution;
  std::string size;
  std::string pitch;
};

/// --panel, --resolution, --panel-size and --pitch.
std::vector<OptionRow> panel_options(PanelArguments& arguments);

/// Chosen panel: the preset (default: PLUTO-2.1), or "custom". Throws invalid_argument.
Panel chosen_panel(const PanelArguments& arguments);

}  // namespace holotone::cli
