#include <algorithm>
#include <atomic>
#include <cmath>
#include <holotone/core/parallel.hpp>
#include <holotone/hologram/point_cloud.hpp>
#include <holotone/hologram/point_cloud/checks.hpp>
#include <mutex>

namespace holotone {
namespace {

/// Sum over the lit pixels of (|d| / r)^2, as an integral over their area:
///   delta^2 integral du dv / (u^2 + v^2 + delta^2),  delta = |d| in pixels,
/// in closed form along a row and by Simpson's rule of t, v = delta sinh t.
double falling_pixels(const point_cloud::PixelPoint& point, double delta) {
  constexpr int intervals = 32;
  const double first = std::asinh((point.row_begin - 0.5 - point.row) / delta);
  const double step = (std::asinh((point.row_end - 0.5 - point.row) / delta) - first) / intervals;
  double sum = 0;
  for (int i = 0; i <= intervals; ++i) {
    const double across = delta * std::cosh(first + i * step);
    const double along = std::atan((point.column_end - 0.5 - point.column) / across) -
                         std::atan((point.column_begin - 0.5 - point.column) / across);
    sum += along * (i == 0 || i == intervals ? 1 : i % 2 == 1 ? 4 : 2);
  }
  return delta * delta * sum * step / 3;
}

}  // namespace

double fresnel_deviation_rad(const PointSources& host_points, const PointCloudOptions& options) {
  point_cloud::validate(options);
  const auto count = point_cloud::checked_count(host_points, Device{});
  if (count > 0) require_device("fresnel_deviation_rad", "host_points", Device{}, host_points.position_m.device());
  PointCloudOptions fresnel = options;
  fresnel.wave = Wave::fresnel;
  fresnel.falloff = false;
  const auto frame = point_cloud::frame_of(fresnel);
  const auto deviation_rad = [&](std::int64_t j) {
    const double distance_m = -static_cast<double>(host_points.position_m(j, 2));
    const auto point =
        point_cloud::to_pixels(frame, host_points.position_m(j, 0), host_points.position_m(j, 1), -distance_m, 1, 0);
    if (point.column_begin == point.column_end) return 0.0;
    // The deviation grows with the distance from the point's axis: the farthest lit corner has the maximum.
    const double u =
        std::max(std::abs(point.column_begin - point.column), std::abs(point.column_end - 1 - point.column));
    const double v = std::max(std::abs(point.row_begin - point.row), std::abs(point.row_end - 1 - point.row));
    const double fresnel_turns = std::abs(point.curvature) * (u * u + v * v);
    const double slope = options.pitch_m / distance_m;
    const double s = (u * u + v * v) * slope * slope;  // (rho / d)^2
    const double root = 1 + std::sqrt(1 + s);          // (r + |d|) / |d|
    return point_cloud::two_pi * fresnel_turns * s / (root * root);
  };
  double largest = 0;
  std::mutex mutex;
  parallel_blocks(count, [&](std::int64_t begin, std::int64_t end) {
    double block_largest = 0;
    for (std::int64_t j = begin; j < end; ++j) block_largest = std::max(block_largest, deviation_rad(j));
    const std::lock_guard lock(mutex);
    largest = std::max(largest, block_largest);
  });
  return largest;
}

double lit_energy(const PointSources& host_points, const PointCloudOptions& options) {
  point_cloud::validate(options);
  const auto count = point_cloud::checked_count(host_points, Device{});
  if (count > 0) require_device("lit_energy", "host_points", Device{}, host_points.position_m.device());
  const auto frame = point_cloud::frame_of(options);
  double energy = 0;
  for (std::int64_t j = 0; j < count; ++j) {
    const double distance_m = -static_cast<double>(host_points.position_m(j, 2));
    const auto point = point_cloud::to_pixels(frame, host_points.position_m(j, 0), host_points.position_m(j, 1),
                                              -distance_m, host_points.amplitude(j), 0);
    const double amplitude = point.amplitude;
    const double pixels = options.falloff ? falling_pixels(point, std::abs(distance_m) / options.pitch_m)
                                          : (point.column_end - point.column_begin) *
                                                static_cast<double>(point.row_end - point.row_begin);
    energy += amplitude * amplitude * pixels;
  }
  return energy / static_cast<double>(element_count(options.shape));
}

std::int64_t unlit_points(const PointSources& host_points, const PointCloudOptions& options) {
  point_cloud::validate(options);
  const auto count = point_cloud::checked_count(host_points, Device{});
  if (count > 0) require_device("unlit_points", "host_points", Device{}, host_points.position_m.device());
  const auto frame = point_cloud::frame_of(options);
  std::atomic<std::int64_t> unlit = 0;
  parallel_blocks(count, [&](std::int64_t begin, std::int64_t end) {
    std::int64_t block_unlit = 0;
    for (std::int64_t j = begin; j < end; ++j) {
      const auto point = point_cloud::to_pixels(frame, host_points.position_m(j, 0), host_points.position_m(j, 1),
                                                host_points.position_m(j, 2), 1, 0);
      block_unlit += point.column_begin == point.column_end || point.row_begin == point.row_end ? 1 : 0;
    }
    unlit += block_unlit;
  });
  return unlit;
}

}  // namespace holotone
