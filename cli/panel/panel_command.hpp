#pragma once
#include <cli/common/command.hpp>

namespace holotone::cli {

/// The subcommands of `holotone panel`.
Command panel_grating_command();
Command panel_lens_command();
Command panel_zernike_command();
Command panel_axicon_command();
Command panel_vortex_command();
Command panel_checkerboard_command();
Command panel_steps_command();
Command panel_chart_command();

}  // namespace holotone::cli
