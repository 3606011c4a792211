#pragma once
// Stops a program while it writes rows.
#include <chrono>
#include <csignal>
#include <tests/support/program.hpp>
#include <thread>

namespace holotone::test {

/// Result of a program that received a signal (Ctrl-C) when the journal of its rows grew, or that ended before.
inline auto stopped_when_it_grows(RunningProgram& program, const fs::path& journal, int signal = SIGINT) {
  std::string first;
  while (program.running()) {
    const auto now = content_of(journal);
    if (first.empty()) first = now;
    if (now != first) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  program.send(signal);
  return program.wait(60);
}

}  // namespace holotone::test
