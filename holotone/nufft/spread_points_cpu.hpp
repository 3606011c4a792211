#pragma once
// Points sorted for spreading and interpolation on the CPU. Not for users.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <holotone/core/parallel.hpp>
#include <holotone/nufft/place.hpp>
#include <vector>

namespace holotone::nufft {

/// Grid for spreading points: `extent` cells on each axis, slowest first, and `halo` more beyond the last. A periodic
/// grid folds the halo back to its beginning. Rows are `stride` cells apart.
template <std::size_t Rank>
struct SpreadGrid {
  std::array<std::int64_t, Rank> extent{};
  std::int64_t halo = 0;
  [[nodiscard]] std::int64_t stride() const { return (extent[Rank - 1] + halo + 15) / 16 * 16; }
  [[nodiscard]] std::int64_t rows() const { return extent[Rank - 2] + halo; }
  [[nodiscard]] std::int64_t planes() const { return Rank == 3 ? extent[0] + halo : 1; }
  [[nodiscard]] std::int64_t cells() const { return planes() * rows() * stride(); }
};

/// One point on the grid: the first cell of its window on each axis (fastest first), its position between cells, -1 <=
/// place < 1 (WindowPolynomial's t), and its index in the caller's arrays.
template <class Real, std::size_t Rank>
struct SpreadPoint {
  std::array<std::int32_t, Rank> cell;
  std::array<Real, Rank> place;
  std::uint32_t index;
};

/// Width of a bin, in cells.
constexpr std::int64_t spread_bin_cells = 32;

/// Points of a call sorted by slab: `slab_rows` rows of the second-fastest axis each. Within a slab they are sorted by
/// small bins, so that neighbours in the list touch the same cache lines. The order depends only on the points, not on
/// the number of threads.
template <class Real, std::size_t Rank>
class SpreadPoints {
 public:
  using Point = SpreadPoint<Real, Rank>;

  /// locate(j, point) sets cell and place of the caller's point j; it returns true for a non-zero strength.
  template <class Locate>
  void sort(std::int64_t count, const SpreadGrid<Rank>& grid, std::int64_t slab_rows, const Locate& locate);

  [[nodiscard]] const std::vector<Point>& points() const { return points_; }
  [[nodiscard]] std::int64_t slabs() const { return static_cast<std::int64_t>(slab_begin_.size()) - 1; }
  [[nodiscard]] std::int64_t slab_begin(std::int64_t slab) const { return slab_begin_[static_cast<std::size_t>(slab)]; }
  [[nodiscard]] std::int64_t slab_rows() const { return slab_rows_; }
  [[nodiscard]] std::size_t bytes() const { return points_.capacity() * sizeof(Point); }

 private:
  std::int64_t slab_rows_ = 1;
  std::vector<Point> points_;
  std::vector<std::int64_t> slab_begin_{0};
};

template <class Real, std::size_t Rank>
template <class Locate>
void SpreadPoints<Real, Rank>::sort(std::int64_t count, const SpreadGrid<Rank>& grid, std::int64_t slab_rows,
                                    const Locate& locate) {
  slab_rows_ = slab_rows;
  const std::int64_t slab_count = (grid.extent[Rank - 2] + slab_rows - 1) / slab_rows;
  const std::int64_t bins_x = (grid.extent[Rank - 1] + spread_bin_cells - 1) / spread_bin_cells;
  const std::int64_t bins = slab_count * bins_x;
  const auto find_bin = [&](const Point& point) {
    return point.cell[1] / slab_rows * bins_x + point.cell[0] / spread_bin_cells;
  };
  // Stable counting sort: every part of the list first counts its points in each bin, which gives their offsets.
  const std::int64_t parts = std::clamp<std::int64_t>(count / 4096, 1, thread_count());
  const auto part_begin = [&](std::int64_t part) { return count * part / parts; };
  std::vector<std::uint32_t> next(static_cast<std::size_t>(parts * bins), 0);
  std::vector<std::uint32_t> bin(static_cast<std::size_t>(count));
  constexpr std::uint32_t nowhere = 0xFFFFFFFF;
  parallel_for(0, parts, [&](std::int64_t part) {
    std::uint32_t* const counts = next.data() + part * bins;
    Point point;
    for (std::int64_t j = part_begin(part); j < part_begin(part + 1); ++j) {
      const bool counts_in = locate(j, point);
      const auto number = counts_in ? static_cast<std::uint32_t>(find_bin(point)) : nowhere;
      bin[static_cast<std::size_t>(j)] = number;
      if (counts_in) ++counts[number];
    }
  });
  slab_begin_.assign(static_cast<std::size_t>(slab_count) + 1, 0);
  std::uint32_t total = 0;
  for (std::int64_t b = 0; b < bins; ++b) {
    if (b % bins_x == 0) slab_begin_[static_cast<std::size_t>(b / bins_x)] = total;
    for (std::int64_t part = 0; part < parts; ++part) {
      auto& entry = next[static_cast<std::size_t>(part * bins + b)];
      const std::uint32_t here = entry;
      entry = total;
      total += here;
    }
  }
  slab_begin_.back() = total;
  points_.resize(total);
  parallel_for(0, parts, [&](std::int64_t part) {
    std::uint32_t* const places = next.data() + part * bins;
    Point point;
    for (std::int64_t j = part_begin(part); j < part_begin(part + 1); ++j) {
      const std::uint32_t place = bin[static_cast<std::size_t>(j)];
      if (place == nowhere) continue;
      locate(j, point);
      point.index = static_cast<std::uint32_t>(j);
      points_[places[place]++] = point;
    }
  });
}

}  // namespace holotone::nufft
