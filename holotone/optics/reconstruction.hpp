#pragma once
#include <holotone/core/progress.hpp>
#include <holotone/optics/propagation.hpp>
#include <optional>
#include <vector>

namespace holotone {

/// A viewer's pupil: a circular aperture in a plane in front of the panel.
struct Aperture {
  double x_m = 0;
  double y_m = 0;
  double diameter_m = 0;
  double distance_m = 0.5;  ///< from the panel toward the viewer
};

struct ReconstructionOptions {
  FieldGrid grid;
  PropagationMethod method = PropagationMethod::automatic;
  std::optional<Aperture> aperture;
};

/// What a camera focused at `distance_m` sees: |U propagated by -distance|^2, linear light, shape {ny, nx}.
/// distance > 0 focuses behind the panel (virtual image), < 0 in front.
class ReconstructionPlan {
 public:
  explicit ReconstructionPlan(const ReconstructionOptions& options, Queue queue = {});
  ~ReconstructionPlan();
  ReconstructionPlan(ReconstructionPlan&&) noexcept;
  ReconstructionPlan& operator=(ReconstructionPlan&&) noexcept;
  /// The field leaving the panel; the aperture, if any, is applied here.
  void set_field(View<const Complex, 2> field);
  void execute(double distance_m, View<float, 2> intensity);
  [[nodiscard]] PropagationMethod method_for(double distance_m) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace holotone
