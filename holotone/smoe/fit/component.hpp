#pragma once
// Component of a fit, in whitened coordinates; the same on every device. Not for users.
#include <cmath>
#include <holotone/smoe/fit/gradient_sums.hpp>
#include <holotone/smoe/model/small_matrix.hpp>
#include <numbers>

namespace holotone::smoe {

/// Camera position {u, v} of a picture; coordinates that a model lacks are 0.
using ViewPoint = std::array<double, 2>;

/// [[a00, 0], [a10, a11]], a00 and a11 > 0.
struct Triangle {
  double a00 = 1;
  double a10 = 0;
  double a11 = 1;

  [[nodiscard]] HOLOTONE_HOST_DEVICE std::array<double, 2> times(double x, double y) const {
    return {a00 * x, a10 * x + a11 * y};
  }
  [[nodiscard]] HOLOTONE_HOST_DEVICE std::array<double, 2> transposed_times(double x, double y) const {
    return {a00 * x + a10 * y, a11 * y};
  }
  [[nodiscard]] HOLOTONE_HOST_DEVICE std::array<double, 2> solve(double x, double y) const {
    const double first = x / a00;
    return {first, (y - a10 * first) / a11};
  }
  [[nodiscard]] HOLOTONE_HOST_DEVICE std::array<double, 2> transposed_solve(double x, double y) const {
    const double second = y / a11;
    return {(x - a10 * second) / a00, second};
  }
};

/// Component in coordinates X = (x, y, u, v), with pixel (row, col) at x = col, y = row:
///   density = exp(peak - |z|^2 / 2),   z = A (X - centre),   A = [[pixels, shear], [0, views]]
///   expert  = colour + slope (X - centre)
/// At fixed u and v, `pixels` alone is the shape: slices need no factorization.
struct FitComponent {
  Vector centre{};
  Triangle pixels;
  std::array<std::array<double, 2>, 2> shear{};
  Triangle views;
  double peak = 0;
  std::array<double, max_smoe_channels> colour{};
  std::array<Vector, max_smoe_channels> slope{};
};
using FitComponents = std::vector<FitComponent>;

/// Limits of a component's standard deviations in any direction, and of their ratio.
struct WidthLimits {
  double least = 0;
  double largest = 0;
  double aspect = 0;
};

/// True only if a triangle is within limits; may be false close to them.
HOLOTONE_HOST_DEVICE inline bool within_limits(const Triangle& a, const WidthLimits& limits) {
  // Upper bound (trace) and lower bound (determinant / trace) of the precision's eigenvalues.
  const double most = a.a00 * a.a00 + a.a10 * a.a10 + a.a11 * a.a11;
  const double least = a.a00 * a.a11 * a.a00 * a.a11 / most;
  return most * limits.least * limits.least <= 1 && least * limits.largest * limits.largest >= 1 &&
         most <= least * limits.aspect * limits.aspect;
}

/// A with A^T A = {xx, xy, yy}.
HOLOTONE_HOST_DEVICE inline Triangle triangle_of_precision(double xx, double xy, double yy) {
  const double a11 = std::sqrt(yy);
  const double a10 = xy / a11;
  // The difference is positive, but may round to 0 or less.
  return {std::sqrt(std::max(xx - a10 * a10, 1e-12 * xx)), a10, a11};
}

/// Eigenvalues middle + half and middle - half of {xx, xy, yy}, and the direction of the first.
struct PrincipalAxes {
  double middle;
  double half;
  double cosine;
  double sine;
};
HOLOTONE_HOST_DEVICE inline PrincipalAxes principal_axes(const std::array<double, 3>& matrix) {
  const auto [xx, xy, yy] = matrix;
  const double half = std::hypot(0.5 * (xx - yy), xy);
  const double angle = half > 0 ? 0.5 * std::atan2(2 * xy, xx - yy) : 0;
  return {0.5 * (xx + yy), half, std::cos(angle), std::sin(angle)};
}

/// Triangle of a covariance {xx, xy, yy}, clamped to the limits, and its inverse.
HOLOTONE_HOST_DEVICE inline Triangle triangle_of(const std::array<double, 3>& covariance, const WidthLimits& limits) {
  const auto [middle, half, cosine, sine] = principal_axes(covariance);
  const double most = std::clamp(middle + half, limits.least * limits.least, limits.largest * limits.largest);
  const double floor = std::max(limits.least * limits.least, most / (limits.aspect * limits.aspect));
  const double least = std::clamp(middle - half, floor, most);
  // The precision: 1 / most along the long axis, 1 / least across.
  return triangle_of_precision(cosine * cosine / most + sine * sine / least, cosine * sine * (1 / most - 1 / least),
                               sine * sine / most + cosine * cosine / least);
}
HOLOTONE_HOST_DEVICE inline std::array<double, 3> covariance_of(const Triangle& a) {
  const double b00 = 1 / a.a00;
  const double b11 = 1 / a.a11;
  const double b10 = -a.a10 * b00 * b11;
  return {b00 * b00, b00 * b10, b10 * b10 + b11 * b11};
}

/// Limits in pixels: at least 0.3, so that no component is needle-thin or falls between pixels; a ratio of at most 100,
/// which float32 covariances hold. `view_limits`: 0.1 to 3 times the distance from the middle to the outermost view.
WidthLimits pixel_limits(const Shape<2>& size);
inline constexpr WidthLimits view_limits{0.1, 3, 30};

/// Clamps widths to the limits; preserves the shear in pixels per unit of u and v.
HOLOTONE_HOST_DEVICE inline void limit_widths(FitComponent& component, const WidthLimits& pixels) {
  if (!within_limits(component.pixels, pixels)) {
    const Triangle old = component.pixels;
    component.pixels = triangle_of(covariance_of(old), pixels);
    for (std::size_t k = 0; k < 2; ++k) {
      const auto shift = old.solve(component.shear[0][k], component.shear[1][k]);
      const auto shear = component.pixels.times(shift[0], shift[1]);
      component.shear[0][k] = shear[0];
      component.shear[1][k] = shear[1];
    }
  }
  const WidthLimits views = view_limits;
  if (!within_limits(component.views, views)) component.views = triangle_of(covariance_of(component.views), views);
}

/// Sets shape and shear from the covariance `r` in coordinates of the picture, the first `dimensions` of them, within
/// limits.
void set_covariance(FitComponent& component, Matrix r, int dimensions, const WidthLimits& pixels);

/// Converts z to X - centre.
HOLOTONE_HOST_DEVICE inline Vector unwhitened(const FitComponent& component, const Vector& z) {
  const auto [u, v] = component.views.solve(z[2], z[3]);
  const auto& shear = component.shear;
  const auto [x, y] =
      component.pixels.solve(z[0] - shear[0][0] * u - shear[0][1] * v, z[1] - shear[1][0] * u - shear[1][1] * v);
  return {x, y, u, v};
}
/// Converts a slope to b, with m = colour + b . z, and back.
Vector whitened_slope(const FitComponent& component, const Vector& slope);
HOLOTONE_HOST_DEVICE inline Vector natural_slope(const FitComponent& component, const Vector& b) {
  const auto [x, y] = component.pixels.transposed_times(b[0], b[1]);
  const auto [u, v] = component.views.transposed_times(b[2], b[3]);
  const auto& shear = component.shear;
  return {x, y, u + shear[0][0] * b[0] + shear[1][0] * b[1], v + shear[0][1] * b[0] + shear[1][1] * b[1]};
}

/// Slice of a component at fixed u and v.
HOLOTONE_HOST_DEVICE inline ImageComponent slice_at(const FitComponent& component, const ViewPoint& at) {
  constexpr double unit = 1.17741002251547469101;  // sqrt(2 ln 2): converts to log2 densities
  const double u = at[0] - component.centre[2];
  const double v = at[1] - component.centre[3];
  const auto [z2, z3] = component.views.times(u, v);
  const auto& shear = component.shear;
  const auto [x, y] = component.pixels.solve(-shear[0][0] * u - shear[0][1] * v, -shear[1][0] * u - shear[1][1] * v);
  ImageComponent moved;
  moved.x = component.centre[0] + x;
  moved.y = component.centre[1] + y;
  moved.across = component.pixels.a00 / unit;
  moved.skew = component.pixels.a10 / unit;
  moved.down = component.pixels.a11 / unit;
  moved.peak = (component.peak - 0.5 * (z2 * z2 + z3 * z3)) / std::numbers::ln2;
  for (std::size_t c = 0; c < moved.colour.size(); ++c) {
    const Vector& slope = component.slope[c];
    moved.colour[c] =
        static_cast<float>(component.colour[c] + slope[0] * x + slope[1] * y + slope[2] * u + slope[3] * v);
    moved.slope_x[c] = static_cast<float>(slope[0]);
    moved.slope_y[c] = static_cast<float>(slope[1]);
  }
  return moved;
}

/// Converts components to a model of a picture of `size`, and back; `dimensions` 2 to 4. Weights sum to 1.
SmoeModel model_of(const FitComponents& components, int dimensions, int channels, const Shape<2>& size);
FitComponents components_of(const SmoeModel& model, const WidthLimits& pixels);

/// ComponentSums over pixels of any number of views, in z.
struct FitSums {
  double s = 0;
  Vector s1{};                                               ///< sums of s z
  std::array<double, 10> s2{};                               ///< sums of s z z^T, lower triangle row by row
  std::array<std::array<double, 5>, max_smoe_channels> p{};  ///< sums of p {1, z}
  double extra = 0;
};

/// Index of (i, k) in a lower triangle, i >= k.
constexpr std::size_t below(std::size_t i, std::size_t k) { return i * (i + 1) / 2 + k; }

HOLOTONE_HOST_DEVICE inline void add_sums(const FitComponent& component, const ComponentSums& sums, const ViewPoint& at,
                                          FitSums& to) {
  const Triangle& a = component.pixels;
  const auto& [s, sx, sy, sxx, sxy, syy] = sums.s;
  const auto [z2, z3] = component.views.times(at[0] - component.centre[2], at[1] - component.centre[3]);
  const auto [s0, s1] = a.times(sx, sy);
  to.s += s;
  const Vector first{s0, s1, s * z2, s * z3};
  HOLOTONE_UNROLL for (std::size_t i = 0; i < first.size(); ++i) to.s1[i] += first[i];
  to.s2[below(0, 0)] += a.a00 * a.a00 * sxx;
  to.s2[below(1, 0)] += a.a00 * (a.a10 * sxx + a.a11 * sxy);
  to.s2[below(1, 1)] += a.a10 * a.a10 * sxx + 2 * a.a10 * a.a11 * sxy + a.a11 * a.a11 * syy;
  HOLOTONE_UNROLL for (std::size_t k = 0; k < 3; ++k) to.s2[below(2, k)] += first[k] * z2;
  HOLOTONE_UNROLL for (std::size_t k = 0; k < 4; ++k) to.s2[below(3, k)] += first[k] * z3;
  HOLOTONE_UNROLL for (std::size_t c = 0; c < to.p.size(); ++c) {
    const auto& [p, px, py] = sums.p[c];
    const auto [p0, p1] = a.times(px, py);
    const std::array<double, 5> terms{p, p0, p1, p * z2, p * z3};
    HOLOTONE_UNROLL for (std::size_t i = 0; i < terms.size(); ++i) to.p[c][i] += terms[i];
  }
  to.extra += sums.extra;
}

}  // namespace holotone::smoe
