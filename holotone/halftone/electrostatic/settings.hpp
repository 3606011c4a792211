#pragma once
// Sizes and tables of an electrostatic plan in float64, the same for every backend. Not for users.
#include <cmath>
#include <complex>
#include <holotone/halftone/electrostatic.hpp>
#include <holotone/halftone/electrostatic/split.hpp>
#include <holotone/nufft/window.hpp>
#include <numbers>
#include <vector>

namespace holotone::electrostatic {

/// Radius of a pixel's spot of ink, px: s(r) = 1 - exp(-u) (1 - 2 u + u^2 / 2) with u = (r / spot_px)^2. Together with
/// StepRule::edge_correction this size has the best blurred PSNR (docs/halftoning.md).
constexpr double spot_px = 0.75;
/// Lower bound of the smoothed density of ink, as a share of its mean.
constexpr double min_density = 1.0 / 12;
/// Distance below which dots are at the same place, px.
constexpr double same_place_px = 1e-6;
/// Distance at which the repulsion of dots at the same place is computed, as a share of the mean spacing.
constexpr double same_place_spacing = 1.0 / 64;

/// The Ewald split of F, with ForceSplit{split_beta, cutoff}:
///
/// 1. neutral grid: node (j, i) = sum over dots of phi((X_i - x) / step_x) phi((Y_j - y) / step_y) - (number of dots)
///    ink_on_grid(j, i), where X_i = (i - margin) step_x. Only nodes i < used[1], j < used[0] are not zero; the padded
///    grid is `grid`.
/// 2. R = its forward DFT (exp(-2 pi i ...), r2c); H[k] = R[k] (G_y[k] - i G_x[k]) for all k of the padded grid, with
///    far_spectrum's G_x odd in k_x and even in k_y, G_y the reverse; 0 where 2 |k_x| = grid[1] or 2 |k_y| = grid[0].
/// 3. the far force on a dot is the unscaled inverse DFT (c2c) of H, x component real, y component imaginary,
///    interpolated with the same window: sum over nodes of phi phi node. Only nodes < used are needed.
/// 4. the near force of the other dots within `cutoff` is added pair by pair: near_polynomial(s) r / |r|^2,
/// 5. and (number of dots) times the near force of the ink: a cubic B-spline of near_table around the dot.
///
/// ink_on_grid and near_table belong to ink of total charge 1 and are computed from one forward DFT I of the ink,
/// zero-padded to `period` pixels:
///   ink_on_grid = unscaled inverse DFT over the padded grid of the sum over nine images (InkAliases: three an axis) of
///               I[frequency_y, frequency_x] factor_y factor_x (1 + a + a^2 / 2), a = spot_y + spot_x; real part, nodes
///               < used. Without the images of the next bands the ink's edges would ring beyond the used nodes;
///   near_table  = unscaled inverse DFT over the period of I[k] (N_y[k] - i N_x[k]), N from near_ink_spectrum with the
///               parities of G; x component real, y component imaginary. Entry (row, col) is the spline's coefficient
///               at that pixel's centre:
///               F(p) = sum over row, col of entry B(p_x - 0.5 - col) B(p_y - 0.5 - row), B the centred cubic B-spline;
///               rows and columns -2 .. extent + 1 are used (negative ones at the period's end).
/// step_x = period[1] / grid[1], step_y = period[0] / grid[0] px: both grids have one period, so that their frequencies
/// agree.
///
/// Density for StepRule:
///   rho(p) = count max(ink_on_grid(nearest node) / (phihat(0)^2 step_x step_y), min_density / page area).
///
/// Precision: at tolerances of 1e-5 a dot's place between nodes has to be accurate to 1e-7 nodes. x / step_x has to be
/// computed in float64 (or from the cell's origin), not as a float32 number of nodes.
struct Setup {
  Shape<2> page{};
  std::int64_t maximum_dots = 0;
  ElectrostaticOptions options;
  void stage(std::string_view name) const {
    if (options.on_stage) options.on_stage(name);
  }

  double spacing_px = 0;        ///< sqrt(page area / maximum_dots)
  double same_place_force = 0;  ///< 1/px, of two dots at one place

  // ewald
  Shape<2> period{};        ///< pixels
  Shape<2> grid{};          ///< nodes, even
  Shape<2> used{};          ///< nodes that dots and ink touch, at most grid / 2 - taper_nodes
  std::int64_t margin = 0;  ///< nodes before the page's left and upper edge
  double step_x = 0;        ///< px
  double step_y = 0;
  SpreadWindow window;    ///< width and beta are used
  double split_beta = 0;  ///< shape of the charge clouds
  double cutoff = 0;      ///< px; also the radius of the regularised kernel of `taylor`
  double expected_error = 0;

  // taylor: the page is shifted and scaled into a disc of radius (1 - border) / 4 around 0
  std::int64_t modes = 0;  ///< N
  double border = 0;       ///< epsilon_B
  double inner = 0;        ///< epsilon_I, in scaled units
  double scale = 0;        ///< scaled units a pixel
};

/// Number of nodes between the farthest used node's mirror and the middle of the period, in which the far kernel falls
/// to zero.
constexpr std::int64_t taper_nodes = 16;

/// Checks page, number and options (throws as ElectrostaticPlan's constructor) and chooses the sizes. On CUDA the
/// grid's lengths are powers of two, which have their own transforms there.
Setup make_setup(Shape<2> page, std::int64_t maximum_dots, const ElectrostaticOptions& options,
                 Backend backend = Backend::cpu);

/// Signed frequency of entry k of a DFT of that length: 0, 1, .., length / 2, .., -1.
inline std::int64_t signed_frequency(std::int64_t k, std::int64_t length) { return 2 * k <= length ? k : k - length; }

/// Transform of the cubic B-spline's samples at the integers, at a frequency in cycles a sample.
inline double spline_samples_transform(double frequency) {
  return (2 + std::cos(2 * std::numbers::pi * frequency)) / 3;
}

/// Influence from spread charge to the far force before its interpolation, divided by the number of nodes: sum U K /
/// (sum U)^2 with sums over the aliases of k. K is the far force of a unit charge, tapered between used and grid / 2
/// nodes; U = phihat_x^2 phihat_y^2. Entry (k_y, k_x), 0 <= k_y <= grid[0] / 2, 0 <= k_x <= grid[1] / 2, holds G_x, G_y
/// >= 0 in the middle of the band: two numbers, {grid[0] / 2 + 1, grid[1] / 2 + 1, 2}. Cost: one DFT of the padded grid
/// in float64.
std::vector<double> far_spectrum(const Setup& setup);

/// One axis' terms of ink_on_grid: entry [3 k + n] belongs to the padded grid's frequency k in DFT order (0, 1, .., -1)
/// and its images k + m grid with m = 0, -1, 1 for n = 0, 1, 2.
struct InkAliases {
  /// phihat exp(-a) exp(-2 pi i (k + m grid) (0.5 / period + margin / grid)) / grid, phihat at k / grid + m
  std::vector<std::complex<double>> factor;
  std::vector<double> spot;             ///< a = (pi spot_px (k + m grid) / period)^2
  std::vector<std::int32_t> frequency;  ///< of I: (k + m grid) mod period
};
InkAliases ink_aliases(const Setup& setup, int axis);  ///< axis 0: y, 1: x

/// {period[0] / 2 + 1, period[1] / 2 + 1, 2}: N_x, N_y with the sign of attraction, divided by the spline's transform
/// and the number of pixels.
std::vector<double> near_ink_spectrum(const Setup& setup);

/// The whole attraction, for `direct` and `taylor` and for ImageForce::points: {ny + 4, nx + 4, 2}, entry (row + 2, col
/// + 2) belongs to pixel (row, col). Coefficients of a cubic B-spline for `spots`, values for `points`. For total
/// charge 1. `ink` is in host memory and checked. Cost: three DFTs of twice the page in float64.
std::vector<double> attraction_table(const Shape<2>& page, const float* ink, ImageForce image = ImageForce::spots);

/// The darkest pixel's share of the ink, 1/px^2.
double densest_ink(const Shape<2>& page, const float* ink);

/// Half of the symmetric weights that smooth ink before edge_table takes its logarithm: a Gaussian of edge_smoothing
/// times the mean spacing of dots, from its centre on, at most edge_reach pixels. All of them add up to 1.
std::vector<float> edge_weights(const Setup& setup);
constexpr double edge_smoothing = 1.0 / 3;
constexpr std::int64_t edge_reach = 64;

/// -grad ln(ink) as coefficients of cubic B-splines as in attraction_table: half differences between pixels, ink
/// smoothed by edge_weights on both axes (continued beyond the page by its outermost pixels) and not below
/// min_density of its mean.
std::vector<float> edge_table(const Setup& setup, const float* ink, double total);

/// Density of ink of total charge 1 at nodes (row step, column step) px, for `taylor` and `direct`: means over tents of
/// about the dots' spacing (at least a pixel) around them, at least min_density of the page's mean; 1/px^2.
struct InkNodes {
  double step = 1;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::vector<float> density;
};
InkNodes ink_nodes(const Setup& setup, const float* ink, double total);

/// The regularised kernel K_R of `taylor` (Gwosdek et al., Eq. (5) to (7)) at distance r in scaled units.
double regularised_kernel(const Setup& setup, double r);

/// b_j of Eq. (9) for j = -N/2 .. N/2 - 1 on both axes in rising order, real and even: {modes, modes}.
std::vector<double> regularised_spectrum(const Setup& setup);

}  // namespace holotone::electrostatic
