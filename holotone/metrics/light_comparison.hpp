#pragma once
#include <cstdint>
#include <holotone/core/array.hpp>

namespace holotone {

/// How near light comes to a wanted picture.
struct LightComparison {
  double scale = 0;             ///< s, of the seen amplitude
  double psnr_db = 0;           ///< infinite for equal pictures
  double ssim = 0;              ///< NaN on less than 11 x 11 pixels
  double speckle_contrast = 0;  ///< NaN without any light
};

/// Compares two pictures of linear light. With the seen I and the wanted T, amplitudes a = sqrt(I) and t = sqrt(T):
///   s = <a, t> / <a, a>,   PSNR = 10 log10(peak^2 / mean((s a - t)^2)),   SSIM of s a / peak and t / peak,
///   speckle contrast = standard deviation over mean of I / T, over the pixels with T >= 5 % of its largest
/// `seen` and `wanted`: intensity {ny, nx}, finite, >= 0, host memory; `wanted` not zero everywhere. Without seen light
/// s is 0. `peak`: an amplitude > 0; 0: the largest t. In float64, SSIM of values in float32. Cost as ssim; memory 16
/// bytes a pixel. Throws invalid_argument.
/// Source of the contrast: J. W. Goodman, Speckle Phenomena in Optics (2007), of light whose mean is T.
LightComparison compare_light(View<const float, 2> seen, View<const float, 2> wanted, double peak = 0);

/// The same, and writes the signed error as 8-bit grey {ny, nx}: 128 + 254 (s a - t) / peak, rounded, from 1 to 255.
/// 128 is no error, 1 and 255 half of the peak or more too dark and too bright.
LightComparison compare_light(View<const float, 2> seen, View<const float, 2> wanted, double peak,
                              View<std::uint8_t, 2> difference);

}  // namespace holotone
