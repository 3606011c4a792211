#include <bench/lagrange_hologram.hpp>
#include <bench/measure.hpp>

namespace bench {

using holotone::Array;
using holotone::Backend;
using holotone::Complex;
using holotone::Device;
using holotone::DiffusionWeights;
using holotone::ErrorDiffusionPlan;

namespace {

DiffusionWeights weights_of(std::int64_t size, const LagrangeMethod& method, holotone::WeightRule rule) {
  DiffusionWeights weights;
  const auto grid = lagrange_grid(size);
  const auto hogels = holotone::hogels_of(grid.shape(), lagrange_hogel_px);
  if (!method.diffusion) {
    weights.values = Array<float, 2>({1, 0});
    return weights;
  }
  std::vector<holotone::SignalWindow> windows;
  for (std::int64_t row = 0; row < hogels[0]; ++row) {
    for (std::int64_t column = 0; column < hogels[1]; ++column) {
      const auto middle = [&](std::int64_t i) {
        const auto first = i * lagrange_hogel_px;
        const auto last = std::min(size, first + lagrange_hogel_px) - 1;
        return 0.5 * static_cast<double>(first + last - size + 1) * grid.pitch_m;
      };
      windows.push_back(signal_window(grid, lagrange_viewer, middle(column), -middle(row)));
    }
  }
  return diffusion_weights(windows, {.rule = rule, .taps = lagrange_taps, .parallelism = method.parallelism});
}

}  // namespace

holotone::FieldGrid lagrange_grid(std::int64_t size) { return {size, size, 750e-9, 635e-9}; }

holotone::DiceScene lagrange_scene() {
  holotone::DiceSceneOptions options;
  options.channels = 1;
  return holotone::DiceScene(options);
}

Array<Complex, 2> lagrange_field(std::int64_t size, std::uint64_t seed, Device device) {
  const auto scene = lagrange_scene();
  return stereogram_field(scene, 0,
                          {.grid = lagrange_grid(size),
                           .hogel_px = lagrange_hogel_px,
                           .fringe_m = 1.5e-6,
                           .viewer = lagrange_viewer,
                           .method = holotone::StereogramMethod::layered,
                           .seed = seed},
                          device);
}

Quantised quantised(const Array<Complex, 2>& field, const LagrangeMethod& method, holotone::WeightRule rule,
                    bool timed) {
  const std::int64_t size = field.shape()[0];
  const bool move = method.cpu && field.device() != Device{};
  const Array<Complex, 2> moved = move ? field.to(Device{}) : Array<Complex, 2>();
  const auto& own = move ? moved : field;
  const holotone::Queue queue(own.device());
  holotone::ErrorDiffusionOptions options;
  options.hogel_px = lagrange_hogel_px;
  Array<std::uint8_t, 2> codes(own.shape(), queue);
  Quantised result;
  {
    ErrorDiffusionPlan plan(options, weights_of(size, method, rule), own.shape(), queue);
    plan.execute(own.view(), codes.view());
    result.scale = plan.report().scale;
  }
  if (timed) {
    options.scale = static_cast<double>(result.scale);
    ErrorDiffusionPlan plan(options, weights_of(size, method, rule), own.shape(), queue);
    const auto work = [&] { plan.execute(own.view(), codes.view()); };
    const bool cpu = own.device().backend == Backend::cpu;
    result.seconds = seconds_of(queue, cpu ? 1 : 5, work);
  }
  queue.synchronize();
  result.codes = codes.device() == Device{} ? std::move(codes) : codes.to(Device{});
  return result;
}

}  // namespace bench
