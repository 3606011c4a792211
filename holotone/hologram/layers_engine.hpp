#pragma once
// Interface between the plan of layers (layers.cpp, the one dispatch) and its engines. Not for users.
#include <holotone/hologram/layers.hpp>

namespace holotone::layers {

/// Layer for the loops; pointers are to memory of the loops' device, {ny, nx}.
struct Source {
  const float* intensity = nullptr;
  const float* mask = nullptr;            ///< null: opaque where its intensity is > 0
  const std::uint16_t* number = nullptr;  ///< not null: the layer has only the pixels with this number, all opaque
  std::uint16_t wanted = 0;
  bool random = false;
  std::uint64_t seed = 0;
  std::uint64_t first_draw = 0;  ///< counter of the first pixel's random phase
  bool dark = false;             ///< only the mask counts; L is 0
};

/// Use of the incident light U by a layer with light L and mask m.
enum class Carry {
  nothing,  ///< U <- L
  passed,   ///< U <- (1 - m) U + L
  stopped,  ///< U <- L - m U
};

/// Steps between propagations, on one device. Views are already checked.
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
EnginePointer engine_opencl(const Queue& queue);

}  // namespace holotone::layers
