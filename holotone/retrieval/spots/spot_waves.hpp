#pragma once
// The spots' waves behind an aplanatic lens (SpotPlan has the formula). Not for users.
#include <holotone/retrieval/spots/spot_engine.hpp>

namespace holotone::spots {

/// Largest error of a wave's phase at the corner by another spot's depth.
inline constexpr double max_depth_error_rad = 0.01;

/// Depths of a lens: n z / lambda (1 - sqrt(1 - s)) turns, s = (p rho / (n f))^2, rho in pixels.
struct DepthWave {
  double square = 0;       ///< (p / (n f))^2
  double turns_per_m = 0;  ///< n / lambda

  explicit DepthWave(const SpotOptions& options);
  /// Turns a pixel^2 of the paraxial wave of depth z.
  [[nodiscard]] double chirp(double z_m) const { return 0.5 * turns_per_m * square * z_m; }
  /// What the paraxial wave lacks at rho^2, in radians a metre of z.
  [[nodiscard]] double lack_rad_per_m(double rho_squared) const;
};

/// sin(pi x) / (pi x).
double sinc(double x);

/// rho^2 in pixels of the pixel with light that is farthest from the middle of a panel {ny, nx}; 0: none has any. Null
/// light: all have.
double farthest_lit_squared(Shape<2> panel, View<const Complex, 2> light);

/// Light of mean square 1 on a panel's pixels.
struct PanelLight {
  std::vector<float> amplitude;
  std::vector<Complex> phase;  ///< of modulus 1
};
PanelLight panel_light(std::span<const Complex> light);

/// Spots whose waves share a factor on the panel: that of depth z_m, whole or what the paraxial one lacks.
struct SpotGroup {
  std::vector<std::uint32_t> spots;
  double z_m = 0;
  bool is_plane = false;  ///< all are at z_m: the factor is the whole wave of that depth
  bool has_factor = false;
};

/// Groups of spots within max_depth_error_rad of each other at rho^2; planes of more than min_plane spots come first.
std::vector<SpotGroup> group_spots(std::span<const SpotPlace> spots, const DepthWave& wave, double rho_squared,
                                   std::size_t min_plane);

}  // namespace holotone::spots
