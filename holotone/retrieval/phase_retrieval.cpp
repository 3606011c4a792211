#include <algorithm>
#include <cmath>
#include <deque>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/core/no_backend.hpp>
#include <holotone/core/random.hpp>
#include <holotone/retrieval/retrieval_engine.hpp>

namespace holotone {
namespace {

using retrieval::RegionSums;

constexpr std::string_view name = "PhaseRetrievalPlan";

SignalRegion checked_region(const PhaseRetrievalOptions& options) {
  SignalRegion region = options.region;
  const auto [ny, nx] = options.grid.shape();
  if (region.rows == 0) region.rows = ny - region.row;
  if (region.columns == 0) region.columns = nx - region.column;
  const auto within = [](std::int64_t first, std::int64_t count, std::int64_t all) {
    return first >= 0 && count > 0 && first < all && count <= all - first;
  };
  if (!within(region.row, region.rows, ny) || !within(region.column, region.columns, nx)) {
    throw_argument(
        name, "region", fmt::format("a part of the picture of {} x {} pixels", nx, ny),
        fmt::format("{} x {} from column {}, row {}", region.columns, region.rows, region.column, region.row));
  }
  return region;
}

/// 1/2 sum (s a - T)^2 for the best s.
struct Loss {
  double scale = 0;
  double value = 0;
};
Loss loss_of(const std::vector<RegionSums>& positions) {
  RegionSums all;
  for (const auto& own : positions) all += own;
  const double scale = all.light > 0 ? all.agreement / all.light : 0;
  return {scale, 0.5 * std::max(0.0, all.target - scale * all.agreement)};
}

/// The last steps and differences of gradients, and the direction that they give.
class LbfgsMemory {
 public:
  LbfgsMemory(retrieval::Engine& engine, Shape<2> shape, Queue queue, std::size_t pairs)
      : engine_(engine), shape_(shape), queue_(std::move(queue)), most_(pairs) {}

  void add(const float* step, const float* change) {
    const double curvature = engine_.dot(step, change);
    if (!(curvature > 0)) return;
    if (pairs_.size() == most_) {
      pairs_.push_back(std::move(pairs_.front()));
      pairs_.pop_front();
    } else {
      pairs_.push_back({Array<float, 2>(shape_, queue_), Array<float, 2>(shape_, queue_), 0, 0});
    }
    Pair& own = pairs_.back();
    copy_to(own.step, step);
    copy_to(own.change, change);
    own.curvature = curvature;
    own.square = engine_.dot(change, change);
  }

  /// Replaces a gradient by the direction of the next step, against which the phase goes.
  void turn(float* gradient, std::int64_t count) const {
    std::vector<double> factors(pairs_.size());
    for (std::size_t i = pairs_.size(); i-- > 0;) {
      factors[i] = engine_.dot(pairs_[i].step.data(), gradient) / pairs_[i].curvature;
      engine_.add(-factors[i], pairs_[i].change.data(), gradient);
    }
    if (pairs_.empty()) {
      // The first step moves the phase by 0.1 rad (root mean square).
      const double square = engine_.dot(gradient, gradient);
      engine_.scale(square > 0 ? 0.1 / std::sqrt(square / static_cast<double>(count)) : 0, gradient);
    } else {
      engine_.scale(pairs_.back().curvature / pairs_.back().square, gradient);
    }
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
      const double factor = engine_.dot(pairs_[i].change.data(), gradient) / pairs_[i].curvature;
      engine_.add(factors[i] - factor, pairs_[i].step.data(), gradient);
    }
  }

 private:
  struct Pair {
    Array<float, 2> step;
    Array<float, 2> change;
    double curvature;
    double square;
  };
  void copy_to(Array<float, 2>& target, const float* values) const {
    copy_bytes(target.data(), queue_.device(), values, queue_.device(), target.bytes(), queue_);
  }

  retrieval::Engine& engine_;
  Shape<2> shape_;
  Queue queue_;
  std::size_t most_;
  std::deque<Pair> pairs_;
};

}  // namespace

struct PhaseRetrievalPlan::State {
  PhaseRetrievalOptions options;
  Queue queue;
  std::unique_ptr<retrieval::Engine> engine;
  double peak = 0;  ///< largest amplitude of the target in the region; 0: no target yet

  [[nodiscard]] std::size_t positions() const { return options.between_samples ? retrieval::most_positions : 1; }

  template <class T>
  void require(std::string_view argument, View<T, 2> view) const {
    require_device(name, argument, queue.device(), view.device());
    if (view.shape() != options.grid.shape()) {
      throw_argument(name, argument, fmt::format("{} x {} pixels", options.grid.nx, options.grid.ny),
                     fmt::format("{} x {}", view.shape()[1], view.shape()[0]));
    }
  }
  void require_target() const {
    if (peak == 0) throw_argument(name, "target", "set_target before", "no target");
  }

  double evaluate(const float* phase, float* derivative) const {
    const Loss loss = loss_of(engine->propagate(phase, positions()));
    engine->differentiate(phase, loss.scale, derivative);
    return loss.value;
  }
};

PhaseRetrievalPlan::PhaseRetrievalPlan(const PhaseRetrievalOptions& options, Queue queue)
    : state_(std::make_unique<State>()) {
  require_grid(name, options.grid);
  if (!std::isfinite(options.distance_m)) {
    throw_argument(name, "distance_m", "a finite distance", fmt::format("{}", options.distance_m));
  }
  State& s = *state_;
  s.options = options;
  s.options.region = checked_region(options);
  s.queue = std::move(queue);
  switch (s.queue.device().backend) {
    case Backend::cpu: s.engine = retrieval::engine_cpu(s.options); break;
    case Backend::cuda:
    case Backend::opencl: throw_no_backend(name, s.queue.device());
  }
}

PhaseRetrievalPlan::~PhaseRetrievalPlan() = default;
PhaseRetrievalPlan::PhaseRetrievalPlan(PhaseRetrievalPlan&&) noexcept = default;
PhaseRetrievalPlan& PhaseRetrievalPlan::operator=(PhaseRetrievalPlan&&) noexcept = default;

const PhaseRetrievalOptions& PhaseRetrievalPlan::options() const { return state_->options; }

void PhaseRetrievalPlan::set_target(View<const float, 2> amplitude) {
  State& s = *state_;
  s.require("amplitude", amplitude);
  const auto host = copy_of(amplitude, Device{});
  const auto& region = s.options.region;
  float peak = 0;
  for (std::int64_t row = 0; row < host.shape()[0]; ++row) {
    for (std::int64_t column = 0; column < host.shape()[1]; ++column) {
      const float value = host(row, column);
      if (!std::isfinite(value) || value < 0) {
        throw_argument(name, "amplitude", "finite values >= 0",
                       fmt::format("{} in column {}, row {}", value, column, row));
      }
      const bool inside = row >= region.row && row < region.row + region.rows && column >= region.column &&
                          column < region.column + region.columns;
      if (inside) peak = std::max(peak, value);
    }
  }
  if (peak == 0) throw_argument(name, "amplitude", "light in the signal region", "zeros");
  s.engine->set_target(amplitude.data());
  s.peak = static_cast<double>(peak);
}

double PhaseRetrievalPlan::gradient(View<const float, 2> phase_rad, View<float, 2> derivative) {
  State& s = *state_;
  s.require("phase_rad", phase_rad);
  s.require("derivative", derivative);
  s.require_target();
  return s.evaluate(phase_rad.data(), derivative.data());
}

RetrievalResult PhaseRetrievalPlan::optimize(View<float, 2> phase_rad, const LbfgsOptions& solver, Progress& progress) {
  State& s = *state_;
  s.require("phase_rad", phase_rad);
  s.require_target();
  if (solver.iterations < 0) throw_argument(name, "iterations", ">= 0", fmt::format("{}", solver.iterations));
  if (solver.pairs < 1 || solver.pairs > 64) throw_argument(name, "pairs", "1 to 64", fmt::format("{}", solver.pairs));
  constexpr double enough = 1e-4;      // of the decrease that the slope promises: Armijo 1966
  constexpr double least_step = 1e-3;  // of the direction
  const Shape<2> shape = s.options.grid.shape();
  const Device device = s.queue.device();
  LbfgsMemory memory(*s.engine, shape, s.queue, static_cast<std::size_t>(solver.pairs));
  Array<float, 2> slope(shape, s.queue);
  Array<float, 2> direction(shape, s.queue);
  Array<float, 2> next(shape, s.queue);
  Array<float, 2> next_slope(shape, s.queue);
  const auto copy_all = [&](float* target, const float* source) {
    copy_bytes(target, device, source, device, slope.bytes(), s.queue);
  };
  RetrievalResult result;
  result.loss = s.evaluate(phase_rad.data(), slope.data());
  result.evaluations = 1;
  for (int iteration = 0; iteration < solver.iterations; ++iteration) {
    copy_all(direction.data(), slope.data());
    memory.turn(direction.data(), slope.size());
    const double promised = s.engine->dot(slope.data(), direction.data());
    if (!(promised > 0)) break;  // at a minimum, as far as float32 tells
    double step = 1;
    double loss = 0;
    for (;; step /= 2) {
      copy_all(next.data(), phase_rad.data());
      s.engine->add(-step, direction.data(), next.data());
      loss = s.evaluate(next.data(), next_slope.data());
      ++result.evaluations;
      if (loss <= result.loss - enough * step * promised || step < least_step) break;
    }
    if (!(loss < result.loss)) break;
    s.engine->scale(-step, direction.data());
    s.engine->scale(-1, slope.data());
    s.engine->add(1, next_slope.data(), slope.data());  // the change
    memory.add(direction.data(), slope.data());
    copy_all(phase_rad.data(), next.data());
    std::swap(slope, next_slope);
    result.loss = loss;
    ++result.iterations;
    progress.step("optimizing the phase", iteration + 1, solver.iterations);
  }
  return result;
}

RetrievalQuality PhaseRetrievalPlan::quality(View<const float, 2> phase_rad) {
  State& s = *state_;
  s.require("phase_rad", phase_rad);
  s.require_target();
  const auto positions = s.engine->propagate(phase_rad.data(), retrieval::most_positions);
  const auto& region = s.options.region;
  const auto pixels = static_cast<double>(region.rows * region.columns);
  RetrievalQuality result;
  result.psnr_worst_db = INFINITY;
  for (std::size_t p = 0; p < positions.size(); ++p) {
    const double error = 2 * loss_of({positions[p]}).value / pixels;
    const double psnr = 10 * std::log10(s.peak * s.peak / error);
    if (p == 0) result.psnr_db = psnr;
    result.psnr_worst_db = std::min(result.psnr_worst_db, psnr);
  }
  result.efficiency = positions[0].light / static_cast<double>(s.options.grid.nx * s.options.grid.ny);
  return result;
}

Array<float, 2> starting_phase(Shape<2> shape, double spread_rad, std::uint64_t seed) {
  if (!std::isfinite(spread_rad) || spread_rad < 0) {
    throw_argument("starting_phase", "spread_rad", "a finite angle >= 0", fmt::format("{}", spread_rad));
  }
  Array<float, 2> phase(shape);
  for (std::int64_t i = 0; i < phase.size(); ++i) {
    phase.data()[i] = static_cast<float>(spread_rad * (2 * random_uniform64(seed, static_cast<std::uint64_t>(i)) - 1));
  }
  return phase;
}

}  // namespace holotone
