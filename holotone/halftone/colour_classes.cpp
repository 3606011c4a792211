// Electrostatic dots of several inks on one page, which also repel each other.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/core/random.hpp>
#include <holotone/halftone/colour_classes.hpp>
#include <holotone/halftone/ink.hpp>
#include <limits>
#include <numeric>

namespace holotone {
namespace {

constexpr std::string_view where = "classes_halftone";
constexpr std::size_t max_classes = 256;

/// One ink's dots, their plan and forces.
struct ColourClass {
  ElectrostaticPlan plan;
  std::int64_t first = 0;  ///< among the dots of all classes
  StepRule rule;
  Array<float, 2> on_device;  ///< positions or forces
};

/// Positions and forces of all dots go through host memory: each class has a plan of its own.
class Classes {
 public:
  Classes(const std::vector<View<const float, 2>>& inks, const std::vector<Dots>& starts, const ClassWeights& weights,
          const ElectrostaticOptions& options, const StepRule& rule, const Queue& queue)
      : weights_(weights),
        queue_(queue),
        count_(std::accumulate(starts.begin(), starts.end(), std::int64_t{0},
                               [](std::int64_t sum, const Dots& dots) { return sum + dots.count(); })),
        all_(inks.front().shape(), count_, queue, options),
        together_({count_, 2}),
        forces_({count_, 2}),
        all_on_device_({count_, 2}, queue) {
    Array<float, 2> ink_of_all(inks.front().shape());
    std::fill(ink_of_all.host().begin(), ink_of_all.host().end(), 0.0F);
    std::int64_t first = 0;
    for (std::size_t c = 0; c < inks.size(); ++c) {
      const std::int64_t count = starts[c].count();
      if (count == 0) continue;
      ColourClass one{ElectrostaticPlan(inks[c].shape(), count, queue, options), first, rule,
                      Array<float, 2>({count, 2}, queue)};
      one.rule.tau /= weights.within + weights.across * static_cast<double>(count_) / static_cast<double>(count);
      one.rule.edge_correction = std::min(1.0, rule.edge_correction * (weights.within + weights.across));
      one.plan.set_ink(on_device(inks[c]).view());
      const double dots_an_ink = static_cast<double>(count) / total_ink(inks[c]);
      for (std::int64_t i = 0; i < ink_of_all.size(); ++i) {
        ink_of_all.data()[i] += static_cast<float>(dots_an_ink * static_cast<double>(inks[c].data()[i]));
      }
      std::copy(starts[c].position.begin(), starts[c].position.end(), together_.data() + 2 * first);
      classes_.push_back(std::move(one));
      class_of_.resize(class_of_.size() + static_cast<std::size_t>(count), static_cast<std::uint8_t>(c));
      first += count;
    }
    all_.set_ink(on_device(ink_of_all.view()).view());
    for (auto& one : classes_) {
      copy_in(one);
      one.plan.set_positions(one.on_device.view());
    }
  }

  /// Computes the forces at the present positions. Returns the mean and root mean square of |F|.
  ForceStatistics sum_forces() {
    read_positions();
    copy<float, 2>(all_on_device_.view(), together_.view(), queue_);
    all_.set_positions(all_on_device_.view());
    all_.forces(all_on_device_.view());
    copy<float, 2>(forces_.view(), all_on_device_.view(), queue_);
    queue_.synchronize();
    for (float& force : forces_.host()) force *= static_cast<float>(weights_.across);
    ForceStatistics size;
    for (auto& one : classes_) {
      one.plan.forces(one.on_device.view());
      const auto host = one.on_device.to(Device{});
      float* const sum = forces_.data() + 2 * one.first;
      for (std::int64_t i = 0; i < host.size(); i += 2) {
        sum[i] += static_cast<float>(weights_.within) * host.data()[i];
        sum[i + 1] += static_cast<float>(weights_.within) * host.data()[i + 1];
        const double square = static_cast<double>(sum[i]) * static_cast<double>(sum[i]) +
                              static_cast<double>(sum[i + 1]) * static_cast<double>(sum[i + 1]);
        size.mean += std::sqrt(square) / static_cast<double>(count_);
        size.rms += square / static_cast<double>(count_);
      }
    }
    size.rms = std::sqrt(size.rms);
    return size;
  }

  void move() {
    for (auto& one : classes_) {
      const View<const float, 2> forces(forces_.data() + 2 * one.first, one.on_device.shape());
      copy<float, 2>(one.on_device.view(), forces, queue_);
      one.plan.move(one.on_device.view(), one.rule);
    }
  }

  void shake(double radius, std::uint64_t seed) {
    for (auto& one : classes_) one.plan.shake(radius, random_bits(seed, static_cast<std::uint64_t>(one.first)));
  }

  [[nodiscard]] Dots dots() {
    read_positions();
    Dots dots;
    dots.height = static_cast<double>(all_.page()[0]);
    dots.width = static_cast<double>(all_.page()[1]);
    dots.position.assign(together_.host().begin(), together_.host().end());
    dots.colour_class = class_of_;
    return dots;
  }

 private:
  [[nodiscard]] Array<float, 2> on_device(View<const float, 2> values) const {
    return copy_of(values, queue_.device());
  }

  void copy_in(ColourClass& one) {
    const View<const float, 2> places(together_.data() + 2 * one.first, one.on_device.shape());
    copy<float, 2>(one.on_device.view(), places, queue_);
  }

  void read_positions() {
    for (auto& one : classes_) {
      one.plan.positions(one.on_device.view());
      copy<float, 2>(View<float, 2>(together_.data() + 2 * one.first, one.on_device.shape()), one.on_device.view(),
                     queue_);
    }
    queue_.synchronize();
  }

  ClassWeights weights_;
  Queue queue_;
  std::int64_t count_;
  ElectrostaticPlan all_;
  Array<float, 2> together_;  ///< positions of all dots, in host memory
  Array<float, 2> forces_;    ///< F, in host memory
  Array<float, 2> all_on_device_;
  std::vector<ColourClass> classes_;
  std::vector<std::uint8_t> class_of_;
};

void check(const std::vector<View<const float, 2>>& inks, const std::vector<Dots>& starts, const ClassWeights& weights,
           const DescentOptions& descent) {
  if (inks.empty() || inks.size() > max_classes || starts.size() != inks.size()) {
    throw_argument(where, "inks", fmt::format("1 to {} inks with dots for each", max_classes),
                   fmt::format("{} inks and {} sets of dots", inks.size(), starts.size()));
  }
  require_bounds(where, "within", weights.within, bounds_of<&ClassWeights::within>);
  require_bounds(where, "across", weights.across, bounds_of<&ClassWeights::across>);
  require_range(where, "check_interval", static_cast<double>(descent.check_interval), 1, 1e9);
  require_range(where, "shake_interval", static_cast<double>(descent.shake_interval), 1, 1e9);
  require_bounds(where, "shake", descent.shake, bounds_of<&DescentOptions::shake>);
  if (weights.within + weights.across == 0) throw_argument(where, "weights", "one that is not 0", "0 and 0");
  std::int64_t count = 0;
  for (std::size_t c = 0; c < inks.size(); ++c) {
    require_device(where, "inks", Device{}, inks[c].device());
    if (inks[c].empty() || inks[c].shape() != inks.front().shape()) {
      throw_argument(where, "inks", "inks of one shape", fmt::format("another in class {}", c));
    }
    count += starts[c].count();
    if (starts[c].count() > 0 && !(total_ink(inks[c]) > 0)) {
      throw_argument(where, "starts", "no dots of a class without ink", fmt::format("some of class {}", c));
    }
  }
  if (count < 1) throw_argument(where, "starts", "at least 1 dot", "none");
}

}  // namespace

std::vector<std::int64_t> dots_of_classes(const std::vector<View<const float, 2>>& inks, std::int64_t count) {
  if (count < 0 || count > max_dots) {
    throw_argument("dots_of_classes", "count", fmt::format("from 0 to {} dots", max_dots), std::to_string(count));
  }
  std::vector<double> share;
  double total = 0;
  for (const auto& ink : inks) {
    share.push_back(total_ink(ink));
    total += share.back();
  }
  if (!(total > 0)) {
    throw_argument("dots_of_classes", "inks", "a picture with ink", "one that has none: it is white everywhere");
  }
  std::vector<std::int64_t> dots;
  std::vector<std::size_t> order;
  for (std::size_t c = 0; c < share.size(); ++c) {
    share[c] *= static_cast<double>(count) / total;
    dots.push_back(static_cast<std::int64_t>(share[c]));
    order.push_back(c);
  }
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return share[a] - std::floor(share[a]) > share[b] - std::floor(share[b]);
  });
  const std::int64_t missing = count - std::accumulate(dots.begin(), dots.end(), std::int64_t{0});
  for (std::int64_t k = 0; k < missing; ++k) ++dots[order[static_cast<std::size_t>(k)]];
  return dots;
}

ClassesResult classes_halftone(const std::vector<View<const float, 2>>& inks, const std::vector<Dots>& starts,
                               const ClassWeights& weights, const ElectrostaticOptions& options,
                               const DescentOptions& descent, const Queue& queue, Progress& progress,
                               const std::function<void(std::int64_t, const Dots&)>& on_frame) {
  check(inks, starts, weights, descent);
  Classes classes(inks, starts, weights, options, descent.rule, queue);
  std::int64_t count = 0;
  for (const auto& start : starts) count += start.count();
  const double spacing =
      std::sqrt(static_cast<double>(element_count(inks.front().shape())) / static_cast<double>(count));
  ClassesResult result;
  DescentReport& report = result.report;
  const std::int64_t shaken = descent.shake > 0 ? descent.iterations / 2 : 0;
  double least = std::numeric_limits<double>::infinity();
  std::int64_t readings = 0;
  for (; report.iterations < descent.iterations && !report.converged; ++report.iterations) {
    const std::int64_t i = report.iterations;
    if (on_frame && descent.frame_interval > 0 && i % descent.frame_interval == 0) on_frame(i, classes.dots());
    if (i < shaken && i % descent.shake_interval == 0) {
      const double left = 1 - static_cast<double>(i) / static_cast<double>(shaken);
      classes.shake(descent.shake * spacing * left, random_bits(descent.seed, static_cast<std::uint64_t>(i)));
    }
    report.force = classes.sum_forces();
    classes.move();
    if (i % descent.check_interval != 0) continue;
    progress.step("moving dots", i, descent.iterations);
    if (i < shaken || descent.patience == 0) continue;
    if (report.force.mean < (1 - descent.min_improvement) * least) {
      least = report.force.mean;
      readings = 0;
    } else {
      ++readings;
    }
    report.converged = readings >= descent.patience || report.force.mean == 0;
  }
  result.dots = classes.dots();
  if (on_frame) on_frame(report.iterations, result.dots);
  return result;
}

}  // namespace holotone
