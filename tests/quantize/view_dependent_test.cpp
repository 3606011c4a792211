// View-dependent error diffusion in the geometry of Lagrange et al. 2024 (Tables 1 and 2): noise by p and rule.
#include <algorithm>
#include <cmath>
#include <holotone/core/random.hpp>
#include <holotone/fft/fft.hpp>
#include <holotone/quantize/error_diffusion.hpp>
#include <holotone/quantize/window_noise.hpp>
#include <map>
#include <tests/support/on_each_device.hpp>

namespace holotone {
namespace {

constexpr std::int64_t side = 512;
constexpr std::int64_t hogels = 12;

/// Windows of 12 x 12 hogels of 2048 pixels of 750 nm for a viewing area of 9.2 mm at 3.6 cm.
std::vector<SignalWindow> windows_of_paper() {
  const FieldGrid grid{24576, 24576, 750e-9, 635e-9};
  std::vector<SignalWindow> windows;
  for (std::int64_t i = 0; i < hogels * hogels; ++i) {
    const auto place = [](std::int64_t at) { return (static_cast<double>(at) - 5.5) * 2048 * 750e-9; };
    windows.push_back(signal_window(grid, {9.2e-3, 9.2e-3, 36e-3, 0, 0}, place(i % hogels), -place(i / hogels)));
  }
  return windows;
}

/// Speckle whose spectrum is confined to the window.
Array<Complex, 2> light_to(const SignalWindow& window) {
  Array<Complex, 2> field({side, side});
  const auto frequency = [](std::int64_t k) { return static_cast<double>(k < side / 2 ? k : k - side) / side; };
  for (std::int64_t i = 0; i < field.size(); ++i) {
    const bool inside = std::abs(frequency(i % side) - window.xi) <= window.width / 2 &&
                        std::abs(frequency(i / side) - window.eta) <= window.height / 2;
    const auto at = static_cast<std::uint64_t>(i);
    const double modulus = std::sqrt(-std::log(1 - random_uniform64(2, 2 * at)));
    field.data()[i] = inside ? Complex(std::polar(modulus, 2 * M_PI * random_uniform64(2, 2 * at + 1))) : Complex(0);
  }
  FftPlan({side, side}).execute(field.view(), FftDirection::inverse);
  return field;
}

double noise_of(const Array<Complex, 2>& field, const DiffusionWeights& weights, const SignalWindow& window) {
  ErrorDiffusionPlan plan({}, weights, field.shape());
  Array<std::uint8_t, 2> codes(field.shape());
  plan.execute(field.view(), codes.view());
  return window_noise(field.view(), codes.view(), {}, plan.report().scale, window).noise;
}

/// Mean noise in the windows of a central hogel, an edge hogel and a corner hogel, in dB relative to truncation.
double mean_decibels(const std::vector<SignalWindow>& windows, const WeightOptions& options) {
  const auto weights = diffusion_weights(windows, options);
  double sum = 0;
  for (const std::int64_t hogel : {65, 60, 0}) {
    const auto& window = windows[static_cast<std::size_t>(hogel)];
    const auto field = light_to(window);
    const auto taps = std::ssize(weights.taps);
    DiffusionWeights own{weights.taps, Array<float, 2>({1, taps})};
    std::copy_n(&weights.values(hogel, 0), taps, own.values.data());
    const double truncated = noise_of(field, {{}, Array<float, 2>({1, 0})}, window);
    sum += 10 * std::log10(noise_of(field, own, window) / truncated) / 3;
  }
  return sum;
}

// Figure 8 of the paper: free taps are about as good as p = 6 and p = 3, p = 1 is worse, truncation worst. With regard
// to the taps alone this holds for the optimum weights on them. Eq. (1), divided by the sum of its moduli, improves if
// p leaves fewer taps of weight.
TEST(ViewDependent, WhatPCosts) {
  const auto windows = windows_of_paper();
  std::map<int, double> best;
  for (const int p : {0, 6, 3, 1}) {
    WeightOptions options;
    options.parallelism = p;
    const double by_eq1 = mean_decibels(windows, options);
    options.rule = WeightRule::least_squares;
    best[p] = mean_decibels(windows, options);
    std::printf("p = %d: noise in the window, dB above truncation's: Eq. (1) %.1f, least squares %.1f\n", p, by_eq1,
                best[p]);
    EXPECT_LT(by_eq1, -2);
    EXPECT_LT(best[p], -15);
  }
  EXPECT_NEAR(best[6], best[0], 0.2);
  EXPECT_NEAR(best[3], best[0], 0.7);
  EXPECT_GT(best[1], best[0] + 0.6);
}

// The second selection of the paper, the largest weights of each hogel, against fewer taps for all hogels. Under one
// limit of the sum of moduli few weights leave less noise than many, however they are selected.
TEST(ViewDependent, FewWeightsLeaveLessNoise) {
  const auto windows = windows_of_paper();
  const auto noise = [&](int taps, int kept) {
    WeightOptions options;
    options.rule = WeightRule::least_squares;
    options.parallelism = 3;
    options.taps = taps;
    options.kept = kept;
    return mean_decibels(windows, options);
  };
  const double all = noise(27, 0);
  std::printf("least squares, p = 3, 27 weights: %.1f dB\n", all);
  double before = all;
  for (const int count : {14, 9}) {
    const double few = noise(count, 0);
    const double kept = noise(27, count);
    std::printf("%d for all hogels: %.1f dB; %d of 27 in each: %.1f dB\n", count, few, count, kept);
    EXPECT_LT(few, before - 1);
    EXPECT_NEAR(kept, few, 1);
    before = few;
  }
}

}  // namespace
}  // namespace holotone
