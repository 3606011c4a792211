#include <algorithm>
#include <cmath>
#include <holotone/hologram/point_cloud/fast/spread_rows_cuda.hpp>
#include <type_traits>

namespace holotone::point_cloud {
namespace {

/// Maximum records (points times tiles) that are sorted and spread at once: bounds the memory of sorting.
constexpr std::int64_t max_records = std::int64_t{1} << 27;

constexpr double sum_share = 0.15;  ///< of the tolerance, for what float32 sums of equal numbers lose

/// Returns the power of two that makes strengths fixed-point numbers whose sums, at most sum |A|, stay below 2^62.
float fixed_scale_of(const PointSummary& summary, std::int64_t count) {
  const double bound = std::sqrt(static_cast<double>(count) * static_cast<double>(summary.squares));
  return bound > 0 ? static_cast<float>(std::exp2(std::clamp(std::floor(61 - std::log2(bound)), -126.0, 126.0))) : 1;
}

}  // namespace

void SpreadRows::make(const FastGrid& grid, const SpreadWindow& window, double tolerance, float largest_factor) {
  tolerance_ = tolerance;
  largest_factor_ = largest_factor;
  longest_sum_ = longest_float_sum(window, sum_share * tolerance, 3);
  // The last pair of columns of an unsorted point may exceed its row by two.
  reserve(cells_, grid.cells() + 8, queue_);
  reserve(rows_, 2 * grid.cells() * grid.split, queue_);
}

/// Spreads the points into rows of the first product.
void SpreadRows::set(const FastGrid& grid, const RawPoints& points, const PointSummary& summary, bool deterministic) {
  const auto stream = cuda::stream_of(queue_);
  if (deterministic) {
    reserve(fixed_cells_, grid.cells() + 8, queue_);
    const float scale = fixed_scale_of(summary, points.count);
    spread(grid, points, scale, fixed_cells_.data());
    round_cells(grid.cells(), fixed_cells_.data(), 1 / static_cast<double>(scale), cells_.data(), stream);
  } else if (summary.crowd > longest_sum_ && !sorts_points(grid, points.count, tolerance_)) {
    reserve(exact_cells_, grid.cells() + 8, queue_);
    clear(grid, exact_cells_.data());
    spread_unsorted(grid, points, 0, points.count, 1, exact_cells_.data(), stream);
    round_cells(grid.cells(), exact_cells_.data(), 1, cells_.data(), stream);
  } else {
    spread(grid, points, 1, cells_.data());
  }
  scale_ = compute_scale(summary, points.count);
  convert_cells(grid, cells_.data(), scale_, rows_.data(), stream);
}

template <class Cell>
void SpreadRows::clear(const FastGrid& grid, Cell* cells) {
  cuda::check(
      cudaMemsetAsync(cells, 0, static_cast<std::size_t>(grid.cells()) * sizeof *cells, cuda::stream_of(queue_)),
      "cudaMemsetAsync");
}

/// Sets the cells to the sums of the points, in integers times `scale`: these are the same in every run.
template <class Cell>
void SpreadRows::spread(const FastGrid& grid, const RawPoints& points, float scale, Cell* cells) {
  const auto stream = cuda::stream_of(queue_);
  clear(grid, cells);
  if (!sorts_points(grid, points.count, tolerance_)) {
    spread_unsorted(grid, points, 0, points.count, scale, cells, stream);
    return;
  }
  const std::int64_t turn = std::min(points.count, std::max<std::int64_t>(1, max_records / grid.tiles()));
  const SortMemory memory = reserve_sort(grid, turn, std::is_same_v<Cell, longlong2>);
  for (std::int64_t first = 0; first < points.count; first += turn) {
    spread_sorted(grid, points, first, std::min(turn, points.count - first), memory, scale, cells, stream);
  }
}

/// Returns a power of two that keeps the rows' largest sums, 2.5 sum |A| <= 2.5 sqrt(count sum A^2), below the
/// largest fp16 number, also after multiplication by the column factors. Values below 6e-8 are lost, which is
/// negligible.
float SpreadRows::compute_scale(const PointSummary& summary, std::int64_t count) const {
  const double sums = 2.5 * std::sqrt(static_cast<double>(count) * static_cast<double>(summary.squares));
  const double bound = sums * std::max(1.0F, largest_factor_);
  return bound > 0 ? static_cast<float>(std::exp2(std::clamp(std::floor(std::log2(60000 / bound)), -100.0, 100.0))) : 1;
}

SortMemory SpreadRows::reserve_sort(const FastGrid& grid, std::int64_t count, bool ordered) {
  const int bins = fast_bins(grid);
  const auto records = static_cast<std::size_t>(count * grid.tiles());
  SortMemory memory{};
  memory.scratch_bytes = fast_sort_bytes(bins, count * grid.tiles(), ordered);
  const auto padded = [](std::size_t bytes) { return (bytes + 255) / 256 * 256; };
  const std::size_t bin_bytes = padded(sizeof(int) * static_cast<std::size_t>(bins + 1));
  const std::size_t order_bytes = ordered ? padded(4 * sizeof(unsigned) * records) : 0;
  reserve(
      sort_memory_,
      static_cast<std::int64_t>(2 * bin_bytes + padded(records * sizeof(uint2)) +
                                padded(records * sizeof(SpreadRecord)) + order_bytes + padded(memory.scratch_bytes)),
      queue_);
  std::byte* at = sort_memory_.data();
  const auto take = [&](std::size_t bytes) {
    std::byte* const here = at;
    at += padded(bytes);
    return static_cast<void*>(here);
  };
  memory.record = static_cast<SpreadRecord*>(take(records * sizeof(SpreadRecord)));
  memory.bin_and_rank = static_cast<uint2*>(take(records * sizeof(uint2)));
  memory.bin_count = static_cast<int*>(take(bin_bytes));
  memory.bin_begin = static_cast<int*>(take(bin_bytes));
  if (ordered) memory.order = static_cast<unsigned*>(take(order_bytes));
  memory.scratch = take(memory.scratch_bytes);
  return memory;
}

}  // namespace holotone::point_cloud
