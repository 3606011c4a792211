#pragma once
// Memory of holograms of points. Not for users.
#include <holotone/core/device.hpp>
#include <holotone/hologram/point_cloud.hpp>

namespace holotone {

/// Bytes a pixel that the sum of points takes in addition to its field, of the methods that the options and the device
/// leave open: from the peak resident memory of 25-megapixel runs. Throws unsupported as the plan does.
double sum_bytes_a_pixel(const PointCloudOptions& options, Backend backend);

}  // namespace holotone
