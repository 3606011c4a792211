#pragma once
// Split of the Coulomb force into neighbours and a grid, in float64. Not for users.
#include <cstddef>
#include <vector>

namespace holotone::electrostatic {

/// Ewald's split with a charge cloud that ends. A dot is surrounded by the opposite charge, spread as
///
///     blob(r) = beta I0(beta t) / (2 pi cutoff^2 I1(beta)),   t = sqrt(1 - (r / cutoff)^2),   0 beyond the cut-off,
///
/// so that by Gauss' law its force ends there too, and the far force of the clouds is smooth enough for a grid:
///
///     near force = share(r) r / |r|^2          share = t I1(beta t) / I1(beta)
///     far force  = (1 - share(r)) r / |r|^2    spectrum -i f / |f|^2 B(|f|)
///     B(f) = (I1(z) / z) / (I1(beta) / beta),  z = sqrt(beta^2 - (2 pi f cutoff)^2)  (J1(|z|) / |z| where z is
///     imaginary)
///
/// At the same error the cut-off is two thirds of a Gaussian cloud's (exp(-r^2 / xi^2)): half as many neighbours.
/// Sources: P. P. Ewald (1921); the window of J. F. Kaiser (1966) in two dimensions, as a cloud.
struct ForceSplit {
  double beta = 0;
  double cutoff = 0;
};

/// share(r).
double near_share(const ForceSplit& split, double r);

/// B(f).
double cloud_transform(const ForceSplit& split, double frequency);

/// B for one beta from a table, cubic between entries: error at most about 2 step^4.
class CloudTable {
 public:
  /// `most`: largest frequency times cut-off.
  CloudTable(double beta, double most, double step);
  [[nodiscard]] double operator()(double frequency_times_cutoff) const {
    const double place = frequency_times_cutoff * entries_per_unit_;
    const auto k = static_cast<std::size_t>(place);
    const double t = place - static_cast<double>(k);
    const double* const value = value_.data() + k;
    const double outer = t * (t - 1) / 6;
    const double inner = (t + 1) * (t - 2) / 2;
    return outer * ((t + 1) * value[3] - (t - 2) * value[0]) + inner * ((t - 1) * value[1] - t * value[2]);
  }

 private:
  double entries_per_unit_;
  std::vector<double> value_;  ///< from -step on
};

/// c_1 .. c_terms of share = sum c_k s^k, s = 1 - (r / cutoff)^2: a Chebyshev series of share / s, so that it is exact
/// at the cut-off. Largest error: beta = 7: 2.3e-5 with 6 terms, 1.2e-6 with 7; beta = 10: 2.2e-6 with 8; beta = 12:
/// 1.1e-6 with 9.
std::vector<double> near_polynomial(const ForceSplit& split, int terms);

/// Mean square error of the force of a window and a split on a grid of step 1, for uncorrelated charges of density 1.
/// With U = phihat(f_x)^2 phihat(f_y)^2, K = f / |f|^2 B(|f|) and sums over the aliases f + m of f, it is
///
///     integral over |f_x|, |f_y| < 1/2 of   sum |K|^2 - |sum U K|^2 / (sum U)^2
///
/// This is the error of the influence sum U K / (sum U)^2, the best for any window (R. W. Hockney and J. W. Eastwood,
/// Computer Simulation Using Particles, 1981, 8.3.3). It agrees with simulated pairs to about 10 %.
class SplitError {
 public:
  /// Window width and beta as SpreadWindow; `nodes` of the grid, whose inverse is the lowest frequency.
  SplitError(int width, double window_beta, double nodes);
  /// `cloud` has to reach to 2.2 cutoff.
  [[nodiscard]] double operator()(const CloudTable& cloud, double cutoff) const;

 private:
  /// A frequency and its aliases.
  struct Place {
    double area;  ///< of the frequency plane
    double frequency[9];
    double frequency_x[9];
    double frequency_y[9];
    double window[9];  ///< U
  };
  std::vector<Place> places_;
};

}  // namespace holotone::electrostatic
