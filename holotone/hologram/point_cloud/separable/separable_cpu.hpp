#pragma once
// Waves summed as matrix products of factors on the CPU. Not for users.
#include <algorithm>
#include <cmath>
#include <holotone/hologram/point_cloud/engine_cpu.hpp>
#include <utility>

namespace holotone::point_cloud {

/// Pixels begin .. end-1 of one axis.
struct PixelRange {
  std::int32_t begin = 0;
  std::int32_t end = 0;
  [[nodiscard]] std::int32_t size() const { return end - begin; }
};

/// The pixels that some of the points light.
struct LitArea {
  PixelRange rows;
  PixelRange columns;
};
template <class Point>
LitArea lit_area(std::span<const Point> points) {
  LitArea area{{points[0].row_begin, points[0].row_end}, {points[0].column_begin, points[0].column_end}};
  for (const auto& point : points) {
    area.rows = {std::min(area.rows.begin, point.row_begin), std::max(area.rows.end, point.row_end)};
    area.columns = {std::min(area.columns.begin, point.column_begin), std::max(area.columns.end, point.column_end)};
  }
  return area;
}

/// Factors of one point along one axis over `range`, zero outside `lit`:
/// scale exp(2 pi i (curvature (pixel - centre)^2 + offset)).
void axis_factors(PixelRange range, PixelRange lit, double centre, double curvature, double offset, float scale,
                  float* cosine, float* sine);

/// Sorts points that light the same pixels next to one another, so that a chunk's product covers little more than the
/// lit pixels. Point: PixelPoint or a class derived from it.
template <class Point>
void sort_by_place(std::vector<Point>& points, const Shape<2>& shape) {
  double lit = 0;
  for (const auto& point : points) {
    lit += static_cast<double>(point.row_end - point.row_begin) *
           static_cast<double>(point.column_end - point.column_begin);
  }
  const double mean_lit = lit / static_cast<double>(points.size());
  if (mean_lit > 0.95 * static_cast<double>(element_count(shape))) return;
  const double cell = std::max(16.0, std::sqrt(mean_lit) / 4);
  const auto key = [cell](const PixelPoint& point) {
    const auto row = static_cast<std::int64_t>((point.row_begin + point.row_end) / (2 * cell));
    const auto column = static_cast<std::int64_t>((point.column_begin + point.column_end) / (2 * cell));
    return std::pair(row, row % 2 == 0 ? column : -column);  // back and forth: neighbours stay neighbours
  };
  std::stable_sort(points.begin(), points.end(), [&](const auto& a, const auto& b) { return key(a) < key(b); });
}

/// Points of a chunk whose factors, `floats_of_a_point` each, are still in a shared cache when sgemm packs them.
std::size_t cached_points(std::size_t floats_of_a_point, std::size_t most);

/// Real products that form a complex sum (separable_cpu.cpp).
enum class SumForm { three_products, two_products, real_part };

/// The cheapest form of a complex sum that keeps `tolerance`.
SumForm sum_form(double tolerance);
/// The relative l2 error that a form keeps.
double sum_error(SumForm form);

/// Accumulated sums of waves: points are added in any number of pieces, then the sums are moved to the outputs.
class FactorProducts {
 public:
  /// deterministic: the same bits for any number of threads.
  FactorProducts(const Shape<2>& shape, SumForm form, bool deterministic)
      : shape_(shape), form_(form), deterministic_(deterministic) {}
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
  bool deterministic_;
  std::size_t count_ = 0;
  Array<float, 1> planes_;
  Array<float, 1> factors_;
};

}  // namespace holotone::point_cloud
