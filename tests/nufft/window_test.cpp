// The window and its transform against plain quadrature, and the window's stated bounds.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdio>
#include <gtest/gtest.h>
#include <holotone/core/error.hpp>
#include <holotone/nufft/window.hpp>
#include <numbers>
#include <tests/support/on_each_device.hpp>

namespace {

using holotone::choose_window;
using holotone::SpreadWindow;
using holotone::window_error;
using holotone::window_polynomial;
using holotone::window_transform;
using holotone::window_value;

TEST(SpreadWindow, IsTheExponentialOfASemicircle) {
  const SpreadWindow window{6, 13.8, 2};
  EXPECT_DOUBLE_EQ(window_value(window, 0), 1);
  EXPECT_DOUBLE_EQ(window_value(window, 3), std::exp(-13.8));
  EXPECT_DOUBLE_EQ(window_value(window, -1.5), std::exp(13.8 * (std::sqrt(0.75) - 1)));
  EXPECT_EQ(window_value(window, 3.0001), 0);
}

// A fine trapezoidal rule over d, as an alternative to the library's integration over sines.
TEST(SpreadWindow, TransformIsTheIntegral) {
  const SpreadWindow window{7, 16.1, 2};
  constexpr int steps = 2'000'000;
  for (const double frequency : {0.0, 0.1, 0.25, 0.75, 1.3, 3.4}) {
    double sum = 0;
    for (int i = 0; i < steps; ++i) {
      const double distance = 7 * ((i + 0.5) / steps - 0.5);
      sum += window_value(window, distance) * std::cos(2 * std::numbers::pi * frequency * distance);
    }
    EXPECT_NEAR(window_transform(window, frequency), sum * 7 / steps, 1e-9) << frequency;
  }
}

TEST(SpreadWindow, TheChosenOneHoldsTheToleranceAndANarrowerOneDoesNot) {
  for (const double upsampling : {1.25, 1.5, 2.0}) {
    for (const double tolerance : {1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-7, 1e-9}) {
      const auto window = choose_window(tolerance, upsampling, 2);
      const double error = std::sqrt(2.0) * window_error(window);
      support::expect_within("upsampling " + std::to_string(upsampling) + ", width " + std::to_string(window.width),
                             error, tolerance);
      if (window.width == 2) continue;
      auto narrower = window;
      narrower.width -= 1;
      for (narrower.beta = 0.7 * window.beta; narrower.beta < window.beta; narrower.beta *= 1.02) {
        EXPECT_GT(std::sqrt(2.0) * window_error(narrower), tolerance) << narrower.beta;
      }
    }
  }
  support::expect_error(holotone::ErrorCode::invalid_argument, "at least", [] { choose_window(1e-15, 1.25, 2); });
}

// One point and one mode: the sum over the images of the mode, at every place.
TEST(SpreadWindow, TheWorstErrorIsReachedAndNotExceeded) {
  for (const double upsampling : {1.25, 2.0}) {
    for (const double tolerance : {1e-1, 1e-3, 1e-5}) {
      const auto window = choose_window(tolerance, upsampling, 1, holotone::WindowError::worst);
      const double stated = holotone::window_worst_error(window);
      double worst = 0;
      for (int i = 0; i <= 100; ++i) {
        const double frequency = (i / 100.0 - 0.5) / upsampling;
        for (int x = 0; x < 40; ++x) {
          std::complex<double> error = 0;
          for (int m = -3; m <= 3; ++m) {
            if (m == 0) continue;
            error += window_transform(window, frequency + m) * std::polar(1.0, 2 * std::numbers::pi * m * x / 40);
          }
          worst = std::max(worst, std::abs(error) / window_transform(window, frequency));
        }
      }
      support::expect_within("upsampling " + std::to_string(upsampling), stated, tolerance);
      support::expect_within("reached", worst, 1.02 * stated);
      EXPECT_GT(worst, 0.8 * stated);
    }
  }
}

TEST(SpreadWindow, PolynomialsFollowIt) {
  for (const double tolerance : {1e-2, 1e-4, 1e-7, 1e-12}) {
    const auto window = choose_window(tolerance, 2, 2);
    const auto polynomial = window_polynomial(window, 0.1 * tolerance);
    EXPECT_EQ(polynomial.stride % 4, 0);
    double worst = 0;
    for (int node = 0; node < window.width; ++node) {
      for (int i = 0; i < 1000; ++i) {
        const double t = -1 + 2 * i / 1000.0;
        double value = 0;
        for (int k = polynomial.degree; k >= 0; --k) {
          value = value * t + polynomial.coefficient[static_cast<std::size_t>(k * polynomial.stride + node)];
        }
        worst = std::max(worst, std::abs(value - window_value(window, node - window.width / 2.0 + (1 + t) / 2)));
      }
    }
    // Between the library's check points and at the ends the error may be larger.
    support::expect_within("polynomials of degree " + std::to_string(polynomial.degree), worst, 0.4 * tolerance);
  }
}

}  // namespace
