#pragma once
#include <cstdint>
#include <holotone/core/array.hpp>
#include <holotone/core/bounds.hpp>
#include <holotone/core/enum_names.hpp>
#include <holotone/core/progress.hpp>
#include <holotone/optics/field.hpp>
#include <holotone/optics/viewer.hpp>
#include <span>
#include <string_view>
#include <vector>

namespace holotone {

/// Rectangle of the spectrum in cycles per pixel, xi to the right and eta downwards; |frequency| <= 1/2.
struct SignalWindow {
  double xi = 0;  ///< centre
  double eta = 0;
  double width = 0;
  double height = 0;
};

/// Spatial frequencies of the light from (x_m, y_m) on the panel to the viewing window. xi = pitch sin(theta) /
/// lambda, theta the direction of the left and right sides at the height of the centre; eta likewise with the sign of
/// rows. Light beyond the panel's diffraction angle has |xi| > 1/2.
/// Throws invalid_argument for a viewer without width, height or distance. Source: Lagrange et al. 2024, section 2.
SignalWindow signal_window(const FieldGrid& grid, const Viewer& viewer, double x_m, double y_m);

/// Offset from a pixel to a later pixel, in raster order, that receives its error: dx columns to the right, dy rows
/// below.
struct DiffusionTap {
  int dx = 0;
  int dy = 0;

  bool operator==(const DiffusionTap&) const = default;
};

enum class WeightRule {
  eq1,            ///< Lagrange et al. 2024, Eq. (1), by WeightNormalization
  least_squares,  ///< weights with the least noise in the window
};
template <>
inline constexpr auto enum_names<WeightRule> = std::array{
    EnumName<WeightRule>{WeightRule::eq1, "eq1"}, EnumName<WeightRule>{WeightRule::least_squares, "least-squares"}};
/// "eq1", "least-squares"
std::string_view to_string(WeightRule rule);

/// Factor of the weights of Eq. (1). That of none and origin is reduced where their sum of moduli exceeds max_sum.
enum class WeightNormalization {
  none,     ///< 1: as printed
  origin,   ///< 1 / w(0, 0), w(0, 0) = 2 width height + 1 - kappa_x kappa_y: the pixel's own weight becomes 1
  modulus,  ///< max_sum / (sum of |weights|)
};
template <>
inline constexpr auto enum_names<WeightNormalization> =
    std::array{EnumName<WeightNormalization>{WeightNormalization::none, "none"},
               EnumName<WeightNormalization>{WeightNormalization::origin, "origin"},
               EnumName<WeightNormalization>{WeightNormalization::modulus, "modulus"}};
/// "none", "origin", "modulus"
std::string_view to_string(WeightNormalization normalization);

struct WeightOptions {
  WeightRule rule = WeightRule::eq1;
  int taps = 27;        ///< number of taps, common to all hogels, chosen by Eq. (4)
  int kept = 0;         ///< number of largest weights kept for each hogel; 0: all
  int parallelism = 0;  ///< p of Eq. (7): errors move less than p columns to the left for each row down; 0: unlimited
  /// Sides of a rectangle around frequency 0, cycles per pixel, outside which noise is also suppressed; 0.1 to 1, 1:
  /// all frequencies.
  double kappa_x = 1;
  double kappa_y = 1;
  /// Upper limit of the sum of |weights|, 0.1 to 4; 0: 0.98 for eq1 by modulus, else 2.2. Up to 1 errors are bounded.
  /// Speckle was stable up to 2.5 (1 and 8 bits, p from 0 to 6), at 3 not always. origin at 4 diverged with kappa 1 and
  /// one bit, and was stable with kappa 0.9 and 8 bits (tests/quantize/view_dependent_test.cpp).
  double max_sum = 0;
  bool serpentine = false;  ///< adds weights for rows from right to left: those of the windows mirrored left to right
  /// Taps instead of `taps` chosen for these hogels: those that diffusion_taps chose for all windows of a viewer who
  /// moves. Weights over the same taps replace each other in a plan (ErrorDiffusionPlan::set_weights).
  std::vector<DiffusionTap> given_taps{};
  WeightNormalization normalization = WeightNormalization::modulus;  ///< of eq1
};
template <>
inline constexpr Bounds bounds_of<&WeightOptions::taps>{
    1, 612};  // pixels of the neighbourhood; fewer for a limited parallelism
template <>
inline constexpr Bounds bounds_of<&WeightOptions::parallelism>{0, 24};
template <>
inline constexpr Bounds bounds_of<&WeightOptions::kappa_x>{0.1, 1};
template <>
inline constexpr Bounds bounds_of<&WeightOptions::kappa_y>{0.1, 1};
template <>
inline constexpr Bounds bounds_of<&WeightOptions::max_sum>{0.1, 4};  // and 0

/// Weights of each hogel, over common taps.
struct DiffusionWeights {
  std::vector<DiffusionTap> taps;  ///< by decreasing dy, then decreasing dx, as ErrorDiffusionPlan requires
  Array<float, 2> values;          ///< {hogels, taps}; 0: tap not used by the hogel
  Array<float, 2> backward{};      ///< weights of rows from right to left, with mirrored taps; empty: `values`
};

/// Chooses `taps` of the 12 rows and 24 columns around a pixel, within the limit of `parallelism`: those with the
/// greatest max(2 |M_s| + |M_hf|) over the windows (Eq. 4, see diffusion_weights). Returns them in the order of
/// DiffusionWeights::taps. Ignores given_taps. Throws as diffusion_weights. Cost O(windows).
std::vector<DiffusionTap> diffusion_taps(std::span<const SignalWindow> windows, const WeightOptions& options = {},
                                         Progress& progress = Progress::none());

/// Computes weights of error diffusion that keep quantization noise out of each hogel's viewing window and its mirror
/// image, the conjugate order. With u the pixel's value plus the errors it receives, e = u - q and W the weights'
/// spectrum, the noise q - h has the spectrum (1 - W) E. The weights of Eq. (1) are
///   w(x, y) = 2 M_s(x, y) cos(2 pi (xi x + eta y)) + M_hf(x, y),
/// M_s and M_hf the transforms of the window and of the frequencies outside kappa (Eq. 8, 9). They are the values at
/// the taps of an ideal W that is 1 in these regions and 0 elsewhere. The taps are diffusion_taps of the hogels'
/// windows, or given_taps. M_hf(0, 0) = 1 - kappa_x kappa_y, the area of these frequencies, as for any transform;
/// Eq. (9) prints 1 there, which leaves out the transform of the rectangle. It matters to origin and least_squares.
/// least_squares solves for the weights over these taps with the least sum of |1 - W|^2 over both windows. It adds the
/// weights' squares with the factor that keeps the sum of their moduli within max_sum: cost O(taps^3) a hogel.
/// Noise in the window is 20 to 25 dB below that of truncation with least_squares, 5 to 7 dB with eq1 by modulus.
/// Measured for speckle in 0.16 x 0.16 cycles a pixel, 1 to 8 bits of phase, any p
/// (tests/quantize/error_diffusion_test.cpp).
/// Throws invalid_argument for options out of range, for more taps than the neighbourhood has, for given_taps beyond it
/// or in another order than DiffusionWeights::taps, and for windows below 1e-6 cycles a pixel or not within |frequency|
/// <= 1/2.
DiffusionWeights diffusion_weights(std::span<const SignalWindow> hogels, const WeightOptions& options = {},
                                   Progress& progress = Progress::none());

/// 7/16 to the right, 3/16, 5/16 and 1/16 below. Source: Floyd and Steinberg 1976.
DiffusionWeights floyd_steinberg_weights();

}  // namespace holotone
