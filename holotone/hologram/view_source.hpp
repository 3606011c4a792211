#pragma once
#include <cmath>
#include <holotone/core/array.hpp>

namespace holotone {

/// A grid of rays through a point of the panel. Ray (row, col) goes with the light, towards the viewer, with direction cosines
///   cx = first_x + col step,  cy = first_y - row step,  cz = sqrt(1 - cx^2 - cy^2);
/// where cx^2 + cy^2 >= 1 there is no ray (intensity 0).
struct Rays {
  double x_m = 0;      ///< of the point, which lies at z = 0
  double y_m = 0;      ///< upwards
  double first_x = 0;  ///< cx of column 0
  double first_y = 0;  ///< cy of row 0, the highest
  double step = 0;     ///< > 0
  Shape<2> shape{};    ///< {rows, columns}
};

/// Slopes cx / cz and cy / cz of a ray; not finite where there is none.
inline void slopes_of(const Rays& rays, std::int64_t row, std::int64_t column, double& x, double& y) {
  const double cx = rays.first_x + static_cast<double>(column) * rays.step;
  const double cy = rays.first_y - static_cast<double>(row) * rays.step;
  const double cz2 = 1 - cx * cx - cy * cy;
  const double inverse = cz2 > 0 ? 1 / std::sqrt(cz2) : NAN;
  x = cx * inverse;
  y = cy * inverse;
}

/// Where the light of a stereogram comes from: a scene that can be looked at along rays.
class ViewSource {
 public:
  virtual ~ViewSource() = default;
  /// 1 or 3.
  [[nodiscard]] virtual int channels() const = 0;
  /// Whether it knows the distances of the points that rays come from.
  [[nodiscard]] virtual bool has_distances() const = 0;
  /// Linear intensity >= 0 of one channel along each ray (0: no light), and with distances d = -z in metres of the point it comes from
  /// (> 0 behind the panel; any value where the intensity is 0). Both have the shape of `rays` and lie in host memory; an empty
  /// `distance_m` is not written. May be called from several threads at once.
  virtual void look(const Rays& rays, int channel, View<float, 2> intensity, View<float, 2> distance_m) const = 0;
};

}  // namespace holotone
