// Light of each encoding after the stop behind the panel.
#include <cmath>
#include <complex>
#include <cstdio>
#include <gtest/gtest.h>
#include <holotone/hologram/fourier_filter.hpp>
#include <numbers>
#include <vector>

namespace holotone {
namespace {

constexpr FieldGrid grid{96, 60, 8e-6, 532e-9};

/// amplitude exp(2 pi i (fx column - fy row)): kx and ky whole periods over the panel, y up.
Array<Complex, 2> plane_wave(int kx, int ky, double amplitude = 1) {
  Array<Complex, 2> field(grid.shape());
  for (std::int64_t row = 0; row < grid.ny; ++row) {
    for (std::int64_t column = 0; column < grid.nx; ++column) {
      const double turns = static_cast<double>(kx * column) / static_cast<double>(grid.nx) -
                           static_cast<double>(ky * row) / static_cast<double>(grid.ny);
      field(row, column) = Complex(std::polar(amplitude, 2 * std::numbers::pi * (turns - std::floor(turns))));
    }
  }
  return field;
}

double energy(const Array<Complex, 2>& field) {
  double sum = 0;
  for (const Complex value : field.host()) sum += std::norm(std::complex<double>(value));
  return sum / static_cast<double>(field.size());
}

/// ||a - scale b|| / ||scale b||
double difference(const Array<Complex, 2>& a, const Array<Complex, 2>& b, double scale) {
  double error = 0;
  double size = 0;
  for (std::size_t i = 0; i < a.host().size(); ++i) {
    const std::complex<double> expected = scale * std::complex<double>(b.host()[i]);
    error += std::norm(std::complex<double>(a.host()[i]) - expected);
    size += std::norm(expected);
  }
  return std::sqrt(error / size);
}

/// Two FFTs of float32: 2 * 6e-8 (2 + log2(5760)), fft.hpp.
const double fft_error = 2 * 6e-8 * (2 + std::log2(96.0 * 60));

TEST(FourierFilter, PassesAndStopsPlaneWaves) {
  struct Case {
    Encoding encoding;
    int kx, ky;
    bool passes;
  };
  const Case cases[] = {
      {Encoding::phase, 47, -29, true},          {Encoding::amplitude, -47, 0, true},
      {Encoding::single_sideband, 5, 1, true},   {Encoding::single_sideband, 5, 0, false},
      {Encoding::single_sideband, 5, -1, false}, {Encoding::single_sideband, -40, 29, true},
      {Encoding::double_phase, 47, 0, true},     {Encoding::double_phase, 24, 14, true},
      {Encoding::double_phase, 24, 15, false},   {Encoding::double_phase, -47, -29, false},
      {Encoding::double_phase, -24, -14, true},  {Encoding::burckhardt, 32, 7, true},
      {Encoding::burckhardt, 17, 7, true},       {Encoding::burckhardt, 16, 7, false},
      {Encoding::burckhardt, 0, 7, false},       {Encoding::burckhardt, 47, -20, true},
      {Encoding::burckhardt, -32, 7, false},
  };
  double worst = 0;
  for (const auto& test : cases) {
    auto field = plane_wave(test.kx, test.ky);
    fourier_filter(field.view(), {.encoding = test.encoding}, grid);
    const double error = std::abs(energy(field) - (test.passes ? 1 : 0));
    worst = std::max(worst, error);
    EXPECT_LE(error, 2 * fft_error) << to_string(test.encoding) << " " << test.kx << " " << test.ky;
  }
  std::printf("largest energy error %.1e of %.1e\n", worst, 2 * fft_error);
}

TEST(FourierFilter, BurckhardtsFirstOrderComesToTheAxis) {
  auto field = plane_wave(32 + 9, 4);
  fourier_filter(field.view(), {.encoding = Encoding::burckhardt}, grid);
  EXPECT_LE(difference(field, plane_wave(9, 4), 1), fft_error + 1e-6);
}

TEST(FourierFilter, ACarrierMovesTheStopOfDoublePhase) {
  EncodeOptions options{.encoding = Encoding::double_phase};
  options.carrier_x_rad = std::asin(24.0 / 96 * 532e-9 / 8e-6);
  options.carrier_y_rad = -std::asin(10.0 / 60 * 532e-9 / 8e-6);
  const auto passes = [&](int kx, int ky) {
    auto field = plane_wave(kx, ky);
    fourier_filter(field.view(), options, grid);
    return energy(field) > 0.5;
  };
  EXPECT_TRUE(passes(24, -10));
  EXPECT_TRUE(passes(24 + 40, -10));  // beyond the band's edge: wraps to the other side
  EXPECT_TRUE(passes(24, -10 + 29));
  EXPECT_FALSE(passes(24 + 30, -10 + 20));
  EXPECT_FALSE(passes(-24, 20));
}

/// Error of the whole chain: encoding, light of the panel, stop.
double round_trip_error(const Array<Complex, 2>& field, const EncodeOptions& options, double scale) {
  EncodeReport report;
  const auto codes = encode(field.view(), options, grid, &report);
  auto light = modulation_of(codes.view(), options, grid, report);
  fourier_filter(light.view(), options, grid);
  return difference(
      light, field,
      options.encoding == Encoding::double_phase ? scale / static_cast<double>(report.amplitude_max) : scale);
}

// With 16-bit codes the stop reproduces the wave up to the rounding of codes.
TEST(FourierFilter, WhatIsLeftIsTheField) {
  const double steps = 65535;
  // Phase steps of 2 pi / 65536, error uniform over a step, two phases averaged. Near |U| = max arccos is steep: the
  // amplitude is half the range, and a single pixel sets the maximum.
  auto field = plane_wave(7, 5, 0.5);
  EncodeOptions options{.encoding = Encoding::double_phase, .bits = 16};
  options.amplitude_max = 1;
  const double double_phase = round_trip_error(field, options, 1);
  EXPECT_LE(double_phase, 2 * 2 * std::numbers::pi / 65536 + 5e-6);
  // The upper half of a real part is half the field. The rounding of codes is white over the whole spectrum.
  options = {.encoding = Encoding::single_sideband, .bits = 16};
  const double single_sideband = round_trip_error(field, options, 0.5);
  EXPECT_LE(single_sideband, 2 * 2 / steps + 5e-6);
  // The first order of cells is a third of the field.
  options = {.encoding = Encoding::burckhardt, .bits = 16};
  const double burckhardt = round_trip_error(plane_wave(0, 5, 0.5), options, 1.0 / 3);
  EXPECT_LE(burckhardt, 3 * 2 / steps + 5e-6);
  std::printf("double phase %.1e, single sideband %.1e, burckhardt %.1e\n", double_phase, single_sideband, burckhardt);
}

TEST(FourierFilter, RefusesAnotherShape) {
  Array<Complex, 2> field({60, 95});
  EXPECT_THROW(fourier_filter(field.view(), {.encoding = Encoding::burckhardt}, grid), Error);
}

}  // namespace
}  // namespace holotone
