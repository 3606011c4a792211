// What borders of hogels cost at the eye: errors dropped there, or carried across.
#include <cmath>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <holotone/core/random.hpp>
#include <holotone/fft/fft.hpp>
#include <holotone/quantize/error_diffusion.hpp>
#include <numbers>
#include <tests/quantize/error_diffusion.hpp>

namespace holotone {
namespace {

constexpr std::int64_t side = 512;
constexpr FieldGrid grid{side, side, 2e-6, 532e-9};
constexpr Viewer viewer{2.4e-3, 2.4e-3, 36e-3, 0, 0};

/// Multiplies by exp(direction i pi (x^2 + y^2) / (lambda v)); the spectrum is then the light in the eye's plane.
void chirp(Array<Complex, 2>& field, double direction) {
  for (std::int64_t i = 0; i < field.size(); ++i) {
    const auto from_centre = [](std::int64_t at) {
      return (static_cast<double>(at) - (side - 1) / 2.0) * grid.pitch_m;
    };
    const double squares = std::pow(from_centre(i % side), 2) + std::pow(from_centre(i / side), 2);
    field.data()[i] *=
        Complex(std::polar(1.0, direction * std::numbers::pi * squares / (grid.wavelength_m * viewer.distance_m)));
  }
}

bool in_window(std::int64_t i) {
  const double half = viewer.width_m / 2 * grid.pitch_m / (grid.wavelength_m * viewer.distance_m);
  const auto frequency = [](std::int64_t k) { return static_cast<double>(k < side / 2 ? k : k - side) / side; };
  return std::abs(frequency(i % side)) <= half && std::abs(frequency(i / side)) <= half;
}

/// Speckle whose light fills the viewing window.
Array<Complex, 2> light_to_window() {
  Array<Complex, 2> field({side, side});
  for (std::int64_t i = 0; i < field.size(); ++i) {
    const auto at = static_cast<std::uint64_t>(i);
    const double modulus = std::sqrt(-std::log(1 - random_uniform64(4, 2 * at)));
    field.data()[i] = in_window(i) ? Complex(std::polar(modulus, 2 * M_PI * random_uniform64(4, 2 * at + 1))) : 0;
  }
  FftPlan({side, side}).execute(field.view(), FftDirection::inverse);
  chirp(field, -1);
  return field;
}

/// Signal to noise in the window of a panel that shows these codes, dB: the signal is the part along the field.
double seen_db(Array<Complex, 2> field, const Array<std::uint8_t, 2>& codes) {
  Array<Complex, 2> shown({side, side});
  for (std::int64_t i = 0; i < codes.size(); ++i)
    shown.data()[i] = Complex(std::polar(1.0, 2 * M_PI * codes.data()[i] / 256));
  const FftPlan fft({side, side});
  for (auto* light : {&field, &shown}) {
    chirp(*light, 1);
    fft.execute(light->view(), FftDirection::forward);
  }
  std::complex<double> along = 0;
  double sum = 0;
  double all = 0;
  for (std::int64_t i = 0; i < field.size(); ++i) {
    if (!in_window(i)) continue;
    const std::complex<double> h = field.data()[i];
    const std::complex<double> q = shown.data()[i];
    along += std::conj(h) * q;
    sum += std::norm(h);
    all += std::norm(q);
  }
  const double signal = std::norm(along) / sum;
  return 10 * std::log10(signal / (all - signal));
}

double decibels(const Array<Complex, 2>& field, std::int64_t hogel_px, HogelBorders borders) {
  std::vector<SignalWindow> windows;
  const auto count = hogels_of({side, side}, hogel_px)[0];
  const double width = static_cast<double>(hogel_px > 0 ? hogel_px : side);
  const auto place = [&](std::int64_t at) {
    return ((static_cast<double>(at) + 0.5) * width - static_cast<double>(side) / 2) * grid.pitch_m;
  };
  for (std::int64_t i = 0; i < count * count; ++i) {
    windows.push_back(signal_window(grid, viewer, place(i % count), -place(i / count)));
  }
  const auto weights = diffusion_weights(windows, {.rule = WeightRule::least_squares, .parallelism = 3});
  ErrorDiffusionPlan plan({.hogel_px = hogel_px, .borders = borders}, weights, field.shape());
  Array<std::uint8_t, 2> codes(field.shape());
  plan.execute(field.view(), codes.view());
  return seen_db(field.to(Device{}), codes);
}

TEST(Borders, CarriedErrorsLeaveNoSeam) {
  const auto field = light_to_window();
  const double one_set = decibels(field, 0, HogelBorders::separate);
  std::printf("one set of weights: %.1f dB\n", one_set);
  for (const std::int64_t hogel_px : {32, 64, 128}) {
    const double separate = decibels(field, hogel_px, HogelBorders::separate);
    const double carry = decibels(field, hogel_px, HogelBorders::carry);
    std::printf("hogels of %d: separate %.1f dB, carry %.1f dB\n", static_cast<int>(hogel_px), separate, carry);
    EXPECT_GT(carry, separate + (hogel_px < 64 ? 2 : 0.4)) << hogel_px;
    EXPECT_GT(carry, one_set + 1) << hogel_px;
  }
}

// A tap 20 rows above leaves the loop over rows side by side; it must use the same weights.
TEST(Borders, ErrorsCrossBordersWithTheCollectorsWeights) {
  const auto field = test::speckle({61, 107}, 5);
  ErrorDiffusionOptions options;
  options.borders = HogelBorders::carry;
  for (const std::int64_t hogel_px : {7, 32, 64}) {
    options.hogel_px = hogel_px;
    const auto hogels = hogels_of(field.shape(), hogel_px);
    for (const int p : {0, 3}) {
      for (const auto modulation : {Modulation::phase, Modulation::amplitude}) {
        options.modulation = modulation;
        options.bits = p == 0 ? 2 : 6;
        const auto weights = test::window_filters(hogels, {.rule = WeightRule::least_squares, .parallelism = p});
        test::expect_nearest(fmt::format("hogels of {}, p = {}", hogel_px, p), options, weights, field.view());
      }
    }
    DiffusionWeights far{{{3, 20}, {-2, 1}, {1, 0}}, Array<float, 2>({hogels[0] * hogels[1], 3})};
    for (std::int64_t i = 0; i < far.values.size(); ++i) {
      far.values.data()[i] = 0.3F * static_cast<float>(random_uniform64(6, static_cast<std::uint64_t>(i)));
    }
    test::expect_nearest(fmt::format("hogels of {}, 20 rows", hogel_px), options, far, field.view());
  }
}

TEST(Borders, BordersOfEqualHogelsVanish) {
  const auto field = test::speckle({64, 96}, 8);
  const auto one = test::window_filters({1, 1}, {.rule = WeightRule::least_squares});
  DiffusionWeights equal{one.taps, Array<float, 2>({6, std::ssize(one.taps)})};
  for (std::int64_t set = 0; set < 6; ++set) std::copy_n(one.values.data(), one.values.size(), &equal.values(set, 0));
  const auto whole = test::diffuse({}, one, field.view());
  const ErrorDiffusionOptions carry{.hogel_px = 32, .borders = HogelBorders::carry};
  for (const DiffusionWeights* weights : {&one, &std::as_const(equal)}) {
    const auto codes = test::diffuse(carry, *weights, field.view());
    EXPECT_TRUE(std::equal(codes.data(), codes.data() + codes.size(), whole.data()));
  }
  const auto separate = test::diffuse({.hogel_px = 32}, one, field.view());
  EXPECT_FALSE(std::equal(separate.data(), separate.data() + separate.size(), whole.data()));
}

TEST(Borders, WhatCannotCarryIsRefused) {
  const auto weights = test::window_filters({2, 3}, {.serpentine = true});
  ErrorDiffusionOptions options{.hogel_px = 32, .serpentine = true, .borders = HogelBorders::carry};
  support::expect_error(ErrorCode::unsupported, "ErrorDiffusionPlan: serpentine: expected raster order", [&] {
    ErrorDiffusionPlan(options, weights, {64, 96});
  });
  options.serpentine = false;
  options.scale = 1;
  ErrorDiffusionPlan plan(options, weights, {64, 96});
  Array<Complex, 2> field({32, 96});
  Array<std::uint8_t, 2> codes({32, 96});
  support::expect_error(ErrorCode::invalid_argument, "part", [&] {
    plan.execute({0, 32}, std::as_const(field).view(), codes.view());
  });
}

}  // namespace
}  // namespace holotone
