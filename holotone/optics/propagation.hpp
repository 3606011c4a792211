#pragma once
#include <holotone/core/device.hpp>
#include <holotone/optics/field.hpp>
#include <memory>
#include <string_view>

namespace holotone {

enum class PropagationMethod {
  automatic,         ///< angular spectrum up to N pitch^2 / lambda, Fresnel beyond (N = max(nx, ny))
  angular_spectrum,  ///< zero-padded, band-limited: Matsushima and Shimobaba 2009
  fresnel,           ///< single FFT, output pitch lambda d / (N pitch), resampled to the grid's pitch
};
std::string_view to_string(PropagationMethod method);

struct PropagationOptions {
  FieldGrid grid;                 ///< of the input
  PropagationMethod method = PropagationMethod::automatic;
  double output_pitch_m = 0;      ///< 0: the input's pitch. angular_spectrum: only the input's
  bool band_limit = true;         ///< Matsushima's limit; off for energy tests
  bool zero_pad = true;           ///< twice the size in both directions, cropped after
};

/// Propagates a sampled field along z by a signed distance (positive: with the light, toward the viewer).
class PropagationPlan {
 public:
  explicit PropagationPlan(const PropagationOptions& options, Queue queue = {});
  ~PropagationPlan();
  PropagationPlan(PropagationPlan&&) noexcept;
  PropagationPlan& operator=(PropagationPlan&&) noexcept;
  /// out = input propagated by distance_m; shapes {ny, nx}, on the plan's device. May be called for many distances.
  void execute(View<const Complex, 2> input, View<Complex, 2> output, double distance_m);
  /// The method execute would use for a distance.
  [[nodiscard]] PropagationMethod method_for(double distance_m) const;
  [[nodiscard]] std::size_t workspace_bytes() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace holotone
