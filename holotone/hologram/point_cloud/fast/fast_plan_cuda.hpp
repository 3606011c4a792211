#pragma once
// Sums over a grid of tiles of pixels (fast_cuda.cuh). Not for users.
#include <holotone/hologram/point_cloud/fast/parted_product_cuda.hpp>
#include <holotone/hologram/point_cloud/fast/spread_rows_cuda.hpp>

namespace holotone::point_cloud {

/// Constant tables and matrices of a grid, and the buffers of a sum over it.
class FastPlan {
 public:
  explicit FastPlan(const Queue& queue)
      : queue_(queue),
        scratch_({static_cast<std::int64_t>(cuda::MatrixProduct::workspace_bytes)}, queue),
        rows_(queue) {}

  void make(const FastGrid& grid, const SpreadWindow& window, double tolerance);

  /// False if products of factors sum all points.
  [[nodiscard]] bool transforms() const { return grid_.planes > 0; }

  /// Sets the same grid with its boxes placed for another part of the panel (move_fast_grid).
  void move(const FastGrid& grid) { grid_ = grid; }
  [[nodiscard]] const FastGrid& grid() const { return grid_; }
  [[nodiscard]] void* scratch() { return scratch_.data(); }

  /// Spreads the points into rows of the first product.
  void set(const RawPoints& points, const PointSummary& summary, bool deterministic) {
    rows_.set(grid_, points, summary, deterministic);
  }

  /// Computes the tiles' sums, without the phases and window factors that write_pixels applies.
  FastSums sum(cuda::MatrixProductChoice how);

  [[nodiscard]] FastFactors factors() const {
    if (!transforms()) return {};
    const float* const base = tables_.data();
    return {base, base + grid_.tile_width, base + grid_.tile_width + grid_.tile_height,
            static_cast<float>(FastFactors::table_size / grid_.middle_radius)};
  }

  [[nodiscard]] std::size_t bytes() const {
    return scratch_.bytes() + rows_.bytes() + columns_.bytes() + depth_.bytes() + between_.bytes() + operand_.bytes() +
           pixels_.bytes() + tables_.bytes() + middle_.bytes();
  }

 private:
  void make_tables(const SpreadWindow& window);

  Queue queue_;
  FastGrid grid_{};
  float largest_column_factor_ = 1;
  Array<std::byte, 1> scratch_;
  SpreadRows rows_;
  Array<__half, 1> columns_;
  Array<__half, 1> depth_;
  Array<float2, 1> middle_;
  Array<std::byte, 1> between_;
  Array<__half, 1> operand_;
  Array<float, 1> pixels_;
  Array<float, 1> tables_;
  PartedProduct columns_product_;
  PartedProduct depth_product_;
};

}  // namespace holotone::point_cloud
