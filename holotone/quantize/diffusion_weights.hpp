#pragma once
#include <cstdint>
#include <holotone/core/array.hpp>
#include <holotone/optics/field.hpp>
#include <holotone/optics/viewer.hpp>
#include <span>
#include <vector>

namespace holotone {

/// A rectangle of the spectrum, in cycles a pixel along columns and, downwards, rows; |frequency| <= 1/2.
struct SignalWindow {
  double xi = 0;  ///< its middle
  double eta = 0;
  double width = 0;
  double height = 0;
};

/// The spatial frequencies whose light goes from (x_m, y_m) on the panel to the viewer: xi = pitch sin(theta) / lambda, theta the direction of the
/// left and right sides at the height of the middle, eta alike with the sign of rows. Light beyond the panel's diffraction angle has |xi| > 1/2.
/// Throws invalid_argument for a viewer without width, height or distance. Source: Lagrange et al. 2024, section 2.
SignalWindow signal_window(const FieldGrid& grid, const Viewer& viewer, double x_m, double y_m);

/// A pixel's level errs; so much later in raster order another pixel collects that: dx columns to the right, dy rows below.
struct DiffusionTap {
  int dx = 0;
  int dy = 0;

  bool operator==(const DiffusionTap&) const = default;
};

enum class WeightRule {
  eq1,            ///< Lagrange et al. 2024, Eq. (1), divided by its sum of moduli and times most_sum
  least_squares,  ///< those with the least noise in the window
};

struct WeightOptions {
  WeightRule rule = WeightRule::eq1;
  int taps = 27;        ///< chosen for all hogels by Eq. (4)
  int kept = 0;         ///< of these for each hogel, the largest; 0: all
  int parallelism = 0;  ///< p of Eq. (7): errors go less than p columns to the left for each row down; 0: any
  /// Noise is not wanted outside a square of this side around frequency 0 either, cycles a pixel; 1: it may be anywhere.
  double kappa = 1;
  /// Of the weights' moduli; 0: 0.98 for eq1, 2.2 for least_squares. No more than 1 keeps errors bounded; speckle stayed stable up to 2.5 (1 and 8 bits, p
  /// from 0 to 6), at 3 not always.
  double most_sum = 0;
  bool serpentine =
      false;  ///< weights of rows from right to left too: those for the windows' mirror images left to right
};

/// One set of weights for each hogel, over the same taps.
struct DiffusionWeights {
  std::vector<DiffusionTap> taps;  ///< rows from far to near, then columns from far to near: the order of sums
  Array<float, 2> values;          ///< {hogels, taps}; 0: not used there
  Array<float, 2> backward{};      ///< of rows from right to left, whose taps are mirrored; empty: `values`
};

/// What error diffusion weighs errors with so that noise stays out of each hogel's window and of its mirror image, where the conjugate order is.
/// With u the pixel's value and what it collects, e = u - q and W the weights' spectrum, the noise q - h has the spectrum (1 - W) E. Eq. (1),
///   w(x, y) = 2 M_s(x, y) cos(2 pi (xi x + eta y)) + M_hf(x, y),
/// M_s and M_hf the transforms of the window and of the frequencies outside kappa (Eq. 8, 9), is what of W = 1 there and 0 elsewhere falls on
/// taps. `taps` of them are those with the greatest max(2 |M_s| + |M_hf|) over the hogels (Eq. 4) among the 12 rows and 24 columns around.
/// least_squares solves for the weights over these taps with the least sum of |1 - W|^2 over both windows, plus as much of the weights' own squares as
/// keeps their moduli within most_sum: cost O(taps^3) a hogel. Speckle in 0.16 x 0.16 cycles a pixel, 1 to 8 bits of phase, any p: noise in the window
/// 20 to 25 dB below that of truncation by least_squares, 5 to 7 dB by eq1 (tests/quantize/error_diffusion_test.cpp).
/// Throws invalid_argument for options out of range, more taps than there are, and windows below 1e-6 cycles a pixel or not within |frequency| <= 1/2.
DiffusionWeights diffusion_weights(std::span<const SignalWindow> hogels, const WeightOptions& options = {});

/// 7/16 to the right, 3/16, 5/16 and 1/16 below. Source: Floyd and Steinberg 1976.
DiffusionWeights floyd_steinberg_weights();

}  // namespace holotone
