#pragma once
// One ray of a hogel: element functions that the CPU loops and the CUDA kernels share; stereogram_opencl.cl has its
// own. Not for users.
#include <cmath>
#include <cstdint>
#include <holotone/optics/phase_math.h>

namespace holotone::stereogram {

/// A hogel and its computed rays: columns kx = first_kx + column, rows ky = first_ky - row, in steps of 1 / (N pitch).
struct Hogel {
  double x_m = 0;  ///< its centre
  double y_m = 0;
  std::int64_t number = 0;  ///< row by row from the top left hogel
  std::int64_t first_kx = 0;
  std::int64_t first_ky = 0;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  /// Limits of the slopes cx / cz and cy / cz of computed rays; infinite: no limit.
  double min_x = -INFINITY;
  double max_x = INFINITY;
  double min_y = -INFINITY;
  double max_y = INFINITY;
};

/// cz^2 of a computed ray, else 0.
HOLOTONE_HOST_DEVICE inline double ray_cz2(const Hogel& hogel, double step, std::int64_t row, std::int64_t column) {
  const double cx = static_cast<double>(hogel.first_kx + column) * step;
  const double cy = static_cast<double>(hogel.first_ky - row) * step;
  const double cz2 = 1 - cx * cx - cy * cy;
  if (!(cz2 > 0)) return 0;
  const double cz = std::sqrt(cz2);
  const bool inside =
      cx >= hogel.min_x * cz && cx <= hogel.max_x * cz && cy >= hogel.min_y * cz && cy <= hogel.max_y * cz;
  // An infinite slope times cz is infinite, so that its comparisons are true.
  return inside ? cz2 : 0;
}

/// Curvature in 1 / m on the panel of the wave from a point at `distance_m` along a ray: the mean of its two
/// curvatures, cz / d across the plane of the ray and the axis, and cz^3 / d in it. Both are 1 / d on the axis.
HOLOTONE_HOST_DEVICE inline double ray_curvature(double cz2, double distance_m, double most) {
  const double curvature = 0.5 * std::sqrt(cz2) * (1 + cz2) / distance_m;
  if (!(curvature <= most)) return most;  // also for a point in the panel's plane
  return curvature < -most ? -most : curvature;
}

/// Phase of a ray in turns, [-1/2, 1/2), computed only from the seed, the hogel and the ray's frequency.
HOLOTONE_HOST_DEVICE inline float ray_turns(std::uint64_t seed, const Hogel& hogel, std::int64_t hogel_px,
                                            std::int64_t row, std::int64_t column) {
  const std::int64_t kx = hogel.first_kx + column + hogel_px / 2;
  const std::int64_t ky = hogel.first_ky - row + hogel_px / 2;
  const std::int64_t counter = (hogel.number * hogel_px + ky) * hogel_px + kx;
  return random_uniform(seed, static_cast<std::uint64_t>(counter)) - 0.5F;
}

/// Index of a frequency in a transform of `count`.
HOLOTONE_HOST_DEVICE inline std::int64_t transform_index(std::int64_t k, std::int64_t count) {
  return k < 0 ? k + count : k;
}

/// Turns of the wave of curvature c at pixel i of a hogel along one axis: c x^2 / (2 lambda), x from the hogel's
/// centre.
HOLOTONE_HOST_DEVICE inline float curved_turns(double turns_at_one_px, std::int64_t i, std::int64_t hogel_px) {
  const double x = static_cast<double>(i) - 0.5 * static_cast<double>(hogel_px - 1);
  return reduce_turns(turns_at_one_px * x * x);
}

}  // namespace holotone::stereogram
