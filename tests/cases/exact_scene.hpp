#pragma once
// Scenes of exact waves.
#include <tests/cases/point_cloud.hpp>

namespace cases {

struct ExactScene {
  const char* name;
  double pitch_m;
  double near_m;
  double far_m;
  holotone::Shape<2> shape;
  std::int64_t count;
  std::int64_t period = 0;  ///< of PointSpectrum
};

inline PointCloudCase exact_case(const ExactScene& scene, holotone::PointMethod method) {
  PointCloudCase c;
  c.name = scene.name;
  c.options.pitch_m = scene.pitch_m;
  c.options.shape = scene.shape;
  c.options.method = method;
  c.options.wave = holotone::Wave::spherical;
  c.count = scene.count;
  c.near_m = scene.near_m;
  c.far_m = scene.far_m;
  c.phases = true;
  return c;
}

}  // namespace cases
