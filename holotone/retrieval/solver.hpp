#pragma once
#include <array>
#include <functional>
#include <holotone/core/array.hpp>
#include <holotone/core/bounds.hpp>
#include <holotone/core/enum_names.hpp>
#include <numbers>
#include <vector>

namespace holotone {

enum class RetrievalSolver {
  lbfgs,  ///< Liu and Nocedal, "On the limited memory BFGS method for large scale optimization", 1989
  adam,   ///< Kingma and Ba, "Adam: a method for stochastic optimization", 2015
  /// Gerchberg and Saxton 1972: the amplitude is replaced in the region; outside it the light is kept.
  gerchberg_saxton,
  /// The same with targets that grow where light is missing, for spots of even brightness: Di Leonardo, Ianni and
  /// Ruocco, "Computer generation of optimal holograms for optical trap arrays", 2007.
  weighted_gerchberg_saxton,
};
template <>
inline constexpr auto enum_names<RetrievalSolver> = std::array{
    EnumName{RetrievalSolver::lbfgs, "lbfgs"}, EnumName{RetrievalSolver::adam, "adam"},
    EnumName{RetrievalSolver::gerchberg_saxton, "gs"}, EnumName{RetrievalSolver::weighted_gerchberg_saxton, "wgs"}};

/// Measures the light of phases {frames, ny, nx} in radians, in host memory: replaces the simulated amplitude {planes,
/// positions, ny, nx} by the measured one, in any unit, finite and >= 0. What is outside the signal region does not
/// count; simulated it is 0. Positions: the samples, half a pixel to the right, below, both; the first alone without
/// PhaseRetrievalOptions::between_samples. Exceptions end the optimization.
using RetrievalCamera = std::function<void(View<const float, 3> phase_rad, View<float, 4> amplitude)>;

struct SolverOptions {
  RetrievalSolver solver = RetrievalSolver::lbfgs;
  int iterations = 30;     ///< 0 to 1e9
  int pairs = 8;           ///< lbfgs: steps and differences of gradients that are kept, 1 to 64
  double rate_rad = 0.05;  ///< adam: largest change of a phase by a step, 1e-6 to pi
  /// gs, wgs: 1 replaces the amplitude; 2 reflects it (2T - a), which converges faster. 1e-3 to 2.
  double relaxation = 1;
  /// Phases of the levels that the panel shows, finite, 2 to 65536, or empty. In the second half of the iterations more
  /// and more phases are rounded to their nearest level and held there, while the others make up for it; at last all
  /// are. lbfgs and adam. Source: Wyrowski, "Diffractive optical elements: iterative calculation of quantized, blazed
  /// phase structures", J. Opt. Soc. Am. A 7, 961 (1990).
  std::vector<double> level_phase_rad{};
  /// Camera in the loop: the measured amplitude replaces the simulated one in the loss and its derivative; not lbfgs,
  /// whose steps need a loss that fits its derivative. Source: Peng et al., "Neural holography with camera-in-the-loop
  /// training", 2020.
  RetrievalCamera camera{};
  /// Called after each step with the PSNR of the loss's positions and planes together.
  std::function<void(int iteration, double psnr_db)> report{};
};
template <>
inline constexpr Bounds bounds_of<&SolverOptions::iterations>{0, 1e9};
template <>
inline constexpr Bounds bounds_of<&SolverOptions::pairs>{1, 64};
template <>
inline constexpr Bounds bounds_of<&SolverOptions::rate_rad>{1e-6, std::numbers::pi};
template <>
inline constexpr Bounds bounds_of<&SolverOptions::relaxation>{1e-3, 2};

struct RetrievalResult {
  int iterations = 0;   ///< steps made
  int evaluations = 0;  ///< of loss and gradient
  double loss = 0;      ///< of the last phases, before rounding to levels
};

}  // namespace holotone
