#pragma once
// Components of a model for any view of it, on every device. Not for users.
#include <algorithm>
#include <holotone/smoe/model/small_matrix.hpp>
#include <limits>

namespace holotone::smoe {

struct alignas(16) Expert {
  float colour[max_smoe_channels];
  float slope_x[max_smoe_channels];
  float slope_y[max_smoe_channels];
};

/// Component for any plane: it moves along with the fixed coordinates, and its weight falls with their distance from
/// its own.
struct alignas(16) MovingComponent {
  double at[2];  ///< its own fixed coordinates; its centre there is (x, y)
  double x;
  double y;
  double shift_x[2];
  double shift_y[2];
  double scale[2][2];  ///< L^-1 of the fixed coordinates' covariance
  PlaneShape shape;
  Expert expert;
  float drift[2][max_smoe_channels];  ///< change of the colour at its centre
  float steep;
  float deviation;
  int size;  ///< class
};

/// The nearest float that is not below.
HOLOTONE_HOST_DEVICE inline float float_above(double value) {
  const auto nearest = static_cast<float>(value);
  return static_cast<double>(nearest) < value ? std::nextafter(nearest, std::numeric_limits<float>::infinity())
                                              : nearest;
}

/// Largest standard deviation of a 2 x 2 covariance.
HOLOTONE_HOST_DEVICE inline double largest_deviation(const Matrix& r) {
  const double middle = 0.5 * (r[0][0] + r[1][1]);
  return std::sqrt(middle + std::hypot(0.5 * (r[0][0] - r[1][1]), r[0][1]));
}

/// Component j of a model of Dimensions, in units of the model's coordinates; `size` is left at 0.
template <int Dimensions>
HOLOTONE_HOST_DEVICE MovingComponent moving_component(const ModelNumbers& model, std::int64_t j) {
  constexpr int fixed = Dimensions - 2;
  MovingComponent component{};
  const float* const centre = model.centre + j * Dimensions;
  HOLOTONE_UNROLL for (int k = 0; k < fixed; ++k) component.at[k] = static_cast<double>(centre[2 + k]);
  const Slice slice = slice_component(model, Dimensions, j, component.at, fixed);
  (void)plane_shape(slice, 1, 1, component.shape);  // cannot fail: checked by require_slices
  component.x = slice.centre[0];
  component.y = slice.centre[1];
  const Matrix r = symmetric(model.covariance + j * triangle_size(Dimensions), Dimensions);
  Matrix inner{};
  HOLOTONE_UNROLL for (int row = 0; row < fixed; ++row) {
    HOLOTONE_UNROLL for (int column = 0; column < fixed; ++column) inner[row][column] = r[2 + row][2 + column];
  }
  Matrix l{};
  (void)factor(inner, fixed, l);
  HOLOTONE_UNROLL for (int k = 0; k < fixed; ++k) {
    Vector unit{};
    unit[k] = 1;
    const Vector scaled = forward_solve(l, unit, fixed);
    HOLOTONE_UNROLL for (int row = k; row < fixed; ++row) component.scale[row][k] = scaled[row];
    const Vector inverse = backward_solve(l, scaled, fixed);
    HOLOTONE_UNROLL for (int row = 0; row < fixed; ++row) {
      component.shift_x[k] += r[0][2 + row] * inverse[row];
      component.shift_y[k] += r[1][2 + row] * inverse[row];
    }
  }
  HOLOTONE_UNROLL for (int c = 0; c < max_smoe_channels; ++c) {
    if (c >= model.channels) break;
    const float* const slope = model.slope + (j * model.channels + c) * Dimensions;
    component.expert.colour[c] = static_cast<float>(slice.colour[c]);
    component.expert.slope_x[c] = slope[0];
    component.expert.slope_y[c] = slope[1];
    HOLOTONE_UNROLL for (int k = 0; k < fixed; ++k) {
      component.drift[k][c] =
          static_cast<float>(static_cast<double>(slope[0]) * component.shift_x[k] +
                             static_cast<double>(slope[1]) * component.shift_y[k] + static_cast<double>(slope[2 + k]));
    }
    // Change of the colour with u and v, whose squares the log2 density falls by.
    const double by_v = static_cast<double>(slope[1]) / component.shape.down;
    const double by_u = (static_cast<double>(slope[0]) - component.shape.skew * by_v) / component.shape.across;
    component.steep = std::max(component.steep, float_above(std::hypot(by_u, by_v)));
  }
  const double deviation = largest_deviation(slice.covariance);
  component.deviation = float_above(deviation);
  return component;
}

}  // namespace holotone::smoe
