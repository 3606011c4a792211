#pragma once
// The loss of phase retrieval (problem.cpp) and the loops that lower it (solver_loops.cpp). Not for users.
#include <holotone/retrieval/retrieval_engine.hpp>

namespace holotone::retrieval {

/// Loss with the best scale.
struct Loss {
  double scale = 0;
  double value = 0;
};

/// A loss to be lowered.
class Problem {
 public:
  Problem(Engine& engine, const PhaseRetrievalOptions& options, Queue queue, RetrievalCamera camera = {});

  /// Propagates the phases.
  Loss assess(const float* phase);
  /// Loss and derivative, which is zero for phases that are held.
  double evaluate(const float* phase, float* derivative);
  /// Holds the phases that are exactly one of these levels; null: none.
  void hold(const std::vector<float>* levels) { held_ = levels; }
  /// PSNR of the last phases, all positions and planes together.
  [[nodiscard]] double psnr_db(double peak) const;

  [[nodiscard]] Engine& engine() const { return engine_; }
  [[nodiscard]] Queue& queue() { return queue_; }
  [[nodiscard]] const PhaseRetrievalOptions& options() const { return options_; }
  [[nodiscard]] Shape<3> shape() const { return {options_.frames, options_.grid.ny, options_.grid.nx}; }
  [[nodiscard]] std::size_t positions() const { return options_.between_samples ? max_positions : 1; }
  void copy(float* target, const float* source);

 private:
  [[nodiscard]] double scale_of(const std::vector<RegionSums>& sums);
  Loss loss_of(const std::vector<RegionSums>& sums);
  void measure(const float* phase);

  Engine& engine_;
  const PhaseRetrievalOptions& options_;
  Queue queue_;
  RetrievalCamera camera_;
  Array<float, 4> measured_;
  const std::vector<float>* held_ = nullptr;
  double fixed_scale_ = 0;  ///< by the efficiency, from the first light; 0: none yet
};

/// Scale that is best for all positions and planes together; the sums are those of one plane after the other.
double common_scale(std::span<const RegionSums> sums, const std::vector<RetrievalPlane>& planes);

/// PSNR, dB, of `count` values whose squared errors sum to `error`.
double psnr_db(double peak, double count, double error);

/// Runs the solver. `levels`: sorted, in [0, 2 pi), or empty. `peak`: of the targets.
RetrievalResult solve(Problem& problem, float* phase, const SolverOptions& solver, const std::vector<float>& levels,
                      double peak, Progress& progress);

}  // namespace holotone::retrieval
