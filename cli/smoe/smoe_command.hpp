#pragma once
#include <cli/common/command.hpp>

namespace CLI {
class App;
}

namespace holotone::cli {

/// Each adds one subcommand of `holotone smoe`.
void add_smoe_fit(CLI::App& smoe, Action& action);
void add_smoe_info(CLI::App& smoe, Action& action);
void add_smoe_render(CLI::App& smoe, Action& action);
void add_smoe_convert(CLI::App& smoe, Action& action);

}  // namespace holotone::cli
