#pragma once
// For CUDA engines only: batched matrix products on the tensor cores through cuBLASLt. Not for users.
#include <cstdint>
#include <holotone/core/device.hpp>
#include <memory>

namespace holotone::cuda {

enum class MatrixElement {
  float16,  ///< __half in, float32 accumulation and output
  int8,     ///< int8 in, int32 accumulation and output
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
  bool half_output = false;       ///< C as __half (float16 only), summed in float32
  std::int64_t row_elements = 0;  ///< distance between rows of A and B in elements; 0: depth
};

/// Matrix product by the fastest cuBLASLt algorithm, chosen by timing on this device. The choice is kept for the
/// process, by shape (depth rounded to a quarter of a power of two).
class MatrixProduct {
 public:
  /// Throws device if cuBLASLt offers no algorithm. `scratch` must hold at least workspace_bytes.
  MatrixProduct(const MatrixProductShape& shape, const Queue& queue, void* scratch);
  ~MatrixProduct();
  MatrixProduct(MatrixProduct&&) noexcept;
  MatrixProduct& operator=(MatrixProduct&&) noexcept;

  static constexpr std::size_t workspace_bytes = std::size_t{64} << 20;

  /// Times the candidates on these operands (overwrites C) unless the shape was timed before. Waits for the device.
  void choose(const void* a, const void* b, void* c);
  /// Enqueues the product; `accumulate` adds it to C.
  void run(const void* a, const void* b, void* c, bool accumulate) const;
  [[nodiscard]] const MatrixProductShape& shape() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace holotone::cuda
