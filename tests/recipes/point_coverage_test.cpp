// Points that a panel does not show, against sums of these points: the panel is dark, and lit at the size that fits.
#include <algorithm>
#include <array>
#include <cmath>
#include <gtest/gtest.h>
#include <holotone/core/array.hpp>
#include <holotone/recipes/point_coverage.hpp>
#include <vector>

namespace holotone {
namespace {

struct Point {
  std::array<float, 3> position;
  float amplitude = 1;
};

struct Points {
  explicit Points(const std::vector<Point>& points)
      : position({std::ssize(points), 3}), amplitude({std::ssize(points)}) {
    for (std::int64_t i = 0; i < std::ssize(points); ++i) {
      const auto& point = points[static_cast<std::size_t>(i)];
      std::ranges::copy(point.position, &position(i, 0));
      amplitude(i) = point.amplitude;
    }
  }
  [[nodiscard]] PointSources sources() const { return {position.view(), amplitude.view(), {}}; }

  Array<float, 2> position;
  Array<float, 1> amplitude;
};

PointCloudOptions make_options() {
  PointCloudOptions sum;
  sum.shape = {64, 96};
  sum.method = PointMethod::direct;
  return sum;
}

/// A point 20 cm away lights 6.65 mm to each side, a panel of 768 x 512 um.
TEST(PointCoverage, AgreesWithTheSum) {
  const auto sum = make_options();
  for (const float x_m : {0.0F, 5e-3F, 7.0e-3F, 7.1e-3F, 9e-3F}) {
    const Points points({{{1, 0, -0.2F}, 0}, {{x_m, 0, -0.2F}}});
    const auto field = point_cloud_field(points.sources(), sum);
    const bool lit = std::ranges::any_of(field.host(), [](const auto& value) { return std::norm(value) > 0; });
    const auto coverage = find_coverage(points.sources(), sum);
    EXPECT_EQ(coverage.is_lit, lit) << x_m;
    EXPECT_TRUE(coverage.has_amplitude);
    EXPECT_FLOAT_EQ(static_cast<float>(coverage.high_m[0]), x_m) << "a point without an amplitude does not count";
    const double cosine = 532e-9 / 16e-6;
    EXPECT_NEAR(coverage.reach_m, 0.2 * cosine / std::sqrt(1 - 2 * cosine * cosine), 1e-9);
  }
  // Fresnel's light ends sooner than that of a sphere.
  PointCloudOptions fine = sum;
  fine.pitch_m = 0.3e-6;
  const Points aside({Point{{931e-6F, 0, -1e-3F}}});
  EXPECT_TRUE(find_coverage(aside.sources(), fine).is_lit);
  fine.wave = holotone::Wave::fresnel;
  EXPECT_FALSE(find_coverage(aside.sources(), fine).is_lit);
  PointCloudOptions unlimited = sum;
  unlimited.band_limit = false;
  EXPECT_TRUE(find_coverage(Points({Point{{1, 0, -0.2F}}}).sources(), unlimited).is_lit);
  EXPECT_FALSE(find_coverage(Points({Point{{0, 0, -0.2F}, 0}}).sources(), sum).has_amplitude);
}

TEST(PointCoverage, AllPointsLightPixelsAtTheSizeThatFits) {
  const auto sum = make_options();
  constexpr double distance_m = 0.2;
  const std::vector<Point> object{{{0.02F, 0, -0.21F}}, {{0, -0.015F, -0.19F}}, {{0, 0, -0.2F}}};
  const auto sized = [&](double scale) {
    auto points = object;
    for (auto& point : points) {
      for (std::size_t axis = 0; axis < 2; ++axis) point.position[axis] *= static_cast<float>(scale);
      point.position[2] =
          static_cast<float>(-distance_m + scale * (static_cast<double>(point.position[2]) + distance_m));
    }
    return points;
  };
  const auto fit = fit_to_panel(Points(object).sources(), sum, distance_m);
  EXPECT_FALSE(fit.crosses);
  EXPECT_GT(fit.scale, 0.2);
  EXPECT_LT(fit.scale, 0.5);
  EXPECT_EQ(unlit_points(Points(sized(0.999 * fit.scale)).sources(), sum), 0);
  EXPECT_GT(unlit_points(Points(sized(1.01 * fit.scale)).sources(), sum), 0);
  EXPECT_TRUE(fit_to_panel(Points({Point{{0, 0, 0.01F}}}).sources(), sum, 0.05).crosses);
  EXPECT_EQ(fit_to_panel(Points({Point{{0, 0, -0.2F}}}).sources(), sum, distance_m).scale, 1);
}

}  // namespace
}  // namespace holotone
