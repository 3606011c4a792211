#pragma once
#include <holotone/core/array.hpp>
#include <holotone/core/device.hpp>
#include <holotone/core/progress.hpp>

// Speed of a device, in the figures that decide where a hologram is computed.
namespace holotone {

/// Panel of DeviceFigures::propagation_s: {ny, nx}.
inline constexpr Shape<2> measured_propagation = {1080, 1920};

/// Speed of a device. Each figure is the median of several repetitions; plans are made before.
struct DeviceFigures {
  double upload_bytes_per_s = 0;    ///< copy from host memory that is not page-locked
  double download_bytes_per_s = 0;  ///< copy to such memory
  double memory_bytes_per_s = 0;    ///< copy within the device's memory, bytes read plus bytes written
  double propagation_s = 0;         ///< angular spectrum of measured_propagation, again over the same distance
  double point_pixels_per_s = 0;    ///< points times pixels, of the sum by PointMethod::direct
};

/// Measures a device for about one second: copies of 128 MiB, the propagation of a panel, and a sum of points. Needs
/// 256 MiB on the device and on the host. Throws cancelled if `progress` cancels, which is asked before each
/// repetition, and what copies and plans throw.
DeviceFigures measure_device(Device device, Progress& progress = Progress::none());

}  // namespace holotone
