// Beams to be made: their light, edges and places in metres, behind lenses of oblong panels too.
#include <cmath>
#include <gtest/gtest.h>
#include <holotone/recipes/beam_target.hpp>
#include <limits>
#include <numbers>
#include <tests/support/on_each_device.hpp>

namespace holotone {
namespace {

constexpr double pitch_m = 8e-6;
constexpr double wavelength_m = 532e-9;

PhaseRetrievalOptions free_space(std::int64_t ny, std::int64_t nx) {
  return {.grid = {nx, ny, pitch_m, wavelength_m}, .planes = {{.distance_m = 0.1}}};
}

/// Light, its middle and its mean square distances from it, in metres of pixels dy x dx.
struct Moments {
  double light = 0;
  double x = 0;
  double y = 0;
  double xx = 0;
  double yy = 0;
};

Moments moments(const DrawnBeam& beam, double dx, double dy) {
  const auto [ny, nx] = beam.amplitude.shape();
  Moments sums;
  for (std::int64_t row = 0; row < ny; ++row) {
    for (std::int64_t column = 0; column < nx; ++column) {
      const double light = std::pow(static_cast<double>(beam.amplitude(row, column)), 2);
      const double x = (static_cast<double>(column) - static_cast<double>(nx - 1) / 2) * dx;
      const double y = -(static_cast<double>(row) - static_cast<double>(ny - 1) / 2) * dy;
      sums.light += light * dx * dy;
      sums.x += light * x;
      sums.y += light * y;
      sums.xx += light * x * x;
      sums.yy += light * y * y;
    }
  }
  const double count = sums.light / (dx * dy);
  sums.x /= count;
  sums.y /= count;
  sums.xx = sums.xx / count - sums.x * sums.x;
  sums.yy = sums.yy / count - sums.y * sums.y;
  return sums;
}

TEST(BeamTarget, RectanglesHaveTheirSidesAndPlace) {
  for (const auto shape : {BeamShape::flat_top, BeamShape::line}) {
    const auto beam = draw_beam({shape, 1e-3, 0.5e-3, 0.2e-3, 0.1e-3}, free_space(200, 300));
    const auto found = moments(beam, pitch_m, pitch_m);
    EXPECT_NEAR(found.x, 0.2e-3, 1e-7);
    EXPECT_NEAR(found.y, 0.1e-3, 1e-7);
    EXPECT_NEAR(std::sqrt(12 * found.xx), 1e-3, 0.02e-3);
    EXPECT_NEAR(std::sqrt(12 * found.yy), 0.5e-3, 0.02e-3);
    EXPECT_EQ(*std::max_element(beam.amplitude.data(), beam.amplitude.data() + beam.amplitude.size()), 1.0F);
    // The edge has half the amplitude; the middle row lies 12.5 pixels above that of the picture.
    const double edge = (0.2e-3 + 0.5e-3) / pitch_m + 149.5;
    const auto left = static_cast<std::int64_t>(std::floor(edge));
    const double share = edge - static_cast<double>(left);
    const double half = static_cast<double>(beam.amplitude(87, left)) * (1 - share) +
                        static_cast<double>(beam.amplitude(87, left + 1)) * share;
    EXPECT_NEAR(half, 0.5, 0.01);
  }
}

TEST(BeamTarget, DiscsAndRingsHaveTheirAreas) {
  const double outer = 0.8e-3;
  const double inner = 0.4e-3;
  const auto model = free_space(160, 180);
  // Squares of soft edges hold less than the area: by s / sqrt(pi) on each, s = 1.5 pixels.
  const double lost = 1.5 * pitch_m / std::sqrt(std::numbers::pi);
  const auto area = [](double diameter) { return std::numbers::pi * diameter * diameter / 4; };
  const auto disc = moments(draw_beam({BeamShape::disc, outer, 0}, model), pitch_m, pitch_m);
  EXPECT_NEAR(disc.light / area(outer - 2 * lost), 1, 0.01);
  EXPECT_NEAR(disc.xx / disc.yy, 1, 1e-3);
  const auto ring = draw_beam({BeamShape::ring, outer, inner}, model);
  const auto found = moments(ring, pitch_m, pitch_m);
  EXPECT_NEAR(found.light / (area(outer - 2 * lost) - area(inner + 2 * lost)), 1, 0.01);
  EXPECT_LT(ring.amplitude(80, 90), 1e-3F);
}

TEST(BeamTarget, AGaussianHasItsDiameter) {
  const double diameter = 0.4e-3;
  const auto beam = draw_beam({BeamShape::gaussian, diameter, 0}, free_space(160, 180));
  const auto found = moments(beam, pitch_m, pitch_m);
  EXPECT_NEAR(4 * std::sqrt(found.xx), diameter, 1e-3 * diameter);  // 1/e^2 diameter: four standard deviations
  EXPECT_NEAR(found.light, std::numbers::pi * diameter * diameter / 8, 1e-3 * diameter * diameter);
}

TEST(BeamTarget, BehindALensPixelsAreThoseOfTheOrder) {
  auto model = free_space(120, 240);
  model.focal_length_m = 0.2;
  model.planes = {{.distance_m = 0}};
  const double dx = wavelength_m * 0.2 / (240 * pitch_m);
  const double dy = wavelength_m * 0.2 / (120 * pitch_m);
  const auto beam = draw_beam({BeamShape::disc, 5e-3, 0, 1e-3, -2e-3}, model);
  const auto found = moments(beam, dx, dy);
  EXPECT_NEAR(found.x, 1e-3, 1e-6);
  EXPECT_NEAR(found.y, -2e-3, 1e-6);
  EXPECT_NEAR(found.xx / found.yy, 1, 0.02);  // round in metres
  EXPECT_NEAR(4 * std::sqrt(found.xx), 5e-3, 0.2e-3);
}

TEST(BeamTarget, TheRegionHoldsTheBeamAndDarkness) {
  const auto beam = draw_beam({BeamShape::flat_top, 0.4e-3, 0.24e-3, 0.2e-3, 0}, free_space(200, 300));
  const auto& region = beam.region;
  double outside = 0;
  std::int64_t full = 0;
  for (std::int64_t row = 0; row < 200; ++row) {
    for (std::int64_t column = 0; column < 300; ++column) {
      const bool is_inside = row >= region.row && row < region.row + region.rows && column >= region.column &&
                             column < region.column + region.columns;
      if (!is_inside) outside = std::max(outside, static_cast<double>(beam.amplitude(row, column)));
      if (beam.inner(row, column) == 0) continue;
      ++full;
      EXPECT_GT(beam.amplitude(row, column), 0.998F);
    }
  }
  EXPECT_LT(outside, 1e-4);
  EXPECT_NEAR(static_cast<double>(full), (50 - 9.3) * (30 - 9.3), 100);  // 3.1 standard deviations from each edge
  EXPECT_NEAR(static_cast<double>(region.columns), 50 + 2 * 6, 3);
}

TEST(BeamTarget, UnevennessIsThatOfTheWorstPosition) {
  Array<float, 3> light({2, 4, 8});
  Array<std::uint8_t, 2> inner({4, 8});
  std::fill_n(inner.data(), inner.size(), std::uint8_t{1});
  inner(0, 0) = 0;
  for (std::int64_t i = 0; i < 32; ++i) {
    light.data()[i] = 3;
    light.data()[32 + i] = i % 2 == 0 ? 0.9F : 1.1F;
  }
  light(0, 0, 0) = 100;
  const double mean = (15 * 0.9 + 16 * 1.1) / 31;
  const double square = (15 * 0.81 + 16 * 1.21) / 31;
  EXPECT_NEAR(find_unevenness(light.view(), inner.view()), std::sqrt(square - mean * mean) / mean, 1e-6);
  std::fill_n(inner.data(), 20, std::uint8_t{0});
  EXPECT_TRUE(std::isnan(find_unevenness(light.view(), inner.view())));
}

TEST(BeamTarget, BadArgumentsAreNamed) {
  const auto refused = [](const BeamTarget& target, const std::string& text) {
    support::expect_error(ErrorCode::invalid_argument, "draw_beam: " + text,
                          [&] { (void)draw_beam(target, free_space(100, 100)); });
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  refused({BeamShape::disc, 20e-6, 0}, "width_m: expected at least 4 pixels of the picture, 32 um, got 20 um");
  refused({BeamShape::flat_top, 100e-6, 0}, "height_m: expected at least 4 pixels");
  refused({BeamShape::disc, nan, 0}, "width_m: expected at least 4 pixels");
  refused({BeamShape::ring, 100e-6, 90e-6}, "width_m - height_m: expected at least 4 pixels");
  refused({BeamShape::disc, 1e-3, 0}, "target: expected a beam within the picture of 800 um x 800 um, got 1 mm x 1 mm");
  refused({BeamShape::disc, 1e-4, 0, 0.4e-3, 0}, "target: expected a beam within the picture");
  refused({BeamShape::disc, 1e-4, 0, nan, 0}, "x_m, y_m: expected finite places, got nan");
  Array<float, 3> light({1, 4, 4});
  Array<std::uint8_t, 2> other({4, 5});
  support::expect_error(ErrorCode::invalid_argument, "find_unevenness: inner: expected {4, 4}, got {4, 5}",
                        [&] { (void)find_unevenness(light.view(), other.view()); });
}

}  // namespace
}  // namespace holotone
