// The exact wave by its spectrum, block of the panel by block.
#include <algorithm>
#include <holotone/hologram/point_cloud/choice/method.hpp>
#include <holotone/hologram/point_cloud/spectrum/spectrum_sum_cpu.hpp>
#include <optional>
#include <string>

namespace holotone::point_cloud {
namespace {

using Complex = std::complex<float>;

/// Reports progress of one block of several as progress of all.
class BlockProgress final : public Progress {
 public:
  BlockProgress(Progress& all, std::int64_t blocks) : all_(all), blocks_(blocks) {}
  void next() { ++block_; }
  bool update(std::string_view stage, std::int64_t done, std::int64_t total) override {
    return all_.update(stage, block_ * total + done, blocks_ * total);
  }

 private:
  Progress& all_;
  std::int64_t blocks_;
  std::int64_t block_ = 0;
};

/// Calls run(block, progress) for blocks of `extent` that cover some rows of the panel.
template <class Run>
void for_each_block(const PointCloudOptions& options, const RowRange& rows, const Shape<2>& extent, Progress& progress,
                    const Run& run) {
  const std::int64_t nx = options.shape[1];
  const auto count = [](std::int64_t all, std::int64_t one) { return (all + one - 1) / one; };
  BlockProgress part(progress, count(rows.rows, extent[0]) * count(nx, extent[1]));
  for (std::int64_t row = rows.first_row; row < rows.end(); row += extent[0]) {
    for (std::int64_t column = 0; column < nx; column += extent[1], part.next()) {
      run(PanelBlock{row, column, {std::min(extent[0], rows.end() - row), std::min(extent[1], nx - column)}}, part);
    }
  }
}

class SpectrumCpu final : public BlockEngine {
 public:
  explicit SpectrumCpu(const PointCloudOptions& options) : BlockEngine(options) {}

  void set_points(EnginePoints points, const MethodChoice& choice) override {
    points_ = std::move(points.pixels);
    block_ = choice.spectrum_block;
    sum_.reset();
    forget_block();
  }

  [[nodiscard]] PointCloudInfo info() const override {
    const std::size_t bytes = sizeof(*this) + points_.size() * sizeof(PixelPoint) + field_bytes() + memory_.bytes();
    return {PointMethod::fast, "float32, spectrum" + (sum_ ? " in " + sum_->tiles() + " tiles" : std::string()),
            options().tolerance, bytes};
  }

 protected:
  [[nodiscard]] std::int64_t block_rows() const override { return block_[0]; }
  void sum(const FieldOfRows& field, Progress& progress) override;

 private:
  void sum_block(const PanelBlock& block, const FieldOfRows& field, Progress& progress);

  std::vector<PixelPoint> points_;
  Shape<2> block_{1, 1};
  std::optional<SpectrumSum> sum_;  ///< of the last block; a panel of one block keeps it for the next call
  SpectrumMemory memory_;
};

void SpectrumCpu::sum_block(const PanelBlock& block, const FieldOfRows& field, Progress& progress) {
  const bool whole = block.shape == options().shape;
  const auto lit = whole ? LitPoints() : points_of_block(points_, block);
  const std::span<const PixelPoint> points = whole ? points_ : lit.points;
  if (points.empty()) {
    for (std::int64_t row = 0; row < block.shape[0]; ++row) {
      std::fill_n(&field(block.first_row + row, block.first_column), block.shape[1], Complex());
    }
    return;
  }
  if (!whole || !sum_) sum_.emplace("PointCloudPlan::execute", options(), block, points);
  sum_->sum(points, field, memory_, progress);
}

void SpectrumCpu::sum(const FieldOfRows& field, Progress& progress) {
  for_each_block(options(), field.rows(), block_, progress,
                 [&](const PanelBlock& block, Progress& part) { sum_block(block, field, part); });
}

}  // namespace

EnginePointer spectrum_cpu(const PointCloudOptions& options) { return std::make_unique<SpectrumCpu>(options); }

void spectrum_adjoint_cpu(const PointCloudOptions& options, PointDerivative by, View<const float, 2> position_m,
                          View<const Complex, 2> field, View<Complex, 1> values, Progress& progress) {
  std::fill_n(values.data(), values.size(), Complex());
  const auto frame = frame_of(options);
  LitPoints all;  // that light some pixel, whatever their amplitude
  for (std::int64_t j = 0; j < position_m.shape()[0]; ++j) {
    const auto point = to_pixels(frame, position_m(j, 0), position_m(j, 1), position_m(j, 2), 1, 0);
    if (point.column_begin >= point.column_end) continue;
    all.points.push_back(point);
    all.index.push_back(static_cast<std::uint32_t>(j));
  }
  if (all.points.empty()) return;
  SpectrumMemory memory;
  for_each_block(options, {0, options.shape[0]}, choose_spectrum_block(options, all.points), progress,
                 [&](const PanelBlock& block, Progress& part) {
                   const auto lit = points_of_block(all.points, block);
                   if (lit.points.empty()) return;
                   std::vector<Complex> some(lit.points.size());
                   const SpectrumSum sum("PointCloudPlan::adjoint", options, block, lit.points);
                   sum.add_adjoint(by, lit.points, field, some, memory, part);
                   for (std::size_t i = 0; i < some.size(); ++i) values(all.index[lit.index[i]]) += some[i];
                 });
}

}  // namespace holotone::point_cloud
