#pragma once
// Interface between SpotPlan and its engines. Not for users.
#include <complex>
#include <holotone/retrieval/spots/spot_plan.hpp>
#include <memory>
#include <span>
#include <vector>

namespace holotone::spots {

/// A spot as its wave on the panel's pixels.
struct SpotPlace {
  double fx = 0;  ///< cycles a pixel
  double fy = 0;
  double z_m = 0;
};

/// The panel's field E = exp(i phi) and the spots' waves on one device. The light is that of options: of mean square 1.
class Engine {
 public:
  virtual ~Engine() = default;
  /// Null: even light. E has its phase from now on.
  virtual void set_light(const Complex* light) = 0;
  virtual void set_spots(std::span<const SpotPlace> spots) = 0;
  /// E = unit(sum_m c_m e_m), with `keep` unit(E + sum_m c_m e_m).
  virtual void build(std::span<const std::complex<double>> coefficients, bool keep) = 0;
  /// u_m = 1 / (nx ny) sum A E conj(e_m) of the modulated light; levels > 0: of the phase rounded to them.
  virtual void look(std::span<std::complex<double>> values, int levels) = 0;
  /// The same of the light without a phase of the panel.
  virtual void look_unmodulated(std::span<std::complex<double>> values) = 0;
  /// Rounds the phase, without the light's, to the nearest of equally spaced levels.
  virtual void round(int levels) = 0;
  virtual void set_phase(const float* phase_rad) = 0;
  virtual void phase(float* phase_rad) const = 0;
};

std::unique_ptr<Engine> make_engine_cpu(const SpotOptions& options);

}  // namespace holotone::spots
