#pragma once
#include <holotone/optics/propagation.hpp>
#include <optional>

namespace holotone {

/// A viewer's pupil: a circular aperture in a plane in front of the panel.
struct Aperture {
  double x_m = 0;           ///< centre, right of the panel's axis
  double y_m = 0;           ///< centre, above it
  double diameter_m = 0;    ///< > 0
  double distance_m = 0.5;  ///< distance from the panel toward the viewer, >= fresnel_distance_m(grid)
};

struct ReconstructionOptions {
  FieldGrid grid = {};
  PropagationMethod method = PropagationMethod::automatic;
  double output_pitch_m = 0;  ///< 0: the panel's pitch, so that a sweep keeps its scale. Another requires fresnel
  std::optional<Aperture> aperture = {};
};

/// Half the width of the viewing zone at a viewer's distance, where diffraction orders begin to repeat: lambda v / (2
/// pitch).
double viewing_zone_half_width_m(const FieldGrid& grid, double viewer_distance_m);

/// Numerical reconstruction for a camera focused at `distance_m`: |U propagated by -distance|^2, linear light, shape
/// {ny, nx}. distance > 0 focuses behind the panel (virtual image), < 0 in front.
///
/// With an aperture only light through the pupil forms the picture: the pupil's position sets the perspective, and a
/// smaller pupil extends the depth of field. With q = exp(i pi (x^2 + y^2) / (lambda v)), v the viewer's distance,
///   U' = conj(q) IFFT[ P(lambda v f) FFT[q U] ]
/// The transform of q U is, up to a phase, the field in the viewer's plane at X = lambda v fx, Y = lambda v fy; P is 1
/// inside the pupil. The panel is zero-padded to at least twice its size. X repeats with period lambda v / pitch, like
/// the diffraction orders of a real panel. Goodman, Introduction to Fourier Optics, Eq. (4-17).
class ReconstructionPlan {
 public:
  /// Throws invalid_argument for a grid or aperture out of range, a pupil whose centre is outside the viewing zone, or
  /// one that contains no sample of the viewer's plane.
  explicit ReconstructionPlan(const ReconstructionOptions& options, Queue queue = {});
  ~ReconstructionPlan();
  ReconstructionPlan(ReconstructionPlan&&) noexcept;
  ReconstructionPlan& operator=(ReconstructionPlan&&) noexcept;

  /// Sets the field leaving the panel, shape {ny, nx} on the plan's device; applies the aperture, if any.
  void set_field(View<const Complex, 2> field);
  /// Sets another aperture, or none, for the following set_field. Throws as the constructor.
  void set_aperture(const std::optional<Aperture>& aperture);
  /// Writes the intensity at a distance. Throws invalid_argument before set_field.
  void execute(double distance_m, View<float, 2> intensity);
  /// Writes the complex field instead, whose squared modulus the intensity is.
  void execute_field(double distance_m, View<Complex, 2> field);

  [[nodiscard]] PropagationMethod method_for(double distance_m) const;
  [[nodiscard]] const ReconstructionOptions& options() const;
  [[nodiscard]] std::size_t workspace_bytes() const;

 private:
  struct State;
  static void require_field(const State& state);

  std::unique_ptr<State> state_;
};

}  // namespace holotone
