#pragma once
#include <cli/common/exit_codes.hpp>
#include <cli/options/option_table.hpp>

namespace holotone::cli {

/// The subcommands of `holotone`.
Command hologram_command();
Command optimize_command();
Command spots_command();
Command quantize_command();
Command reconstruct_command();
Command halftone_command();
Command measure_command();
Command smoe_command();
Command info_command();
Command devices_command();
Command formats_command();
Command display_command();
Command panels_command();
Command panel_command();
Command sample_command();
Command scene_command();
Command join_command();
Command propagate_command();
Command view_command();

}  // namespace holotone::cli
