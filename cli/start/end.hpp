#pragma once
#include <cli/common/exit_codes.hpp>
#include <cstdio>
#include <unistd.h>

namespace holotone::start {

/// Prints "holotone: WHAT" and ends the process as after bad input. `got` follows.
[[noreturn]] inline void end(const char* what, const char* got = "") {
  char line[1024];
  const int length = std::snprintf(line, sizeof line, "holotone: %s%s\n", what, got);
  for (char* at = line; at < line + sizeof line - 1 && at[0] != '\0' && at[1] != '\0'; ++at) {
    if (*at == '\n') *at = ' ';  // of a path
  }
  (void)!write(STDERR_FILENO, line,
               length < static_cast<int>(sizeof line) ? static_cast<std::size_t>(length) : sizeof line);
  _exit(cli::exit_bad_input);
}

}  // namespace holotone::start
