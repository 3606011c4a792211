#pragma once
// Interface between the plan (reconstruction.cpp, the one dispatch) and its engines. Not for users.
#include <holotone/optics/phase_math.h>
#include <holotone/optics/reconstruction.hpp>

namespace holotone::reconstruction {

/// Propagates a field to a viewer's pupil and back to the panel.
class PupilEngine {
 public:
  virtual ~PupilEngine() = default;
  virtual void apply(View<const Complex, 2> input, View<Complex, 2> output) = 0;
  /// Another pupil of the same panel.
  virtual void set_aperture(const Aperture& aperture) = 0;
};

using PupilPointer = std::unique_ptr<PupilEngine>;

PupilPointer pupil_cpu(const FieldGrid& grid, const Aperture& aperture);
PupilPointer pupil_cuda(const FieldGrid& grid, const Aperture& aperture, const Queue& queue);
PupilPointer pupil_opencl(const FieldGrid& grid, const Aperture& aperture, const Queue& queue);

/// Throws invalid_argument for a pupil that ReconstructionPlan does not support.
void require_aperture(const FieldGrid& grid, const Aperture& aperture);

/// The pupil on the padded transform's grid. Lengths are in metres in the viewer's plane.
struct Pupil {
  std::int64_t ny = 0;  ///< rows of the panel
  std::int64_t nx = 0;
  std::int64_t ly = 0;  ///< rows of the padded transform
  std::int64_t lx = 0;
  double chirp_rate = 0;  ///< pitch^2 / (2 lambda v): turns of q at m pixels from the axis are rate m^2
  double step_x = 0;      ///< lambda v / (lx pitch)
  double step_y = 0;
  double period = 0;  ///< lambda v / pitch
  double x = 0;
  double y = 0;
  double radius_squared = 0;
  float gain = 0;  ///< 1 / (lx ly): the scale of the inverse transform
};

Pupil make_pupil(const FieldGrid& grid, const Aperture& aperture);

/// Turns of q at sample n of `count`.
HOLOTONE_HOST_DEVICE inline float chirp_turns(const Pupil& pupil, std::int64_t n, std::int64_t count) {
  const double m = static_cast<double>(n) - 0.5 * static_cast<double>(count - 1);
  return reduce_turns(pupil.chirp_rate * m * m);
}

/// Squared distance along one axis from frequency k of `length` to the pupil's centre, to the nearest period.
HOLOTONE_HOST_DEVICE inline double axis_distance_squared(double step, double period, double centre, std::int64_t k) {
  const double offset = step * static_cast<double>(k) - centre;
  const double nearest = offset - period * round_nearest(offset / period);
  return nearest * nearest;
}

/// True if light of frequency (kx, ky) passes the pupil; kx counts columns, ky rows. Rows run against y.
HOLOTONE_HOST_DEVICE inline bool passes(const Pupil& pupil, std::int64_t kx, std::int64_t ky) {
  return axis_distance_squared(pupil.step_x, pupil.period, pupil.x, kx) +
             axis_distance_squared(pupil.step_y, pupil.period, -pupil.y, ky) <=
         pupil.radius_squared;
}

}  // namespace holotone::reconstruction
