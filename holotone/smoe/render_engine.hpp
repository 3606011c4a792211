#pragma once
// Between the renderer (render.cpp, the one dispatch) and what computes. Not for users.
#include <holotone/smoe/render.hpp>

namespace holotone {

/// Views and images arrive checked; `view.extent` is > 0.
class SmoeRenderer::Engine {
 public:
  virtual ~Engine() = default;
  virtual void render(const SmoeView& view, View<float, 3> image) = 0;
  [[nodiscard]] virtual SmoeRenderInfo info() const = 0;
};

namespace smoe {

using EnginePointer = std::unique_ptr<SmoeRenderer::Engine>;

/// `model` outlives the engine.
EnginePointer engine_cpu(const SmoeModel& model, const SmoeRenderOptions& options);

}  // namespace smoe
}  // namespace holotone
