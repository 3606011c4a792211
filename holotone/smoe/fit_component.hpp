#pragma once
// A component as it is fitted, in coordinates that stretch with it. Not for users.
#include <holotone/smoe/gradient_sums.hpp>
#include <holotone/smoe/small_matrix.hpp>

namespace holotone::smoe {

/// Coordinates of where a picture is seen from: u, v; those that a model has not are 0.
using ViewPoint = std::array<double, 2>;

/// [[a00, 0], [a10, a11]], a00 and a11 > 0.
struct Triangle {
  double a00 = 1;
  double a10 = 0;
  double a11 = 1;

  [[nodiscard]] std::array<double, 2> times(double x, double y) const { return {a00 * x, a10 * x + a11 * y}; }
  [[nodiscard]] std::array<double, 2> transposed_times(double x, double y) const {
    return {a00 * x + a10 * y, a11 * y};
  }
  [[nodiscard]] std::array<double, 2> solve(double x, double y) const {
    const double first = x / a00;
    return {first, (y - a10 * first) / a11};
  }
  [[nodiscard]] std::array<double, 2> transposed_solve(double x, double y) const {
    const double second = y / a11;
    return {(x - a10 * second) / a00, second};
  }
};

/// In coordinates X = (x, y, u, v), pixel (row, col) standing at x = col, y = row:
///   density = exp(peak - |z|^2 / 2),   z = A (X - centre),   A = [[pixels, shear], [0, views]]
///   expert  = colour + slope (X - centre)
/// so that where u and v are fixed, `pixels` alone shapes what is left: slices cost nothing.
struct FitComponent {
  Vector centre{};
  Triangle pixels;
  std::array<std::array<double, 2>, 2> shear{};
  Triangle views;
  double peak = 0;
  std::array<double, most_smoe_channels> colour{};
  std::array<Vector, most_smoe_channels> slope{};
};
using FitComponents = std::vector<FitComponent>;

/// How wide components may be, each way: standard deviations.
struct WidthLimits {
  double least = 0;
  double largest = 0;
  double aspect = 0;
};

/// The two of a covariance {xx, xy, yy} within limits, and back.
Triangle triangle_of(const std::array<double, 3>& covariance, const WidthLimits& limits);
std::array<double, 3> covariance_of(const Triangle& a);

/// Pixels: at least 0.3, so that no component is needle thin or hides between pixels, and 100 : 1 at most, which float32
/// covariances hold; views: a tenth to three times the distance from the middle to the outermost.
WidthLimits pixel_limits(const Shape<2>& size);
inline constexpr WidthLimits view_limits{0.1, 3, 30};

/// Brings widths that are out of bounds within them; the shear in pixels for a unit of u and v stays.
void limit_widths(FitComponent& component, const WidthLimits& pixels);

/// From the covariance `r` in coordinates of the picture, the first `dimensions` of them, within limits.
void set_covariance(FitComponent& own, Matrix r, int dimensions, const WidthLimits& pixels);

/// z -> X - centre.
Vector unwhitened(const FitComponent& component, const Vector& z);
/// slope -> {b} with m = colour + b . z, and back.
Vector whitened_slope(const FitComponent& component, const Vector& slope);
Vector natural_slope(const FitComponent& component, const Vector& b);

/// What stands where u and v are fixed.
ImageComponent slice_at(const FitComponent& component, const ViewPoint& at);

/// Models of the pixels of a picture of `size`, and back; `dimensions` 2 to 4. Weights add up to 1.
SmoeModel model_of(const FitComponents& components, int dimensions, int channels, const Shape<2>& size);
FitComponents components_of(const SmoeModel& model, const WidthLimits& pixels);

/// ComponentSums over pixels of any number of views, in z.
struct FitSums {
  double s = 0;
  Vector s1{};                                                ///< of s z
  std::array<double, 10> s2{};                                ///< of s z z^T, lower triangle row by row
  std::array<std::array<double, 5>, most_smoe_channels> p{};  ///< of p {1, z}
  double extra = 0;
};
void add_sums(const FitComponent& component, const ComponentSums& sums, const ViewPoint& at, FitSums& to);

/// Of `i`, `k` in a lower triangle, i >= k.
constexpr std::size_t below(std::size_t i, std::size_t k) { return i * (i + 1) / 2 + k; }

}  // namespace holotone::smoe
