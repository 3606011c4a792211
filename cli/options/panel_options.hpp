#pragma once
#include <array>
#include <cli/options/option_table.hpp>
#include <cstdint>
#include <holotone/optics/panel.hpp>
#include <optional>
#include <string>
#include <vector>

namespace holotone::cli {

/// Panel of the hologram: a preset, or a resolution or size and a pitch.
struct PanelChoice {
  std::optional<Panel> preset;
  std::optional<std::array<std::int64_t, 2>> resolution;  ///< columns, rows
  std::optional<std::array<double, 2>> size_m;            ///< width, height
  std::optional<double> pitch_m;

  [[nodiscard]] bool given() const { return preset || resolution || size_m || pitch_m; }
};

/// --panel, --resolution, --panel-size and --pitch.
std::vector<OptionRow> panel_options(PanelChoice& choice);

/// Preset of a name in letters of either case. Throws invalid_argument naming `option`, with a suggestion.
Panel parse_panel(std::string_view option, std::string_view name);

/// Chosen panel: the preset (default: PLUTO-2.1), or "custom". Throws invalid_argument.
Panel chosen_panel(const PanelChoice& choice);

}  // namespace holotone::cli
