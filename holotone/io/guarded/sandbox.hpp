#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace holotone {

/// Limits of a guarded program.
struct GuardLimits {
  std::uint64_t output_bytes = std::uint64_t{4} << 30;  ///< maximum size of standard output
  double seconds = 20;                                  ///< maximum processor time, seconds
  double wall_seconds = 0;  ///< maximum elapsed time, seconds, waiting included; 0: 60 + 20 `seconds`
  /// A user's command instead of a reader of files: errors call it so. It leads a process group of its own, all of
  /// which is killed at the limits.
  bool command = false;
};

/// Result of a guarded program that was not killed.
struct GuardedRun {
  int exit_code = 0;
  std::string output;  ///< whole standard output
};

/// Runs `program` (a path, not searched for) with `arguments` under `limits` and returns its standard output; standard
/// input and error are /dev/null. It has the caller's environment with one OpenMP and OpenBLAS thread, writes no core
/// dump and dies with its parent. Throws io, beginning with `subject`: "file.obj: the reader crashed (signal 11)",
/// "... took more than 20 s", "... did not end within 460 s", "... wrote more than 4 GiB", or that the program
/// cannot be started.
GuardedRun run_guarded(const std::string& program, const std::vector<std::string>& arguments, const GuardLimits& limits,
                       std::string_view subject);

/// Kills the process group of the command that run_guarded is waiting for. For signal handlers.
void end_guarded_command() noexcept;

/// Limits this program's writable memory to its present size and `bytes` more; larger allocations fail. The limit is
/// permanent and inherited by child processes. The guarded program calls it itself, because its libraries allocate
/// before main, and CUDA's a gigabyte more. No effect in a build with a sanitizer or on a system without such a limit.
void limit_memory(std::uint64_t bytes);

/// Returns the path of the running program, for starting it as a guarded child. Throws io if the system does not report
/// it.
std::string current_program();

}  // namespace holotone
