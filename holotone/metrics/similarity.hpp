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

/// Similarity of two pictures in luma and chroma, as papers on light fields report it. Of grey pictures the three of
/// chroma are NaN.
struct ColourSimilarity {
  double psnr_y_db = 0;
  double psnr_cb_db = 0;
  double psnr_cr_db = 0;
  double psnr_ycbcr_db = 0;  ///< (6 psnr_y_db + psnr_cb_db + psnr_cr_db) / 8
  double ssim_y = 0;         ///< NaN on less than 11 x 11 pixels
};

/// Compares pictures {ny, nx, channels} of codes divided by the largest: grey (1 channel) or R, G, B (3); a further
/// channel is alpha and does not count. With ITU-R BT.709, unrounded,
///   Y = 0.2126 R + 0.7152 G + 0.0722 B,   Cb = (B - Y) / 1.8556,   Cr = (R - Y) / 1.5748,
/// the peak of each is 1. SSIM has its default options. Host arrays of one shape, in float64. Cost as ssim. Throws
/// invalid_argument. Source: weights of 6, 1, 1 and means over views, I. Viola, M. Rerabek, T. Bruylants, P. Schelkens,
/// F. Pereira, T. Ebrahimi, Objective and subjective evaluation of light field image compression algorithms (2016).
ColourSimilarity colour_similarity(View<const float, 3> a, View<const float, 3> b);

}  // namespace holotone
