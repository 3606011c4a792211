// The arithmetic below the engines: fixed-point turns, sines, phase levels, lit ranges and the recurrence's bound.
#include <cmath>
#include <cstdio>
#include <gtest/gtest.h>
#include <holotone/core/random.hpp>
#include <holotone/hologram/point_cloud/engine_cpu.hpp>
#include <holotone/hologram/point_cloud/point_cloud_math.h>
#include <numbers>

namespace {

using namespace holotone::point_cloud;

double difference_turns(std::uint32_t fixed, double turns) {
  const double difference = static_cast<double>(fixed) * 0x1p-32 - turns;
  return std::abs(difference - std::round(difference));
}

TEST(PointCloudMath, FixedTurnsKeepTheFractionWhateverTheWholeTurns) {
  EXPECT_EQ(fixed_turns(0.0), 0U);
  EXPECT_EQ(fixed_turns(0.25), 0x40000000U);
  EXPECT_EQ(fixed_turns(-0.25), 0xC0000000U);
  EXPECT_EQ(fixed_turns(123456.5), 0x80000000U);
  EXPECT_EQ(fixed_turns(-987654321.75), 0x40000000U);
  for (std::uint64_t i = 0; i < 10000; ++i) {
    const double turns = (holotone::random_uniform64(3, i) - 0.5) * std::pow(10.0, static_cast<double>(i % 8));
    EXPECT_LE(difference_turns(fixed_turns(turns), turns), 0x1p-33 * (1 + 1e-6)) << turns;
  }
}

TEST(PointCloudMath, SineAndCosineAreRightToAFewUnitsInTheLastPlace) {
  double worst = 0;
  double worst_alone = 0;
  for (std::uint64_t i = 0; i <= 1U << 20; ++i) {
    // Every region, its ends, and random low bits.
    const auto turns = static_cast<std::uint32_t>((i << 12) + (i % 2 == 0 ? 0 : holotone::random_bits(5, i) & 0xFFF));
    const double angle = 2 * std::numbers::pi * static_cast<double>(turns) * 0x1p-32;
    float sine = 0;
    float cosine = 0;
    sine_cosine(turns, sine, cosine);
    worst = std::max({worst, std::abs(sine - std::sin(angle)), std::abs(cosine - std::cos(angle))});
    worst_alone = std::max(worst_alone, std::abs(cosine_alone(turns) - std::cos(angle)));
  }
  constexpr double bound = 1.3e-7;
  constexpr double bound_alone = 1.8e-7;
  EXPECT_LT(worst, bound);
  EXPECT_LT(worst_alone, bound_alone);
  std::printf("  sine and cosine: largest error %.2e, bound %.1e; cosine alone %.2e, %.1e\n", worst, bound, worst_alone,
              bound_alone);
}

TEST(PointCloudMath, PhaseLevelsRoundTheArgument) {
  std::vector<std::complex<float>> field;
  for (int i = 0; i < 4096; ++i) {
    const double angle = 2 * std::numbers::pi * (i + 0.25) / 4096;  // never on the boundary between two levels
    const double size = std::pow(10.0, i % 9 - 4);
    field.emplace_back(static_cast<float>(size * std::cos(angle)), static_cast<float>(size * std::sin(angle)));
  }
  std::vector<std::uint8_t> levels(field.size());
  phase_levels(field, levels);
  for (int i = 0; i < 4096; ++i) {
    const auto expected = static_cast<int>(std::floor((i + 0.25) / 16 + 0.5)) % 256;
    EXPECT_EQ(levels[static_cast<std::size_t>(i)], expected) << i;
  }
}

TEST(PointCloudMath, PhaseLevelsOnTheAxesAndOfNothing) {
  const std::vector<std::complex<float>> field = {{1, 0},     {0, 1},      {-1, 0}, {0, -1},  {0, 0},
                                                  {1, -0.0F}, {-1, -0.0F}, {3, 3},  {-2, -2}, {1e-38F, 0}};
  std::vector<std::uint8_t> levels(field.size());
  phase_levels(field, levels);
  EXPECT_EQ(levels, (std::vector<std::uint8_t>{0, 64, 128, 192, 0, 0, 128, 32, 160, 0}));
}

TEST(PointCloudMath, LitRangeIsThePixelsWithinReach) {
  std::int32_t begin = -1;
  std::int32_t end = -1;
  for (std::uint64_t i = 0; i < 2000; ++i) {
    const double centre = 60 * holotone::random_uniform64(1, i) - 20;
    const double reach = 30 * holotone::random_uniform64(2, i);
    lit_range(centre, reach, 20, begin, end);
    for (std::int32_t pixel = 0; pixel < 20; ++pixel) {
      EXPECT_EQ(pixel >= begin && pixel < end, std::abs(pixel - centre) <= reach) << centre << " " << reach;
    }
    EXPECT_GE(begin, 0);
    EXPECT_LE(begin, end);
    EXPECT_LE(end, 20);
  }
  lit_range(1e30, 1e25, 20, begin, end);
  EXPECT_EQ(begin, end);
}

TEST(PointCloudMath, BandLimitEndsWhereFringesTurnHalfACycleAPixel) {
  const PanelFrame panel{532e-9, 8e-6, 1921, 1081, 532e-9 / (2 * 8e-6)};
  const auto point = to_pixels(panel, 0, 0, -0.2, 1, 0);
  // lambda d / (2 pitch) = 6.65 mm = 831.25 pixels from the axis at column 960
  EXPECT_EQ(point.column_begin, 960 - 831);
  EXPECT_EQ(point.column_end, 960 + 831 + 1);
  EXPECT_EQ(point.row_begin, 0);
  EXPECT_EQ(point.row_end, 1081);
  const auto turns = [&](double u) { return point.curvature * u * u; };
  EXPECT_LE(turns(831) - turns(830), 0.5);
  EXPECT_GT(turns(832) - turns(831), 0.5);
}

/// Largest error over a chain with gamma and delta quantized as in the engines, in turns.
double chain_error(double curvature, double first, std::int64_t steps) {
  auto gamma = fixed_turns(curvature * first * first);
  auto delta = fixed_turns(curvature * (2 * first + 1));
  const auto second = fixed_turns(2 * curvature);
  double worst = 0;
  for (std::int64_t n = 0; n <= steps; ++n) {
    const long double u = first + static_cast<double>(n);
    const long double exact = static_cast<long double>(curvature) * u * u;
    worst = std::max(worst, difference_turns(gamma, static_cast<double>(exact - std::floor(exact))));
    gamma += delta;
    delta += second;
  }
  return worst;
}

TEST(PointCloudMath, RecurrenceErrorStaysBelowItsBoundAndReachesIt) {
  for (const std::int64_t steps : {1, 4, 32, 128, 1024}) {
    double largest = 0;
    for (std::uint64_t i = 0; i < 400; ++i) {
      const double curvature = 1e-3 * (holotone::random_uniform64(7, i) - 0.5);
      const double first = 2000 * (holotone::random_uniform64(8, i) - 0.5);
      largest = std::max(largest, chain_error(curvature, first, steps));
    }
    const double bound = recurrence_error_turns(steps);
    EXPECT_LE(largest, bound);
    EXPECT_GE(largest, 0.6 * bound);  // a looser bound would place too many anchors and could hide an error
    std::printf("  %4lld steps: error %.2e turns, bound %.2e (%.0f %%)\n", static_cast<long long>(steps), largest,
                bound, 100 * largest / bound);
  }
}

TEST(PointCloudMath, AnchorsAreAsFarApartAsTheToleranceAllows) {
  for (const double tolerance : {1e-1, 1e-3, 1e-5, 2e-6}) {
    const auto steps = recurrence_anchor_steps(tolerance);
    EXPECT_LE(two_pi * recurrence_error_turns(steps), tolerance / 4);
    EXPECT_GT(two_pi * recurrence_error_turns(steps + 1), tolerance / 4);
  }
  EXPECT_EQ(recurrence_anchor_steps(1e-12), 1);
}

}  // namespace
