// Spectra of point sets: closed forms, float64 sums, random sets against theory, relations.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fmt/format.h>
#include <fstream>
#include <holotone/metrics/spectrum.hpp>
#include <limits>
#include <string>
#include <tests/metrics/point_sets.hpp>
#include <tests/reference/metrics.hpp>
#include <tests/support/on_each_device.hpp>

namespace holotone {
namespace {

using point_sets::Points;
using point_sets::square_lattice;
using point_sets::uniform;
using point_sets::view;
using support::expect_error;
using support::expect_within;

TEST(Spectrum, OneDotHasPowerOneEverywhere) {
  const Points dot{3.7F, 8.1F};
  const auto spectrum = power_spectrum(view(dot), {.region = {0, 0, 20, 11}, .segments = 1, .largest_frequency = 0.9});
  ASSERT_EQ(spectrum.power.shape(), (Shape<2>{2 * 10 + 1, 2 * 18 + 1}));
  EXPECT_DOUBLE_EQ(spectrum.step_x, 1.0 / 20);
  EXPECT_DOUBLE_EQ(spectrum.step_y, 1.0 / 11);
  EXPECT_DOUBLE_EQ(spectrum.density, 1.0 / 220);
  double worst = 0;
  for (const float power : spectrum.power.host()) worst = std::max(worst, std::abs(static_cast<double>(power) - 1));
  // The l2 tolerance of 1e-6 does not bound a single mode's error, but ten times that does; squaring doubles it.
  expect_within("one dot", worst, 2e-5);
}

TEST(Spectrum, LatticeHasBraggPeaks) {
  const int columns = 14;
  const int rows = 9;
  const double spacing = 2.5;
  const Points lattice = square_lattice(columns, rows, spacing);
  const auto spectrum = power_spectrum(
      view(lattice), {.region = {0, 0, columns * spacing, rows * spacing}, .segments = 1, .largest_frequency = 0.85});
  const auto [ny, nx] = spectrum.power.shape();
  int peaks = 0;
  double worst = 0;
  for (std::int64_t row = 0; row < ny; ++row) {
    for (std::int64_t column = 0; column < nx; ++column) {
      const bool peak = (row - ny / 2) % rows == 0 && (column - nx / 2) % columns == 0;
      peaks += peak;
      const double expected = peak ? columns * rows : 0;
      worst = std::max(worst, std::abs(static_cast<double>(spectrum.power(row, column)) - expected));
    }
  }
  EXPECT_EQ(peaks, 25);
  expect_within("Bragg peaks", worst / (columns * rows), 1e-5);
}

struct Case {
  Region region;
  std::int64_t segments;
  SpectrumWindow window;
  double tolerance;
  Shape<2> pieces;
};

/// Compares periodograms of the pieces with float64 sums, in the l2 norm of amplitudes.
void check_against_sums(const Case& c) {
  const Points points = uniform(400, 60, 50, 5, -3, 2);
  SpectrumPlan plan({c.region, c.segments, 0.31, c.window, c.tolerance});
  ASSERT_EQ(plan.pieces(), c.pieces);
  plan.add(view(points));
  const auto spectrum = plan.spectrum();
  const double width = c.region.width / static_cast<double>(c.pieces[1]);
  const double height = c.region.height / static_cast<double>(c.pieces[0]);
  const auto [ny, nx] = spectrum.power.shape();
  std::vector<double> expected(static_cast<std::size_t>(ny * nx), 0);
  std::int64_t used = 0;
  std::int64_t inside = 0;
  for (std::int64_t piece = 0; piece < c.segments; ++piece) {
    const double x0 = c.region.x + static_cast<double>(piece % c.pieces[1]) * width;
    const double y0 = c.region.y + static_cast<double>(piece / c.pieces[1]) * height;
    std::vector<double> values;
    std::vector<double> weights;
    double sum = 0;
    for (std::size_t j = 0; j < points.size(); j += 2) {
      const double x = static_cast<double>(points[j]) - x0;
      const double y = static_cast<double>(points[j + 1]) - y0;
      if (x < 0 || y < 0 || x >= width || y >= height) continue;
      values.insert(values.end(), {x, y});
      const double tau = 2 * reference::metrics_pi;
      weights.push_back(
          c.window == SpectrumWindow::hann ? (1 - std::cos(tau * x / width)) * (1 - std::cos(tau * y / height)) : 1);
      sum += weights.back();
    }
    if (weights.empty()) continue;
    ++used;
    inside += static_cast<std::int64_t>(weights.size());
    for (std::int64_t row = 0; row < ny; ++row) {
      for (std::int64_t column = 0; column < nx; ++column) {
        const auto ky = row - ny / 2;
        const auto kx = column - nx / 2;
        const auto share = [](std::int64_t k) { return k == 0 ? 1.0 : std::abs(k) == 1 ? -0.5 : 0.0; };
        const double mean = c.window == SpectrumWindow::hann ? sum * share(kx) * share(ky) : 0;
        expected[static_cast<std::size_t>(row * nx + column)] += reference::metrics_power(
            values, weights, static_cast<double>(kx) / width, static_cast<double>(ky) / height, mean);
      }
    }
  }
  EXPECT_EQ(spectrum.periodograms, used);
  EXPECT_EQ(spectrum.points, inside);
  double difference = 0;
  double norm = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double amplitude = std::sqrt(expected[i] / static_cast<double>(used));
    const double got = std::sqrt(static_cast<double>(spectrum.power.data()[i]));
    difference += (got - amplitude) * (got - amplitude);
    norm += amplitude * amplitude;
  }
  // Amplitudes of transforms keep the tolerance; powers are stored as float32.
  expect_within(fmt::format("{} pieces, tolerance {:g}", c.segments, c.tolerance), std::sqrt(difference / norm),
                c.tolerance + 6e-8);
}

TEST(Spectrum, AgreesWithSums) {
  check_against_sums({{0, 4, 50, 41}, 1, SpectrumWindow::rectangle, 1e-6, {1, 1}});
  check_against_sums({{0, 4, 50, 41}, 6, SpectrumWindow::rectangle, 1e-6, {2, 3}});
  check_against_sums({{-3.5, 2.5, 33, 47.5}, 10, SpectrumWindow::rectangle, 1e-9, {5, 2}});
  check_against_sums({{0, 4, 50, 41}, 1, SpectrumWindow::hann, 1e-6, {1, 1}});
  check_against_sums({{1, 3, 50, 41}, 4, SpectrumWindow::hann, 1e-3, {2, 2}});
  check_against_sums({{50, 4, 70, 30}, 7, SpectrumWindow::rectangle, 1e-6, {1, 7}});  // most pieces hold no dot
}

// RAPS of random dots is 1 with standard deviation 1 / sqrt(K n), n the independent samples; the variance of the mean
// of K exponential variables is 1 / K, estimated with relative variance 2 / (n - 1) + 6 / (K n).
TEST(Spectrum, RandomDotsAreWhite) {
  const Points points = uniform(40000, 300, 200, 11);
  for (const std::int64_t periodograms : {1, 10, 24}) {
    const auto spectrum =
        power_spectrum(view(points), {.region = {0, 0, 300, 200}, .segments = periodograms, .largest_frequency = 0.6});
    const auto radial = radial_spectrum(spectrum);
    const auto k = static_cast<double>(periodograms);
    double worst_power = 0;
    double worst_anisotropy = 0;
    double mean = 0;
    int annuli = 0;
    for (std::size_t i = 0; i < radial.power.size(); ++i) {
      const auto n = static_cast<double>(radial.samples[i] / 2);
      if (n < 60) continue;
      worst_power = std::max(worst_power, std::abs(radial.power[i] - 1) * std::sqrt(k * n));
      const double deviation = std::sqrt(2 / (n - 1) + 6 / (k * n) + 4 / (k * n));  // of s^2, and of RAPS squared
      worst_anisotropy = std::max(worst_anisotropy, std::abs(radial.anisotropy[i] * k - 1) / deviation);
      mean += radial.anisotropy[i];
      ++annuli;
    }
    ASSERT_GE(annuli, 9);
    expect_within(fmt::format("{} periodograms: RAPS, standard deviations", periodograms), worst_power, 4.5);
    expect_within(fmt::format("{} periodograms: anisotropy, standard deviations", periodograms), worst_anisotropy, 5);
    EXPECT_NEAR(anisotropy_db(mean / annuli), -10 * std::log10(k), 0.35);
    const auto summary = summarise(radial, spectrum, 120);
    EXPECT_NEAR(summary.floor_db, -10 * std::log10(k), 1e-12);
    EXPECT_NEAR(summary.mean_anisotropy_db, summary.floor_db, 0.6);
  }
}

TEST(Spectrum, ASummaryNeedsNumbersOfEqualLength) {
  const Points points = uniform(300, 30, 20, 8);
  const auto spectrum = power_spectrum(view(points), {.region = {0, 0, 30, 20}, .segments = 1});
  const auto refuses = [&](auto member) {
    RadialSpectrum radial = radial_spectrum(spectrum);
    ASSERT_FALSE((radial.*member).empty());
    (radial.*member).clear();
    expect_error(ErrorCode::invalid_argument, "summarise: radial: expected frequency, power, anisotropy and samples",
                 [&] { (void)summarise(radial, spectrum, 1); });
  };
  refuses(&RadialSpectrum::frequency);
  refuses(&RadialSpectrum::samples);
  refuses(&RadialSpectrum::anisotropy);
}

TEST(Spectrum, TenSetsAreLikeTenPieces) {
  SpectrumPlan plan({.region = {0, 0, 90, 70}, .segments = 1, .largest_frequency = 0.7});
  double single = 0;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const Points points = uniform(2000, 90, 70, 100 + seed);
    plan.add(view(points));
    single += static_cast<double>(
                  power_spectrum(view(points), {.region = {0, 0, 90, 70}, .segments = 1, .largest_frequency = 0.7})
                      .power(3, 5)) /
              10;
  }
  const auto spectrum = plan.spectrum();
  EXPECT_EQ(spectrum.periodograms, 10);
  EXPECT_DOUBLE_EQ(spectrum.density, 2000.0 / 6300);
  EXPECT_NEAR(static_cast<double>(spectrum.power(3, 5)), single, 1e-6 * single);
  EXPECT_NEAR(summarise(radial_spectrum(spectrum), spectrum).mean_anisotropy_db, -10, 0.5);
}

// Dots at random positions on lines 4 pixels apart: all power of an annulus is in two samples.
TEST(Spectrum, AGratingIsAnisotropic) {
  Points lines;
  for (std::size_t i = 0; i < 4000; ++i) {
    lines.push_back(4 * std::floor(50 * random_uniform(3, 2 * i)) + 2);
    lines.push_back(200 * random_uniform(3, 2 * i + 1));
  }
  const auto spectrum =
      power_spectrum(view(lines), {.region = {0, 0, 200, 200}, .segments = 4, .largest_frequency = 0.4});
  const auto radial = radial_spectrum(spectrum);
  const auto at = static_cast<std::size_t>(std::lround(0.25 / radial.width)) - 1;
  EXPECT_NEAR(radial.frequency[at], 0.25, radial.width / 2);
  // n_peak = 2 of n samples have power N each for pieces of N: s^2 / RAPS^2 is about n / 2.
  EXPECT_NEAR(anisotropy_db(radial.anisotropy[at]), 10 * std::log10(static_cast<double>(radial.samples[at]) / 2), 1.5);
  EXPECT_LT(anisotropy_db(radial.anisotropy[at / 2]), -3);
  EXPECT_GT(summarise(radial, spectrum, 100).largest_anisotropy_db, 15);
}

TEST(Spectrum, MovingTheDotsAndTheRegionChangesNothing) {
  Points points = uniform(300, 30, 20, 8);
  for (auto& value : points) value = std::floor(value * 64) / 64;  // makes the shift exact
  const auto before = power_spectrum(view(points), {.region = {2, 1, 25, 17}, .segments = 2, .largest_frequency = 0.5});
  for (std::size_t i = 0; i < points.size(); i += 2) {
    points[i] += 16;
    points[i + 1] -= 8;
  }
  const auto after =
      power_spectrum(view(points), {.region = {18, -7, 25, 17}, .segments = 2, .largest_frequency = 0.5});
  EXPECT_TRUE(std::equal(before.power.host().begin(), before.power.host().end(), after.power.host().begin()));
  // Cyclic shift by part of the period, in one piece.
  const auto shifted = [&](double by) {
    Points moved = points;
    for (std::size_t i = 0; i < moved.size(); i += 2)
      moved[i] = static_cast<float>(std::fmod(static_cast<double>(moved[i]) + by, 46));
    return power_spectrum(view(moved), {.region = {0, -8, 46, 20}, .segments = 1, .largest_frequency = 0.5});
  };
  const auto one = shifted(0);
  const auto two = shifted(11.25);
  double worst = 0;
  for (std::int64_t i = 0; i < one.power.size(); ++i) {
    worst = std::max(worst, std::abs(static_cast<double>(one.power.data()[i] - two.power.data()[i])));
  }
  expect_within("moved around the period", worst / 300, 1e-5);
}

// A lattice whose period does not divide the region: peaks leak along the axes, far less under the Hann window.
TEST(Spectrum, HannWindowHoldsLeakage) {
  Points lattice = square_lattice(80, 80, 1.37);
  const auto low = [&](SpectrumWindow window) {
    const auto spectrum = power_spectrum(
        view(lattice), {.region = {3.1, 2.3, 70, 90}, .segments = 1, .largest_frequency = 0.6, .window = window});
    return summarise(radial_spectrum(spectrum), spectrum).low_power;
  };
  const double rectangle = low(SpectrumWindow::rectangle);
  const double hann = low(SpectrumWindow::hann);
  std::printf("low power: rectangle %.2e, Hann %.2e\n", rectangle, hann);
  EXPECT_LT(hann, rectangle / 1000);
}

TEST(Spectrum, FrequenciesOfDensities) {
  EXPECT_DOUBLE_EQ(principal_frequency(0.25), 0.5);
  EXPECT_NEAR(hexagonal_frequency(0.25), 0.5 * std::sqrt(2 / std::sqrt(3.0)), 1e-15);
  EXPECT_NEAR(hexagonal_distance(1 / (std::sqrt(3.0) / 2 * 9)), 3, 1e-12);  // a cell of the lattice of spacing 3
}

TEST(Spectrum, NoDotsNoPower) {
  const Points points{50, 50};
  const auto spectrum = power_spectrum(view(points), {.region = {0, 0, 20, 20}, .segments = 1});
  EXPECT_EQ(spectrum.points, 0);
  EXPECT_EQ(spectrum.power(3, 3), 0);
  EXPECT_TRUE(std::isnan(radial_spectrum(spectrum).anisotropy[0]));
  EXPECT_EQ(power_spectrum({points.data(), {0, 2}}, {.region = {0, 0, 20, 20}}).points, 0);
}

TEST(Spectrum, SizesAreKnownBeforehand) {
  const Points points = uniform(200, 30, 12, 3);
  for (const std::int64_t segments : {1, 4, 7}) {
    const SpectrumOptions options{.region = {0, 0, 30, 12}, .segments = segments, .largest_frequency = 0.9};
    const auto size = spectrum_size(options);
    SpectrumPlan plan(options);
    plan.add(view(points));
    const auto spectrum = plan.spectrum();
    EXPECT_EQ(size.pieces, plan.pieces());
    EXPECT_EQ(size.frequencies, spectrum.power.shape());
    EXPECT_EQ(size.annuli, std::ssize(radial_spectrum(spectrum).power));
  }
  // A strip has frequencies but no annulus; the size is computed without allocation.
  const auto strip = spectrum_size({.region = {0, 0, 1e-3, 1e8}, .segments = 1, .largest_frequency = 0.5});
  EXPECT_EQ(strip.frequencies, (Shape<2>{100'000'001, 3}));
  EXPECT_EQ(strip.annuli, 0);
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool sanitized = true;
#else
constexpr bool sanitized = false;
#endif

/// A memory value of this process, from /proc/self/status.
double status_bytes(const std::string& key) {
  std::ifstream file("/proc/self/status");
  for (std::string word; file >> word;) {
    double kibibytes = 0;
    if (word == key && file >> kibibytes) return 1024 * kibibytes;
  }
  return 0;
}

TEST(Spectrum, TakesTheMemoryThatWasSaid) {
  if (sanitized) GTEST_SKIP() << "a sanitizer's memory counts too";
  if (!(std::ofstream("/proc/self/clear_refs") << 5 << std::flush)) GTEST_SKIP() << "no peak of resident memory";
  const double before = status_bytes("VmRSS:");
  const SpectrumOptions options{.region = {0, 0, 1000, 1000}, .segments = 1, .largest_frequency = 0.75};
  const Points points = uniform(1000, 1000, 1000, 5);
  SpectrumPlan plan(options);
  plan.add(view(points));
  const auto spectrum = plan.spectrum();
  const auto radial = radial_spectrum(spectrum);
  const double taken = status_bytes("VmHWM:") - before;
  const double said = spectrum_size(options).bytes;
  std::printf("bytes taken / said: %.3f\n", taken / said);
  EXPECT_LT(taken, 1.1 * said);
  EXPECT_GT(taken, 0.6 * said) << "less only by what earlier tests left free";
}

TEST(Spectrum, RefusesWhatItCannotDo) {
  const auto refused = [](const SpectrumOptions& options, const char* text) {
    expect_error(ErrorCode::invalid_argument, text, [&] { SpectrumPlan plan(options); });
  };
  refused({}, "SpectrumPlan: region.width: expected > 0, got 0");
  refused({.region = {0, 0, 5, -1}}, "region.height");
  refused({.region = {0, 0, 5, 5}, .segments = 0}, "segments");
  refused({.region = {0, 0, 5, 5}, .largest_frequency = -1}, "largest_frequency");
  refused({.region = {0, 0, 1e9, 5}, .segments = 1}, "at most 2^28");
  refused({.region = {0, 0, 40000, 40000}, .segments = 1}, "more segments");
  refused({.region = {0, 0, 5, 5}, .tolerance = 1e-13}, "tolerance");
  SpectrumPlan plan({.region = {0, 0, 5, 5}, .segments = 1});
  const Points bad{1, std::numeric_limits<float>::quiet_NaN()};
  expect_error(ErrorCode::invalid_argument, "finite coordinates", [&] { plan.add(view(bad)); });
  expect_error(ErrorCode::invalid_argument, "{count, 2}", [&] { plan.add({bad.data(), {1, 1}}); });
  expect_error(ErrorCode::invalid_argument, "radial_spectrum: width",
               [&] { (void)radial_spectrum(plan.spectrum(), 9); });
  expect_error(ErrorCode::invalid_argument, "width", [&] { (void)radial_spectrum(plan.spectrum(), -1); });
  Dots dots;
  expect_error(ErrorCode::invalid_argument, "dots.width", [&] { (void)interior(dots); });
  dots.width = dots.height = 4;
  expect_error(ErrorCode::invalid_argument, "fraction", [&] { (void)interior(dots, 1.5); });
  const Region half = interior(dots, 0.5);
  EXPECT_EQ(half.x, 1);
  EXPECT_EQ(half.height, 2);
  EXPECT_TRUE(interior(dots).holds(4, 4));
}

}  // namespace
}  // namespace holotone
