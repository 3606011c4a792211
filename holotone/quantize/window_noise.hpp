#pragma once
#include <cstdint>
#include <holotone/core/array.hpp>
#include <holotone/quantize/diffusion_weights.hpp>
#include <holotone/quantize/error_diffusion.hpp>

namespace holotone {

/// Shares of the light incident on the pixels.
struct WindowNoise {
  double noise = 0;  ///< light of q - h in the window
  double light = 0;  ///< light of q in the window: the diffraction efficiency
};

/// Computes the codes' light in a window of the spectrum, and its quantization noise. h and q are those of
/// ErrorDiffusionPlan (amplitude: both less 1/2, the constant of the zero order), Q and H their transforms over these
/// pixels:
///   noise = sum over the window of |Q - H|^2 / n^2,   light = sum over the window of |Q|^2 / n^2,
/// with n the number of pixels.
/// A frequency at the window's edge counts if its centre is inside. field and codes are {ny, nx} in host memory;
/// `options` and `scale` are those that made the codes.
/// Throws invalid_argument for other shapes or codes beyond the levels. Cost O(n log n).
WindowNoise window_noise(View<const Complex, 2> field, View<const std::uint8_t, 2> codes,
                         const ErrorDiffusionOptions& options, double scale, const SignalWindow& window);

}  // namespace holotone
