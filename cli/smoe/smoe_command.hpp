#pragma once
#include <cli/common/command.hpp>
#include <cli/common/console.hpp>
#include <string>

namespace holotone::cli {

/// The subcommands of `holotone smoe`.
Command smoe_fit_command();
Command smoe_info_command();
Command smoe_render_command();
Command smoe_convert_command();

/// What `holotone info` says of a model.
void tell_model(const std::string& path, const ConsoleOptions& console);

}  // namespace holotone::cli
