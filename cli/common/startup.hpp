#pragma once

namespace holotone::cli {

/// Bytes that the limit of the address space (ulimit -v) leaves; infinity without a limit.
double free_address_space();

/// Under such a limit, has OpenBLAS map its buffers now: later, where memory has run out, it would try for ever.
/// Throws out_of_memory if they do not fit.
void take_blas_buffers();

}  // namespace holotone::cli
