#pragma once
#include <cmath>
#include <holotone/core/array.hpp>
#include <string_view>

namespace holotone {

/// Grid of rays through a point of the panel. Ray (row, col) travels with the light, toward the viewer, with direction
/// cosines
///   cx = first_x + col step,  cy = first_y - row step,  cz = sqrt(1 - cx^2 - cy^2);
/// for cx^2 + cy^2 >= 1 the ray does not exist (intensity 0).
struct Rays {
  double x_m = 0;      ///< x of the point, at z = 0
  double y_m = 0;      ///< y of the point, upwards
  double first_x = 0;  ///< cx of column 0
  double first_y = 0;  ///< cy of row 0, the highest
  double step = 0;     ///< > 0
  Shape<2> shape{};    ///< {rows, columns}
};

/// Slopes cx / cz and cy / cz of a ray; not finite if the ray does not exist.
inline void slopes_of(const Rays& rays, std::int64_t row, std::int64_t column, double& x, double& y) {
  const double cx = rays.first_x + static_cast<double>(column) * rays.step;
  const double cy = rays.first_y - static_cast<double>(row) * rays.step;
  const double cz2 = 1 - cx * cx - cy * cy;
  const double inverse = cz2 > 0 ? 1 / std::sqrt(cz2) : NAN;
  x = cx * inverse;
  y = cy * inverse;
}

/// Light source of a stereogram: a scene sampled along rays.
class ViewSource {
 public:
  virtual ~ViewSource() = default;
  /// Number of channels, 1 or 3.
  [[nodiscard]] virtual int channels() const = 0;
  /// True if look() provides the distances of the rays' points.
  [[nodiscard]] virtual bool has_distances() const = 0;
  /// Linear intensity >= 0 of one channel along each ray (0: no light). With `distance_m`, also the distance d = -z in
  /// metres of the ray's point (> 0 behind the panel; any value if the intensity is 0). Both have the shape of `rays`
  /// and are in host memory; an empty `distance_m` is not written. May be called from several threads at once.
  virtual void look(const Rays& rays, int channel, View<float, 2> intensity, View<float, 2> distance_m) const = 0;
};

/// Throws invalid_argument naming the argument unless `source` can look: it has the channel, and the arrays are in host
/// memory and of the shape of `rays`.
void require_look(std::string_view where, const ViewSource& source, const Rays& rays, int channel,
                  View<float, 2> intensity, View<float, 2> distance_m);

}  // namespace holotone
