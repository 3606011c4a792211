#pragma once
// Matrix products of OpenBLAS, which is opened when the first of them is needed: loading it takes 3 ms.
// Not for users.
#include <complex>

namespace holotone::blas {

enum class Operand { plain, transposed, adjoint };

/// C = A' B' + scale C in row order, A' {rows, depth}, B' {depth, columns}; a_row, b_row, c_row: numbers from row to
/// row of A, B and C as they are stored. Throws unsupported where there is no OpenBLAS.
void multiply(Operand a_as, Operand b_as, int rows, int columns, int depth, const float* a, int a_row, const float* b,
              int b_row, float scale, float* c, int c_row);
void multiply(Operand a_as, Operand b_as, int rows, int columns, int depth, const std::complex<float>* a, int a_row,
              const std::complex<float>* b, int b_row, float scale, std::complex<float>* c, int c_row);

/// Threads of later products.
void set_threads(int threads);

}  // namespace holotone::blas
