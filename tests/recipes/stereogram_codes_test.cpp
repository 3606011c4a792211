// Stereograms to codes in one pass: the codes of the two steps, on every device; a viewer who moves.
#include <holotone/core/random.hpp>
#include <holotone/recipes/hogel_weights.hpp>
#include <holotone/recipes/stereogram_codes.hpp>
#include <holotone/recipes/window_meter.hpp>
#include <tests/support/stereogram_support.hpp>

namespace holotone {
namespace {

using stereograms::Light;
using stereograms::SceneSource;
using support::expect_error;

constexpr Viewer viewer{4e-3, 3e-3, 0.03, 0.5e-3, 0};
constexpr FieldGrid grid{130, 106, 2e-6, 532e-9};
// Hogels of 24: the last column and the last row are cut.
const StereogramOptions stereogram{
    .grid = grid, .hogel_px = 24, .viewer = viewer, .method = StereogramMethod::layered, .seed = 3};

Light scene(double x, double y, double slope_x, double slope_y) {
  const double wave = std::sin(40 * slope_x + 3e3 * x) * std::cos(31 * slope_y - 2e3 * y);
  return {wave > -0.6 ? 1.1 + wave : 0, 0.005 + 0.02 * std::abs(slope_y)};
}

WindowWeightOptions weight_options() {
  WindowWeightOptions options;
  options.hogel_px = stereogram.hogel_px;
  options.weights.rule = WeightRule::least_squares;
  options.weights.parallelism = 3;
  return options;
}

ErrorDiffusionOptions diffusion_options() {
  ErrorDiffusionOptions options;
  options.hogel_px = stereogram.hogel_px;
  options.scale = 1.5;
  return options;
}

class StereogramCodes : public support::OnEachDevice {};
HOLOTONE_ON_CPU_AND_CUDA(StereogramCodes);

TEST_P(StereogramCodes, AreThoseOfTwoSteps) {
  const SceneSource source(scene);
  const auto weights = window_weights(grid, viewer, weight_options()).weights;
  on_each([&](Device device) {
    const auto field = stereogram_field(source, 0, stereogram, device);
    const Queue queue(device);
    Array<std::uint8_t, 2> expected(grid.shape(), queue);
    ErrorDiffusionPlan(diffusion_options(), weights, grid.shape(), queue).execute(field.view(), expected.view());
    queue.synchronize();
    const auto two_steps = expected.to(Device{});
    EXPECT_NE(*std::min_element(two_steps.data(), two_steps.data() + two_steps.size()),
              *std::max_element(two_steps.data(), two_steps.data() + two_steps.size()));
    for (const std::int64_t rows : {24, 48}) {
      auto options = diffusion_options();
      options.rows_at_once = rows;
      // Queues of their own: neither plan may begin before the other has ended.
      StereogramPlan rays(stereogram, Queue::create(device));
      ErrorDiffusionPlan diffusion(options, weights, grid.shape(), Queue::create(device));
      Array<Complex, 2> some({rows, grid.nx}, queue);
      Array<std::uint8_t, 2> codes(grid.shape(), queue);
      queue.synchronize();
      const auto report = stereogram_codes(rays, diffusion, source, 0, {0, grid.ny}, some.view(), codes.view());
      EXPECT_EQ(report.hogels, 30);
      const auto one_pass = codes.to(Device{});
      EXPECT_TRUE(std::equal(one_pass.data(), one_pass.data() + one_pass.size(), two_steps.data())) << rows;

      // The middle rows of hogels alone.
      Array<std::uint8_t, 2> middle({48, grid.nx}, queue);
      (void)stereogram_codes(rays, diffusion, source, 0, {24, 48}, some.view(), middle.view());
      const auto part = middle.to(Device{});
      EXPECT_TRUE(std::equal(part.data(), part.data() + part.size(), &two_steps(24, 0)));
    }
  });
}

TEST_P(StereogramCodes, WhatDoesNotFitIsNamed) {
  const SceneSource source(scene);
  const auto weights = window_weights(grid, viewer, weight_options()).weights;
  on_each([&](Device device) {
    const Queue queue(device);
    StereogramPlan rays(stereogram, queue);
    ErrorDiffusionPlan diffusion(diffusion_options(), weights, grid.shape(), queue);
    Array<Complex, 2> field({24, grid.nx}, queue);
    Array<std::uint8_t, 2> codes(grid.shape(), queue);
    const auto make = [&](const RowRange& part, View<Complex, 2> scratch) {
      const View<std::uint8_t, 2> part_codes(codes.data(), {part.rows, grid.nx}, device);
      (void)stereogram_codes(rays, diffusion, source, 0, part, scratch, part_codes);
    };
    expect_error(ErrorCode::invalid_argument, "field: expected rows of hogels of 24 pixels, 130 wide, got 20 x 130",
                 [&] {
                   make({0, 24}, {field.data(), {20, grid.nx}, device});
                 });
    expect_error(ErrorCode::invalid_argument, "part", [&] { make({0, 107}, field.view()); });
    expect_error(ErrorCode::invalid_argument, "whole rows of hogels", [&] { make({12, 24}, field.view()); });
  });
}

/// A viewer who moves from `from` to `to` in three frames.
constexpr Viewer from{1.2e-3, 1e-3, 0.03, -1.5e-3, 1e-3};
constexpr Viewer to{1.2e-3, 1e-3, 0.045, 1.5e-3, 2e-3};
constexpr Viewer frames[] = {from, {1.2e-3, 1e-3, 0.0375, 0, 1.5e-3}, to};

Array<Complex, 2> speckle() {
  Array<Complex, 2> field(grid.shape());
  for (std::int64_t i = 0; i < field.size(); ++i) {
    const auto at = static_cast<std::uint64_t>(i);
    const double modulus = std::sqrt(-std::log(1 - random_uniform64(4, 2 * at)));
    field.data()[i] = Complex(std::polar(modulus, 2 * M_PI * random_uniform64(4, 2 * at + 1)));
  }
  return field;
}

// One plan for all frames gives the codes of a plan made for each, and noise leaves the window where it is now.
TEST_P(StereogramCodes, AMovingViewerTakesOnlyNewWeights) {
  const auto field = speckle();
  auto options = weight_options();
  options.weights.given_taps = viewer_taps(grid, from, to, options);
  ASSERT_EQ(options.weights.given_taps.size(), 27U);
  on_each([&](Device device) {
    const Queue queue(device);
    ErrorDiffusionPlan plan(diffusion_options(), window_weights(grid, from, options).weights, grid.shape(), queue);
    const auto there = field.to(device);
    Array<std::uint8_t, 2> codes(grid.shape(), queue);
    Array<std::uint8_t, 2> first;
    for (const auto& now : frames) {
      const auto weights = window_weights(grid, now, options).weights;
      plan.set_weights(weights);
      plan.execute(there.view(), codes.view());
      queue.synchronize();
      auto got = codes.to(Device{});
      Array<std::uint8_t, 2> expected(grid.shape());
      ErrorDiffusionPlan(diffusion_options(), weights, grid.shape()).execute(field.view(), expected.view());
      EXPECT_TRUE(std::equal(got.data(), got.data() + got.size(), expected.data())) << now.x_m;
      if (first.empty()) first = got.to(Device{});
      const auto noise = [&](const Array<std::uint8_t, 2>& made_codes) {
        WindowMeter meter(diffusion_options(), grid, now);
        meter.add_rows(0, field.view(), made_codes.view(), diffusion_options().scale);
        return meter.measured().noise;
      };
      const double gained = 10 * std::log10(noise(first) / noise(got));
      std::printf("viewer at %+.1f mm: %.1f dB less noise than by the first frame's weights\n", 1e3 * now.x_m, gained);
      EXPECT_GE(gained, now.x_m > from.x_m ? 10 : 0);
    }
  });
}

TEST(ViewerTaps, OfOnePlaceAreThoseOfItsWindows) {
  auto options = weight_options();
  EXPECT_EQ(viewer_taps(grid, viewer, viewer, options), window_weights(grid, viewer, options).weights.taps);
  EXPECT_NE(viewer_taps(grid, from, to, options), window_weights(grid, to, options).weights.taps);
  const Viewer beside{1e-3, 1e-3, 0.03, 0.5, 0};
  EXPECT_EQ(viewer_taps(grid, from, beside, options).size(), 27U);  // light reaches a part of the range
  expect_error(ErrorCode::invalid_argument, "viewer", [&] { (void)viewer_taps(grid, beside, beside, options); });
  options.beam.angle_x_rad = std::atan(0.5 / 0.03);  // light from there
  EXPECT_EQ(viewer_taps(grid, beside, beside, options), window_weights(grid, beside, options).weights.taps);
}

}  // namespace
}  // namespace holotone
