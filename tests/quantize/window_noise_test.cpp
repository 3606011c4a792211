// Noise and light in a window, against explicit sums in float64.
#include <cmath>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <holotone/core/random.hpp>
#include <holotone/quantize/window_noise.hpp>
#include <tests/support/on_each_device.hpp>

namespace holotone {
namespace {

using support::Complex64;

Array<Complex, 2> random_field(Shape<2> shape) {
  Array<Complex, 2> field(shape);
  for (std::int64_t i = 0; i < field.size(); ++i) {
    const auto at = static_cast<std::uint64_t>(i);
    field.data()[i] = Complex(std::polar(2 * random_uniform64(3, 2 * at), 2 * M_PI * random_uniform64(3, 2 * at + 1)));
  }
  return field;
}

/// Power of a plane within a window over its number of pixels squared, frequency by frequency.
double share_of(const std::vector<Complex64>& plane, Shape<2> shape, const SignalWindow& window) {
  const auto [ny, nx] = shape;
  double sum = 0;
  for (std::int64_t v = -ny / 2; v < ny - ny / 2; ++v) {
    for (std::int64_t u = -nx / 2; u < nx - nx / 2; ++u) {
      const double xi = static_cast<double>(u) / static_cast<double>(nx);
      const double eta = static_cast<double>(v) / static_cast<double>(ny);
      if (std::abs(xi - window.xi) > window.width / 2 || std::abs(eta - window.eta) > window.height / 2) continue;
      Complex64 own = 0;
      for (std::int64_t row = 0; row < ny; ++row) {
        for (std::int64_t column = 0; column < nx; ++column) {
          const double turns = xi * static_cast<double>(column) + eta * static_cast<double>(row);
          own += plane[static_cast<std::size_t>(row * nx + column)] * std::polar(1.0, -2 * M_PI * turns);
        }
      }
      sum += std::norm(own);
    }
  }
  const auto pixels = static_cast<double>(nx * ny);
  return sum / pixels / pixels;
}

TEST(WindowNoise, IsTheSumWrittenOut) {
  const Shape<2> shape{15, 22};
  const auto field = random_field(shape);
  Array<std::uint8_t, 2> codes(shape);
  for (const auto modulation : {Modulation::phase, Modulation::amplitude}) {
    ErrorDiffusionOptions options;
    options.modulation = modulation;
    options.bits = 2;
    if (modulation == Modulation::phase) options.levels = {0.1, 1.5, 4};
    const double scale = 1.5;
    std::vector<Complex64> noise;
    std::vector<Complex64> light;
    for (std::int64_t i = 0; i < field.size(); ++i) {
      codes.data()[i] = static_cast<std::uint8_t>(3 * random_uniform64(4, static_cast<std::uint64_t>(i)));
      Complex64 h = Complex64(field.data()[i]) / scale;
      Complex64 q;
      if (modulation == Modulation::phase) {
        h /= std::max(1.0, std::abs(h));
        q = std::polar(1.0, options.levels[codes.data()[i]]);
      } else {
        h = std::clamp(h.real(), -1.0, 1.0) / 2;
        q = codes.data()[i] / 3.0 - 0.5;
      }
      noise.push_back(q - h);
      light.push_back(q);
    }
    for (const SignalWindow& window : {SignalWindow{0.13, -0.21, 0.21, 0.3}, SignalWindow{0, 0, 1, 1}}) {
      const auto got = window_noise(field.view(), codes.view(), options, scale, window);
      const double noise_expected = share_of(noise, shape, window);
      const double light_expected = share_of(light, shape, window);
      support::expect_within("noise", std::abs(got.noise / noise_expected - 1), 2e-6);
      support::expect_within("light", std::abs(got.light / light_expected - 1), 2e-6);
    }
  }
}

TEST(WindowNoise, AllOfAPhasePanelsLightIsOne) {
  const auto field = random_field({16, 16});
  Array<std::uint8_t, 2> codes({16, 16});
  for (std::int64_t i = 0; i < codes.size(); ++i) codes.data()[i] = static_cast<std::uint8_t>(i);
  const auto all = window_noise(field.view(), codes.view(), {}, 1, {0, 0, 1, 1});
  EXPECT_NEAR(all.light, 1, 1e-5);
}

TEST(WindowNoise, CodesBeyondTheLevelsAreRefused) {
  const auto field = random_field({4, 4});
  Array<std::uint8_t, 2> codes({4, 4});
  std::fill_n(codes.data(), codes.size(), std::uint8_t{4});
  ErrorDiffusionOptions options;
  options.bits = 2;
  support::expect_error(ErrorCode::invalid_argument, "codes: expected at most 3, got 4", [&] {
    (void)window_noise(field.view(), codes.view(), options, 1, {0, 0, 1, 1});
  });
  support::expect_error(ErrorCode::invalid_argument, "scale", [&] {
    (void)window_noise(field.view(), codes.view(), options, 0, {0, 0, 1, 1});
  });
}

}  // namespace
}  // namespace holotone
