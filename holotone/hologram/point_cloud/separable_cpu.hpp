#pragma once
// Waves summed as matrix products of factors on the CPU. Not for users.
#include <holotone/hologram/point_cloud/engine_cpu.hpp>

namespace holotone::point_cloud {

/// Real products that form a complex sum (separable_cpu.cpp).
enum class SumForm { three_products, two_products, real_part };

/// The cheapest form of a complex sum that keeps `tolerance`.
SumForm sum_form(double tolerance);
/// The relative l2 error that a form keeps.
double sum_error(SumForm form);

/// Accumulated sums of waves: points are added in any number of pieces, then the sums are moved to the outputs.
class FactorProducts {
 public:
  FactorProducts(const Shape<2>& shape, SumForm form) : shape_(shape), form_(form) {}
  /// Resets to `rows` rows; drops sums that were not moved, such as those of a cancelled sum.
  void begin(std::int64_t rows) {
    shape_[0] = rows;
    count_ = 0;
  }

  /// Adds waves on the pixels they light, chunk by chunk. Neighbouring points should light the same pixels: a chunk's
  /// product covers every pixel that any of its points lights. Cost O(points * pixels lit).
  void add(std::span<const PixelPoint> points);
  /// Waves added since the sums were last moved; up to full_count of them, rounding in float32 is negligible.
  [[nodiscard]] std::size_t count() const { return count_; }
  static constexpr std::size_t full_count = std::size_t{1} << 16;
  /// Maximum points of one product.
  [[nodiscard]] std::size_t chunk_points() const;

  /// Adds the sums to the field (real_part: to `real`), or writes them there, and resets.
  void move_to(bool write, View<std::complex<float>, 2> field, View<float, 2> real);

  /// Bytes for the sums of `points` points and one chunk of them.
  [[nodiscard]] std::size_t bytes(std::size_t points) const;

 private:
  [[nodiscard]] std::size_t factors_of_a_point() const;

  Shape<2> shape_;
  SumForm form_;
  std::size_t count_ = 0;
  Array<float, 1> planes_;
  Array<float, 1> factors_;
};

}  // namespace holotone::point_cloud
