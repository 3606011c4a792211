#pragma once
#include <array>
#include <cstdint>
#include <holotone/core/array.hpp>
#include <holotone/recipes/spots.hpp>

// Spots from a picture of dots, and a picture of spots.
namespace holotone {

/// The spots of a picture, and what of it they are.
struct PictureSpots {
  SpotList spots;
  double light_share = 0;      ///< of the picture's light that is in them
  std::int64_t widest_px = 0;  ///< rows or columns of the widest region
};

/// One spot for each region of pixels, joined at sides or corners, of at least `threshold` times the picture's largest
/// light: at the centre of its light, with the sum of its light as intensity. Its light is that of its pixels and of
/// those around them, down to a hundredth of its largest (and to three times the picture's median), as far as light
/// falls on the way; of two regions the nearer has a pixel. `light`: linear light {rows, columns} in host memory, such
/// as a channel of to_linear; `pixel_m`: from pixel to pixel in the spots' plane, > 0; the picture's middle comes to
/// `centre_m`, its columns go right, its rows down. The order is that of the regions' first pixels, row by row.
/// Throws invalid_argument for a threshold outside 0.001 to 1, light that is negative or not finite, a black
/// picture and more than 100,000 regions.
PictureSpots spots_in_picture(View<const float, 2> light, double pixel_m, double threshold = 0.5,
                              std::array<double, 3> centre_m = {});

/// Light of picture_shape {rows, columns} in the focal plane, |u|^2 of SpotPlan at places pixel_m apart whose middle is
/// centre_m, of a phase {ny, nx} and light {ny, nx} on the panel, empty: even. Relative l2 error against float64 sums
/// below 1e-4. Cost ny columns (nx + rows) complex products. Throws invalid_argument for other shapes, a pixel that is
/// not > 0, and options as SpotPlan.
Array<float, 2> light_in_focal_plane(View<const float, 2> phase_rad, const SpotOptions& options,
                                     std::array<double, 2> centre_m, double pixel_m, Shape<2> picture_shape,
                                     View<const Complex, 2> light = {});

/// Throws invalid_argument for spots that draw_spots refuses: none, or more than 1,000 widths apart.
void require_drawable(const SpotList& spots, const SpotOptions& options, View<const Complex, 2> light = {});

/// Picture in 8-bit sRGB of the focal plane around the spots, up to 640 pixels a side, with a scale bar and, beneath,
/// its length. Throws invalid_argument as light_in_focal_plane, and for spots more than 1,000 widths apart.
Array<std::uint8_t, 2> draw_spots(const SpotList& spots, View<const float, 2> phase_rad, const SpotOptions& options,
                                  View<const Complex, 2> light = {});

}  // namespace holotone
