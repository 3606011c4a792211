#pragma once
#include <cli/common/command.hpp>
#include <cli/common/console.hpp>
#include <string>

namespace CLI {
class App;
}

namespace holotone::cli {

/// Each adds one subcommand of `holotone smoe`.
void add_smoe_fit(CLI::App& smoe, Action& action);
void add_smoe_info(CLI::App& smoe, Action& action);
void add_smoe_render(CLI::App& smoe, Action& action);
void add_smoe_convert(CLI::App& smoe, Action& action);

/// What `holotone info` says of a model.
void tell_model(const std::string& path, const ConsoleOptions& console);

}  // namespace holotone::cli
