#pragma once
// Arithmetic shared by the engines of all devices: points in pixel units, phases in turns. Not for users.
//
// Phases are in turns (cycles). Sums of phases are in 32-bit fixed point, 2^32 per turn: unsigned addition then wraps
// exactly like the phase, and the largest rounding error is 2^-33 turns, 7e-10 rad.
#include <cmath>
#include <cstdint>
#include <holotone/core/random.hpp>

namespace holotone::point_cloud {

constexpr double two_pi = 6.283185307179586;

/// Parameters of the conversion from metres to pixels and phases.
struct PanelFrame {
  double wavelength_m;
  double pitch_m;
  std::int64_t nx;
  std::int64_t ny;
  double reach;     ///< lit half width over the distance |d|; infinite without a band limit
  double blur = 0;  ///< pixels beyond it
  bool falloff = false;
};
/// Blur of the exact wave's light, whose band limit has no sharp end: a point that would light less than a pixel is
/// one.
constexpr double exact_blur = 2;

// Band limit of the exact wave, as a factor b of a plane wave's direction cosines (sx, sy) = lambda (fx, fy):
//   b = edge(|sx| / s1) edge(|sy| / s1) edge_of_cone(hypot(sx, sy)),   s1 = lambda of the cone / (2 pitch)
// Both edges fall from 1 to 0 as cos^2(pi / 2 (10 t^3 - 15 t^4 + 6 t^5)).

constexpr double edge_begin = 0.95;  ///< of s1, where a fringe turns half a cycle per pixel
constexpr double cone_begin = 0.93;  ///< sine of the steepest full light
constexpr double cone_end = 0.98;    ///< sine from which on there is none, whatever the pitch

/// Returns the edge at t: 1 for t <= 0, 0 for t >= 1.
HOLOTONE_HOST_DEVICE inline double soft_edge(double t) {
  const double x = fmin(fmax(t, 0.0), 1.0);
  const double c = cos(0.25 * two_pi * (x * x * x * (10 + x * (6 * x - 15))));
  return x >= 1 ? 0.0 : c * c;
}

/// Returns the factor of b along one axis; `limit` is s1.
HOLOTONE_HOST_DEVICE inline double light_of_axis(double cosine, double limit) {
  return soft_edge((fabs(cosine) / limit - edge_begin) / (1 - edge_begin));
}

/// Returns the factor of b in both axes, at a direction of this sine from the panel's normal.
HOLOTONE_HOST_DEVICE inline double light_of_cone(double sine) {
  return soft_edge((sine - cone_begin) / (cone_end - cone_begin));
}

/// Returns the half width of the exact wave's light over |d|: its largest sx / sqrt(1 - sx^2 - sy^2) with b > 0.
inline double exact_reach(double limit) {
  const double corner = std::fmin(std::sqrt(2.0) * limit, cone_end);
  return std::fmin(limit, cone_end) / std::sqrt(1 - corner * corner);
}

/// Returns the half width t over |d| of the rectangle of light that sums in space take. It ends where light is half in
/// the (geometric) mean of an edge's middle, sx = t / sqrt(1 + t^2), and its ends, t / sqrt(1 + 2 t^2).
inline double mean_reach(double limit) {
  const double half_lit = 0.5 * (1 + edge_begin) * limit;
  const double q = half_lit * half_lit;
  return std::sqrt(q * (3 * q + std::sqrt(4 + q * q)) / (2 - 4 * q * q));
}

/// One point in pixel units. With u = col - PixelPoint::column and v = row - PixelPoint::row its Fresnel phase at a
/// pixel is curvature (u^2 + v^2) + phase_turns, in turns.
struct PixelPoint {
  double column = 0;              ///< x_j / pitch + (nx - 1) / 2
  double row = 0;                 ///< (ny - 1) / 2 - y_j / pitch
  double curvature = 0;           ///< pitch^2 / (2 lambda d_j): turns per square pixel, negative in front of the panel
  double phase_turns = 0;         ///< phi_j / 2 pi
  float amplitude = 0;            ///< with falloff at the foot, A / |d|
  std::int32_t column_begin = 0;  ///< lit pixels: column_begin <= col < column_end, likewise rows
  std::int32_t column_end = 0;
  std::int32_t row_begin = 0;
  std::int32_t row_end = 0;
};

/// Computes the range begin <= i < end of the pixels i of 0 .. count-1 with |i - centre| <= reach; both 0 if none.
HOLOTONE_HOST_DEVICE inline void lit_range(double centre, double reach, std::int64_t count, std::int32_t& begin,
                                           std::int32_t& end) {
  const double first = fmax(ceil(centre - reach), 0.0);
  const double last = fmin(floor(centre + reach), static_cast<double>(count - 1));
  const bool lit = first <= last;
  begin = lit ? static_cast<std::int32_t>(first) : 0;
  end = lit ? static_cast<std::int32_t>(last) + 1 : 0;
}

/// Converts a point in metres (world frame, d = -z) to pixel units. Light: |u| <= reach |d| / pitch pixels. For
/// Fresnel's wave and the cone of its own wavelength that is 1 / (4 |curvature|), where the fringes turn by half a
/// cycle a pixel.
HOLOTONE_HOST_DEVICE inline PixelPoint to_pixels(const PanelFrame& panel, double x_m, double y_m, double z_m,
                                                 float amplitude, double phase_rad) {
  PixelPoint point;
  const double distance_m = -z_m;
  point.column = x_m / panel.pitch_m + 0.5 * static_cast<double>(panel.nx - 1);
  point.row = 0.5 * static_cast<double>(panel.ny - 1) - y_m / panel.pitch_m;
  point.curvature = panel.pitch_m * panel.pitch_m / (2 * panel.wavelength_m * distance_m);
  point.phase_turns = phase_rad / two_pi;
  point.amplitude = panel.falloff ? static_cast<float>(amplitude / fabs(distance_m)) : amplitude;
  const double reach = fmin(panel.reach * fabs(distance_m) / panel.pitch_m + panel.blur, 1e300);
  lit_range(point.column, reach, panel.nx, point.column_begin, point.column_end);
  lit_range(point.row, reach, panel.ny, point.row_begin, point.row_end);
  if (point.column_begin == point.column_end || point.row_begin == point.row_end) {
    point.column_begin = point.column_end = point.row_begin = point.row_end = 0;
  }
  return point;
}

/// Error bound of the recurrence in 32-bit fixed point. After `steps` of gamma += delta, delta += second, with gamma,
/// delta and second each rounded to the nearest 2^-32 turn, the error of gamma is at most
///   2^-33 (1 + steps + steps (steps - 1) / 2) turns.
/// The error of delta is added `steps` times and that of the second difference steps (steps - 1) / 2 times; the
/// additions themselves wrap and are exact.
HOLOTONE_HOST_DEVICE inline double recurrence_error_turns(std::int64_t steps) {
  const auto s = static_cast<double>(steps);
  return 0x1p-33 * (1 + s + 0.5 * s * (s - 1));
}

/// Steps between anchors that keep every phase error in radians, and so the relative error of the field, within a
/// quarter of `tolerance`: the largest s with 2 pi recurrence_error_turns(s) <= tolerance / 4, at least 1.
inline std::int64_t recurrence_anchor_steps(double tolerance) {
  const double budget = tolerance / (4 * two_pi) * 0x1p33;  // 1 + s + s (s - 1) / 2 <= budget
  auto steps = static_cast<std::int64_t>(std::sqrt(2 * budget));
  while (steps > 1 && two_pi * recurrence_error_turns(steps) > tolerance / 4) --steps;
  return steps < 1 ? 1 : steps;
}

}  // namespace holotone::point_cloud
