#pragma once
// For CUDA engines only: batched matrix products on the tensor cores through cuBLASLt. Not for users.
#include <cstdint>
#include <holotone/core/device.hpp>
#include <memory>

namespace holotone::cuda {

enum class MatrixElement {
  float16,  ///< __half in, float32 accumulation and output
  int8,     ///< int8 in, int32 accumulation and output
  float8,   ///< e4m3 in, sums that may be rounded to 14 bits, __half output; by cuBLASLt alone, from compute 8.9 on
};

/// Shape of C[b](rows x columns) = A[b] B[b]^T for b < batch, all row-major. A[b] is rows x depth, B[b] is columns x
/// depth, C[b] has `columns` contiguous. Matrices of a batch are contiguous.
struct MatrixProductShape {
  MatrixElement element = MatrixElement::float16;
  std::int64_t rows = 0;
  std::int64_t columns = 0;  ///< a multiple of 8
  std::int64_t depth = 0;    ///< a multiple of 16
  std::int64_t batch = 1;
  bool share_a = false;           ///< one A for the whole batch
  bool half_output = false;       ///< C as __half (float16, always for float8), summed in float32
  bool across_b = false;          ///< B[b] is depth x columns, and C[b] = A[b] B[b]; by cuBLASLt alone
  std::int64_t row_elements = 0;  ///< distance between rows of A and B in elements; 0: depth
};

/// Algorithms of a product.
enum class MatrixProductChoice {
  /// Small products by a kernel of Holotone's own, large ones by the algorithm that cuBLASLt expects to be the fastest.
  /// cuBLASLt's first product in a process costs 0.2 s: half a gigabyte is loaded.
  at_once,
  timed,  ///< the fastest of cuBLASLt on this device: pays after many products, as each candidate is loaded and timed
  /// The kernel of Holotone's own for every product: bits that depend neither on times nor on the version of cuBLASLt.
  built_in,
};

/// Matrix product on the tensor cores. Timed choices are kept for the process, by shape (depth rounded to a quarter
/// of a power of two), and serve every later product.
class MatrixProduct {
 public:
  /// `scratch` must hold at least workspace_bytes.
  MatrixProduct(const MatrixProductShape& shape, const Queue& queue, void* scratch);
  ~MatrixProduct();
  MatrixProduct(MatrixProduct&&) noexcept;
  MatrixProduct& operator=(MatrixProduct&&) noexcept;

  static constexpr std::size_t workspace_bytes = std::size_t{64} << 20;

  /// Chooses the algorithm; at first, and once more when it is to be timed or the own kernel. `timed` times the
  /// candidates on these operands (overwrites C) unless the shape was timed before, and waits for the device. Throws
  /// device if cuBLASLt has no algorithm.
  void choose(MatrixProductChoice how, const void* a, const void* b, void* c);
  /// Enqueues the product; `accumulate` adds it to C.
  void run(const void* a, const void* b, void* c, bool accumulate) const;
  [[nodiscard]] const MatrixProductShape& shape() const;

  /// Choice for the execution after `executions` others of a plan: the second is the first of many.
  static MatrixProductChoice choice_after(std::int64_t executions, bool deterministic) {
    if (deterministic) return MatrixProductChoice::built_in;
    return executions == 0 ? MatrixProductChoice::at_once : MatrixProductChoice::timed;
  }

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace holotone::cuda
