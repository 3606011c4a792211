#pragma once
#include <holotone/core/device.hpp>
#include <holotone/core/enum_names.hpp>
#include <holotone/optics/field.hpp>
#include <memory>
#include <string_view>

namespace holotone {

enum class PropagationMethod {
  automatic,         ///< the one with the smaller propagation_errors; angular_spectrum below fresnel_distance_m(grid)
  angular_spectrum,  ///< zero-padded, band-limited: Matsushima and Shimobaba 2009
  fresnel,           ///< one FFT, then resampled from pitch lambda |d| / (N pitch) to the output pitch
};
template <>
inline constexpr auto enum_names<PropagationMethod> =
    std::array{EnumName<PropagationMethod>{PropagationMethod::automatic, "auto"},
               EnumName<PropagationMethod>{PropagationMethod::angular_spectrum, "angular-spectrum"},
               EnumName<PropagationMethod>{PropagationMethod::fresnel, "fresnel"}};
std::string_view to_string(PropagationMethod method);

struct PropagationOptions {
  FieldGrid grid = {};  ///< grid of the input
  PropagationMethod method = PropagationMethod::automatic;
  double output_pitch_m = 0;  ///< 0: the input's pitch. Another pitch requires fresnel
  bool band_limit = true;     ///< Matsushima's limit of the angular spectrum; false for energy tests
  bool zero_pad = true;  ///< angular_spectrum: pads both axes to at least twice the size, then crops. False: cyclic
};

/// Shortest distance of the Fresnel transform of a field on this grid: N pitch^2 / lambda, N = max(nx, ny). Below
/// it the chirp exp(i pi x^2 / (lambda d)) exceeds half a cycle a pixel at the edge.
double fresnel_distance_m(const FieldGrid& grid);

/// Estimated relative l2 error of the intensity on the panel's own pixels, against the exact propagation of the
/// band-limited field.
struct PropagationErrors {
  double angular_spectrum = 0;
  double fresnel = 0;
};

/// Estimates both methods' errors for a hologram whose light forms a picture about as large as the panel.
///   angular_spectrum  1.25 (1/Bx + 1/By), B = (padded length)^2 pitch^2 / (2 lambda |d|): the number of frequency
///                     samples that its band limit leaves; the sharp limit rings
///   fresnel           0.8 phi + 0.7 (sx + sy), phi = pi (rx^2 + ry^2)^2 / (4 lambda |d|^3), r = n pitch / 2: the
///                     largest phase by which the paraxial wave of a point on the axis is wrong on the panel;
///                     s = max(0, 1 - lambda |d| / (2 n pitch^2))^2: the share of pairs of a panel's and a picture's
///                     pixel beyond the diffraction angle of each other, whose light the sum takes from other orders
/// The constants are fits to float64 propagations of phase holograms of diffuse objects (docs/optics.md). A picture
/// smaller than half the panel has a third of these errors. Throws invalid_argument for a grid out of range.
PropagationErrors propagation_errors(const PropagationOptions& options, double distance_m);

/// Propagates a sampled field along z by a signed distance (positive: with the light, toward the viewer).
///
/// angular_spectrum:  U_d = IFFT[ H FFT[U] ],  H = exp(2 pi i d w),  w = sqrt(1/lambda^2 - fx^2 - fy^2).
///   Exact for a field that is band-limited to the grid. H includes the carrier exp(ikd). Evanescent waves
///   (fx^2 + fy^2 >= 1/lambda^2) are dropped for either sign of d. With `band_limit` H is zero where its phase changes
///   by more than half a cycle a frequency sample, i.e. kept where
///     fx^2 + fy^2 + (2 df d)^2 f^2 <= 1/lambda^2  for f = fx, df = 1/(Lx pitch) and for f = fy, df = 1/(Ly pitch)
///   (Lx, Ly: padded size, fft_friendly_size(2 n)): Matsushima and Shimobaba, "Band-limited angular spectrum method
///   for numerical simulation of free-space propagation in far and near fields", Opt. Express 17(22), 19662 (2009),
///   the ellipses of their two-dimensional case, not the rectangle that approximates them.
/// fresnel:  U_d(x') = exp(ikd) / (i lambda d) exp(i pi x'^2 / (lambda d))
///                     sum_x pitch^2 U(x) exp(i pi x^2 / (lambda d)) exp(-2 pi i x x' / (lambda d))
///   by one FFT twice as long as the grid and a kernel of eight taps along each axis. The input compensates the
///   kernel's shape (relative error about 2e-7). Requires |d| >= fresnel_distance_m(grid). Pixels beyond
///   lambda |d| / (2 pitch) from the axis are zero: they are outside the diffraction angle. Goodman, Introduction to
///   Fourier Optics, Eq. (4-17).
/// The adjoint over d is the same method over -d, with the same options. It is not for fresnel with another output
/// pitch: -d then needs the exchanged pitches and a factor of the square of their ratio, and the dark pixels beyond the
/// diffraction angle are those of the other plane.
/// A distance of zero copies (fresnel with another output pitch throws).
///
/// Relative l2 error against the same formula in float64: below 1e-6.
/// Cost O(L log L), L = Lx Ly; two FFTs for angular_spectrum, one for fresnel. Memory: one padded field.
class PropagationPlan {
 public:
  /// Throws invalid_argument for a grid out of range, unsupported for an output pitch that the method does not
  /// support.
  explicit PropagationPlan(const PropagationOptions& options, Queue queue = {});
  ~PropagationPlan();
  PropagationPlan(PropagationPlan&&) noexcept;
  PropagationPlan& operator=(PropagationPlan&&) noexcept;

  /// Sets output = input propagated by distance_m (finite); shapes {ny, nx}, on the plan's device. One plan serves any
  /// number of distances; input and output may be the same array. CUDA: only enqueues. Throws invalid_argument for a
  /// distance too short for fresnel (with the shortest).
  void execute(View<const Complex, 2> input, View<Complex, 2> output, double distance_m);
  /// Sets intensity = |input propagated by distance_m|^2, without storing the complex field.
  void execute_intensity(View<const Complex, 2> input, View<float, 2> intensity, double distance_m);

  /// Sets an input for several distances, which stays unchanged until the last execute without input. From the second
  /// of those on, they share the input's transform where the method is angular_spectrum, with memory for it.
  void set_input(View<const Complex, 2> input);
  /// The same with the input of set_input. Throws invalid_argument without one.
  void execute(View<Complex, 2> output, double distance_m);
  void execute_intensity(View<float, 2> intensity, double distance_m);

  /// Method that execute uses for a distance.
  [[nodiscard]] PropagationMethod method_for(double distance_m) const;
  [[nodiscard]] const PropagationOptions& options() const;
  [[nodiscard]] std::size_t workspace_bytes() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Method that a plan of these options uses for a distance. A plan that names it needs no memory, and on CUDA no
/// library, for the other one. Throws invalid_argument for bad options.
PropagationMethod propagation_method(const PropagationOptions& options, double distance_m);

/// One-shot PropagationPlan; waits. The result is on the input's device and has its grid, except for the pitch.
Field propagate(const Field& input, double distance_m, PropagationOptions options = {});

}  // namespace holotone
