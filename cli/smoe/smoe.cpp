#include <CLI/CLI.hpp>
#include <cli/smoe/smoe_command.hpp>

namespace holotone::cli {

void add_smoe(CLI::App& application, Action& action) {
  auto* command = application.add_subcommand(
      "smoe", "Pictures and light fields as steered mixtures of experts: at any size, from any view, in small files");
  command->require_subcommand(1);
  add_smoe_fit(*command, action);
  add_smoe_render(*command, action);
  add_smoe_info(*command, action);
  add_smoe_convert(*command, action);
}

}  // namespace holotone::cli
