#pragma once
#include <cli/common/command.hpp>

namespace holotone::cli {

/// The subcommands of `holotone smoe`.
Command smoe_fit_command();
Command smoe_info_command();
Command smoe_render_command();
Command smoe_convert_command();

}  // namespace holotone::cli
