// The descent of a plan: steps, shaking, stop rule; the same for every backend.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/random.hpp>
#include <holotone/halftone/electrostatic.hpp>
#include <limits>

namespace holotone {
namespace {

constexpr auto where = "electrostatic_halftone";

void check(const DescentOptions& options) {
  const auto require = [](std::string_view argument, std::int64_t value, std::int64_t low) {
    constexpr std::int64_t high = 1'000'000'000;
    if (value < low || value > high) {
      throw_argument(where, argument, fmt::format("{} to {}", low, high), fmt::format("{}", value));
    }
  };
  require("iterations", options.iterations, 0);
  require("check_interval", options.check_interval, 1);
  require("patience", options.patience, 0);
  require("shake_interval", options.shake_interval, 1);
  require("frame_interval", options.frame_interval, 0);
  require_bounds(where, "min_improvement", options.min_improvement, bounds_of<&DescentOptions::min_improvement>);
  require_bounds(where, "shake", options.shake, bounds_of<&DescentOptions::shake>);
}

/// Decides when the mean force has stopped improving.
class StopRule {
 public:
  explicit StopRule(const DescentOptions& options) : options_(options) {}

  /// Processes one reading. Returns true if the descent has to stop.
  bool read(double mean_force) {
    if (options_.patience == 0) return false;
    if (mean_force < (1 - options_.min_improvement) * min_force_) {
      min_force_ = mean_force;
      readings_ = 0;
      return mean_force == 0;
    }
    return ++readings_ >= options_.patience;
  }
  void start_anew() {
    min_force_ = std::numeric_limits<double>::infinity();
    readings_ = 0;
  }

 private:
  const DescentOptions& options_;
  double min_force_ = std::numeric_limits<double>::infinity();
  std::int64_t readings_ = 0;
};

}  // namespace

DescentReport electrostatic_halftone(ElectrostaticPlan& plan, const DescentOptions& options, Progress& progress,
                                     const std::function<void(std::int64_t)>& on_frame) {
  check(options);
  DescentReport report;
  if (plan.count() == 0) {
    report.converged = true;
    if (on_frame) on_frame(0);
    return report;
  }
  const double spacing = std::sqrt(static_cast<double>(element_count(plan.page())) / static_cast<double>(plan.count()));
  const std::int64_t shaken = options.shake > 0 ? options.iterations / 2 : 0;
  StopRule stop(options);
  progress.step("moving dots", 0, options.iterations);
  if (on_frame) on_frame(0);
  std::int64_t framed = 0;
  while (report.iterations < options.iterations && !report.converged) {
    const std::int64_t i = report.iterations;
    if (i < shaken && i % options.shake_interval == 0) {
      const double left = 1 - static_cast<double>(i) / static_cast<double>(shaken);
      plan.shake(options.shake * spacing * left, random_bits(options.seed, static_cast<std::uint64_t>(i)));
    }
    plan.step(options.rule);
    ++report.iterations;
    if (report.iterations % options.check_interval == 0) {
      report.force = plan.statistics();
      if (report.iterations <= shaken) {
        stop.start_anew();
      } else {
        report.converged = stop.read(report.force.mean);
      }
      progress.step("moving dots", report.iterations, options.iterations);
    }
    if (on_frame && options.frame_interval > 0 && report.iterations % options.frame_interval == 0) {
      on_frame(report.iterations);
      framed = report.iterations;
    }
  }
  report.force = plan.statistics();
  if (on_frame && framed != report.iterations) on_frame(report.iterations);
  progress.step("moving dots", options.iterations, options.iterations);
  return report;
}

}  // namespace holotone
