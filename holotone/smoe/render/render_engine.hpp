#pragma once
// Between the renderer (render.cpp, the one dispatch) and what computes. Not for users.
#include <holotone/smoe/render.hpp>
#include <span>

namespace holotone {

/// Views and images arrive checked: one view or more, of one size, with `extent` > 0.
class SmoeRenderer::Engine {
 public:
  virtual ~Engine() = default;
  virtual void render(std::span<const SmoeView> views, View<float, 4> images) = 0;
  [[nodiscard]] virtual SmoeRenderInfo info() const = 0;
};

namespace smoe {

using EnginePointer = std::unique_ptr<SmoeRenderer::Engine>;

/// `model` outlives the engine.
EnginePointer engine_cpu(const SmoeModel& model, const SmoeRenderOptions& options);
EnginePointer engine_cuda(const SmoeModel& model, const Queue& queue, const SmoeRenderOptions& options);

}  // namespace smoe
}  // namespace holotone
