#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace holotone {

/// What a guarded program may use.
struct GuardLimits {
  std::uint64_t output_bytes = std::uint64_t{4} << 30;  ///< of standard output
  double seconds = 20;                                  ///< of processor time
  double wall_seconds = 0;  ///< of wall clock, which other programs take too; 0: 60 + 20 `seconds`
};

/// How a guarded program ended, if it ended by itself.
struct GuardedRun {
  int exit_code = 0;
  std::string output;  ///< everything it wrote to standard output
};

/// Runs `program` (a path, not searched for) with `arguments` under `limits` and returns its standard output;
/// standard input and error are /dev/null. It gets the caller's environment with one OpenMP and OpenBLAS
/// thread, writes no core dump and dies with its parent. Throws io, beginning with `subject`: "file.obj: the
/// reader crashed (signal 11)", "... took more than 20 s",
/// "... did not end within 460 s", "... wrote more than 4 GiB"; device if the program cannot be started.
GuardedRun run_guarded(const std::string& program, const std::vector<std::string>& arguments, const GuardLimits& limits,
                       std::string_view subject);

/// Limits the writable memory of this program to what it has now and `bytes` more: a larger allocation fails. For good, and for
/// the programs it starts. Called by the guarded program itself, since what its libraries take before main differs by a
/// gigabyte with CUDA's. Does nothing in a build with a sanitizer or where the system keeps no such limit.
void limit_memory(std::uint64_t bytes);

/// The path of the running program, to be started again as a guarded child. Throws io if the system does not
/// say.
std::string current_program();

}  // namespace holotone
