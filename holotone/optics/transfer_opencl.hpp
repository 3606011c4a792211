#pragma once
// Host side of transfer_opencl.cl. Not for users.
#include <cmath>
#include <holotone/core/two_floats_opencl.hpp>
#include <holotone/optics/propagation_math.h>

namespace holotone::propagation {

/// Structure of transfer_opencl.cl.
struct OpenclTransfer {
  cl_float2 distance;
  cl_float2 step_x;
  cl_float2 step_y;
  cl_float2 limit_x;
  cl_float2 limit_y;
  float carrier;
  float gain;
};

inline OpenclTransfer in_wavelengths(const Transfer& t) {
  const double wavelength = 1 / std::sqrt(t.inverse_wavelength_squared);
  const double distance = t.distance_m / wavelength;
  return {opencl::two_floats(distance),
          opencl::two_floats(t.step_x * wavelength),
          opencl::two_floats(t.step_y * wavelength),
          opencl::two_floats(t.limit_x),
          opencl::two_floats(t.limit_y),
          static_cast<float>(distance - std::nearbyint(distance)),
          t.gain};
}

}  // namespace holotone::propagation
