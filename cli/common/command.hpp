#pragma once
#include <functional>

namespace CLI {
class App;
}

namespace holotone::cli {

/// What the chosen subcommand does once the line is parsed; returns the exit code.
using Action = std::function<int()>;

/// Each adds one subcommand, whose choice sets `action`.
void add_hologram(CLI::App& application, Action& action);
void add_quantize(CLI::App& application, Action& action);
void add_reconstruct(CLI::App& application, Action& action);
void add_halftone(CLI::App& application, Action& action);
void add_measure(CLI::App& application, Action& action);
void add_smoe(CLI::App& application, Action& action);
void add_info(CLI::App& application, Action& action);
void add_devices(CLI::App& application, Action& action);
void add_panels(CLI::App& application, Action& action);
void add_sample(CLI::App& application, Action& action);
void add_scene(CLI::App& application, Action& action);

/// Exit codes: docs/command_line.md lists them for users.
inline constexpr int exit_ok = 0;
inline constexpr int exit_internal = 1;
inline constexpr int exit_bad_input = 2;
inline constexpr int exit_cancelled = 130;

}  // namespace holotone::cli
