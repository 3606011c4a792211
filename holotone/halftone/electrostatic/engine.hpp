#pragma once
// Interface between the plan (electrostatic.cpp, the one dispatch) and its engines. Not for users.
#include <holotone/halftone/electrostatic.hpp>
#include <holotone/halftone/electrostatic/settings.hpp>

namespace holotone {

/// Dots of one plan on one device. Views have the right shape and are on the engine's device; rules and radii are
/// checked. forces, step and move are called only with ink set and at least one dot. Dots are numbered as in
/// set_positions, in any internal order.
class ElectrostaticPlan::Engine {
 public:
  virtual ~Engine() = default;
  /// Throws for bad ink (throw_bad_ink). Stores tables for a total charge of 1, because the number of dots may change
  /// later.
  virtual void set_ink(View<const float, 2> ink) = 0;
  /// Throws for a coordinate that is not finite (throw_bad_position). {0, 2} has no memory.
  virtual void set_positions(View<const float, 2> positions) = 0;
  virtual void positions(View<float, 2> positions) = 0;
  virtual void forces(View<float, 2> forces) = 0;
  virtual void step(const StepRule& rule) = 0;
  virtual void move(View<const float, 2> forces, const StepRule& rule) = 0;
  virtual void shake(float radius, std::uint64_t seed) = 0;
  virtual ForceStatistics statistics() = 0;
  virtual std::int64_t missed_neighbours() = 0;
  [[nodiscard]] virtual std::size_t bytes() const = 0;
  [[nodiscard]] virtual std::string arithmetic() const = 0;
};

namespace electrostatic {

using EnginePointer = std::unique_ptr<ElectrostaticPlan::Engine>;

EnginePointer engine_cpu(const Setup& setup);
EnginePointer engine_cuda(const Setup& setup, const Queue& queue);

/// Throws the errors of set_ink and set_positions, with the same text from every engine. `index`: the first bad pixel
/// of the row-major ink, or the first bad dot; negative in throw_bad_ink: no ink.
[[noreturn]] void throw_bad_ink(const Shape<2>& page, std::int64_t index, float value);
[[noreturn]] void throw_bad_position(std::int64_t dot);

}  // namespace electrostatic
}  // namespace holotone
