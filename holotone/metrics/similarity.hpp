#pragma once
#include <holotone/core/array.hpp>

namespace holotone {

/// Mean of (a - b)^2 over the pixels, in float64. Host arrays of one shape. Throws invalid_argument for unequal or
/// empty shapes.
double mean_square_error(View<const float, 2> a, View<const float, 2> b);

/// 10 log10(peak^2 / mean_square_error), dB; infinite for equal pictures. Throws invalid_argument for a mean square
/// error that is negative or NaN, or a peak not > 0.
double psnr_db(double mean_square_error, double peak = 1);

struct SsimOptions {
  double range = 1;    ///< L, range of the values
  double sigma = 1.5;  ///< standard deviation of the Gaussian window, pixels
  int radius = 5;      ///< radius of the window, pixels: 5 gives 11 x 11
  double k1 = 0.01;
  double k2 = 0.03;
};

/// Structural similarity: the mean over all positions of the window inside the picture of
///   (2 m_a m_b + C1)(2 s_ab + C2) / ((m_a^2 + m_b^2 + C1)(s_a^2 + s_b^2 + C2)),   C1 = (k1 L)^2, C2 = (k2 L)^2,
/// with means, variances and covariance under a Gaussian window that sums to 1. Host arrays of one shape, at least as
/// large as the window, of finite values; in float64. Range -1 to 1, 1 for equal pictures. Cost O(pixels radius), on
/// all CPU threads; memory 5 rows of float64 for each row of the window and thread.
/// Throws invalid_argument. Source: Z. Wang, A. C. Bovik, H. R. Sheikh, E. P. Simoncelli, Image quality assessment
/// (2004), equation 13.
double ssim(View<const float, 2> a, View<const float, 2> b, const SsimOptions& options = {});

}  // namespace holotone
