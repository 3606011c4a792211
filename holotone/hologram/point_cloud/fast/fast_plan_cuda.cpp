#include <algorithm>
#include <holotone/hologram/point_cloud/fast/fast_plan_cuda.hpp>
#include <vector>

namespace holotone::point_cloud {

void FastPlan::make(const FastGrid& grid, const SpreadWindow& window, double tolerance) {
  grid_ = grid;
  if (!transforms()) return;
  make_tables(window);
  rows_.make(grid, window, tolerance, largest_column_factor_);
  const std::int64_t all_rows = std::int64_t{1} * grid.tiles() * grid.depth_rows();
  reserve(columns_, std::int64_t{4} * grid.tile_width * grid.columns * grid.split, queue_);
  reserve(depth_, std::int64_t{4} * grid.tile_height * grid.depth_rows() * grid.split, queue_);
  reserve(middle_, std::int64_t{1} * grid.tiles_x * grid.planes * grid.tile_width, queue_);
  const std::int64_t between_bytes = grid.split == 1 ? sizeof(__half) : sizeof(float);
  reserve(between_, 2 * grid.tile_width * all_rows * between_bytes, queue_);
  reserve(operand_, 2 * all_rows * grid.tile_width * grid.split, queue_);
  reserve(pixels_, std::int64_t{2} * grid.tiles() * grid.tile_height * grid.tile_width, queue_);
  make_fast_matrices(grid, factors(), columns_.data(), depth_.data(), cuda::stream_of(queue_));
  make_middle(grid, factors(), middle_.data(), cuda::stream_of(queue_));
  cuda::MatrixProductShape columns;
  columns.rows = 2 * grid.tile_width;
  columns.columns = all_rows;
  columns.depth = std::int64_t{2} * grid.columns * grid.split;
  columns.half_output = grid.split == 1;
  columns_product_.make(columns, grid.split == 1 ? 1 : 3 * grid.column_chunks, queue_, scratch_.data());
  cuda::MatrixProductShape depth;
  depth.rows = 2 * grid.tile_height;
  depth.columns = grid.tile_width;
  depth.depth = std::int64_t{2} * grid.depth_rows() * grid.split;
  depth.batch = grid.tiles();
  depth.share_a = true;
  depth_product_.make(depth, grid.split == 1 ? 1 : 3 * (grid.planes / grid.plane_chunk), queue_, scratch_.data());
}

FastSums FastPlan::sum(cuda::MatrixProductChoice how) {
  columns_product_.run(how, columns_.data(), rows_.rows(), between_.data());
  apply_middle(grid_, between_.data(), middle_.data(), operand_.data(), cuda::stream_of(queue_));
  depth_product_.run(how, depth_.data(), operand_.data(), pixels_.data());
  return {pixels_.data(), 1 / rows_.scale(), nullptr};
}

void FastPlan::make_tables(const SpreadWindow& window) {
  const auto columns = static_cast<std::size_t>(grid_.tile_width);
  const auto rows = static_cast<std::size_t>(grid_.tile_height);
  std::vector<float> host(columns + rows + FastFactors::table_size + 2);
  const WindowTransform transform(window, 0.5);
  const auto factor = [&](double frequency) { return static_cast<float>(1 / transform(frequency)); };
  for (std::size_t i = 0; i < columns; ++i) {
    host[i] = factor((static_cast<double>(i) - grid_.tile_width / 2) / grid_.steps_x);
  }
  for (std::size_t i = 0; i < rows; ++i) {
    host[columns + i] = factor((static_cast<double>(i) - grid_.tile_height / 2) / grid_.steps_y);
  }
  largest_column_factor_ = *std::max_element(host.begin(), host.begin() + grid_.tile_width);
  const double half_range = grid_.middle_radius / grid_.steps_m;
  for (std::size_t i = 0; i < FastFactors::table_size + 2; ++i) {
    host[columns + rows + i] = factor(half_range * static_cast<double>(i) / FastFactors::table_size);
  }
  reserve(tables_, static_cast<std::int64_t>(host.size()), queue_);
  copy_bytes(tables_.data(), queue_.device(), host.data(), Device{}, host.size() * sizeof(float), queue_);
  queue_.synchronize();
}

}  // namespace holotone::point_cloud
