#include <algorithm>
#include <cmath>
#include <deque>
#include <holotone/retrieval/problem.hpp>
#include <numbers>
#include <optional>

namespace holotone::retrieval {
namespace {

constexpr std::string_view work = "optimizing the phase";

/// Share of the phases that are at a level after each stage; the last are rounded at the end.
constexpr std::array<double, 10> held_shares = {0.15, 0.3, 0.45, 0.58, 0.7, 0.8, 0.87, 0.92, 0.96, 0.985};

/// A combination of vectors: the next step, but for its length, and the loss's slope along it.
struct Direction {
  std::vector<double> factors;
  std::vector<const float*> vectors;
  double slope = 0;
};

/// The last steps and changes of the gradient. The two loops of Liu and Nocedal run on the products of these vectors
/// instead of the vectors, so that a step reads each of them twice: Chen, Wang and Zhou, "Large-scale L-BFGS using
/// MapReduce", 2014.
class LbfgsMemory {
 public:
  LbfgsMemory(Problem& problem, std::size_t pairs)
      : problem_(problem), max_pairs_(pairs), gradient_(2 * (pairs + 1)), products_(gradient_ + 1) {
    for (auto& row : products_) row.resize(products_.size());
    vectors_.resize(gradient_);
  }

  /// Forgets all, and starts at a gradient.
  void start(const float* gradient) {
    pairs_.clear();
    learn(gradient, {gradient_});
  }
  /// Where the next step and the change of the gradient by it are written.
  float* step() { return vector(next_); }
  float* change() { return vector(next_ + 1); }
  /// Takes them, and the gradient after the step.
  void add(const float* gradient) {
    pairs_.push_back(next_);
    learn(gradient, {next_, next_ + 1, gradient_});
    if (!(products_[next_][next_ + 1] > 0)) {
      pairs_.pop_back();
      return;
    }
    if (pairs_.size() > max_pairs_) pairs_.pop_front();
    next_ = (next_ + 2) % gradient_;
  }

  /// The phase goes against it.
  [[nodiscard]] Direction direction(const float* gradient) const {
    std::vector<double> all(products_.size());
    all[gradient_] = 1;
    const auto product_with = [&](std::size_t id) {
      double sum = 0;
      for (const std::size_t other : ids()) sum += all[other] * products_[other][id];
      return sum;
    };
    const auto curvature = [&](std::size_t pair) { return products_[pair][pair + 1]; };
    for (std::size_t i = pairs_.size(); i-- > 0;) {
      all[pairs_[i] + 1] -= product_with(pairs_[i]) / curvature(pairs_[i]);
    }
    std::vector<double> first = all;  // the factors of the changes are those of the first loop, negative
    double scale = 0;
    if (pairs_.empty()) {
      // The first step moves the phase by 0.1 rad (root mean square).
      const double square = products_[gradient_][gradient_];
      const auto count = static_cast<double>(element_count(problem_.shape()));
      scale = square > 0 ? 0.1 / std::sqrt(square / count) : 0;
    } else {
      scale = curvature(pairs_.back()) / products_[pairs_.back() + 1][pairs_.back() + 1];
    }
    for (double& factor : all) factor *= scale;
    for (const std::size_t pair : pairs_) {
      all[pair] -= first[pair + 1] + product_with(pair + 1) / curvature(pair);
    }
    Direction result;
    result.slope = product_with(gradient_);
    for (const std::size_t id : ids()) {
      result.factors.push_back(all[id]);
      result.vectors.push_back(id == gradient_ ? gradient : vectors_[id].data());
    }
    return result;
  }

 private:
  float* vector(std::size_t id) {
    if (vectors_[id].empty()) vectors_[id] = Array<float, 3>(problem_.shape(), problem_.queue());
    return vectors_[id].data();
  }
  [[nodiscard]] std::vector<std::size_t> ids() const {
    std::vector<std::size_t> all;
    for (const std::size_t pair : pairs_) {
      all.push_back(pair);
      all.push_back(pair + 1);
    }
    all.push_back(gradient_);
    return all;
  }
  /// Takes the products of some vectors with all.
  void learn(const float* gradient, const std::vector<std::size_t>& block) {
    const auto all = ids();
    const auto pointers = [&](const std::vector<std::size_t>& numbers) {
      std::vector<const float*> result(numbers.size());
      std::ranges::transform(numbers, result.begin(), [&](std::size_t id) {
        return id == gradient_ ? gradient : std::as_const(vectors_[id]).data();
      });
      return result;
    };
    const auto products = problem_.engine().dots(pointers(block), pointers(all));
    for (std::size_t i = 0; i < block.size(); ++i) {
      for (std::size_t j = 0; j < all.size(); ++j) {
        products_[block[i]][all[j]] = products_[all[j]][block[i]] = products[i * all.size() + j];
      }
    }
  }

  Problem& problem_;
  std::size_t max_pairs_;
  std::size_t gradient_;                       ///< its number; a pair's step has an even one, its change the next
  std::vector<std::vector<double>> products_;  ///< by numbers
  std::vector<Array<float, 3>> vectors_;
  std::deque<std::size_t> pairs_;  ///< numbers of their steps, the oldest first
  std::size_t next_ = 0;           ///< number of the step after them
};

/// A run of a solver: what all of them share.
struct SolverRun {
  Problem& problem;
  float* phase;
  const SolverOptions& solver;
  const std::vector<float>& levels;
  double peak;
  Progress& progress;
  RetrievalResult result{};

  [[nodiscard]] Array<float, 3> vector() const { return Array<float, 3>(problem.shape(), problem.queue()); }

  /// Stage of a step: 0 while all phases are free, the first half of the iterations.
  [[nodiscard]] std::size_t stage_of(int iteration) const {
    const int free = solver.iterations / 2;
    if (levels.empty() || iteration < free) return 0;
    const auto stages = static_cast<std::int64_t>(held_shares.size());
    return static_cast<std::size_t>(1 + stages * (iteration - free) / std::max(1, solver.iterations - free));
  }

  /// Rounds the phases nearest to a level, and holds them. Wyrowski, "Diffractive optical elements: iterative
  /// calculation of quantized, blazed phase structures", J. Opt. Soc. Am. A 7, 961 (1990).
  void start_stage(std::size_t stage) {
    if (stage == 0) return;
    const auto count = static_cast<double>(element_count(problem.shape()));
    const auto bins = problem.engine().level_distances(phase, levels);
    double held = 0;
    std::size_t bin = 0;
    for (; bin < bins.size() && held < held_shares[stage - 1] * count; ++bin) held += static_cast<double>(bins[bin]);
    const double reach = std::numbers::pi * static_cast<double>(bin) / static_cast<double>(bins.size());
    problem.engine().round_to_levels(phase, levels, static_cast<float>(reach));
    problem.hold(&levels);
  }

  void finish_step(int iteration) {
    result.iterations = iteration + 1;
    if (solver.report) solver.report(result.iterations, problem.psnr_db(peak));
    progress.step(work, result.iterations, solver.iterations);
  }
};

void write_step(Engine& engine, const Direction& direction, double length, float* step) {
  std::vector<double> factors;
  for (const double factor : direction.factors) factors.push_back(-length * factor);
  engine.combine(factors, direction.vectors, step);
}

void lbfgs(SolverRun& run) {
  constexpr double enough = 1e-4;    // of the decrease that the slope promises: Armijo 1966
  constexpr double min_step = 1e-3;  // of the direction
  Problem& problem = run.problem;
  Engine& engine = problem.engine();
  LbfgsMemory memory(problem, static_cast<std::size_t>(run.solver.pairs));
  auto slope = run.vector();
  auto next = run.vector();
  auto next_slope = run.vector();
  std::optional<std::size_t> stage;
  bool is_stuck = false;
  for (int iteration = 0; iteration < run.solver.iterations; ++iteration) {
    if (const std::size_t new_stage = run.stage_of(iteration); new_stage != stage) {
      stage = new_stage;
      is_stuck = false;
      run.start_stage(new_stage);
      run.result.loss = problem.evaluate(run.phase, slope.data());
      ++run.result.evaluations;
      memory.start(slope.data());
    }
    if (is_stuck) continue;  // to the next stage
    const Direction direction = memory.direction(slope.data());
    double length = 1;
    double loss = run.result.loss;
    while (direction.slope > 0) {
      write_step(engine, direction, length, memory.step());
      engine.combine(std::array{1.0, 1.0}, std::array<const float*, 2>{run.phase, memory.step()}, next.data());
      loss = problem.evaluate(next.data(), next_slope.data());
      ++run.result.evaluations;
      if (loss <= run.result.loss - enough * length * direction.slope || length < min_step) break;
      length /= 2;
    }
    // At a minimum, within the precision of float32.
    is_stuck = !(loss < run.result.loss);
    if (is_stuck) {
      if (run.levels.empty()) break;
      continue;
    }
    engine.combine(std::array{1.0, -1.0}, std::array<const float*, 2>{next_slope.data(), slope.data()},
                   memory.change());
    problem.copy(run.phase, next.data());
    std::swap(slope, next_slope);
    memory.add(slope.data());
    run.result.loss = loss;
    run.finish_step(iteration);
  }
}

/// Keeps the best phases of a solver whose steps may raise the loss, of those with a stage's held phases.
class Best {
 public:
  explicit Best(SolverRun& run) : run_(run) {}
  void start_stage() { is_first_ = true; }
  void offer(const float* phase, double loss) {
    if (!is_first_ && !(loss < run_.result.loss)) return;
    is_first_ = false;
    run_.result.loss = loss;
    run_.problem.copy(run_.phase, phase);
  }

 private:
  SolverRun& run_;
  bool is_first_ = true;
};

void adam(SolverRun& run) {
  Problem& problem = run.problem;
  auto current = run.vector();
  auto derivative = run.vector();
  auto mean = run.vector();
  auto square = run.vector();
  Best best(run);
  std::optional<std::size_t> stage;
  int since_stage = 0;  // the moments of phases that are held now must not move them
  for (int iteration = 0; iteration <= run.solver.iterations; ++iteration) {
    if (const std::size_t new_stage = run.stage_of(std::min(iteration, run.solver.iterations - 1));
        new_stage != stage) {
      stage = new_stage;
      since_stage = 0;
      run.start_stage(new_stage);
      best.start_stage();
      problem.copy(current.data(), run.phase);
    }
    const double loss = problem.evaluate(current.data(), derivative.data());
    ++run.result.evaluations;
    best.offer(current.data(), loss);
    if (iteration == run.solver.iterations) break;
    problem.engine().adam(derivative.data(), mean.data(), square.data(), current.data(), run.solver.rate_rad,
                          ++since_stage);
    run.finish_step(iteration);
  }
}

void gerchberg_saxton(SolverRun& run, bool weighted) {
  Problem& problem = run.problem;
  double weights = 0;
  for (const auto& plane : problem.options().planes) weights += plane.weight;
  weights *= static_cast<double>(problem.positions());
  auto current = run.vector();
  auto next = run.vector();
  problem.copy(current.data(), run.phase);
  Best best(run);
  for (int iteration = 0; iteration <= run.solver.iterations; ++iteration) {
    const Loss loss = problem.assess(current.data());
    ++run.result.evaluations;
    if (weighted) best.start_stage();  // the loss, which weights may raise, is not what they lower
    best.offer(current.data(), loss.value);
    if (iteration == run.solver.iterations || loss.scale == 0) break;
    if (weighted && iteration > 0) problem.engine().reweigh();
    const double gain = run.solver.relaxation / (loss.scale * loss.scale * weights);
    problem.engine().project(current.data(), loss.scale, gain, next.data());
    std::swap(current, next);
    run.finish_step(iteration);
  }
}

}  // namespace

RetrievalResult solve(Problem& problem, float* phase, const SolverOptions& solver, const std::vector<float>& levels,
                      double peak, Progress& progress) {
  SolverRun run{problem, phase, solver, levels, peak, progress};
  switch (solver.solver) {
    case RetrievalSolver::lbfgs: lbfgs(run); break;
    case RetrievalSolver::adam: adam(run); break;
    case RetrievalSolver::gerchberg_saxton: gerchberg_saxton(run, false); break;
    case RetrievalSolver::weighted_gerchberg_saxton: gerchberg_saxton(run, true); break;
  }
  if (!levels.empty()) problem.engine().round_to_levels(phase, levels, 2 * std::numbers::pi_v<float>);
  return run.result;
}

}  // namespace holotone::retrieval
