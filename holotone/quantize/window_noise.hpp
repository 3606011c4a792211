#pragma once
#include <complex>
#include <cstdint>
#include <holotone/core/array.hpp>
#include <holotone/optics/viewer.hpp>
#include <holotone/quantize/diffusion_weights.hpp>
#include <holotone/quantize/error_diffusion.hpp>
#include <span>
#include <vector>

namespace holotone {

/// Sums over a window of the spectrum, as shares of the light incident on the pixels; += adds those of other pixels.
struct WindowNoise {
  double noise = 0;                  ///< |Q - C|^2, C of the field clipped: counts a change of gain as noise
  double light = 0;                  ///< |Q|^2: the diffraction efficiency
  double field = 0;                  ///< |H|^2
  std::complex<double> product = 0;  ///< conj(H) Q
  double twin = 0;                   ///< |H|^2 of the conjugate of h: the twin image, relative to `field`
  double zero_order = 0;             ///< zero order, if frequency 0 is in the window; not in `light` of amplitudes

  WindowNoise& operator+=(const WindowNoise& other);
};

/// Computes the light of several codes of a field in a window of the spectrum. q is the light of the codes, c and h the
/// field over the scale, clipped as by ErrorDiffusionPlan and not (amplitude: q and c less 1/2, the constant of the
/// zero order, c real, h complex). Q, C and H are their transforms over these n pixels, times `lens`, and
///   light = sum over the window of |Q|^2 / n^2, the others likewise.
/// `lens` removes the curvature of the waves to the window (window_lens), and may fade the pixels (WindowMeter); empty:
/// a window far away.
/// A frequency at the window's edge counts if its centre is inside. field, codes and lens are {ny, nx} in host memory;
/// `options` and `scale` are those that made the codes. twin and zero_order are 0 unless makes_twin.
/// Throws invalid_argument for other shapes or codes beyond the levels. Cost O(n log n).
std::vector<WindowNoise> window_noise(View<const Complex, 2> field, std::span<const View<const std::uint8_t, 2>> codes,
                                      const ErrorDiffusionOptions& options, double scale, const SignalWindow& window,
                                      View<const Complex, 2> lens = {});
/// The same for one array of codes and a window far away.
WindowNoise window_noise(View<const Complex, 2> field, View<const std::uint8_t, 2> codes,
                         const ErrorDiffusionOptions& options, double scale, const SignalWindow& window);

/// Returns the lens {shape} for pixels around (x_m, y_m) on the panel and a viewing window:
///   exp(i k (r - r_0 - (x, y) . grad r_0)),   r the distance from the pixel to the middle of the window,
/// r_0 that of (x_m, y_m). A transform of the light times the lens is the light in the plane of the window, where the
/// frequencies of signal_window(grid, viewer, x_m, y_m) are the window. Throws as signal_window. Cost O(n).
Array<Complex, 2> window_lens(const FieldGrid& grid, const Viewer& viewer, double x_m, double y_m, Shape<2> shape);

/// Parts of the codes' light in a window, as shares of the incident light.
struct WindowSignal {
  double signal = 0;  ///< |a|^2 sum |H|^2
  double noise = 0;   ///< sum |Q - a H|^2
};

/// Separates the light in a window into the field, dimmed or not, and the rest, as an eye does:
///   a = sum conj(H) Q / sum |H|^2,   signal = |a|^2 sum |H|^2,   noise = sum |Q - a H|^2 = light - signal.
/// The sums of several hogels of a panel share one gain a: a viewer sees one picture, in which a hogel that is too
/// bright or out of phase is an error. No signal for a field without light in the window.
WindowSignal projected(const WindowNoise& sums);

/// True for codes whose values lie on a line in the complex plane: amplitudes, or two phases. Their light is the real
/// part of the field: half of the picture and half of its conjugate, the twin image, at the mirrored frequencies. The
/// middle of the line is the zero order (1/2 for amplitudes, 0 for two phases half a turn apart).
bool makes_twin(const ErrorDiffusionOptions& options);

}  // namespace holotone
