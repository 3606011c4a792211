#pragma once
#include <cstdint>

namespace holotone::cli {

// What the program needs of an address space that is limited (ulimit -v).
inline constexpr std::uint64_t bytes_to_start = std::uint64_t{800} << 20;  ///< with its libraries: measured 710 MiB
inline constexpr std::uint64_t bytes_a_buffer = std::uint64_t{128}
                                                << 20;  ///< of OpenBLAS: one a thread and the caller's
inline constexpr std::uint64_t bytes_a_thread = std::uint64_t{272} << 20;  ///< that buffer, the thread's stack and heap
inline constexpr std::uint64_t min_data_bytes = std::uint64_t{390} << 20;  ///< of ulimit -d: measured 280 MiB

/// Free bytes of the address space under its limit (ulimit -v); infinity without a limit.
double free_address_space();

/// Under such a limit, makes OpenBLAS map its buffers now: once memory has run out, it would retry forever. Throws
/// out_of_memory if they do not fit, also those of further threads that call it at once.
void take_blas_buffers(int callers = 1);

}  // namespace holotone::cli
