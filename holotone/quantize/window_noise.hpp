#pragma once
#include <cstdint>
#include <holotone/core/array.hpp>
#include <holotone/quantize/diffusion_weights.hpp>
#include <holotone/quantize/error_diffusion.hpp>

namespace holotone {

/// Shares of the light that falls on the pixels.
struct WindowNoise {
  double noise = 0;  ///< of q - h, into the window
  double light = 0;  ///< of q, into the window: the diffraction efficiency
};

/// What of the codes' light goes into a window of the spectrum, and what of it is noise. With h and q as ErrorDiffusionPlan has them (amplitude: both less 1/2,
/// the constant that goes straight on) and Q, H the transforms over these pixels,
///   noise = sum over the window of |Q - H|^2 / n^2,   light = sum over the window of |Q|^2 / n^2,   n the number of pixels.
/// Frequencies at the window's edge count if their middle is inside. field and codes {ny, nx} in host memory; `options` and `scale` as the codes were made with.
/// Throws invalid_argument for other shapes or codes beyond the levels. Cost O(n log n).
WindowNoise window_noise(View<const Complex, 2> field, View<const std::uint8_t, 2> codes,
                         const ErrorDiffusionOptions& options, double scale, const SignalWindow& window);

}  // namespace holotone
