// The choice of a fit's backend.
#include <holotone/core/no_backend.hpp>
#include <holotone/smoe/fit/engine.hpp>

namespace holotone::smoe {

FitEngine::FitEngine(std::span<const SmoeFitView> views)
    : dimensions_(2 + static_cast<int>(views.front().at.size())),
      channels_(static_cast<int>(views.front().image.shape()[2])),
      size_{views.front().image.shape()[0], views.front().image.shape()[1]},
      limits_(pixel_limits(size_)) {}

ViewPoint to_view_point(const SmoeFitView& view) {
  ViewPoint at{};
  std::copy(view.at.begin(), view.at.end(), at.begin());
  return at;
}

FitEnginePointer fit_engine(const char* where, std::span<const SmoeFitView> views, const Queue& queue) {
  switch (queue.device().backend) {
    case Backend::cpu: return fit_engine_cpu(views);
    case Backend::cuda:
#if HOLOTONE_CUDA
      return fit_engine_cuda(views, queue);
#endif
    case Backend::opencl: break;
  }
  throw_no_backend(where, queue.device());
}

}  // namespace holotone::smoe
