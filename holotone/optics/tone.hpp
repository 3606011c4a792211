#pragma once
#include <cstdint>
#include <holotone/core/array.hpp>
#include <span>

namespace holotone {

/// The value that a fraction of all pixels of these images do not exceed (0.999: all but the brightest thousandth).
/// Over a whole focus sweep it is the one reference that keeps the pictures comparable. Host arrays; pixels that are
/// not finite are left out. Throws invalid_argument for a fraction outside 0..1 or nothing finite. Cost O(pixels).
float percentile(std::span<const View<const float, 2>> images, double fraction);
float percentile(View<const float, 2> image, double fraction);

/// The intensity shown as white unless asked: the 99.9th percentile, so that a few glints do not darken the rest; the
/// brightest pixel if that is zero (a few points on black), 1 if there is no light at all.
float default_reference(std::span<const View<const float, 2>> images);

/// The sum of the mean and the standard deviation of all pixels of these images, by which Lagrange et al. 2024, section 4.3,
/// normalise what an eye sees; 1 if there is no light at all. Host arrays; pixels that are not finite are left out.
float mean_plus_deviation(std::span<const View<const float, 2>> images);

struct ToneOptions {
  float reference = 0;  ///< linear intensity shown as white; 0: default_reference of the image
  double gamma = 1;     ///< > 0; above 1 lifts the shadows
};

/// Linear light to 8-bit sRGB code values:
///   v = min(1, max(0, I / reference))^(1/gamma),  code = round(255 s(v)),
///   s(v) = 12.92 v for v <= 0.0031308, else 1.055 v^(1/2.4) - 0.055   (IEC 61966-2-1)
/// so that at gamma 1 a calibrated display emits light proportional to the intensity. NaN shows as black, an image
/// without light is black. Host arrays. Throws invalid_argument for a negative reference or gamma not > 0.
Array<std::uint8_t, 2> tone_map(View<const float, 2> intensity, const ToneOptions& options = {});

/// Averages an image in linear light over the area of each target pixel (pixels cut by an edge count by their part).
/// `shape` is at most the image's in either direction. Host arrays. Throws invalid_argument. Cost O(pixels).
Array<float, 2> area_average(View<const float, 2> image, Shape<2> shape);

}  // namespace holotone
