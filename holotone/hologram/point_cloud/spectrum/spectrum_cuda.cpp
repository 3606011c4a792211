// The exact wave on CUDA: a panel from its spectrum (spectrum_grid.hpp), at once or block by block, or, if its light
// comes from far enough, by Fresnel's and a filter (far_grid.hpp).
#include <algorithm>
#include <holotone/fft/fft.hpp>
#include <holotone/hologram/point_cloud/choice/method.hpp>
#include <holotone/hologram/point_cloud/fast/block_points_cuda.cuh>
#include <holotone/hologram/point_cloud/fast/parted_product_cuda.hpp>
#include <holotone/hologram/point_cloud/fast/spread_rows_cuda.hpp>
#include <holotone/hologram/point_cloud/spectrum/far_sum_cuda.hpp>
#include <holotone/hologram/point_cloud/spectrum/spectrum_tables_cuda.hpp>
#include <optional>
#include <string>
#include <vector>

namespace holotone::point_cloud {
namespace {

class SpectrumCuda final : public PointCloudPlan::Engine {
 public:
  SpectrumCuda(const PointCloudOptions& options, const Queue& queue)
      : options_(options),
        queue_(queue),
        scratch_({static_cast<std::int64_t>(cuda::MatrixProduct::workspace_bytes)}, queue),
        tables_(queue),
        block_points_(options, queue) {}

  void set_points(EnginePoints points, const MethodChoice& choice) override {
    const cuda::DeviceScope scope(queue_.device());
    filled_.reset();
    if (number_ != choice.fast_number) {
      number_ = 0;  // in case the following calls fail
      block_ = choice.spectrum_block;
      if (choice.far.microseconds > 0) {
        if (!far_) far_.emplace(options_, queue_);
        far_->make(choice.far);
        groups_ = 1;
      } else {
        far_.reset();
        make(choice.spectrum);
      }
      number_ = choice.fast_number;
    }
    points_ = std::move(points);
    if (is_whole() && groups_ == 1) {
      fill({0, 0, block_});
    } else {
      points_.sources = block_points_.keep(points_.sources, points_.summary);
    }
  }

  // Parts are cut from sums of blocks, which lie where they do for every part.
  void execute(const RowRange& part, const PointCloudOutput& output, Progress& progress) override {
    const cuda::DeviceScope scope(queue_.device());
    const auto [height, width] = options_.shape;
    const std::int64_t across = (width + block_[1] - 1) / block_[1];
    const std::int64_t steps = part.rows * across;
    for (std::int64_t row = part.first_row / block_[0] * block_[0]; row < part.end(); row += block_[0]) {
      const std::int64_t first = std::max(row, part.first_row);
      const std::int64_t rows = std::min(row + block_[0], part.end()) - first;
      std::int64_t done = (first - part.first_row) * across;
      for (std::int64_t column = 0; column < width; column += block_[1], done += rows) {
        // The last blocks end at the panel's last row and column and have full extents.
        const PanelBlock block{std::min(row, height - block_[0]), std::min(column, width - block_[1]), block_};
        progress.step(stage, done, steps);
        if (filled_ != block) fill(block);
        if (!summed_ || part.rows == height) {
          summed_ = false;
          const auto how = cuda::MatrixProduct::choice_after(executions_++, options_.deterministic);
          far_ ? far_->sum(how) : sum(how);
          summed_ = true;
        }
        write_panel(
            far_ ? far_->panel() : spectrum_.data(), far_ ? far_->row_length() : layout_.period[1],
            {{first - block.first_row, rows}, block_[1], (first - part.first_row) * width + block.first_column, width},
            pointers_of(output), cuda::stream_of(queue_));
      }
    }
    progress.step(stage, steps, steps);
  }

  [[nodiscard]] PointCloudInfo info() const override {
    const FastGrid& grid = far_ ? far_->grid() : grid_;
    const std::string tiles = std::to_string(grid.tiles_x) + " x " + std::to_string(grid.tiles_y) + " tiles";
    const std::string blocks =
        is_whole() ? std::string() : " of blocks of " + std::to_string(block_[1]) + " x " + std::to_string(block_[0]);
    const std::string sums = far_ ? ", Fresnel in " + tiles + " and a filter" : ", spectrum in " + tiles + blocks;
    return {PointMethod::fast, (grid.split == 3 ? "fp16 pairs" : "fp16") + sums, options_.tolerance, bytes()};
  }

 private:
  static constexpr std::string_view stage = "summing plane waves";

  /// Points on the grid: all, or near terms.
  struct Sum {
    FastGrid grid;
    SpreadRows rows;
  };

  [[nodiscard]] bool is_whole() const { return block_ == options_.shape; }
  [[nodiscard]] int first_tile_row(int group) const {
    return std::min(group * grid_.tiles_y, tile_rows_ - grid_.tiles_y);
  }
  [[nodiscard]] FastGrid group_grid(FastGrid grid, int group) const;
  [[nodiscard]] SpectrumEnd group_end(int group) const;
  void spread(Sum& sum, const FastGrid& grid);
  void fill(const PanelBlock& block);
  void make(const SpectrumGrid& choice);
  void make_products();
  void sum(cuda::MatrixProductChoice how);
  [[nodiscard]] std::size_t bytes() const {
    std::size_t all = (far_ ? far_->bytes() : 0) + block_points_.bytes() + scratch_.bytes() + tables_.bytes() +
                      columns_.bytes() + row_matrix_.bytes() + middle_.bytes() + between_.bytes() + operand_.bytes() +
                      planes_.bytes() + spectrum_.bytes() + (transform_ ? transform_->workspace_bytes() : 0);
    for (const Sum& sum : sums_) all += sum.rows.bytes();
    return all;
  }

  PointCloudOptions options_;
  Queue queue_;
  int number_ = 0;  ///< MethodChoice::fast_number of the grid
  std::int64_t executions_ = 0;
  Shape<2> block_{};
  EnginePoints points_;
  std::optional<PanelBlock> filled_;  ///< block for which points are spread, or chosen
  FastCloud cloud_;                   ///< of its points
  PointSources block_sources_;
  bool dark_ = false;    ///< no point lights it
  bool summed_ = false;  ///< its pixels are in memory
  SpectrumLayout layout_;
  FastGrid grid_{};  ///< of the first group of tiles
  int groups_ = 1;
  int tile_rows_ = 1;
  Array<std::byte, 1> scratch_;
  std::optional<FarSum> far_;  ///< if it is what sums
  std::vector<Sum> sums_;
  SpectrumTables tables_;
  BlockPoints block_points_;
  Array<__half, 1> columns_;
  Array<__half, 1> row_matrix_;
  Array<float2, 1> middle_;
  Array<std::byte, 1> between_;
  Array<__half, 1> operand_;
  Array<std::byte, 1> planes_;  ///< the second product
  Array<float2, 1> spectrum_;
  PartedProduct columns_product_;
  PartedProduct rows_product_;
  std::optional<FftPlan> transform_;
  std::int64_t transformed_ = 0;  ///< rows
};

/// Spreads the points for a block.
void SpectrumCuda::fill(const PanelBlock& block) {
  filled_.reset();  // in case the following calls fail
  summed_ = false;
  const bool all = is_whole() && groups_ == 1;
  block_sources_ = all ? points_.sources : block_points_.select(points_.sources, block);
  cloud_ = fast_cloud(options_, block, block_sources_.amplitude.size(), points_.summary);
  dark_ = cloud_.count == 0;
  if (far_) {
    far_->set(block_sources_, points_.summary);
  } else if (!dark_ && groups_ == 1) {
    for (Sum& sum : sums_) spread(sum, sum.grid);
  }
  filled_ = block;
}

void SpectrumCuda::spread(Sum& sum, const FastGrid& grid) {
  const PointSources& from = block_sources_;
  const RawPoints raw{from.position_m.data(), from.amplitude.data(), from.phase_rad.data(),
                      cloud_.count,           cloud_.inverse_pitch,  cloud_.center_x,
                      cloud_.center_y,        cloud_.turns_metre,    cloud_.reach_per_metre};
  sum.rows.set(grid, raw, bounded_summary(cloud_), options_.deterministic);
}

/// The grid of some rows of tiles.
FastGrid SpectrumCuda::group_grid(FastGrid grid, int group) const {
  const int first = first_tile_row(group);
  grid.wave_tiles += static_cast<std::ptrdiff_t>(first) * grid.tiles_x;
  grid.panel_height = std::min(grid.tiles_y * grid.tile_height, grid.panel_height - first * grid.tile_height);
  return grid;
}

SpectrumEnd SpectrumCuda::group_end(int group) const {
  SpectrumEnd end = tables_.end();
  const int rows = first_tile_row(group) * grid_.tile_height;
  end.half_rows -= rows;
  end.row_light += rows;
  return end;
}

void SpectrumCuda::make(const SpectrumGrid& choice) {
  const bool same_transform = transform_ && transform_->shape() == choice.layout.period && transformed_ == block_[0];
  layout_ = choice.layout;
  tables_.make(choice);
  grid_ = tables_.grid();
  groups_ = choice.groups;
  tile_rows_ = choice.tile_rows;
  const std::size_t count = choice.near ? 2 : 1;
  while (sums_.size() > count) sums_.pop_back();
  while (sums_.size() < count) sums_.push_back({{}, SpreadRows(queue_)});
  // Both products have half outputs: the second's sums are larger by the window's, too.
  constexpr float window_sum = 2.5F;
  for (Sum& sum : sums_) {
    sum.grid = grid_;
    sum.grid.near_terms = &sum != &sums_.front();
    sum.rows.make(grid_, choice.window, options_.tolerance,
                  window_sum * tables_.largest_column_factor() * tables_.largest_row_factor());
  }
  make_products();
  if (!same_transform) {
    transform_.reset();
    reserve(spectrum_, element_count(layout_.period), queue_);
    transform_.emplace(layout_.period, queue_, FftOptions{.scale_inverse = false, .first_row = 0, .rows = block_[0]});
    transformed_ = block_[0];
  }
}

void SpectrumCuda::make_products() {
  const auto stream = cuda::stream_of(queue_);
  const std::int64_t all_rows = std::int64_t{1} * grid_.tiles() * grid_.depth_rows();
  const std::int64_t number_bytes = grid_.split == 1 ? sizeof(__half) : sizeof(float);
  reserve(columns_, std::int64_t{4} * grid_.tile_width * grid_.columns * grid_.split, queue_);
  reserve(row_matrix_, std::int64_t{4} * grid_.tile_height * grid_.rows * grid_.split, queue_);
  reserve(middle_, std::int64_t{1} * grid_.tiles() * grid_.tile_width, queue_);
  reserve(between_, 2 * grid_.tile_width * all_rows * number_bytes, queue_);
  reserve(operand_, 2 * all_rows * grid_.tile_width * grid_.split, queue_);
  reserve(planes_, std::int64_t{2} * grid_.tiles() * grid_.planes * grid_.tile_height * grid_.tile_width * number_bytes,
          queue_);
  FastGrid one_plane = grid_;  // whose depth matrix is that of the rows
  one_plane.planes = 1;
  one_plane.steps_m = 1;
  make_fast_matrices(one_plane, tables_.factors(), columns_.data(), row_matrix_.data(), stream);
  make_wave_middle(grid_, tables_.factors(), middle_.data(), stream);
  cuda::MatrixProductShape columns;
  columns.rows = 2 * grid_.tile_width;
  columns.columns = all_rows;
  columns.depth = std::int64_t{2} * grid_.columns * grid_.split;
  columns.half_output = grid_.split == 1;
  columns_product_.make(columns, depth_parts(grid_, grid_.columns, options_.tolerance), queue_, scratch_.data());
  cuda::MatrixProductShape rows;
  rows.rows = 2 * grid_.tile_height;
  rows.columns = grid_.tile_width;
  rows.depth = std::int64_t{2} * grid_.rows * grid_.split;
  rows.batch = std::int64_t{1} * grid_.tiles() * grid_.planes;
  rows.share_a = true;
  rows.half_output = grid_.split == 1;
  rows_product_.make(rows, depth_parts(grid_, grid_.rows, options_.tolerance), queue_, scratch_.data());
}

void SpectrumCuda::sum(cuda::MatrixProductChoice how) {
  const auto stream = cuda::stream_of(queue_);
  const auto bytes = static_cast<std::size_t>(element_count(layout_.period)) * sizeof(float2);
  cuda::check(cudaMemsetAsync(spectrum_.data(), 0, bytes, stream), "cudaMemsetAsync");
  if (dark_) return;
  for (int group = 0; group < groups_; ++group) {
    const SpectrumEnd end = group_end(group);
    if (groups_ > 1) make_wave_middle(group_grid(grid_, group), tables_.factors(), middle_.data(), stream);
    for (Sum& one : sums_) {
      const FastGrid grid = group_grid(one.grid, group);
      if (groups_ > 1) spread(one, grid);
      columns_product_.run(how, columns_.data(), one.rows.rows(), between_.data());
      apply_wave_middle(grid, between_.data(), middle_.data(), operand_.data(), stream);
      rows_product_.run(how, row_matrix_.data(), operand_.data(), planes_.data());
      finish_spectrum(grid, tables_.factors(), end, planes_.data(), 1 / one.rows.scale(), spectrum_.data(), stream);
    }
  }
  transform_->execute({reinterpret_cast<std::complex<float>*>(spectrum_.data()), layout_.period, queue_.device()},
                      FftDirection::inverse);
}

}  // namespace

EnginePointer spectrum_cuda(const PointCloudOptions& options, const Queue& queue) {
  return std::make_unique<SpectrumCuda>(options, queue);
}

}  // namespace holotone::point_cloud
