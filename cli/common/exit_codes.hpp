#pragma once

namespace holotone::cli {

/// Exit codes: docs/command_line.md lists them for users.
inline constexpr int exit_ok = 0;
inline constexpr int exit_internal = 1;
inline constexpr int exit_bad_input = 2;
inline constexpr int exit_cancelled = 130;

}  // namespace holotone::cli
