// Phase patterns against closed forms in float64: pixel by pixel, and the light that they make.
#include <cmath>
#include <complex>
#include <functional>
#include <gtest/gtest.h>
#include <holotone/hologram/encode.hpp>
#include <holotone/optics/fourier_lens.hpp>
#include <holotone/optics/panel_patterns.hpp>
#include <holotone/optics/propagation.hpp>
#include <limits>
#include <tests/support/on_each_device.hpp>

namespace holotone {
namespace {

template <class Call>
void expect_error(const Call& call, const char* text) {
  support::expect_error(ErrorCode::invalid_argument, text, call);
}

constexpr FieldGrid grid{96, 65, 8e-6, 532e-9};
constexpr double pi = M_PI;

double pixel_x_m(const FieldGrid& of, std::int64_t col) {
  return (static_cast<double>(col) - static_cast<double>(of.nx - 1) / 2) * of.pitch_m;
}
double pixel_y_m(const FieldGrid& of, std::int64_t row) {
  return (static_cast<double>(of.ny - 1) / 2 - static_cast<double>(row)) * of.pitch_m;
}

/// Distance of two phases on the circle, in turns.
double apart(double a, double b) { return std::abs(std::remainder(a - b, 1.0)); }

void expect_formula(const Array<float, 2>& turns, const FieldGrid& of, const std::function<double(double, double)>& t) {
  ASSERT_EQ(turns.shape(), of.shape());
  double worst = 0;
  for (std::int64_t row = 0; row < of.ny; ++row) {
    for (std::int64_t col = 0; col < of.nx; ++col) {
      const double got = static_cast<double>(turns(row, col));
      ASSERT_TRUE(got >= 0 && got < 1) << got;
      worst = std::max(worst, apart(got, t(pixel_x_m(of, col), pixel_y_m(of, row))));
    }
  }
  EXPECT_LE(worst, 6e-8 + 1e-9);
}

Array<Complex, 2> modulated_light(const Array<float, 2>& turns) {
  Array<Complex, 2> light(turns.shape());
  for (std::int64_t i = 0; i < turns.size(); ++i) {
    light.data()[i] = Complex(std::polar(1.0, 2 * pi * static_cast<double>(turns.data()[i])));
  }
  return light;
}

/// Shares of the light in the pixels of a lens's focal plane.
std::vector<double> focal_plane(const Array<float, 2>& turns, const FieldGrid& of) {
  FourierLensPlan lens({.grid = of, .focal_length_m = 0.1});
  Array<float, 2> intensity(of.shape());
  // Half a pixel: a sample of the focal plane on the axis of an even grid.
  lens.execute_intensity(modulated_light(turns).view(), intensity.view(), {.down = 0.5, .right = 0.5});
  std::vector<double> shares;
  for (const float value : intensity.host()) shares.push_back(value / static_cast<double>(of.nx * of.ny));
  return shares;
}

constexpr FieldGrid even{128, 64, 8e-6, 532e-9};
/// Order (p, q) of an `even` panel: p to the right and q up, in cycles across the panel.
double order(const std::vector<double>& shares, std::int64_t p, std::int64_t q) {
  return shares[static_cast<std::size_t>((even.ny / 2 - 1 - q) * even.nx + even.nx / 2 - 1 + p)];
}

TEST(PanelPatterns, AGratingIsItsFormula) {
  const double period = 7.3 * grid.pitch_m;
  const double angle = 0.5;
  const auto along = [&](double x, double y) { return (x * std::cos(angle) + y * std::sin(angle)) / period; };
  expect_formula(grating_turns({.period_m = period, .angle_rad = angle}, grid), grid, along);
  expect_formula(grating_turns({.period_m = period, .angle_rad = angle, .depth_turns = 0.7}, grid), grid,
                 [&](double x, double y) { return 0.7 * (along(x, y) - std::floor(along(x, y))); });
  expect_formula(grating_turns({.period_m = period, .angle_rad = angle, .binary = true}, grid), grid,
                 [&](double x, double y) { return along(x, y) - std::floor(along(x, y)) < 0.5 ? 0 : 0.5; });
}

// A blazed grating sends its light to lambda / period: one cycle of the panel is one pixel of the focal plane.
TEST(PanelPatterns, AGratingSendsTheLightToLambdaOverPeriod) {
  const double width = static_cast<double>(even.nx) * even.pitch_m;
  const auto right = focal_plane(grating_turns({.period_m = width / 12}, even), even);
  EXPECT_NEAR(order(right, 12, 0), 1, 1e-5);
  const auto up = focal_plane(grating_turns({.period_m = width / 12, .angle_rad = pi / 2}, even), even);
  EXPECT_NEAR(order(up, 0, 6), 1, 1e-5) << "the panel is half as high as wide";
  // 12 to the right and 6 up: 24 cycles a width at atan(12 / 12) = 45 degrees.
  const auto both =
      focal_plane(grating_turns({.period_m = width / std::hypot(12, 12), .angle_rad = pi / 4}, even), even);
  EXPECT_NEAR(order(both, 12, 6), 1, 1e-5);
  // Eight pixels a period: c_1 = 2 / (8 sin(pi/8)).
  const auto two = focal_plane(grating_turns({.period_m = 8 * even.pitch_m, .binary = true}, even), even);
  const double first = std::pow(2 / (8 * std::sin(pi / 8)), 2);
  EXPECT_NEAR(order(two, 16, 0), first, 1e-5);
  EXPECT_NEAR(order(two, -16, 0), first, 1e-5);
  EXPECT_NEAR(order(two, 0, 0), 0, 1e-6);
}

TEST(PanelPatterns, ALensIsItsFormulaAndFocusesAtItsFocalLength) {
  const LensPatternOptions lens{.focal_length_m = 0.05, .centre_x_m = 40e-6, .centre_y_m = -16e-6};
  const auto turns = [&](double x, double y) {
    return -(std::pow(x - 40e-6, 2) + std::pow(y + 16e-6, 2)) / (2 * 532e-9 * 0.05);
  };
  expect_formula(lens_turns(lens, grid), grid, turns);
  // Peak of a converging wave: the area over lambda f, at the centre; behind a diverging lens it is behind the panel.
  const FieldGrid odd{97, 65, 8e-6, 532e-9};
  for (const double sign : {1.0, -1.0}) {
    LensPatternOptions options = lens;
    options.focal_length_m *= sign;
    const auto focus = propagate({modulated_light(lens_turns(options, odd)), odd}, sign * 0.05);
    const auto values = focus.values.host();
    std::size_t best = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (std::abs(values[i]) > std::abs(values[best])) best = i;
    }
    EXPECT_EQ(best, static_cast<std::size_t>((32 + 2) * odd.nx + 48 + 5)) << "5 pixels right, 2 down";
    const double peak = static_cast<double>(odd.nx * odd.ny) * std::pow(odd.pitch_m, 2) / (532e-9 * 0.05);
    EXPECT_NEAR(std::abs(values[best]) / peak, 1, 0.01);
  }
}

TEST(PanelPatterns, TheShortestFocalLengthIsHalfATurnAPixelAtTheRim) {
  const FieldGrid wide{1001, 65, 8e-6, 532e-9};
  const LensPatternOptions centred{};
  const double shortest = shortest_focal_length_m(centred, wide);
  EXPECT_NEAR(shortest, 2 * 8e-6 * 500 * 8e-6 / 532e-9, 1e-9);
  LensPatternOptions lens{.focal_length_m = shortest};
  const auto turns = lens_turns(lens, wide);
  const double step = apart(static_cast<double>(turns(32, 0)), static_cast<double>(turns(32, 1)));
  EXPECT_NEAR(step, 0.5, 1.0 / 1000) << "half a pixel inside the rim";
  lens.centre_x_m = -100 * 8e-6;
  EXPECT_NEAR(shortest_focal_length_m(lens, wide) / shortest, 600.0 / 500, 1e-9);
}

TEST(PanelPatterns, AnAxiconMakesABesselBeam) {
  const double period = 6 * 8e-6;
  expect_formula(axicon_turns({.period_m = period, .centre_x_m = 3e-6}, grid), grid,
                 [&](double x, double y) { return -std::hypot(x - 3e-6, y) / period; });
  expect_formula(axicon_turns({.period_m = -period}, grid), grid,
                 [&](double x, double y) { return std::hypot(x, y) / period; });
  // Half of the length of the beam: the panel's half side over the angle of the cone.
  const FieldGrid square{401, 401, 8e-6, 532e-9};
  const double distance = 200 * 8e-6 / (532e-9 / period) / 2;
  const auto beam = propagate({modulated_light(axicon_turns({.period_m = period}, square)), square}, distance);
  const double axis = std::norm(beam.values(200, 200));
  const double expected = 4 * pi * pi * distance * 532e-9 / (period * period);  // stationary phase
  EXPECT_NEAR(axis / expected, 1, 0.25) << "ripples of the sharp rim";
  for (std::int64_t i = 1; i <= 5; ++i) {
    const double r = static_cast<double>(i) * square.pitch_m;
    EXPECT_NEAR(std::norm(beam.values(200, 200 + i)) / axis, std::pow(std::cyl_bessel_j(0, 2 * pi * r / period), 2),
                0.05)
        << i;
  }
}

TEST(PanelPatterns, AVortexIsDarkOnTheAxisAndHasItsCharge) {
  const FieldGrid square{64, 64, 8e-6, 532e-9};
  for (const int charge : {1, -2, 3}) {
    const auto turns = vortex_turns({.charge = charge}, even);
    expect_formula(turns, even, [&](double x, double y) { return charge * std::atan2(y, x) / (2 * pi); });
    // Around the axis, counterclockwise, the phase rises by the charge.
    double around = 0;
    const auto at = [&](double angle) {
      return static_cast<double>(
          turns(std::lround(31.5 - 20 * std::sin(angle)), std::lround(63.5 + 20 * std::cos(angle))));
    };
    for (int i = 0; i < 200; ++i) around += std::remainder(at(2 * pi * (i + 1) / 200) - at(2 * pi * i / 200), 1.0);
    EXPECT_NEAR(around, charge, 1e-5);
    // The amplitude on the axis is the sum of the pixels: 0 on a square, whose fourfold symmetry no charge here has.
    std::complex<double> axis = 0;
    const auto light = modulated_light(vortex_turns({.charge = charge}, square));
    for (const Complex pixel : light.host()) axis += pixel;
    EXPECT_LT(std::abs(axis), 1e-6 * static_cast<double>(square.nx * square.ny));
  }
}

TEST(PanelPatterns, ACheckerboardHasFourFirstOrders) {
  const auto shares = focal_plane(checkerboard_turns({.cell_px = 4}, even), even);
  const double first = std::pow(2 / (8 * std::sin(pi / 8)), 4);
  for (const std::int64_t p : {-1, 1}) {
    for (const std::int64_t q : {-1, 1}) EXPECT_NEAR(order(shares, 16 * p, 8 * q), first, 1e-5);
  }
  EXPECT_NEAR(order(shares, 0, 0), 0, 1e-6);
  const auto turns = checkerboard_turns({.cell_px = 3, .depth_turns = 0.25}, grid);
  EXPECT_EQ(turns(2, 2), 0.0F);
  EXPECT_EQ(turns(2, 3), 0.25F);
  EXPECT_EQ(turns(3, 3), 0.0F);
}

TEST(PanelPatterns, RowsAreThoseOfTheWholePanel) {
  const ZernikeOptions bumps{.terms = {{3, -1, 2}, {4, 2, 1}}};
  const auto make = [&](int which, const RowRange& part) {
    switch (which) {
      case 0: return grating_turns({.period_m = 20e-6, .angle_rad = 1}, grid, part);
      case 1: return lens_turns({.focal_length_m = 0.1}, grid, part);
      case 2: return zernike_turns(bumps, grid, part);
      case 3: return axicon_turns({.period_m = 30e-6}, grid, part);
      case 4: return vortex_turns({.charge = 2}, grid, part);
      default: return checkerboard_turns({.cell_px = 5}, grid, part);
    }
  };
  for (int which = 0; which < 6; ++which) {
    const auto whole = make(which, {});
    const auto part = make(which, {13, 7});
    ASSERT_EQ(part.shape(), (Shape<2>{7, grid.nx}));
    EXPECT_TRUE(std::equal(part.host().begin(), part.host().end(), whole.data() + 13 * grid.nx)) << which;
    expect_error([&] { (void)make(which, {60, 6}); }, "rows");
  }
}

// The codes of a sum of phases show the product of the two modulations, to half a level.
TEST(PanelPatterns, ASumShowsTheProductOfTheModulations) {
  const auto lens = lens_turns({.focal_length_m = 0.05}, grid);
  const auto vortex = vortex_turns({.charge = 2}, grid);
  Array<float, 2> sum(grid.shape());
  for (std::int64_t i = 0; i < sum.size(); ++i) sum.data()[i] = lens.data()[i] + vortex.data()[i];
  const EncodeOptions options{.bits = 6};
  const auto shown = modulation_of(encode(modulated_light(sum).view(), options, grid).view(), options, grid, {});
  const auto first = modulated_light(lens);
  const auto second = modulated_light(vortex);
  for (std::int64_t i = 0; i < sum.size(); ++i) {
    const std::complex<double> product = std::complex<double>(first.data()[i]) * std::complex<double>(second.data()[i]);
    const double off = std::arg(std::complex<double>(shown.data()[i]) * std::conj(product));
    ASSERT_LE(std::abs(off), pi / 64 + 1e-5);
  }
}

TEST(PanelPatterns, WhatIsNoPatternIsRefused) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  expect_error([&] { (void)grating_turns({.period_m = 15e-6}, grid); }, "two pixels");
  expect_error([&] { (void)grating_turns({.period_m = nan}, grid); }, "period_m");
  expect_error([&] { (void)grating_turns({.period_m = 16e-6, .depth_turns = 1.5}, grid); }, "depth_turns");
  expect_error([&] { (void)grating_turns({.period_m = 16e-6, .angle_rad = nan}, grid); }, "angle_rad");
  expect_error([&] { (void)lens_turns({}, grid); }, "focal_length_m");
  expect_error([&] { (void)lens_turns({.focal_length_m = 1, .centre_x_m = nan}, grid); }, "centre_x_m");
  expect_error([&] { (void)axicon_turns({.period_m = -15e-6}, grid); }, "period_m");
  expect_error([&] { (void)vortex_turns({.charge = 0}, grid); }, "charge");
  expect_error([&] { (void)vortex_turns({.charge = 1001}, grid); }, "charge");
  expect_error([&] { (void)checkerboard_turns({.cell_px = 0}, grid); }, "cell_px");
  expect_error([&] { (void)checkerboard_turns({.depth_turns = 0}, grid); }, "depth_turns");
  expect_error([&] { (void)lens_turns({.focal_length_m = 1}, {0, 5, 8e-6, 532e-9}); }, "nx");
}

}  // namespace
}  // namespace holotone
