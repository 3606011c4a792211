#pragma once
#include <array>
#include <vector>

namespace holotone {

/// Light or darkness in red, green and blue, linear; white paper is 1 or 0.
using Channels = std::array<double, 3>;
/// Coverages of the page by cyan, magenta, yellow and black.
using FourShares = std::array<double, 4>;

/// Colours of four inks, and the separation of dots of different inks.
struct FourInks {
  /// Linear light of paper fully covered by cyan, magenta, yellow or black (default: ideal inks).
  std::array<Channels, 4> light = {{{0, 1, 1}, {1, 0, 1}, {1, 1, 0}, {0, 0, 0}}};
  /// Total coverage s0 at which dots of different inks begin to overlap: `apart_of`. 0: independent positions.
  double apart = 0;
};

/// Returns FourInks::apart for dots placed with the forces of ClassWeights: 1.7 across / (across + 0.01 within), 0 for
/// across = 0. Fitted to classes_halftone's dots of even inks at random coverages: s0 = 1.27, 1.57, 1.70, 1.65, 1.76
/// and 1.75 for across = 0.03, 0.1, 0.25, 0.5, 1 and 3, within = 1; the same for dots of one and of four pixels.
double apart_of(double within, double across);

/// Returns the mean light of paper with dots of four inks.
///
///     L = max(0, sum over inks of l_i^q - 3)^(1/q),   l_i = 1 - c_i (1 - light_i)
///     q = exp(-(s / apart)^2),   s = sum of c_i
///
/// in each channel. q = 0, the limit, is the product of all l_i: dots that overlap at random (M. E. Demichel, 1924). q
/// = 1 is 1 - sum of c_i (1 - light_i): dots that never overlap. In between the dots stay apart while there is free
/// paper. Overlaps of dots of one ink are neglected. Such dots print more light than this: 0.05 at solid black alone,
/// 0.09 with 0.3 of another ink, and nothing below a coverage of 0.7. The power mean has the form of J. A. C. Yule and
/// W. J. Nielsen (1951); exponent and s0 are fitted to dots of classes_halftone. `coverage` in 0..1 each.
Channels printed_light(const FourInks& inks, const FourShares& coverage);

/// Separation of a colour into four inks that print it, with grey replaced by black.
///
/// Full replacement uses black and two of the three colours: those with which printed_light comes nearest to the
/// colour (least squares of sqrt(L + 0.02), coverages in 0..1). `black` = 1 is full replacement. Otherwise black has
/// that share of its coverage and all three colours print the remainder. Colours outside the inks' gamut become the
/// nearest in it.
///
/// Solved for 17^3 colours by Levenberg and Marquardt's method and interpolated in tetrahedra, so that greys need only
/// black. Throws invalid_argument for black outside 0..1, light outside 0..1, apart outside 0..100. Cost: about 0.1 s
/// once, then O(1) a colour; 77 KiB. Sources: J. A. C. Yule, Principles of Color Reproduction (1967); interpolation:
/// H. Kang, Color Technology for Electronic Imaging Devices (1997), 4.4.
class Separation {
 public:
  explicit Separation(double black = 1, const FourInks& inks = {});

  /// Returns the coverages for a darkness 1 - light in 0..1.
  [[nodiscard]] FourShares operator()(const Channels& darkness) const;

 private:
  static constexpr int nodes = 17;
  std::vector<std::array<float, 4>> table_;  ///< coverages at the nodes, red slowest
};

}  // namespace holotone
