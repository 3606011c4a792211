// The exact wave on CUDA: a panel computed whole from its spectrum (spectrum_grid.hpp), or, if its light comes from far
// enough, by Fresnel's and a filter (far_grid.hpp).
#include <holotone/fft/fft.hpp>
#include <holotone/hologram/point_cloud/choice/method.hpp>
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
        tables_(queue) {}

  void set_points(EnginePoints points, const MethodChoice& choice) override {
    const cuda::DeviceScope scope(queue_.device());
    summed_ = false;
    if (number_ != choice.fast_number) {
      number_ = 0;  // in case the following calls fail
      if (choice.far.microseconds > 0) {
        if (!far_) far_.emplace(options_, queue_);
        far_->make(choice.far);
      } else {
        far_.reset();
        make(choice.spectrum);
      }
      number_ = choice.fast_number;
    }
    const PointSources& sources = points.sources;
    if (far_) return far_->set(sources, points.summary);
    const FastCloud cloud = fast_cloud(options_, {0, 0, options_.shape}, sources.amplitude.size(), points.summary);
    const RawPoints raw{
        sources.position_m.data(), sources.amplitude.data(), sources.phase_rad.data(), cloud.count,
        cloud.inverse_pitch,       cloud.center_x,           cloud.center_y,           cloud.turns_metre,
        cloud.reach_per_metre};
    for (Sum& sum : sums_) sum.rows.set(sum.grid, raw, points.summary, options_.deterministic);
  }

  // Parts of a panel are cut from one sum.
  void execute(const RowRange& part, const PointCloudOutput& output, Progress& progress) override {
    const cuda::DeviceScope scope(queue_.device());
    progress.step("summing plane waves", 0, 1);
    if (!summed_ || part.rows == options_.shape[0]) {
      summed_ = false;
      const auto how = cuda::MatrixProduct::choice_after(executions_++, options_.deterministic);
      far_ ? far_->sum(how) : sum(how);
      summed_ = true;
    }
    write_panel(far_ ? far_->panel() : spectrum_.data(), far_ ? far_->row_length() : layout_.period[1], part,
                options_.shape[1], pointers_of(output), cuda::stream_of(queue_));
    progress.step("summing plane waves", 1, 1);
  }

  [[nodiscard]] PointCloudInfo info() const override {
    const FastGrid& grid = far_ ? far_->grid() : grid_;
    const std::string tiles = std::to_string(grid.tiles_x) + " x " + std::to_string(grid.tiles_y) + " tiles";
    const std::string sums = far_ ? ", Fresnel in " + tiles + " and a filter" : ", spectrum in " + tiles;
    return {PointMethod::fast, (grid.split == 3 ? "fp16 pairs" : "fp16") + sums, options_.tolerance, bytes()};
  }

 private:
  /// Points on the grid: all, or near terms.
  struct Sum {
    FastGrid grid;
    SpreadRows rows;
  };

  void make(const SpectrumGrid& choice);
  void make_products();
  void sum(cuda::MatrixProductChoice how);
  [[nodiscard]] std::size_t bytes() const {
    std::size_t all = (far_ ? far_->bytes() : 0) + scratch_.bytes() + tables_.bytes() + columns_.bytes() +
                      row_matrix_.bytes() + middle_.bytes() + between_.bytes() + operand_.bytes() + planes_.bytes() +
                      spectrum_.bytes() + (transform_ ? transform_->workspace_bytes() : 0);
    for (const Sum& sum : sums_) all += sum.rows.bytes();
    return all;
  }

  PointCloudOptions options_;
  Queue queue_;
  int number_ = 0;  ///< MethodChoice::fast_number of the grid
  std::int64_t executions_ = 0;
  bool summed_ = false;  ///< the panel is in memory
  SpectrumLayout layout_;
  FastGrid grid_{};
  Array<std::byte, 1> scratch_;
  std::optional<FarSum> far_;  ///< if it is what sums
  std::vector<Sum> sums_;
  SpectrumTables tables_;
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
};

void SpectrumCuda::make(const SpectrumGrid& choice) {
  const bool same_period = transform_ && transform_->shape() == choice.layout.period;
  layout_ = choice.layout;
  tables_.make(choice);
  grid_ = tables_.grid();
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
  if (!same_period) {
    transform_.reset();
    reserve(spectrum_, element_count(layout_.period), queue_);
    transform_.emplace(layout_.period, queue_,
                       FftOptions{.scale_inverse = false, .first_row = 0, .rows = options_.shape[0]});
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
  for (const auto& [grid, rows] : sums_) {
    columns_product_.run(how, columns_.data(), rows.rows(), between_.data());
    apply_wave_middle(grid, between_.data(), middle_.data(), operand_.data(), stream);
    rows_product_.run(how, row_matrix_.data(), operand_.data(), planes_.data());
    finish_spectrum(grid, tables_.factors(), tables_.end(), planes_.data(), 1 / rows.scale(), spectrum_.data(), stream);
  }
  transform_->execute({reinterpret_cast<std::complex<float>*>(spectrum_.data()), layout_.period, queue_.device()},
                      FftDirection::inverse);
}

}  // namespace

EnginePointer spectrum_cuda(const PointCloudOptions& options, const Queue& queue) {
  return std::make_unique<SpectrumCuda>(options, queue);
}

}  // namespace holotone::point_cloud
