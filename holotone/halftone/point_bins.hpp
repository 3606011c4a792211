#pragma once
// Points of a page sorted into square bins. Not for users.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace holotone::halftone {

struct PointBins {
  float left = 0;
  float top = 0;
  float side = 1;  ///< side of a bin
  std::int64_t columns = 1;
  std::int64_t rows = 1;
  std::vector<std::uint32_t> start;  ///< offsets: bin b has index[start[b]] .. index[start[b + 1] - 1], rising
  std::vector<std::uint32_t> index;

  [[nodiscard]] std::int64_t find_column(float x) const {
    return std::clamp(static_cast<std::int64_t>(std::floor((x - left) / side)), std::int64_t{0}, columns - 1);
  }
  [[nodiscard]] std::int64_t find_row(float y) const {
    return std::clamp(static_cast<std::int64_t>(std::floor((y - top) / side)), std::int64_t{0}, rows - 1);
  }
};

/// Sorts points into bins of their bounding box, about `points_a_bin` points per bin, at most 4 bins per point.
/// `position`: x, y interleaved, finite.
inline PointBins sorted_into_bins(const std::vector<float>& position, double points_a_bin) {
  PointBins bins;
  const auto count = static_cast<std::int64_t>(position.size() / 2);
  if (count == 0) {
    bins.start.assign(2, 0);
    return bins;
  }
  float right = position[0];
  float bottom = position[1];
  bins.left = right;
  bins.top = bottom;
  for (std::size_t j = 0; j < position.size(); j += 2) {
    bins.left = std::min(bins.left, position[j]);
    right = std::max(right, position[j]);
    bins.top = std::min(bins.top, position[j + 1]);
    bottom = std::max(bottom, position[j + 1]);
  }
  const double width = static_cast<double>(right - bins.left);
  const double height = static_cast<double>(bottom - bins.top);
  const double wanted = std::max(1.0, static_cast<double>(count) / points_a_bin);
  // A row of points has no area: divide only the longer side.
  const double side = std::max({std::sqrt(width * height / wanted), std::max(width, height) / wanted, 1e-20});
  bins.side = static_cast<float>(side);
  bins.columns = std::clamp(static_cast<std::int64_t>(width / side) + 1, std::int64_t{1}, 2 * count + 1);
  bins.rows = std::clamp(static_cast<std::int64_t>(height / side) + 1, std::int64_t{1}, 2 * count + 1);
  bins.start.assign(static_cast<std::size_t>(bins.columns * bins.rows) + 1, 0);
  bins.index.resize(static_cast<std::size_t>(count));
  const auto find_bin = [&](std::size_t j) {
    return static_cast<std::size_t>(bins.find_row(position[2 * j + 1]) * bins.columns +
                                    bins.find_column(position[2 * j]));
  };
  for (std::size_t j = 0; j < bins.index.size(); ++j) ++bins.start[find_bin(j) + 1];
  for (std::size_t b = 1; b < bins.start.size(); ++b) bins.start[b] += bins.start[b - 1];
  std::vector<std::uint32_t> next(bins.start.begin(), bins.start.end() - 1);
  for (std::size_t j = 0; j < bins.index.size(); ++j) bins.index[next[find_bin(j)]++] = static_cast<std::uint32_t>(j);
  return bins;
}

}  // namespace holotone::halftone
