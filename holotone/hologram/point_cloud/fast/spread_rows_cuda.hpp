#pragma once
// Points spread over the boxes of a grid's tiles, as operands of its first product. Not for users.
#include <holotone/hologram/point_cloud/fast/fast_cuda.cuh>

namespace holotone::point_cloud {

class SpreadRows {
 public:
  explicit SpreadRows(const Queue& queue) : queue_(queue) {}

  /// Allocates memory for a grid; largest_factor: of the factors by which the first product's columns are multiplied.
  void make(const FastGrid& grid, const SpreadWindow& window, double tolerance, float largest_factor);
  /// Spreads the points over the grid, whose boxes may have moved since `make`.
  void set(const FastGrid& grid, const RawPoints& points, const PointSummary& summary, bool deterministic);

  /// [tile, plane, row][2 column + part] times scale(), with `split` in three segments.
  [[nodiscard]] const __half* rows() const { return rows_.data(); }
  [[nodiscard]] float scale() const { return scale_; }
  [[nodiscard]] std::size_t bytes() const {
    return cells_.bytes() + exact_cells_.bytes() + fixed_cells_.bytes() + rows_.bytes() + sort_memory_.bytes();
  }

 private:
  template <class Cell>
  void clear(const FastGrid& grid, Cell* cells);
  template <class Cell>
  void spread(const FastGrid& grid, const RawPoints& points, float scale, Cell* cells);
  [[nodiscard]] float compute_scale(const PointSummary& summary, std::int64_t count) const;
  SortMemory reserve_sort(const FastGrid& grid, std::int64_t count, bool ordered);

  Queue queue_;
  double tolerance_ = 0;
  std::int64_t longest_sum_ = 0;  ///< most equal numbers that are added in float32
  float scale_ = 1;
  float largest_factor_ = 1;
  Array<float2, 1> cells_;
  Array<double2, 1> exact_cells_;    ///< of clouds with crowds
  Array<longlong2, 1> fixed_cells_;  ///< of deterministic sums
  Array<__half, 1> rows_;
  Array<std::byte, 1> sort_memory_;
};

}  // namespace holotone::point_cloud
