#include <bench/lagrange_hologram.hpp>
#include <bench/measure.hpp>
#include <cmath>
#include <holotone/recipes/hogel_weights.hpp>
#include <holotone/recipes/window_meter.hpp>

namespace bench {

using holotone::Array;
using holotone::Backend;
using holotone::Complex;
using holotone::Device;
using holotone::DiffusionWeights;
using holotone::ErrorDiffusionOptions;
using holotone::ErrorDiffusionPlan;
using holotone::Queue;

namespace {

DiffusionWeights make_weights(std::int64_t size, const LagrangeMethod& method, holotone::WeightRule rule) {
  if (!method.diffusion) return {{}, Array<float, 2>({1, 0})};
  holotone::WindowWeightOptions options;
  options.hogel_px = lagrange_hogel_px;
  options.weights.rule = rule;
  options.weights.taps = method.taps;
  options.weights.kept = method.kept;
  options.weights.parallelism = method.parallelism;
  return window_weights(lagrange_grid(size), lagrange_viewer, options).weights;
}

ErrorDiffusionOptions make_options(float scale, const std::string& cache_folder) {
  ErrorDiffusionOptions options;
  options.hogel_px = lagrange_hogel_px;
  options.scale = static_cast<double>(scale);
  options.cache_folder = cache_folder;
  return options;
}

/// A method on its device.
struct Place {
  const Array<Complex, 2>& field;
  Queue queue;
  Array<std::uint8_t, 2> codes;

  Place(const LagrangeField& given_field, const LagrangeMethod& method)
      : field(method.cpu ? given_field.host() : given_field.there()),
        queue(field.device()),
        codes(field.shape(), queue) {}
  [[nodiscard]] int rounds() const { return queue.device().backend == Backend::cpu ? 1 : 5; }
};

/// Seconds of work() until the queue is done.
template <class Work>
double seconds_until_done(const Queue& queue, const Work& work) {
  const Stopwatch watch;
  work();
  queue.synchronize();
  return watch.seconds();
}

}  // namespace

holotone::FieldGrid lagrange_grid(std::int64_t size) { return {size, size, 750e-9, 635e-9}; }

holotone::DiceScene lagrange_scene() {
  holotone::DiceSceneOptions options;
  options.channels = 1;
  return holotone::DiceScene(options);
}

LagrangeField::LagrangeField(std::int64_t size, std::uint64_t seed, Device device) {
  const auto scene = lagrange_scene();
  there_ = stereogram_field(scene, 0,
                            {.grid = lagrange_grid(size),
                             .hogel_px = lagrange_hogel_px,
                             .fringe_m = 1.5e-6,
                             .viewer = lagrange_viewer,
                             .method = holotone::StereogramMethod::layered,
                             .seed = seed},
                            device);
  if (device != Device{}) host_ = there_.to(Device{});
}

Quantised quantised(const LagrangeField& field, const LagrangeMethod& method, holotone::WeightRule rule, bool timed,
                    const std::string& cache_folder) {
  Place place(field, method);
  const auto weights = make_weights(field.size(), method, rule);
  Quantised result;
  {
    ErrorDiffusionPlan plan(make_options(0, cache_folder), weights, place.field.shape(), place.queue);
    plan.execute(place.field.view(), place.codes.view());
    result.scale = plan.report().scale;
  }
  if (timed) {
    ErrorDiffusionPlan plan(make_options(result.scale, cache_folder), weights, place.field.shape(), place.queue);
    const auto work = [&] { plan.execute(place.field.view(), place.codes.view()); };
    result.seconds = seconds_of(place.queue, place.rounds(), work);
  }
  place.queue.synchronize();
  result.codes = place.codes.device() == Device{} ? std::move(place.codes) : place.codes.to(Device{});
  return result;
}

LagrangeSignal signal_of(const LagrangeField& field, const Quantised& made) {
  holotone::WindowMeter meter(make_options(0, {}), lagrange_grid(field.size()), lagrange_viewer);
  meter.add_rows(0, field.host().view(), made.codes.view(), static_cast<double>(made.scale));
  const auto measured = meter.measured();
  const auto decibels = [](const holotone::WindowSignal& seen) { return 10 * std::log10(seen.signal / seen.noise); };
  return {decibels(measured.seen), decibels(measured.truncated_seen)};
}

LagrangeRuns timed_runs(const LagrangeField& field, const LagrangeMethod& method, holotone::WeightRule rule,
                        const std::string& cache_folder) {
  Place place(field, method);
  const auto& queue = place.queue;
  const auto run = [&](std::unique_ptr<ErrorDiffusionPlan>& plan) {
    LagrangeSteps steps;
    DiffusionWeights weights;
    steps.weights_s = seconds_until_done(queue, [&] { weights = make_weights(field.size(), method, rule); });
    steps.plan_s = seconds_until_done(queue, [&] {
      if (plan) return plan->set_weights(weights);
      plan = std::make_unique<ErrorDiffusionPlan>(make_options(0, cache_folder), weights, place.field.shape(), queue);
    });
    steps.codes_s = seconds_until_done(queue, [&] { plan->execute(place.field.view(), place.codes.view()); });
    return steps;
  };
  LagrangeRuns runs;
  std::unique_ptr<ErrorDiffusionPlan> plan;
  runs.first = run(plan);
  plan.reset();
  runs.later = run(plan);
  runs.frame = run(plan);
  const float scale = plan->report().scale;
  plan.reset();
  const auto weights = make_weights(field.size(), method, rule);
  ErrorDiffusionPlan known(make_options(scale, cache_folder), weights, place.field.shape(), queue);
  const auto codes = [&] { known.execute(place.field.view(), place.codes.view()); };
  codes();
  runs.codes_s = seconds_until_done(queue, codes);
  return runs;
}

}  // namespace bench
