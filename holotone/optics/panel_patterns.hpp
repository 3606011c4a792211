#pragma once
#include <array>
#include <cstdint>
#include <holotone/core/array.hpp>
#include <holotone/core/bounds.hpp>
#include <holotone/core/enum_names.hpp>
#include <holotone/optics/field.hpp>
#include <holotone/optics/row_range.hpp>
#include <vector>

// Phase patterns of optical elements that a phase panel takes the place of. Each function returns the phase of a panel
// in turns, 0 <= t < 1, {ny, nx} in host memory; with a `part`, of these rows alone, {part.rows, nx} (the default, no
// rows, stands for the whole panel). x and y are those of FieldGrid: y up, origin in the middle of the panel. The
// phasor is exp(-i omega t), so light leaves toward the side where the phase rises.
//
// A sum of elements is the sum of their phases: the product of exp(2 pi i t). EncodePlan converts it to codes. Formed
// in float64; error of a phase: 6e-8 turns. CPU. Cost O(nx ny), a Zernike polynomial O(n nx ny). All throw
// invalid_argument naming the option, for a grid out of range and for rows beyond the panel.
namespace holotone {

struct GratingOptions {
  double period_m = 0;     ///< across the lines; at least two pixels
  double angle_rad = 0;    ///< direction across the lines, counterclockwise from +x
  bool binary = false;     ///< two phases, 0 and depth, for half a period each; else a blazed grating
  double depth_turns = 0;  ///< 0 to 1; 0: 1 turn blazed, 1/2 binary
};

/// Grating, with u = (x cos(angle) + y sin(angle)) / period:
///   blazed  t = depth (u - floor(u)): all light goes to sin(a) = lambda / period toward `angle`, for a depth of 1
///   binary  t = 0 if u - floor(u) < 1/2, else depth: orders +1 and -1 have (2/pi)^2 = 0.405 of the light each, the
///           even ones none, for a depth of 1/2
/// The orders are the Fourier coefficients of exp(2 pi i t) over a period.
Array<float, 2> grating_turns(const GratingOptions& options, const FieldGrid& grid, const RowRange& part = {});

struct LensPatternOptions {
  double focal_length_m = 0;  ///< > 0: converges, < 0: diverges
  double centre_x_m = 0;
  double centre_y_m = 0;
};

/// Thin lens, t = -((x - cx)^2 + (y - cy)^2) / (2 lambda f), the phase -pi r^2 / (lambda f). A plane wave is in focus
/// at f in front of the panel, the distance -f (conventions). Source: Goodman, Introduction to Fourier Optics, Eq.
/// (5-10).
Array<float, 2> lens_turns(const LensPatternOptions& options, const FieldGrid& grid, const RowRange& part = {});

/// Shortest focal length of a lens that the grid samples: 2 pitch max(|x - cx|, |y - cy|) / lambda. Nearer ones have
/// less than two pixels a fringe at the rim and act as an array of lenses.
double shortest_focal_length_m(const LensPatternOptions& options, const FieldGrid& grid);

/// A Zernike polynomial and its coefficient.
struct ZernikeTerm {
  int n = 0;         ///< radial degree, 0 to 100
  int m = 0;         ///< azimuthal frequency, n - |m| even; > 0: cos(m theta), < 0: sin(|m| theta)
  double turns = 0;  ///< coefficient, at most 1e6
};

enum class ZernikeNorm {
  rms,   ///< Noll: root mean square 1 over the disc, so that a coefficient is an rms in turns (waves)
  peak,  ///< Born and Wolf: R_n^m(1) = 1, so that a coefficient is the phase at the rim in turns
};

template <>
inline constexpr auto enum_names<ZernikeNorm> =
    std::array{EnumName{ZernikeNorm::rms, "rms"}, EnumName{ZernikeNorm::peak, "peak"}};

struct ZernikeOptions {
  std::vector<ZernikeTerm> terms{};  ///< added
  ZernikeNorm norm = ZernikeNorm::rms;
  double radius_m = 0;  ///< of the unit disc; 0: inscribed in the panel, half its shorter side
  double centre_x_m = 0;
  double centre_y_m = 0;
};

/// Sum of Zernike polynomials on a disc, 0 outside it:
///   Z = N R_n^|m|(rho) cos(m theta), m >= 0, or N R_n^|m|(rho) sin(|m| theta), m < 0
///   R_n^m(rho) = sum_s (-1)^s (n - s)! / (s! ((n + m)/2 - s)! ((n - m)/2 - s)!) rho^(n - 2s)
///   N = 1 (peak), or sqrt(n + 1), for m != 0 sqrt(2 (n + 1)) (rms)
/// theta counterclockwise from +x. R is computed as rho^m P_k^(0,m)(2 rho^2 - 1), k = (n - m)/2, by the recurrence of
/// Jacobi polynomials. Sources: Born, Wolf, Principles of Optics, section 9.2.1; Noll, J. Opt. Soc. Am. 66, 207 (1976),
/// Eqs. (1), (2).
Array<float, 2> zernike_turns(const ZernikeOptions& options, const FieldGrid& grid, const RowRange& part = {});

/// Largest difference of the phases of two neighbouring pixels of the disc, before whole turns are removed. Above 1/2
/// the grid does not sample the phase.
double zernike_step_turns(const ZernikeOptions& options, const FieldGrid& grid);

/// Returns the polynomial of Noll's number j, 1 to 5151 (Noll 1976, Table I), with a coefficient of 1 turn. An even j
/// has a cosine, an odd one a sine: 2 and 3 are the tilts, 4 defocus, 5 and 6 astigmatism, 11 spherical aberration.
ZernikeTerm noll_term(int j);

struct AxiconOptions {
  double period_m = 0;  ///< of the rings; at least two pixels; < 0: the cone of light widens
  double centre_x_m = 0;
  double centre_y_m = 0;
};

/// Axicon, t = -r / period: rays cross the axis at the angle a, sin(a) = lambda / period. The core of their Bessel beam
/// has its first zero at 2.405 period / (2 pi). Source: Vasara, Turunen, Friberg, J. Opt. Soc. Am. A 6, 1748 (1989).
Array<float, 2> axicon_turns(const AxiconOptions& options, const FieldGrid& grid, const RowRange& part = {});

struct VortexOptions {
  int charge = 1;  ///< l, -1000 to 1000, not 0
  double centre_x_m = 0;
  double centre_y_m = 0;
};

template <>
inline constexpr Bounds bounds_of<&VortexOptions::charge>{-1000, 1000};

/// Vortex, t = l theta / (2 pi), theta counterclockwise from +x: the phase of a Laguerre-Gaussian mode of azimuthal
/// index l, which carries an orbital angular momentum of l h / (2 pi) a photon and is dark on the axis. Less than two
/// pixels a fringe within r = |l| pitch / pi. Source: Allen et al., Phys. Rev. A 45, 8185 (1992).
Array<float, 2> vortex_turns(const VortexOptions& options, const FieldGrid& grid, const RowRange& part = {});

struct CheckerboardOptions {
  std::int64_t cell_px = 8;  ///< side of a cell, >= 1
  double depth_turns = 0.5;  ///< phase of the cells beside that of the upper left corner, which is 0; 0 to 1, not 0
};

template <>
inline constexpr Bounds bounds_of<&CheckerboardOptions::cell_px>{1, largest_grid_side};

/// Checkerboard, t = 0 or depth: four first orders at sin(a) = lambda / (2 cell) along x and y, for a depth of 1/2 with
/// (2/pi)^4 = 0.164 of the light each, and none on the axis.
Array<float, 2> checkerboard_turns(const CheckerboardOptions& options, const FieldGrid& grid,
                                   const RowRange& part = {});

}  // namespace holotone
