#pragma once

namespace holotone::cli {

/// Free bytes of the address space under its limit (ulimit -v); infinity without a limit.
double free_address_space();

/// Under such a limit, makes OpenBLAS map its buffers now: once memory has run out, it would retry forever. Throws
/// out_of_memory if they do not fit, also those of further threads that call it at once.
void take_blas_buffers(int callers = 1);

}  // namespace holotone::cli
