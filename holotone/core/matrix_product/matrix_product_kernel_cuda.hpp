#pragma once
// For MatrixProduct, and engines whose products always run on Hopper. Not for users.
#include <cuda_runtime.h>
#include <holotone/core/matrix_product/matrix_product_cuda.hpp>

namespace holotone::cuda {

/// Enqueues the product by a kernel of Holotone's own: there at once, where cuBLASLt loads half a gigabyte of libraries
/// and, at its first product, some 20 modules.
void enqueue_matrix_product(const MatrixProductShape& shape, const void* a, const void* b, void* c, bool accumulate,
                            cudaStream_t stream);
/// The same by Hopper's own instructions; false, with nothing enqueued, for int8 and on devices without them.
bool enqueue_hopper_product(const MatrixProductShape& shape, const void* a, const void* b, void* c, bool accumulate,
                            cudaStream_t stream);

}  // namespace holotone::cuda
