#pragma once
// A group of spots as matrix products on CUDA. Not for users.
#include <holotone/core/array.hpp>
#include <holotone/core/matrix_product/matrix_product_cuda.hpp>
#include <holotone/retrieval/spots/spot_kernels_cuda.hpp>
#include <optional>

namespace holotone::spots {

/// Tables of the spots' waves, and the two products of a step.
class SpotProducts {
 public:
  /// The spots [first, first + count) of the padded order. `scratch`: of MatrixProduct for sums over spots, behind it
  /// that for sums over columns.
  SpotProducts(const Panel& panel, int first, int count, const Queue& queue, void* scratch);

  [[nodiscard]] int first() const { return first_; }
  [[nodiscard]] int count() const { return count_; }

  /// Chooses the algorithms before the products are recorded; overwrites `sum` and the products. `other`: any field.
  void choose(cuda::MatrixProductChoice how, const __half* other, __half* sum);
  /// Makes ready for waves in fp8; false where no algorithm multiplies them.
  bool make_narrow(__half* sum);
  [[nodiscard]] bool has_narrow() const { return to_panel_narrow_.has_value(); }

  /// Fills the tables of these spots of the padded order, for waves of this type.
  void place(const float4* spots, WaveType type, const Queue& queue);
  /// sum = the waves' sums over spots.
  void sum_over_spots(WaveType type, __half* sum) const;
  /// The field's sums along rows, for update.
  void sum_over_columns(const __half* field);
  void update(const SpotArrays& spots, const SpotUpdate& what, WaveType type, int multiprocessors);

  DepthFactor depth;

 private:
  [[nodiscard]] cuda::MatrixProductShape panel_shape(cuda::MatrixElement element) const;
  [[nodiscard]] const __half* half_table() const {
    return transposed_.data() != nullptr ? transposed_.data() : table_.data();
  }

  Panel panel_;
  int first_;
  int count_;
  Queue queue_;
  void* scratch_;
  Array<__half, 1> table_;         ///< {planes, count, width}
  Array<__half, 1> transposed_;    ///< {planes, width, count}, until the products are cuBLASLt's, which needs none
  Array<std::uint8_t, 1> narrow_;  ///< the same in fp8
  Array<__half, 1> waves_;         ///< V {planes, rows, count}, of fp16 or fp8
  Array<__half, 1> products_;      ///< P {planes, rows, count}
  cuda::MatrixProduct to_panel_;
  std::optional<cuda::MatrixProduct> to_panel_narrow_;
  cuda::MatrixProduct from_panel_;
};

}  // namespace holotone::spots
