#include <algorithm>
#include <cmath>
#include <holotone/hologram/point_cloud/choice/method.hpp>
#include <holotone/hologram/point_cloud/fast/block_points_cuda.cuh>
#include <holotone/hologram/point_cloud/fast/fast_products_cuda.cuh>
#include <holotone/hologram/point_cloud/fast/parted_product_cuda.hpp>
#include <holotone/hologram/point_cloud/fast/spread_rows_cuda.hpp>
#include <string>
#include <type_traits>
#include <vector>

namespace holotone::point_cloud {
namespace {

/// Constant tables and matrices of a grid, and the buffers of a sum over it.
class FastPlan {
 public:
  explicit FastPlan(const Queue& queue)
      : queue_(queue),
        scratch_({static_cast<std::int64_t>(cuda::MatrixProduct::workspace_bytes)}, queue),
        rows_(queue) {}

  void make(const FastGrid& grid, const SpreadWindow& window, double tolerance) {
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
  FastSums sum(cuda::MatrixProductChoice how) {
    columns_product_.run(how, columns_.data(), rows_.rows(), between_.data());
    apply_middle(grid_, between_.data(), middle_.data(), operand_.data(), cuda::stream_of(queue_));
    depth_product_.run(how, depth_.data(), operand_.data(), pixels_.data());
    return {pixels_.data(), 1 / rows_.scale(), nullptr};
  }

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
  void make_tables(const SpreadWindow& window) {
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

/// Sums over the grid of a block (fast_block_shape). set_points fills the grid if the block is the whole panel.
/// Otherwise execute fills it, with the same matrices, if it holds another block. Where blocks are less than whole
/// rows, one grid serves all places, and each block is summed from the points that light it.
class FastCuda final : public PointCloudPlan::Engine {
 public:
  FastCuda(const PointCloudOptions& options, std::int64_t rows_at_once, const Queue& queue)
      : options_(options),
        rows_at_once_(rows_at_once),
        block_(fast_block_shape(options.shape, rows_at_once,
                                may_be_coarse_sums(options.tolerance, fast_masks_on_chip(options.tolerance, queue)))),
        queue_(queue),
        plan_(queue),
        products_(options, queue, divides_rows()),
        block_points_(options, queue) {}

  void set_points(EnginePoints points, const MethodChoice& choice) override {
    const cuda::DeviceScope scope(queue_.device());
    filled_.reset();
    if (number_ != choice.fast_number) {
      number_ = 0;  // in case the following calls fail
      choice_ = choice.fast;
      plan_.make(*choice_.grid, choice_.window, options_.tolerance);
      remade_ = false;
      number_ = choice.fast_number;
    }
    points_ = std::move(points);
    timed_ = choice.timed;
    if (block_ == options_.shape) {
      fill({0, 0, block_});
    } else if (divides_rows()) {
      points_.sources = block_points_.keep(points_.sources, points_.summary);
    } else {
      keep_sources();
    }
  }

  void execute(const RowRange& part, const PointCloudOutput& output, Progress& progress) override {
    const cuda::DeviceScope scope(queue_.device());
    const std::int64_t before = divides_rows() ? (timed_ ? 1 : 0) : executions_++;
    const auto how = cuda::MatrixProduct::choice_after(before, options_.deterministic);
    const std::int64_t width = options_.shape[1];
    const std::int64_t blocks_across = (width + block_[1] - 1) / block_[1];
    const std::int64_t steps = part.rows * blocks_across;
    for (std::int64_t row = part.first_row; row < part.end(); row += block_[0]) {
      const std::int64_t rows = std::min(block_[0], part.end() - row);
      std::int64_t done = (row - part.first_row) * blocks_across;
      for (std::int64_t column = 0; column < width; column += block_[1]) {
        // The last blocks end at the panel's last row and column and have full extents.
        const PanelBlock block{std::min(row, options_.shape[0] - block_[0]), std::min(column, width - block_[1]),
                               block_};
        if (filled_ != block) fill(block);
        FastSums sums = dark_ || !plan_.transforms() ? FastSums{nullptr, 1, nullptr} : plan_.sum(how);
        progress.step("summing points", done, steps);
        if (!products_.empty()) sums.extra = products_.sum(how, plan_.scratch());
        write_pixels(plan_.grid(), sums, plan_.factors(), {row - block.first_row, rows},
                     (row - part.first_row) * width + block.first_column, width, pointers_of(output),
                     cuda::stream_of(queue_));
        done += rows;
        progress.step("summing points", done, steps);
      }
    }
  }

  [[nodiscard]] PointCloudInfo info() const override {
    const FastGrid& grid = plan_.grid();  // empty before set_points
    const std::string tiles = std::to_string(grid.tiles_x) + " x " + std::to_string(grid.tiles_y);
    const std::string blocks = divides_rows()
                                   ? " of blocks of " + std::to_string(block_[1]) + " x " + std::to_string(block_[0])
                                   : std::string();
    const std::string side = std::to_string(grid.coarse_side);
    const std::string sums = plan_.transforms()     ? ", non-uniform FFT in " + tiles + " tiles"
                             : grid.coarse_side > 0 ? ", coarse nodes in tiles of " + side + " x " + side
                                                    : ", products where lit";
    return {PointMethod::fast, (grid.split == 3 ? "fp16 pairs" : "fp16") + sums + blocks, options_.tolerance,
            plan_.bytes() + products_.bytes() + block_points_.bytes()};
  }

 private:
  [[nodiscard]] bool divides_rows() const { return block_[1] < options_.shape[1] || block_[0] < rows_at_once_; }

  /// Copies the points: execute spreads them after the caller's views have expired.
  void keep_sources() {
    const auto keep = [this](auto& owned, auto& view) {
      using Own = std::remove_reference_t<decltype(owned)>;
      if (owned.data() == nullptr || owned.shape() != view.shape()) owned = Own(view.shape(), queue_);
      copy(owned.view(), view, queue_);
      view = owned.view();
    };
    PointSources& sources = points_.sources;
    keep(position_m_, sources.position_m);
    keep(amplitude_, sources.amplitude);
    if (!sources.phase_rad.empty()) keep(phase_rad_, sources.phase_rad);
  }

  /// Spreads the points for a block.
  void fill(const PanelBlock& block) {
    filled_.reset();  // in case the following calls fail
    const bool divided = divides_rows();
    const PointSources sources = divided ? block_points_.select(points_.sources, block) : points_.sources;
    const FastCloud cloud = fast_cloud(options_, block, sources.amplitude.size(), points_.summary);
    dark_ = cloud.count == 0;
    if (dark_) {
      products_.clear();
      filled_ = block;
      return;
    }
    if (!divided && block_[0] < options_.shape[0]) lay_boxes(block);
    const RawPoints raw{
        sources.position_m.data(), sources.amplitude.data(), sources.phase_rad.data(), cloud.count,
        cloud.inverse_pitch,       cloud.center_x,           cloud.center_y,           cloud.turns_metre,
        cloud.reach_per_metre};
    if (plan_.transforms()) plan_.set(raw, summarize(cloud), options_.deterministic);
    if (plan_.transforms() && lights_whole_panel(cloud)) {
      products_.clear();
    } else {
      products_.set(plan_.grid(), raw, points_.summary.largest);
    }
    filled_ = block;
  }

  /// Summary of the points that light a block: bounds of their sums.
  static PointSummary summarize(const FastCloud& cloud) {
    PointSummary summary = cloud.summary;
    summary.squares = std::min(summary.squares, static_cast<float>(cloud.count) * summary.largest * summary.largest);
    return summary;
  }

  void lay_boxes(const PanelBlock& block) {
    // The cloud that the grid was made for, which contains the present one.
    const FastCloud cloud = fast_cloud(options_, block, choice_.cloud.count, choice_.cloud.summary);
    // A deterministic part always begins with the same grid, whatever parts were summed before.
    FastGrid grid = options_.deterministic ? *choice_.grid : plan_.grid();
    if (!move_fast_grid(grid, cloud)) {
      // At the band limit, boxes of parts in between may be larger: makes a grid with room for them.
      remade_ = true;
      plan_.make(remade_fast_grid(grid, choice_.window, cloud, options_.tolerance), choice_.window, options_.tolerance);
    } else if (options_.deterministic && remade_) {
      plan_.make(grid, choice_.window, options_.tolerance);
      remade_ = false;
    } else {
      plan_.move(grid);
    }
  }

  PointCloudOptions options_;
  std::int64_t rows_at_once_;
  Shape<2> block_;
  Queue queue_;
  std::int64_t executions_ = 0;
  bool timed_ = false;  ///< blocks are multiplied by the fastest algorithm
  FastPlan plan_;
  FastProducts products_;
  BlockPoints block_points_;
  EnginePoints points_;
  Array<float, 2> position_m_;  ///< copies of the points, if parts are computed
  Array<float, 1> amplitude_;
  Array<float, 1> phase_rad_;
  FastChoice choice_;
  int number_ = 0;                    ///< MethodChoice::fast_number of the grid
  bool remade_ = false;               ///< the plan's grid has other extents than that of choice_
  std::optional<PanelBlock> filled_;  ///< block that the grid holds
  bool dark_ = false;                 ///< no point lights it
};

}  // namespace

EnginePointer fast_cuda(const PointCloudOptions& options, std::int64_t rows_at_once, const Queue& queue) {
  return std::make_unique<FastCuda>(options, rows_at_once, queue);
}

}  // namespace holotone::point_cloud
