// Weights of error diffusion against integrals over the spectrum in float64.
#include <algorithm>
#include <cmath>
#include <complex>
#include <gtest/gtest.h>
#include <holotone/quantize/diffusion_weights.hpp>
#include <tests/support/on_each_device.hpp>

namespace holotone {
namespace {

using support::expect_error;
using support::expect_within;

constexpr int steps = 400;  // of the spectrum, per axis

/// Calls body(xi, eta, area) in steps over the whole spectrum.
template <class Body>
void over_spectrum(const Body& body) {
  for (int row = 0; row < steps; ++row) {
    for (int column = 0; column < steps; ++column) {
      body((column + 0.5) / steps - 0.5, (row + 0.5) / steps - 0.5, 1.0 / steps / steps);
    }
  }
}

bool inside(const SignalWindow& window, double xi, double eta, double sign) {
  return std::abs(xi - sign * window.xi) < window.width / 2 && std::abs(eta - sign * window.eta) < window.height / 2;
}

/// Weight of noise at a frequency: window, mirrored window and outer band count once each.
double mask(const SignalWindow& window, const WeightOptions& options, double xi, double eta) {
  const bool outside = std::abs(xi) > options.kappa_x / 2 || std::abs(eta) > options.kappa_y / 2;
  return inside(window, xi, eta, 1) + inside(window, xi, eta, -1) + outside;
}

/// Mean of |1 - W|^2 over the mask.
double filter_noise(const DiffusionWeights& weights, const SignalWindow& window, const WeightOptions& options = {}) {
  double noise = 0;
  double area = 0;
  over_spectrum([&](double xi, double eta, double part) {
    const double factor = mask(window, options, xi, eta) * part;
    if (factor == 0) return;
    std::complex<double> rest = 1;
    for (std::size_t i = 0; i < weights.taps.size(); ++i) {
      const double turns = xi * weights.taps[i].dx + eta * weights.taps[i].dy;
      rest -= static_cast<double>(weights.values(0, static_cast<std::int64_t>(i))) * std::polar(1.0, -2 * M_PI * turns);
    }
    noise += factor * std::norm(rest);
    area += factor;
  });
  return noise / area;
}

const SignalWindow usual{0.11, -0.07, 0.16, 0.12};

DiffusionWeights one(const WeightOptions& options, const SignalWindow& window = usual) {
  return diffusion_weights(std::span(&window, 1), options);
}

TEST(DiffusionWeights, AreTheMasksTransform) {
  using enum WeightNormalization;
  for (const auto& [kappa_x, kappa_y] : {std::pair{1.0, 1.0}, {0.7, 0.7}, {0.7, 0.9}}) {
    for (const auto normalization : {none, origin, modulus}) {
      WeightOptions options;
      options.kappa_x = kappa_x;
      options.kappa_y = kappa_y;
      options.normalization = normalization;
      options.max_sum = normalization == modulus ? 0.98 : 4;
      const auto weights = one(options);
      ASSERT_EQ(weights.taps.size(), 27U);
      const auto transform = [&](int x, int y) {
        double sum = 0;
        over_spectrum([&](double xi, double eta, double area) {
          sum += area * mask(usual, options, xi, eta) * std::cos(2 * M_PI * (xi * x + eta * y));
        });
        return sum;
      };
      std::vector<double> expected;
      double sum = 0;
      for (const auto& [dx, dy] : weights.taps) {
        expected.push_back(transform(dx, dy));
        sum += std::abs(expected.back());
      }
      const double printed = normalization == origin ? 1 / transform(0, 0) : 1;
      const double factor = normalization == modulus ? 0.98 / sum : std::min(printed, 4 / sum);
      double worst = 0;
      for (std::size_t i = 0; i < expected.size(); ++i) {
        const auto got = static_cast<double>(weights.values(0, static_cast<std::int64_t>(i)));
        worst = std::max(worst, std::abs(got - factor * expected[i]));
      }
      const std::string name(to_string(normalization));
      std::printf("kappa %g, %g, %s: factor %.3f, sum of |weights| %.3f\n", kappa_x, kappa_y, name.c_str(), factor,
                  factor * sum);
      expect_within("Eq. (1), " + name, worst, 2e-4);  // error of the integral's steps
    }
  }
}

TEST(DiffusionWeights, TapsAreTheLargestThatAreEarlyEnough) {
  for (const int p : {0, 1, 3, 6}) {
    WeightOptions options;
    options.parallelism = p;
    const auto taps = one(options).taps;
    for (std::size_t i = 0; i < taps.size(); ++i) {
      const auto [dx, dy] = taps[i];
      EXPECT_TRUE(dy > 0 || (dy == 0 && dx > 0));
      EXPECT_TRUE(p == 0 || dx > -p * dy);
      EXPECT_TRUE(i == 0 || taps[i - 1].dy > dy || (taps[i - 1].dy == dy && taps[i - 1].dx > dx));
    }
    // |M_s| decreases from the centre to its first zero.
    for (const DiffusionTap near : {DiffusionTap{1, 0}, {2, 0}, {0, 1}, {1, 1}, {0, 2}}) {
      EXPECT_NE(std::find(taps.begin(), taps.end(), near), taps.end()) << near.dx << ", " << near.dy << ", p = " << p;
    }
  }
  WeightOptions few;
  few.kept = 10;
  const auto weights = one(few);
  EXPECT_EQ(std::count(weights.values.data(), weights.values.data() + 27, 0.0F), 17);
}

TEST(DiffusionWeights, LeastSquaresLeaveLeastNoise) {
  WeightOptions options;
  const double of_eq1 = filter_noise(one(options), usual);
  options.rule = WeightRule::least_squares;
  options.max_sum = 4;
  options.taps = 9;
  for (const double kappa_x : {1.0, 0.7}) {
    options.kappa_x = kappa_x;
    auto weights = one(options);
    const double least = filter_noise(weights, usual, options);
    std::printf("mean of |1 - W|^2: Eq. (1) %.3f, least squares with 9 taps, kappa %g, 1: %.4f\n", of_eq1, kappa_x,
                least);
    if (kappa_x == 1) {
      EXPECT_LT(least, 0.1 * of_eq1);
    }
    for (std::int64_t i = 0; i < 9; ++i) {
      for (const float change : {0.05F, -0.05F}) {
        weights.values(0, i) += change;
        EXPECT_GT(filter_noise(weights, usual, options), least) << "tap " << i;
        weights.values(0, i) -= change;
      }
    }
  }
  options.kappa_x = 1;
  for (const double most : {0.98, 2.2}) {
    options.max_sum = most;
    options.taps = 27;
    const auto weights = one(options);
    double sum = 0;
    for (std::int64_t i = 0; i < weights.values.size(); ++i)
      sum += std::abs(static_cast<double>(weights.values.data()[i]));
    EXPECT_LE(sum, most + 1e-5);
    EXPECT_GT(sum, 0.75 * most);
  }
}

// A viewer who moves: over taps chosen for all windows, each window's weights are nearly as good as over its own taps.
TEST(DiffusionWeights, OneSetOfTapsServesARangeOfWindows) {
  std::vector<SignalWindow> range;
  for (const double width : {0.1, 0.16, 0.24}) {
    for (const double height : {0.08, 0.14}) range.push_back({0.2 - width, 0.1 - height, width, height});
  }
  for (const int p : {0, 3}) {
    WeightOptions options;
    options.rule = WeightRule::least_squares;
    options.parallelism = p;
    auto given = options;
    given.given_taps = diffusion_taps(range, options);
    ASSERT_EQ(given.given_taps.size(), 27U);
    double worst = 0;
    for (const auto& window : range) {
      const auto weights = one(given, window);
      EXPECT_EQ(weights.taps, given.given_taps);
      worst =
          std::max(worst, 10 * std::log10(filter_noise(weights, window) / filter_noise(one(options, window), window)));
    }
    expect_within("p = " + std::to_string(p) + ", dB above the noise over own taps", worst, 1.5);
    // For one window they are its own taps, and the weights the same.
    given.given_taps = diffusion_taps(std::span(&usual, 1), options);
    const auto expected = one(options);
    const auto got = one(given);
    EXPECT_EQ(got.taps, expected.taps);
    EXPECT_TRUE(std::equal(got.values.data(), got.values.data() + 27, expected.values.data()));
  }
  WeightOptions wrong;
  for (const auto& taps : std::vector<std::vector<DiffusionTap>>{{{0, 0}}, {{-1, 0}}, {{1, 13}}, {{1, 0}, {2, 0}}}) {
    wrong.given_taps = taps;
    expect_error(ErrorCode::invalid_argument, "given_taps", [&] { (void)one(wrong); });
  }
  wrong.given_taps = {{1, 1}, {1, 0}};
  wrong.kept = 3;
  expect_error(ErrorCode::invalid_argument, "kept", [&] { (void)one(wrong); });
}

TEST(DiffusionWeights, WindowsAreWhereTheViewerIs) {
  // Lagrange et al. 2024, Tables 1 and 2.
  const FieldGrid grid{24576, 24576, 750e-9, 635e-9};
  const Viewer viewer{9.2e-3, 9.2e-3, 36e-3, 0, 0};
  const auto ahead = signal_window(grid, viewer, 0, 0);
  EXPECT_NEAR(ahead.xi, 0, 1e-12);
  EXPECT_NEAR(ahead.width, 2 * 750.0 / 635 * std::sin(std::atan(4.6 / 36)), 1e-6);
  EXPECT_NEAR(ahead.height, ahead.width, 1e-12);
  // The viewer is to the left of a hogel at the right: light in that direction has a falling phase.
  const auto right = signal_window(grid, viewer, 9e-3, 0);
  EXPECT_LT(right.xi, -0.2);
  EXPECT_NEAR(right.eta, 0, 1e-12);
  // Rows run downward: light from the panel's bottom goes up, with falling rows.
  EXPECT_LT(signal_window(grid, viewer, 0, -9e-3).eta, -0.2);
}

TEST(DiffusionWeights, BadOptionsAreNamed) {
  const auto expect = [](const std::string& text, const WeightOptions& options, const SignalWindow& window = usual) {
    expect_error(ErrorCode::invalid_argument, text, [&] { (void)one(options, window); });
  };
  WeightOptions options;
  options.taps = 0;
  expect("taps", options);
  options.taps = 600;
  options.parallelism = 1;
  expect("as many as there are for p = 1", options);
  options = {};
  options.parallelism = -1;
  expect("parallelism", options);
  options = {};
  options.kept = 28;
  expect("kept", options);
  options = {};
  options.kappa_x = NAN;
  expect("kappa_x", options);
  options = {};
  options.kappa_y = 1.1;
  expect("kappa_y", options);
  expect("hogel 0", {}, {0, 0, 0, 0.1});
  expect("hogel 0", {}, {0.45, 0, 0.2, 0.1});
  expect("at least 1e-6", {}, {0, 0, 1e-200, 1e-200});
  for (const auto rule : {WeightRule::eq1, WeightRule::least_squares}) {
    WeightOptions narrow;
    narrow.rule = rule;
    const auto weights = one(narrow, {0.1, 0.1, 1e-6, 1e-6});
    for (std::int64_t i = 0; i < weights.values.size(); ++i) EXPECT_TRUE(std::isfinite(weights.values.data()[i]));
  }
  expect("hogel 0", {}, {NAN, 0, 0.2, 0.1});
  expect_error(ErrorCode::invalid_argument, "hogels", [] { (void)diffusion_weights({}); });
  expect_error(ErrorCode::invalid_argument, "distance_m", [] {
    (void)signal_window({8, 8, 1e-6, 5e-7}, {1e-3, 1e-3, 0, 0, 0}, 0, 0);
  });
}

}  // namespace
}  // namespace holotone
