#pragma once

namespace holotone::start {

/// Sets what libraries read from the environment when they are loaded: idle OpenMP threads sleep soon, and fewer
/// threads run if an address space limit (ulimit -v) has no room for all. Ends the process with a line and exit code 2
/// for an absurd OMP_NUM_THREADS and for a limit in which the program cannot start.
void set_environment();

}  // namespace holotone::start
