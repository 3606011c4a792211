#include <cblas.h>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/core/matrix_product/blas.hpp>
#include <holotone/core/shared_library.hpp>

namespace holotone::blas {
namespace {

struct Functions {
  decltype(&cblas_sgemm) sgemm = nullptr;
  decltype(&cblas_cgemm) cgemm = nullptr;
  decltype(&openblas_set_num_threads) set_threads = nullptr;
};

Functions open_library() {
  // The folder has the variant for OpenMP, which shares the threads of the program.
  const SharedLibrary library{HOLOTONE_BLAS_FOLDER "/libopenblas.so.0", "libopenblas.so.0"};
  Functions opened;
  if (!library.load(opened.sgemm, "cblas_sgemm") || !library.load(opened.cgemm, "cblas_cgemm") ||
      !library.load(opened.set_threads, "openblas_set_num_threads")) {
    throw Error(ErrorCode::unsupported,
                fmt::format("OpenBLAS: expected libopenblas.so.0 for matrix products on the CPU, "
                            "got none ({})",
                            library.reason()));
  }
  return opened;
}

const Functions& functions() {
  static const Functions opened = open_library();
  return opened;
}

CBLAS_TRANSPOSE named(Operand operand) {
  return operand == Operand::plain ? CblasNoTrans : operand == Operand::transposed ? CblasTrans : CblasConjTrans;
}

}  // namespace

void multiply(Operand a_as, Operand b_as, int rows, int columns, int depth, const float* a, int a_row, const float* b,
              int b_row, float scale, float* c, int c_row) {
  functions().sgemm(CblasRowMajor, named(a_as), named(b_as), rows, columns, depth, 1, a, a_row, b, b_row, scale, c,
                    c_row);
}

void multiply(Operand a_as, Operand b_as, int rows, int columns, int depth, const std::complex<float>* a, int a_row,
              const std::complex<float>* b, int b_row, float scale, std::complex<float>* c, int c_row) {
  const std::complex<float> one(1);
  const std::complex<float> beta(scale);
  functions().cgemm(CblasRowMajor, named(a_as), named(b_as), rows, columns, depth, &one, a, a_row, b, b_row, &beta, c,
                    c_row);
}

void set_threads(int threads) { functions().set_threads(threads); }

}  // namespace holotone::blas
