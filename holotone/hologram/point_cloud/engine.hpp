#pragma once
// Interface between the plan (point_cloud.cpp, the one dispatch) and the engines. Not for users.
#include <array>
#include <holotone/hologram/point_cloud.hpp>
#include <holotone/hologram/point_cloud/point_cloud_math.h>
#include <limits>
#include <vector>

namespace holotone {

namespace point_cloud {

struct MethodChoice;

/// Results of one pass over a cloud. The CPU sets first_bad, low and high, OpenCL first_bad alone.
struct PointSummary {
  /// Index of the first point that is not finite (position, amplitude, phase) or lies in the panel's plane; -1: none.
  std::int64_t first_bad = -1;
  std::array<float, 4> low{};   ///< minima of x and y in metres, of 1 / distance in 1 / m and of the distance
  std::array<float, 4> high{};  ///< maxima of the same
  float largest = 0;            ///< |amplitude|
  float squares = 0;            ///< sum of amplitude^2
  /// CUDA: bound of the number of points within 15 nm of each other. Exact but for chance up to counted_points, their
  /// number beyond.
  std::int64_t crowd = 0;
  static constexpr std::int64_t counted_points = 200000;
  static constexpr int sample_count = 256;
  std::array<std::array<float, 3>, sample_count> sample{};  ///< positions in metres, evenly drawn from the cloud
};

/// Pixels of a panel that are summed at once.
struct PanelBlock {
  std::int64_t first_row = 0;
  std::int64_t first_column = 0;
  Shape<2> shape{};
  friend bool operator==(const PanelBlock&, const PanelBlock&) = default;
};

/// A checked cloud of at least one point, on its way to an engine.
struct EnginePoints {
  PointSources sources;            ///< on the engine's device
  PointSummary summary;            ///< CUDA
  std::vector<PixelPoint> pixels;  ///< CPU: the points that light some pixel of the panel
};

}  // namespace point_cloud

/// One method on one device. The plan has checked the part and the outputs, of which at least one is not empty.
class PointCloudPlan::Engine {
 public:
  virtual ~Engine() = default;
  /// Sets the points and the choice of method for them (method.hpp). The views of the sources expire after the call
  /// (CUDA: after the queue's work).
  virtual void set_points(point_cloud::EnginePoints points, const point_cloud::MethodChoice& choice) = 0;
  /// Writes rows part.first_row to part.end() - 1 of the panel to outputs of part.rows rows.
  virtual void execute(const RowRange& part, const PointCloudOutput& output, Progress& progress) = 0;
  [[nodiscard]] virtual PointCloudInfo info() const = 0;
};

namespace point_cloud {

/// Returns the wavelength that determines the reach of the band limit.
inline double cone_wavelength_m(const PointCloudOptions& options) {
  return options.cone_wavelength_m > 0 ? options.cone_wavelength_m : options.wavelength_m;
}

/// Returns the largest direction cosine of light along an axis, at which fringes turn half a cycle a pixel.
inline double limit_cosine(const PointCloudOptions& options) {
  return cone_wavelength_m(options) / (2 * options.pitch_m);
}

/// Returns the lit half width over the distance |d|; infinite without a band limit. That of the exact wave holds for
/// Wave::automatic.
inline double reach_of_light(const PointCloudOptions& options) {
  if (!options.band_limit) return std::numeric_limits<double>::infinity();
  return options.wave != Wave::fresnel ? exact_reach(limit_cosine(options)) : limit_cosine(options);
}

/// True if the sphere lags a few turns at most behind the parabola where there is light, d s1^4 / (2 lambda) at a
/// corner, as at 8 um to a distance of some metres: float32 then keeps the floor.
inline bool small_lag(const PointCloudOptions& options) { return options.band_limit && limit_cosine(options) < 0.04; }

/// Returns the lit half width in pixels a metre of distance; 0 without a band limit.
inline double reach_per_metre(const PointCloudOptions& options) {
  return options.band_limit ? reach_of_light(options) / options.pitch_m : 0;
}

/// Returns the pixels beyond its reach that a point may light.
inline double light_blur(const PointCloudOptions& options) { return options.wave == Wave::fresnel ? 0 : exact_blur; }

inline PanelFrame frame_of(const PointCloudOptions& options) {
  return {options.wavelength_m,    options.pitch_m,     options.shape[1], options.shape[0],
          reach_of_light(options), light_blur(options), options.falloff};
}

/// True if the real part is the only output.
inline bool only_real(const PointCloudOutput& output) { return output.field.empty() && output.phase.empty(); }

using EnginePointer = std::unique_ptr<PointCloudPlan::Engine>;

EnginePointer direct_cpu(const PointCloudOptions& options);
EnginePointer recurrence_cpu(const PointCloudOptions& options);
EnginePointer separable_cpu(const PointCloudOptions& options);
EnginePointer fast_cpu(const PointCloudOptions& options);
/// fast for the exact wave.
EnginePointer spectrum_cpu(const PointCloudOptions& options);

/// Approximate bytes of workspace for `count` points; see point_cloud_workspace_bytes.
std::size_t direct_cpu_bytes(const PointCloudOptions& options, std::int64_t count);
std::size_t recurrence_cpu_bytes(const PointCloudOptions& options, std::int64_t count);
std::size_t separable_cpu_bytes(const PointCloudOptions& options, std::int64_t count);
std::size_t fast_cpu_bytes(const PointCloudOptions& options, std::int64_t count);

/// rows_at_once: maximum rows of a part, for which separable and fast allocate memory.
EnginePointer direct_cuda(const PointCloudOptions& options, const Queue& queue);
EnginePointer recurrence_cuda(const PointCloudOptions& options, const Queue& queue);
EnginePointer separable_cuda(const PointCloudOptions& options, std::int64_t rows_at_once, const Queue& queue);
EnginePointer fast_cuda(const PointCloudOptions& options, std::int64_t rows_at_once, const Queue& queue);
/// fast for the exact wave, by its spectrum or on coarse nodes.
EnginePointer exact_cuda(const PointCloudOptions& options, std::int64_t rows_at_once, const Queue& queue);
EnginePointer spectrum_cuda(const PointCloudOptions& options, const Queue& queue);

/// True if `fast` sums points that light a tile in part by factors made on chip: Hopper, tolerances of plain fp16.
bool fast_masks_on_chip(double tolerance, const Queue& queue);

EnginePointer direct_opencl(const PointCloudOptions& options, const Queue& queue);
EnginePointer recurrence_opencl(const PointCloudOptions& options, const Queue& queue);

/// PointCloudPlan::adjoint for points in host memory.
void adjoint_cpu(const PointCloudOptions& options, View<const float, 2> position_m,
                 View<const std::complex<float>, 2> field, View<std::complex<float>, 1> values, Progress& progress);
/// The same for the exact wave with a band limit, or for its derivative.
void spectrum_adjoint_cpu(const PointCloudOptions& options, PointDerivative by, View<const float, 2> position_m,
                          View<const std::complex<float>, 2> field, View<std::complex<float>, 1> values,
                          Progress& progress);
/// PointCloudPlan::adjoint for at least one point on the queue's device.
void adjoint_cuda(const PointCloudOptions& options, View<const float, 2> position_m,
                  View<const std::complex<float>, 2> field, View<std::complex<float>, 1> values, const Queue& queue,
                  Progress& progress);

/// The same for the exact wave with a band limit, or for its derivative; `summary` is that of the points.
void spectrum_adjoint_cuda(const PointCloudOptions& options, PointDerivative by, const PointSummary& summary,
                           View<const float, 2> position_m, View<const std::complex<float>, 2> field,
                           View<std::complex<float>, 1> values, const Queue& queue, Progress& progress);

/// Converts points to pixel units; omits those of amplitude 0 and those that light no pixel of the panel.
std::vector<PixelPoint> pixel_points(const PointSources& points, const PointCloudOptions& options);

PointSummary summarise_points_cpu(const PointSources& points);
PointSummary summarise_points_cuda(const PointSources& points, const Queue& queue);
/// Sets first_bad alone.
PointSummary summarise_points_opencl(const PointSources& points, const Queue& queue);

}  // namespace point_cloud
}  // namespace holotone
