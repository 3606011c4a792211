#pragma once
// Interface between the plan (propagation.cpp, the one dispatch) and its engines. Not for users.
#include <holotone/fft/fft.hpp>
#include <holotone/optics/propagation.hpp>
#include <holotone/optics/propagation_math.h>
#include <vector>

namespace holotone::propagation {

/// Position of the field in the padded array.
struct Layout {
  Shape<2> padded{};
  std::int64_t row = 0;  ///< row of the field's first pixel
  std::int64_t col = 0;
  friend bool operator==(const Layout&, const Layout&) = default;
};

/// Output: exactly one of the field and its squared modulus is set.
struct Target {
  View<Complex, 2> field;
  View<float, 2> intensity;
};

/// What an engine does with the spectrum of an input.
enum class Spectrum {
  none,  ///< computes it
  keep,  ///< computes it and keeps it
  kept,  ///< takes that which it keeps
};

/// Propagation on one device. Views are already checked.
class Engine {
 public:
  virtual ~Engine() = default;
  virtual void copy(View<const Complex, 2> input, const Target& target) = 0;
  /// `none` may lose the kept spectrum.
  virtual void angular_spectrum(View<const Complex, 2> input, const Target& target, double distance_m,
                                Spectrum spectrum) = 0;
  virtual void fresnel(View<const Complex, 2> input, const Target& target, double distance_m) = 0;
  [[nodiscard]] virtual std::size_t workspace_bytes() const = 0;
};

using EnginePointer = std::unique_ptr<Engine>;

EnginePointer engine_cpu(const PropagationOptions& options);
EnginePointer engine_cuda(const PropagationOptions& options, const Queue& queue);
EnginePointer engine_opencl(const PropagationOptions& options, const Queue& queue);

/// True if a plan with these options can use the method.
bool uses_angular_spectrum(const PropagationOptions& options);
bool uses_fresnel(const PropagationOptions& options);

Layout angular_spectrum_layout(const PropagationOptions& options);
Layout fresnel_layout(const PropagationOptions& options);

double output_pitch_m(const PropagationOptions& options);
Transfer make_transfer(const PropagationOptions& options, double distance_m);
/// axis 0: y (its constant factors hold exp(ikd) pitch^2 / (i lambda d)), axis 1: x.
FresnelAxis make_fresnel_axis(const PropagationOptions& options, double distance_m, int axis);

/// 1 / phihat(m / L) for every sample of an axis, m counted from the middle: undoes the shape of the taps.
std::vector<float> tap_compensation(std::int64_t count, std::int64_t length);

}  // namespace holotone::propagation
