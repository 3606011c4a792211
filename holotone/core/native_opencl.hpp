#pragma once
// Precision of a device's native_cos and native_sin. Not for users.
#include <holotone/core/device.hpp>

namespace holotone::opencl {

/// Root mean square of the errors of native_cos and native_sin from -2 pi to 2 pi, measured once for each device.
/// OpenCL 1.2 (6.12.2) leaves it to the device: below 5e-7 on an H200, 7e-5 by Intel's runtime for CPUs.
double native_wave_error(const Queue& queue);

}  // namespace holotone::opencl
