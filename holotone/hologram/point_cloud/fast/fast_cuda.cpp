#include <algorithm>
#include <cmath>
#include <holotone/hologram/point_cloud/choice/method.hpp>
#include <holotone/hologram/point_cloud/fast/block_points_cuda.cuh>
#include <holotone/hologram/point_cloud/fast/fast_plan_cuda.hpp>
#include <holotone/hologram/point_cloud/fast/fast_products_cuda.cuh>
#include <string>
#include <type_traits>

namespace holotone::point_cloud {
namespace {

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
    const bool exact = plan_.grid().wave_ratio > 0;
    const RawPoints raw{sources.position_m.data(),
                        sources.amplitude.data(),
                        sources.phase_rad.data(),
                        cloud.count,
                        cloud.inverse_pitch,
                        cloud.center_x,
                        cloud.center_y,
                        cloud.turns_metre,
                        exact ? mean_reach(limit_cosine(options_)) / options_.pitch_m : cloud.reach_per_metre};
    if (plan_.transforms()) plan_.set(raw, bounded_summary(cloud), options_.deterministic);
    if (plan_.transforms() && lights_whole_panel(cloud)) {
      products_.clear();
    } else {
      products_.set(plan_.grid(), raw, points_.summary.largest);
    }
    filled_ = block;
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
