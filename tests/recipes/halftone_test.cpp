// make_halftone against successive calls of the methods' own functions.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <holotone/core/random.hpp>
#include <holotone/halftone/capacity_voronoi.hpp>
#include <holotone/halftone/floyd_steinberg.hpp>
#include <holotone/halftone/lloyd.hpp>
#include <holotone/halftone/sampling.hpp>
#include <holotone/io/dots/dots.hpp>
#include <holotone/recipes/halftone.hpp>
#include <numbers>
#include <tests/support/on_each_device.hpp>

namespace holotone {
namespace {

using support::expect_error;

constexpr Shape<2> page{40, 56};

/// Ink that decreases to the right, and none in the lowest rows.
Array<float, 2> ramp(double darkest) {
  Array<float, 2> ink(page);
  for (std::int64_t row = 0; row < page[0]; ++row) {
    for (std::int64_t column = 0; column < page[1]; ++column) {
      const double share = 1 - static_cast<double>(column) / static_cast<double>(page[1]);
      ink(row, column) = row < 36 ? static_cast<float>(darkest * share) : 0.0F;
    }
  }
  return ink;
}

HalftoneOptions with(HalftoneMethod method, std::int64_t dots) {
  HalftoneOptions options;
  options.method = method;
  options.dots = dots;
  options.seed = 7;
  options.forces.deterministic = true;
  options.descent.iterations = 20;
  options.descent.seed = 7;
  return options;
}

void expect_same(const Dots& got, const Dots& expected) {
  EXPECT_EQ(got.width, static_cast<double>(page[1]));
  EXPECT_EQ(got.height, static_cast<double>(page[0]));
  EXPECT_EQ(got.position, expected.position);
  EXPECT_EQ(got.colour_class, expected.colour_class);
}

double measure_crowding(const Array<float, 2>& ink) {
  double sum = 0;
  double squares = 0;
  for (const float value : ink.host()) {
    sum += static_cast<double>(value);
    squares += static_cast<double>(value) * static_cast<double>(value);
  }
  return squares * static_cast<double>(ink.size()) / (sum * sum);
}

TEST(HalftoneRecipe, ForcesAreThePlanCalledDirectly) {
  const auto ink = ramp(0.8);
  const std::int64_t count = 300;
  auto options = with(HalftoneMethod::electrostatic, count);
  options.pixel_m = 1e-4;
  options.descent.frame_interval = 10;
  std::vector<Dots> frames;
  std::vector<std::int64_t> iterations;
  options.on_iteration = [&](std::int64_t iteration, std::optional<double> mean_force) {
    iterations.push_back(iteration);
    EXPECT_EQ(mean_force.has_value(), iteration > 0);
  };
  const auto got = make_halftone({ink.view()}, options, {}, Progress::none(),
                                 [&](const Halftone& so_far) { frames.push_back(so_far.dots); });

  auto forces = options.forces;
  forces.crowding = measure_crowding(ink);
  const Dots start = importance_sampled_dots(ink.view(), count, 7);
  Array<float, 2> places({count, 2});
  std::copy(start.position.begin(), start.position.end(), places.data());
  ElectrostaticPlan plan(page, count, {}, forces);
  plan.set_ink(ink.view());
  plan.set_positions(places.view());
  const auto report = electrostatic_halftone(plan, options.descent);
  plan.positions(places.view());
  Dots expected;
  expected.width = static_cast<double>(page[1]);
  expected.height = static_cast<double>(page[0]);
  expected.position.assign(places.host().begin(), places.host().end());
  take_to_ink(expected, ink.view());

  expect_same(got.dots, expected);
  EXPECT_EQ(got.dots.pixel_m, 1e-4);
  EXPECT_EQ(got.report.iterations, report.iterations);
  EXPECT_EQ(got.report.force.mean, report.force.mean);
  EXPECT_EQ(got.start, "importance");
  EXPECT_NEAR(got.radius, std::sqrt(total_ink(ink.view()) / (std::numbers::pi * count)), 1e-12);
  EXPECT_FALSE(iterations.empty());
  ASSERT_GE(frames.size(), 2u);
  expect_same(frames.back(), expected);
  EXPECT_NE(frames.front().position, expected.position);
}

TEST(HalftoneRecipe, ForcesOfAResampledPictureAreInItsPixels) {
  Array<float, 2> ink({1024, 1024});
  std::ranges::fill(ink.host(), 0.5F);
  auto options = with(HalftoneMethod::electrostatic, 100);
  double last_force = 0;
  options.on_iteration = [&](std::int64_t, std::optional<double> mean_force) { last_force = mean_force.value_or(0); };
  const auto got = make_halftone({ink.view()}, options);
  ASSERT_GT(last_force, 0);
  // The picture is resampled to 256 x 256: pixels four times as large. One iteration changes the force by far less.
  EXPECT_LT(std::abs(std::log2(got.report.force.mean / last_force)), 1) << got.report.force.mean << " " << last_force;
}

TEST(HalftoneRecipe, LloydAndCapacityAreTheirFunctions) {
  const auto ink = ramp(0.7);
  const auto lloyd = with(HalftoneMethod::lloyd, 150);
  LloydOptions lloyd_options;
  lloyd_options.seed = 7;
  auto expected = lloyd_dots(ink.view(), importance_sampled_dots(ink.view(), 150, 7), lloyd_options);
  take_to_ink(expected.dots, ink.view());
  const auto got = make_halftone({ink.view()}, lloyd);
  expect_same(got.dots, expected.dots);
  EXPECT_EQ(got.energy, expected.energy.back());
  EXPECT_EQ(got.report.iterations, std::ssize(expected.energy));

  auto capacity = with(HalftoneMethod::capacity_voronoi, 60);
  capacity.iterations = 3;
  CapacityVoronoiOptions sweeps;
  sweeps.sweeps = 3;
  sweeps.seed = 7;
  auto cells = capacity_voronoi_dots(ink.view(), 60, sweeps);
  take_to_ink(cells.dots, ink.view());
  expect_same(make_halftone({ink.view()}, capacity).dots, cells.dots);
}

TEST(HalftoneRecipe, FloydSteinbergWithoutACountIsItsBitmap) {
  const auto ink = ramp(0.6);
  HalftoneOptions options;
  options.method = HalftoneMethod::floyd_steinberg;
  const auto got = make_halftone({ink.view()}, options);
  EXPECT_TRUE(got.bitmap);
  Dots expected = dots_of_bitmap(floyd_steinberg(ink.view()).view());
  take_to_ink(expected, ink.view());
  expect_same(got.dots, expected);
}

TEST(HalftoneRecipe, InksShareTheDotsAndKeepTheirClasses) {
  const auto dark = ramp(0.6);
  const auto faint = ramp(0.2);
  const auto options = with(HalftoneMethod::lloyd, 200);
  const auto got = make_halftone({dark.view(), faint.view()}, options);
  ASSERT_EQ(got.dots.colour_class.size(), 200u);
  EXPECT_EQ(std::count(got.dots.colour_class.begin(), got.dots.colour_class.end(), 0), 150);
  const auto classes = dots_of_classes({dark.view(), faint.view()}, 200);
  EXPECT_EQ(classes, (std::vector<std::int64_t>{150, 50}));
}

// A radius without a count gives the number of dots that print the picture's ink; a range of radii gives those of the
// local ink.
TEST(HalftoneRecipe, RadiiAndCountsHoldTheInk) {
  const auto ink = ramp(0.5);
  HalftoneOptions options;
  options.method = HalftoneMethod::floyd_steinberg;
  options.radius_px = {1.25, 1.25};
  std::int64_t counted = 0;
  options.on_count = [&](std::int64_t dots) { counted = dots; };
  const auto alike = make_halftone({ink.view()}, options);
  const double area = std::numbers::pi * 1.25 * 1.25;
  EXPECT_EQ(counted, std::llround(total_ink(ink.view()) / area));
  EXPECT_EQ(static_cast<std::int64_t>(alike.dots.position.size() / 2), counted);
  EXPECT_EQ(alike.radius, 1.25);
  options.dots = counted / 2;
  EXPECT_NEAR(make_halftone({ink.view()}, options).ink_share, 0.5, 0.01);
  options.dots.reset();
  options.radius_px = {0.8, 1.6};
  const auto varied = make_halftone({ink.view()}, options);
  EXPECT_EQ(varied.dots.radius, dot_radii(varied.dots, ink.view(), {0.8, 1.6}));
}

TEST(HalftoneRecipe, ErrorsNameTheArgument) {
  const auto ink = ramp(0.5);
  const auto refused = [](const std::vector<View<const float, 2>>& inks, const HalftoneOptions& options,
                          const std::string& text) {
    expect_error(ErrorCode::invalid_argument, text, [&] { (void)make_halftone(inks, options); });
  };
  refused({}, {}, "make_halftone: inks: expected 1 to 256, got 0");
  const Array<float, 2> other({3, 5});
  refused({ink.view(), other.view()}, {}, "make_halftone: inks: expected {40, 56} of all, got {3, 5}");
  HalftoneOptions options;
  options.radius_px = {1e-7, 1e-7};
  refused({ink.view()}, options, "make_halftone: radius_px: expected at most 1000000000 dots");
  options.radius_px = {2, 1};
  refused({ink.view()}, options, "make_halftone: radius_px: expected");
  options.radius_px.reset();
  options.dots = max_dots + 1;
  refused({ink.view()}, options, "make_halftone: dots: expected at most 1000000000 dots");
  options.dots = 4000;
  options.radius_px = {3, 3};
  refused({ink.view()}, options, "dots");
}

}  // namespace
}  // namespace holotone
