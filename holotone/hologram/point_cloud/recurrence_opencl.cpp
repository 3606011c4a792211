#include <fmt/format.h>
#include <holotone/hologram/point_cloud/points_opencl.hpp>

namespace holotone::point_cloud {
namespace {

constexpr std::int64_t batch_points = 64;
constexpr std::size_t run_pixels = 16;
constexpr std::size_t group_rows = 8;
constexpr std::size_t group_items = 128;

class RecurrenceOpencl final : public PointCloudPlan::Engine {
 public:
  RecurrenceOpencl(const PointCloudOptions& options, const Queue& queue)
      : options_(options), queue_(queue), points_(options, queue, batch_points) {}

  void set_points(EnginePoints points, const MethodChoice& /*choice*/) override { points_.set(points.sources); }

  void execute(const RowRange& part, const PointCloudOutput& output, Progress& progress) override {
    const auto nx = static_cast<std::size_t>(options_.shape[1]);
    const auto rows = static_cast<std::size_t>(part.rows);
    const std::size_t runs = (nx + run_pixels - 1) / run_pixels;
    kernel(only_real(output))({runs * group_rows, (rows + group_rows - 1) / group_rows, 1}, {group_items, 1, 1},
                              points_.position(), points_.wave(), points_.lit(), cl_long{points_.padded_count()},
                              static_cast<cl_int>(nx), static_cast<cl_int>(part.first_row), static_cast<cl_int>(rows),
                              output.field.data(), output.real.data(), output.phase.data());
    progress.step("summing points", 1, 1);
  }

  [[nodiscard]] PointCloudInfo info() const override {
    return {PointMethod::recurrence, "fixed point 2^-32 turn, anchored every 16 pixels, float32 sum", 2e-6,
            points_.bytes()};
  }

 private:
  opencl::Kernel& kernel(bool real_alone) {
    auto& own = kernels_[real_alone ? 1 : 0];
    if (!own) {
      own = opencl::Kernel(queue_, "holotone/hologram/point_cloud/recurrence_opencl.cl", "recurrence_sum",
                           {fmt::format("-DREAL_ALONE={:d}", real_alone)});
    }
    return own;
  }

  PointCloudOptions options_;
  Queue queue_;
  OpenclPoints points_;
  opencl::Kernel kernels_[2];
};

}  // namespace

EnginePointer recurrence_opencl(const PointCloudOptions& options, const Queue& queue) {
  return std::make_unique<RecurrenceOpencl>(options, queue);
}

}  // namespace holotone::point_cloud
