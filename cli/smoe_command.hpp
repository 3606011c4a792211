#pragma once
#include "command.hpp"

namespace holotone::cli {

/// Each adds one subcommand of `holotone smoe`.
void add_smoe_info(CLI::App& smoe, Action& action);
void add_smoe_render(CLI::App& smoe, Action& action);
void add_smoe_convert(CLI::App& smoe, Action& action);

}  // namespace holotone::cli
