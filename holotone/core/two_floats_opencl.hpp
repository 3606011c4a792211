#pragma once
// Host side of two_floats_opencl.cl. Not for users.
#include <holotone/core/api_opencl.hpp>

namespace holotone::opencl {

/// A double as the sum of two floats, to 2^-48 of it.
inline cl_float2 two_floats(double value) {
  const auto high = static_cast<float>(value);
  return {{high, static_cast<float>(value - static_cast<double>(high))}};
}

}  // namespace holotone::opencl
