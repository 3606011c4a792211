#pragma once
// Interface between the renderer (render.cpp, the only dispatch) and its backends. Not for users.
#include <holotone/smoe/render.hpp>
#include <span>

namespace holotone {

/// Backend of a renderer. Views and images are already checked: one view or more, of one size, with `extent` > 0.
class SmoeRenderer::Engine {
 public:
  virtual ~Engine() = default;
  virtual void render(std::span<const SmoeView> views, View<float, 4> images, Progress& progress) = 0;
  [[nodiscard]] virtual SmoeRenderInfo info() const = 0;
};

namespace smoe {

using EnginePointer = std::unique_ptr<SmoeRenderer::Engine>;

/// `model` must outlive the engine.
EnginePointer engine_cpu(const SmoeModel& model, const SmoeRenderOptions& options);
EnginePointer engine_cuda(const SmoeModel& model, const Queue& queue, const SmoeRenderOptions& options);
EnginePointer engine_opencl(const SmoeModel& model, const Queue& queue, const SmoeRenderOptions& options);

}  // namespace smoe
}  // namespace holotone
