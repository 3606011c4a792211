// `fast` of the exact wave on CUDA: its spectrum, or coarse nodes, whichever was chosen for the points.
#include <holotone/hologram/point_cloud/choice/method.hpp>
#include <holotone/hologram/point_cloud/engine.hpp>

namespace holotone::point_cloud {
namespace {

class ExactCuda final : public PointCloudPlan::Engine {
 public:
  ExactCuda(const PointCloudOptions& options, std::int64_t rows_at_once, const Queue& queue)
      : options_(options), rows_at_once_(rows_at_once), queue_(queue), engine_(spectrum_cuda(options, queue)) {}

  void set_points(EnginePoints points, const MethodChoice& choice) override {
    const bool on_nodes = choice.fast.grid.has_value();
    if (!engine_ || on_nodes != on_nodes_) {
      engine_.reset();  // frees its memory first
      engine_ = on_nodes ? fast_cuda(options_, rows_at_once_, queue_) : spectrum_cuda(options_, queue_);
      on_nodes_ = on_nodes;
    }
    engine_->set_points(std::move(points), choice);
  }
  void execute(const RowRange& part, const PointCloudOutput& output, Progress& progress) override {
    engine_->execute(part, output, progress);
  }
  [[nodiscard]] PointCloudInfo info() const override { return engine_ ? engine_->info() : PointCloudInfo{}; }

 private:
  PointCloudOptions options_;
  std::int64_t rows_at_once_;
  Queue queue_;
  bool on_nodes_ = false;
  EnginePointer engine_;
};

}  // namespace

EnginePointer exact_cuda(const PointCloudOptions& options, std::int64_t rows_at_once, const Queue& queue) {
  return std::make_unique<ExactCuda>(options, rows_at_once, queue);
}

}  // namespace holotone::point_cloud
