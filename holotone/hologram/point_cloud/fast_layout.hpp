#pragma once
// How `fast` cuts a panel into tiles and a scene into depths: plain arithmetic, shared by the devices. Not for users.
//
// With X, Y pixels from a tile's origin, u, v those of a point, a its curvature, r = X^2 + Y^2 and a0, r0 the middles
// of the ranges of a and r, the phase of the point's wave is, in turns,
//   a (X - u)^2 + a (Y - v)^2 + phi = a0 r - 2 a u X - 2 a v Y + (a - a0)(r - r0) + [a (u^2 + v^2) + (a - a0) r0 +
//   phi]:
// but for a0 r, a sum of plane waves in X, Y and r with the frequencies -2 a u, -2 a v and a - a0 and the bracket as
// the point's own phase, which a non-uniform FFT of type 1 computes for all pixels at once. Its third axis is short:
// (a_max -
// a_min) r_max turns. Smaller tiles have a smaller r_max; every tile spreads the points again.
#include <cstdint>
#include <holotone/core/array.hpp>
#include <holotone/hologram/point_cloud/point_cloud_math.h>
#include <holotone/nufft/window.hpp>
#include <span>

namespace holotone::point_cloud {

/// Tiles of one shape and their frequency grids.
struct FastLayout {
  Shape<2> tile{};         ///< pixels, {rows, columns}; the panel's end may cut the last ones
  SpreadWindow window;     ///< of all three axes
  Shape<2> grid{};         ///< frequency steps for a turn a pixel, at least upsampling * tile
  double nanoseconds = 0;  ///< estimated, of all tiles; only of a layout that was chosen
  /// Largest r in a tile whose origin is its middle pixel.
  [[nodiscard]] double radius_squared() const;
  /// Steps of the third axis for a turn a square pixel.
  [[nodiscard]] double depth_steps() const { return depth_margin * window.upsampling * radius_squared(); }
  /// Pixels crowd where r is least and largest, and windows are worst at the ends of their range: a tenth more keeps
  /// them inside.
  static constexpr double depth_margin = 1.1;
};

FastLayout fast_tile_layout(const Shape<2>& tile, const SpreadWindow& window);

/// Costs of a machine, in nanoseconds with all its threads at work.
struct FastCosts {
  double spread_point;      ///< a point of a tile
  double spread_node;       ///< and each node of its window
  double transform_sample;  ///< a sample of a line's transform
  double masked_pair;       ///< a point and a pixel in products of factors
};

/// Estimated nanoseconds of summing the points[index] over one tile. Looks at some hundred of them.
double fast_tile_nanoseconds(const Shape<2>& tile, const SpreadWindow& window, std::span<const PixelPoint> points,
                             std::span<const std::uint32_t> index, const FastCosts& costs);

/// The tiles and windows of least estimated time that keep the window's share of `tolerance` (relative l2), every point
/// taken to light every tile. A tile of no pixels where no grid could hold the depths.
FastLayout choose_fast_layout(const Shape<2>& panel, std::span<const PixelPoint> points, double tolerance,
                              const FastCosts& costs);

}  // namespace holotone::point_cloud
