#pragma once
// A product whose depth is summed in parts. Not for users.
#include <cuda_fp16.h>
#include <holotone/core/matrix_product/matrix_product_cuda.hpp>
#include <optional>

namespace holotone::point_cloud {

/// Product with a constant matrix, its depth summed in parts.
class PartedProduct {
 public:
  /// A[rows][depth] is shared by the batch of B[columns][depth].
  void make(const cuda::MatrixProductShape& whole, std::int64_t parts, const Queue& queue, void* scratch) {
    part_ = whole.depth / parts;
    parts_ = parts;
    cuda::MatrixProductShape shape = whole;
    shape.depth = part_;
    shape.row_elements = whole.depth;
    product_.emplace(shape, queue, scratch);
  }
  void run(cuda::MatrixProductChoice how, const __half* a, const __half* b, void* c) {
    product_->choose(how, a, b, c);
    for (std::int64_t i = 0; i < parts_; ++i) product_->run(a + i * part_, b + i * part_, c, i > 0);
  }

 private:
  std::optional<cuda::MatrixProduct> product_;
  std::int64_t part_ = 0;
  std::int64_t parts_ = 1;
};

}  // namespace holotone::point_cloud
