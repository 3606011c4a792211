#pragma once
// Interface between the plan (phase_retrieval.cpp) and its engines. Not for users.
#include <array>
#include <holotone/retrieval/phase_retrieval.hpp>
#include <vector>

namespace holotone::retrieval {

/// Sums over the signal region at one position.
struct RegionSums {
  double light = 0;      ///< sum of a^2
  double agreement = 0;  ///< sum of a T
  double target = 0;     ///< sum of T^2
  RegionSums& operator+=(const RegionSums& other) {
    light += other.light;
    agreement += other.agreement;
    target += other.target;
    return *this;
  }
};

inline constexpr std::size_t most_positions = 4;

/// Loss, gradient and vectors on one device. Views are already checked; pointers are to {ny, nx} on the device.
class Engine {
 public:
  virtual ~Engine() = default;
  virtual void set_target(const float* amplitude) = 0;
  /// Propagates a phase to some first positions and returns their sums.
  virtual std::vector<RegionSums> propagate(const float* phase, std::size_t positions) = 0;
  /// Derivative of the loss with scale `s` at the phase and positions of the last propagate.
  virtual void differentiate(const float* phase, double s, float* derivative) = 0;
  virtual double dot(const float* a, const float* b) = 0;
  /// y += factor x
  virtual void add(double factor, const float* x, float* y) = 0;
  virtual void scale(double factor, float* x) = 0;
};

std::unique_ptr<Engine> engine_cpu(const PhaseRetrievalOptions& options);

}  // namespace holotone::retrieval
