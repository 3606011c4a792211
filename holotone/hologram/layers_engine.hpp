#pragma once
// Between the plan of layers (layers.cpp, the one dispatch) and what computes. Not for users.
#include <holotone/hologram/layers.hpp>

namespace holotone::layers {

/// A layer as loops see it; pointers are memory of their device, {ny, nx}.
struct Source {
  const float* intensity = nullptr;
  const float* mask = nullptr;  ///< null: opaque where there is light
  const std::uint16_t* number =
      nullptr;  ///< not null: only pixels with this number are the layer's, and all of them are opaque
  std::uint16_t wanted = 0;
  bool random = false;
  std::uint64_t seed = 0;
  std::uint64_t first_draw = 0;  ///< the counter of the first pixel's phase
};

/// What becomes of the light that is there.
enum class Carry {
  nothing,  ///< U <- L
  passed,   ///< U <- (1 - m) U + L
  stopped,  ///< U <- L - m U
};

/// The steps between propagations, on one device. Views arrive checked.
class Engine {
 public:
  virtual ~Engine() = default;
  virtual void compose(View<Complex, 2> field, const Source& source, Carry carry) = 0;
  /// sum <- sum + other
  virtual void add(View<Complex, 2> sum, View<const Complex, 2> other) = 0;
};

using EnginePointer = std::unique_ptr<Engine>;

EnginePointer engine_cpu();
EnginePointer engine_cuda(const Queue& queue);

}  // namespace holotone::layers
