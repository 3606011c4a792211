#pragma once
// Exact waves of a cloud whose light reaches every pixel well within the band limit: Fresnel's, of which each point's
// has the phase that the correction of the mean distance leaves, and that correction by one filter. Not for users.
//
// With s = lambda f, exact spectra are Fresnel's times (1 - s^2)^-1 exp(2 pi i d q(f)), q = (sqrt(1 - s^2) - 1 +
// s^2 / 2) / lambda. The filter has q at the distance d0. What remains of a point, exp(2 pi i (d - d0) q), adds to its
// Fresnel wave the phase (d - d0) q(rho / (lambda d)) = -bend rho^4 turns by the method of stationary phase, which in a
// small tile is a constant, a slope and a curvature: a non-uniform FFT has them free of cost. Goodman, Introduction to
// Fourier Optics, 4.2, has the two transfer functions.
#include <array>
#include <holotone/hologram/point_cloud/choice/fast_grid.hpp>
#include <vector>

namespace holotone::point_cloud {

/// Grid of Fresnel's sum on the panel and a margin around it, and the filter.
struct FarGrid {
  FastChoice fast;
  Shape<2> shape{};     ///< of the panel with its margin
  Shape<2> margin{};    ///< rows above and columns left of the panel
  double middle_m = 0;  ///< d0
  /// Of the correction that frequencies m = 0 .. shape / 2 have, rows and columns: those with light all.
  std::array<std::vector<float>, 2> share;
  double microseconds = 0;  ///< estimate; 0: the cloud's light has no such grid below the asked time
};

/// Returns the grid of least estimated time on an H200, if it is below max_us.
FarGrid choose_far_grid(const PointCloudOptions& options, const FastCloud& cloud, const FastPrecision& precision,
                        double max_us);

}  // namespace holotone::point_cloud
