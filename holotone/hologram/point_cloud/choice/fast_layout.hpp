#pragma once
// Division of a panel into tiles and of a scene into depths for `fast`, shared by the devices. Not for users.
//
// With X, Y pixels from a tile's origin, u, v those of a point, a its curvature, r = X^2 + Y^2 and a0, r0 the middles
// of the ranges of a and r, the phase of the point's wave is, in turns,
// a (X - u)^2 + a (Y - v)^2 + phi = a0 r - 2 a u X - 2 a v Y + (a - a0)(r - r0) + [a (u^2 + v^2) + (a - a0) r0 + phi].
// Apart from a0 r this is a sum of plane waves in X, Y and r with the frequencies -2 a u, -2 a v and a - a0. The
// bracket is the point's own phase. A non-uniform FFT of type 1 computes the sum for all pixels at once. Its third axis
// is short: (a_max - a_min) r_max turns. Smaller tiles have a smaller r_max; every tile spreads the points again.
#include <cstdint>
#include <holotone/core/array.hpp>
#include <holotone/hologram/point_cloud/point_cloud_math.h>
#include <holotone/nufft/window.hpp>
#include <optional>
#include <span>

namespace holotone::point_cloud {

/// Tiles of one shape and their frequency grids.
struct FastLayout {
  Shape<2> tile{};         ///< pixels, {rows, columns}; the panel's end may cut the last ones
  SpreadWindow window;     ///< of all three axes
  Shape<2> grid{};         ///< frequency steps for 1 turn per pixel, at least upsampling * tile
  double nanoseconds = 0;  ///< estimate for all tiles; set by choose_fast_layout only
  /// Largest r in a tile whose origin is its middle pixel.
  [[nodiscard]] double radius_squared() const;
  /// Steps of the third axis for 1 turn per square pixel.
  [[nodiscard]] double depth_steps() const { return depth_margin * window.upsampling * radius_squared(); }
  /// Margin of a tenth that keeps pixels off the ends of the range of r: pixels crowd there, and windows are least
  /// accurate there.
  static constexpr double depth_margin = 1.1;
};

FastLayout fast_tile_layout(const Shape<2>& tile, const SpreadWindow& window);

/// Upsamplings that are tried for a layout.
constexpr double fast_upsamplings[] = {1.25, 1.5, 2.0};
/// Complex numbers of a tile's grid above which smaller tiles are preferred: 1 GiB.
constexpr double fast_max_numbers = 1 << 27;
/// Maximum complex numbers of a tile's grid: 32 GiB.
constexpr double fast_too_many_numbers = 4294967296.0;
/// Returns the window of all three axes that keeps its share of `tolerance` (relative l2) in float32; none if another
/// upsampling does so at less noise.
std::optional<SpreadWindow> fast_window(double tolerance, double upsampling);

/// Costs on a machine, in nanoseconds with all threads in use.
struct FastCosts {
  double spread_point;      ///< per point of a tile
  double spread_node;       ///< per node of a point's window
  double transform_sample;  ///< per sample of a line's transform
  double masked_pair;       ///< per pair of point and pixel in products of factors
};

/// Estimates the nanoseconds of one tile whose points span `row_turns` turns a sample along its rows' axis.
double fast_tile_nanoseconds(const FastLayout& layout, double row_turns, double planes, std::size_t points,
                             const FastCosts& costs);
/// Estimates the nanoseconds of summing points[index] over one tile, from a few hundred of them.
double fast_tile_nanoseconds(const Shape<2>& tile, const SpreadWindow& window, std::span<const PixelPoint> points,
                             std::span<const std::uint32_t> index, const FastCosts& costs);

/// Returns the tiles and window of least estimated time that keep the window's share of `tolerance` (relative l2). The
/// estimate assumes that every point lights every tile. The tile has no pixels if no grid can hold the depths.
FastLayout choose_fast_layout(const Shape<2>& panel, std::span<const PixelPoint> points, double tolerance,
                              const FastCosts& costs);

}  // namespace holotone::point_cloud
