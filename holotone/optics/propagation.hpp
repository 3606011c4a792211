#pragma once
#include <holotone/core/device.hpp>
#include <holotone/optics/field.hpp>
#include <memory>
#include <string_view>

namespace holotone {

enum class PropagationMethod {
  automatic,         ///< angular spectrum up to fresnel_distance_m(grid), Fresnel beyond
  angular_spectrum,  ///< zero-padded, band-limited: Matsushima and Shimobaba 2009
  fresnel,           ///< one FFT, then resampled from pitch lambda |d| / (N pitch) to the pitch asked for
};
std::string_view to_string(PropagationMethod method);
/// "auto", "angular-spectrum", "fresnel"; throws invalid_argument naming the nearest.
PropagationMethod parse_propagation_method(std::string_view name);

struct PropagationOptions {
  FieldGrid grid = {};  ///< of the input
  PropagationMethod method = PropagationMethod::automatic;
  double output_pitch_m = 0;  ///< 0: the input's pitch. Another one needs fresnel
  bool band_limit = true;     ///< Matsushima's limit of the angular spectrum; off for energy tests
  bool zero_pad = true;       ///< angular spectrum: at least twice the size both ways, cropped after. Off: cyclic
};

/// The shortest distance at which a field on this grid can go through one FFT: N pitch^2 / lambda, N = max(nx, ny).
/// Below it the chirp exp(i pi x^2 / (lambda d)) turns faster than half a cycle a pixel at the rim.
double fresnel_distance_m(const FieldGrid& grid);

/// Propagates a sampled field along z by a signed distance (positive: with the light, toward the viewer).
///
/// angular_spectrum:  U_d = IFFT[ H FFT[U] ],  H = exp(2 pi i d w),  w = sqrt(1/lambda^2 - fx^2 - fy^2).
///   Exact for a field that is band-limited to the grid. H includes the carrier exp(ikd). Evanescent waves
///   (fx^2 + fy^2 >= 1/lambda^2) are dropped for either sign of d. With `band_limit` H is zero where its phase turns
///   faster than half a cycle a frequency sample, i.e. kept where
///     fx^2 + fy^2 + (2 df d)^2 f^2 <= 1/lambda^2  for f = fx, df = 1/(Lx pitch) and for f = fy, df = 1/(Ly pitch)
///   (Lx, Ly: padded size, fft_friendly_size(2 n)): Matsushima and Shimobaba, "Band-limited angular spectrum method
///   for numerical simulation of free-space propagation in far and near fields", Opt. Express 17(22), 19662 (2009),
///   the ellipses of their two-dimensional case, not the rectangle that approximates them.
/// fresnel:  U_d(x') = exp(ikd) / (i lambda d) exp(i pi x'^2 / (lambda d))
///                     sum_x pitch^2 U(x) exp(i pi x^2 / (lambda d)) exp(-2 pi i x x' / (lambda d))
///   by one FFT twice as long as the grid and a kernel of eight taps each way whose shape is compensated in the input
///   (relative error about 2e-7); for |d| >= fresnel_distance_m(grid). Pixels beyond lambda |d| / (2 pitch) from the
///   axis are zero: a field on this grid sends no light there. Goodman, Introduction to Fourier Optics, Eq. (4-17).
/// A distance of zero copies (fresnel with another output pitch throws).
///
/// Relative l2 error against the same formula in float64: below 1e-6.
/// Cost O(L log L), L = Lx Ly; two FFTs for angular_spectrum, one for fresnel. Memory: one padded field.
class PropagationPlan {
 public:
  /// Throws invalid_argument for a grid out of range, unsupported for an output pitch that the method cannot give.
  explicit PropagationPlan(const PropagationOptions& options, Queue queue = {});
  ~PropagationPlan();
  PropagationPlan(PropagationPlan&&) noexcept;
  PropagationPlan& operator=(PropagationPlan&&) noexcept;

  /// output = input propagated by distance_m (finite); shapes {ny, nx}, on the plan's device. May be called for many
  /// distances; input and output may be the same array. CUDA: only enqueues. Throws invalid_argument for a distance
  /// too short for fresnel (naming the shortest).
  void execute(View<const Complex, 2> input, View<Complex, 2> output, double distance_m);
  /// intensity = |input propagated by distance_m|^2, without the complex field in between.
  void execute_intensity(View<const Complex, 2> input, View<float, 2> intensity, double distance_m);

  /// The method execute would use for a distance.
  [[nodiscard]] PropagationMethod method_for(double distance_m) const;
  [[nodiscard]] const PropagationOptions& options() const;
  [[nodiscard]] std::size_t workspace_bytes() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// One shot: plan, execute, wait. The result lives on the input's device and keeps its grid, but for the pitch.
Field propagate(const Field& input, double distance_m, PropagationOptions options = {});

}  // namespace holotone
