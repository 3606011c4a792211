#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace holotone {

/// Window function for spreading a point onto the grid of a non-uniform FFT, distances in grid steps:
///   phi(d) = exp(beta (sqrt(1 - (2 d / width)^2) - 1)) for |d| <= width / 2, else 0
/// (exponential of semicircle: Barnett, Magland and af Klinteberg 2019, Eq. (1.8)).
struct SpreadWindow {
  int width = 0;          ///< nodes of the window along an axis
  double beta = 0;        ///< shape parameter of phi
  double upsampling = 2;  ///< minimum ratio of grid steps to modes along an axis
};

/// Value of phi(d).
double window_value(const SpreadWindow& window, double distance);

/// Fourier transform of phi: integral of phi(d) exp(-2 pi i d f) dd, f in cycles a grid step. Gauss-Legendre
/// quadrature in float64, error below 1e-13 of phi's integral for |f| <= highest_frequency <= 4. Cost: 20 to 80 cosines
/// a value.
class WindowTransform {
 public:
  WindowTransform(const SpreadWindow& window, double highest_frequency);
  double operator()(double frequency) const;
  /// Sum over m = 1, 2, 3 of |r(m)|^power + |r(-m)|^power with r(m) = phihat(f + m) / phihat(f), power 1 or 2.
  [[nodiscard]] double aliases(double frequency, int power) const;

 private:
  struct Node {
    double turns;         ///< 2 pi d, d >= 0
    double weight;        ///< of d and -d
    double alias_cos[3];  ///< cos(2 pi d m) for m = 1 .. 3
    double alias_sin[3];
  };
  std::vector<Node> nodes_;
};
/// The same for one frequency.
double window_transform(const SpreadWindow& window, double frequency);

/// Relative root mean square error of this window in one axis' modes |f| <= 1 / (2 upsampling), for uncorrelated
/// strengths: the square root of the mean of sum over m != 0 of (phihat(f + m) / phihat(f))^2.
double window_error(const SpreadWindow& window);

/// Largest relative error of this window in one axis' modes |f| <= 1 / (2 upsampling), for any place of a point: the
/// maximum of sum over m != 0 of |phihat(f + m) / phihat(f)|.
double window_worst_error(const SpreadWindow& window);

/// Gain of rounding noise by the division by phihat on one axis: sqrt(mean phihat^2 mean phihat^-2) over |f| <= 1 / (2
/// upsampling). With n axes, rounding to eps before the transform gives a relative error of about eps gain^n after it.
double window_noise_gain(const SpreadWindow& window);

/// Number of equal float32 numbers that may be added one by one before the division by phihat on `axes` axes, so that
/// the result's relative error stays below `error`: each addition loses up to 6.3e-9 of the sum (measured), always in
/// the same direction, and the division amplifies that as it does noise.
std::int64_t longest_float_sum(const SpreadWindow& window, double error, int axes);

/// Errors for which a window is chosen, on `axes` axes. mean: sqrt(axes) window_error, for uncorrelated strengths.
/// worst: (1 + window_worst_error)^axes - 1, for a single point and a single mode.
enum class WindowError { mean, worst };
double window_error(const SpreadWindow& window, int axes, WindowError error);

/// Returns the narrowest window, 2 to 16 nodes, whose error on `axes` axes is at most `tolerance`; beta minimises the
/// error for that width. Throws invalid_argument with the smallest tolerance if no window suffices.
SpreadWindow choose_window(double tolerance, double upsampling, int axes, WindowError error = WindowError::mean);

/// phi at the nodes i = 0 .. width - 1 of a point, as polynomials of its position between nodes:
///   phi(i - width / 2 + (1 + t) / 2) = sum over k of coefficient[k * stride + i] t^k, -1 <= t < 1.
/// `stride` is width rounded up to a multiple of 4; the padding coefficients are zero.
struct WindowPolynomial {
  int degree = 0;
  int stride = 0;
  std::vector<double> coefficient;
};

/// Polynomials of the lowest degree whose error is below `error` (relative to phi(0) = 1).
WindowPolynomial window_polynomial(const SpreadWindow& window, double error);

}  // namespace holotone
