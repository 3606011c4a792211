#include <cmath>
#include <gtest/gtest.h>
#include <holotone/optics/phase_math.h>
#include <numbers>

namespace {

constexpr double two_pi = 2 * std::numbers::pi;

TEST(PhaseMath, RoundsToTheNearestInteger) {
  for (const double x : {0.0, 0.4, 0.6, -0.4, -0.6, 1.5, 2.5, -1.5, 123456789.25, -375939849.6, 2.2e15}) {
    EXPECT_EQ(holotone::round_nearest(x), std::nearbyint(x)) << x;
  }
}

// k r at 0.1 m and 532 nm: reduced in float64, the phase is exact to float32's last bits; computed in float32 it is
// noise.
TEST(PhaseMath, ReducingKeepsWhatFloat32Loses) {
  double worst = 0;
  double worst_float = 0;
  for (int i = 0; i < 10000; ++i) {
    const double r = 0.1 + 1e-7 * i;
    const double turns = r / 532e-9;
    const double exact = std::cos(two_pi * std::remainder(turns, 1.0));
    float sine = 0;
    float cosine = 0;
    holotone::sincos_turns(holotone::reduce_turns(turns), sine, cosine);
    worst = std::max(worst, std::abs(static_cast<double>(cosine) - exact));
    const float naive = std::cos(static_cast<float>(two_pi / 532e-9) * static_cast<float>(r));
    worst_float = std::max(worst_float, std::abs(static_cast<double>(naive) - exact));
  }
  std::printf("worst cosine: reduced %.1e, float32 all the way %.1e\n", worst, worst_float);
  EXPECT_LT(worst, 5e-7);
  EXPECT_GT(worst_float, 0.05);
}

TEST(PhaseMath, SineAndCosineHoldTheirBound) {
  double worst = 0;
  for (int i = -500000; i <= 500000; ++i) {
    const float r = static_cast<float>(i) / 1e6F;
    float sine = 0;
    float cosine = 0;
    holotone::sincos_turns(r, sine, cosine);
    worst = std::max({worst, std::abs(static_cast<double>(sine) - std::sin(two_pi * static_cast<double>(r))),
                      std::abs(static_cast<double>(cosine) - std::cos(two_pi * static_cast<double>(r)))});
  }
  std::printf("worst %.2e\n", worst);
  EXPECT_LT(worst, 1.2e-7);
}

TEST(PhaseMath, SineAndCosineAreExactAtTheQuarters) {
  const struct {
    float turns, sine, cosine;
  } known[] = {{0, 0, 1}, {0.25F, 1, 0}, {0.5F, 0, -1}, {-0.25F, -1, 0}, {-0.5F, 0, -1}};
  for (const auto& k : known) {
    float sine = 2;
    float cosine = 2;
    holotone::sincos_turns(k.turns, sine, cosine);
    EXPECT_EQ(sine, k.sine) << k.turns;
    EXPECT_EQ(cosine, k.cosine) << k.turns;
  }
}

}  // namespace
