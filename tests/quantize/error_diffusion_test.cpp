// Error diffusion: every code against float64, given the codes before it; spectra of quantization noise.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/random.hpp>
#include <holotone/fft/fft.hpp>
#include <holotone/quantize/error_diffusion.hpp>
#include <holotone/quantize/window_noise.hpp>
#include <tests/quantize/error_diffusion.hpp>
#include <tests/support/on_each_device.hpp>

namespace holotone {
namespace {

using namespace test;
using support::Complex64;
using support::expect_error;

TEST(ErrorDiffusion, EveryCodeIsOfTheNearestLevel) {
  const auto field = speckle({61, 83}, 3);
  for (const int bits : {1, 2, 5, 8}) {
    for (const auto modulation : {Modulation::phase, Modulation::amplitude}) {
      ErrorDiffusionOptions options;
      options.modulation = modulation;
      options.bits = bits;
      const std::string of =
          fmt::format("{} bits of {}", bits, modulation == Modulation::phase ? "phase" : "amplitude");
      expect_nearest(of + ", truncated", options, no_weights(), field.view());
      expect_nearest(of + ", Floyd-Steinberg", options, floyd_steinberg_weights(), field.view());
      WeightOptions weight_options;
      weight_options.parallelism = 3;
      expect_nearest(of + ", one window", options, window_filters({1, 1}, weight_options), field.view());
      options.hogel_px = 32;
      weight_options.rule = WeightRule::least_squares;
      weight_options.kept = 20;
      expect_nearest(of + ", hogels of 32", options, window_filters({2, 3}, weight_options), field.view());
    }
  }
}

TEST(ErrorDiffusion, ManyHogelsSideBySide) {
  const auto field = speckle({61, 107}, 7);
  WeightOptions weight_options;
  weight_options.rule = WeightRule::least_squares;
  weight_options.kept = 20;
  ErrorDiffusionOptions options;
  options.hogel_px = 9;
  const auto weights = window_filters({7, 2}, weight_options);
  DiffusionWeights of_hogels{weights.taps, Array<float, 2>({7 * 12, 27})};
  for (std::int64_t hogel = 0; hogel < 7 * 12; ++hogel) {
    std::copy_n(&weights.values(hogel % (7 * 2), 0), 27, &of_hogels.values(hogel, 0));
  }
  for (const int bits : {1, 2, 8}) {
    options.bits = bits;
    options.modulation = Modulation::phase;
    expect_nearest(fmt::format("84 hogels of 9 pixels, {} bits of phase", bits), options, of_hogels, field.view());
    expect_nearest("one set for all", options, floyd_steinberg_weights(), field.view());
    options.modulation = Modulation::amplitude;
    expect_nearest(fmt::format("84 hogels of 9 pixels, {} bits of amplitude", bits), options, of_hogels, field.view());
  }
  // A hogel alone: adjacent hogels of other sizes change no code.
  options.modulation = Modulation::phase;
  options.clip = 1;
  const auto all = diffuse(options, of_hogels, field.view());
  Array<Complex, 2> few({9, 9});
  for (std::int64_t i = 0; i < few.size(); ++i) few.data()[i] = field(27 + i / 9, 45 + i % 9);
  float largest = 0;
  for (std::int64_t i = 0; i < field.size(); ++i)
    largest = std::max(largest, std::hypot(field.data()[i].real(), field.data()[i].imag()));
  DiffusionWeights alone{weights.taps, Array<float, 2>({1, 27})};
  std::copy_n(&of_hogels.values(3 * 12 + 5, 0), 27, alone.values.data());
  // The same scale, set by a pixel of the largest modulus from which no pixel collects: the last.
  few(8, 8) = Complex(largest);
  ErrorDiffusionOptions one = options;
  one.hogel_px = 0;
  const auto own_codes = diffuse(one, alone, few.view());
  for (std::int64_t i = 0; i + 1 < few.size(); ++i) EXPECT_EQ(own_codes.data()[i], all(27 + i / 9, 45 + i % 9)) << i;
}

TEST(ErrorDiffusion, EverySecondRowBack) {
  const auto field = speckle({61, 83}, 12);
  ErrorDiffusionOptions options;
  options.serpentine = true;
  WeightOptions weight_options;
  weight_options.rule = WeightRule::least_squares;
  weight_options.serpentine = true;
  for (const int bits : {1, 8}) {
    options.bits = bits;
    options.hogel_px = 0;
    expect_nearest(fmt::format("{} bits, Floyd-Steinberg, serpentine", bits), options, floyd_steinberg_weights(),
                   field.view());
    options.hogel_px = 27;
    expect_nearest(fmt::format("{} bits, hogels of 27, serpentine", bits), options,
                   window_filters({3, 4}, weight_options), field.view());
  }
}

/// Adds a tap of zero weight that is too far for parallel rows.
DiffusionWeights one_by_one(const DiffusionWeights& weights) {
  DiffusionWeights longer{{{0, 20}}, {}};
  longer.taps.insert(longer.taps.end(), weights.taps.begin(), weights.taps.end());
  const auto [sets, taps] = weights.values.shape();
  longer.values = Array<float, 2>({sets, taps + 1});
  for (std::int64_t set = 0; set < sets; ++set) {
    longer.values(set, 0) = 0;
    for (std::int64_t i = 0; i < taps; ++i) longer.values(set, i + 1) = weights.values(set, i);
  }
  return longer;
}

TEST(ErrorDiffusion, RowsSideBySideGiveTheCodesOfOneByOne) {
  WeightOptions weight_options;
  for (const auto shape : {Shape<2>{150, 333}, Shape<2>{17, 1}, Shape<2>{1, 70}, Shape<2>{33, 15}}) {
    const auto field = speckle(shape, 13);
    for (const std::int64_t side : {0, 7, 64}) {
      for (const int p : {0, 1, 6}) {
        ErrorDiffusionOptions options;
        options.hogel_px = side;
        options.bits = p == 1 ? 1 : 8;
        options.modulation = p == 6 ? Modulation::amplitude : Modulation::phase;
        weight_options.parallelism = p;
        const auto weights = window_filters(hogels_of(shape, side), weight_options);
        const auto expected = diffuse(options, one_by_one(weights), field.view());
        const auto got = diffuse(options, weights, field.view());
        EXPECT_TRUE(std::equal(got.data(), got.data() + got.size(), expected.data()))
            << fmt::format("{} x {}, hogels of {}, p = {}", shape[1], shape[0], side, p);
      }
    }
  }
}

/// Relative difference of low-frequency power between the two diagonals of a two-level spectrum: in raster order all
/// worm artifacts have the same slant.
double diagonal_asymmetry(bool serpentine) {
  constexpr std::int64_t side = 128;
  ErrorDiffusionOptions options;
  options.modulation = Modulation::amplitude;
  options.bits = 1;
  options.clip = 1;
  options.serpentine = serpentine;
  Array<Complex, 2> field({side, side});
  for (std::int64_t i = 0; i < field.size(); ++i) {
    field.data()[i] = Complex(static_cast<float>(-0.8 + 0.02 * random_uniform64(14, static_cast<std::uint64_t>(i))));
  }
  field(0, 0) = 1;  // sets the scale
  const auto codes = diffuse(options, floyd_steinberg_weights(), field.view());
  double sum = 0;
  for (std::int64_t i = 0; i < codes.size(); ++i) {
    sum += codes.data()[i];
    field.data()[i] = Complex(static_cast<float>(codes.data()[i]) - 0.1F);
  }
  EXPECT_NEAR(sum / static_cast<double>(codes.size()), 0.105, 3e-3) << (serpentine ? "serpentine" : "raster");
  FftPlan({side, side}).execute(field.view(), FftDirection::forward);
  double falling = 0;
  double rising = 0;
  for (std::int64_t row = 1; row < side / 8; ++row) {
    for (std::int64_t column = 1; column < side / 8; ++column) {
      falling += std::norm(Complex64(field(row, column)));
      rising += std::norm(Complex64(field(row, side - column)));
    }
  }
  return std::abs(falling - rising) / (falling + rising);
}

TEST(ErrorDiffusion, SerpentineTakesTheWormsAway) {
  const double raster = diagonal_asymmetry(false);
  const double serpentine = diagonal_asymmetry(true);
  std::printf("power of one diagonal over the other's: raster %.3f, serpentine %.3f\n", raster, serpentine);
  EXPECT_GT(raster, 3 * serpentine);
}

TEST(ErrorDiffusion, AScaleThatIsGiven) {
  const auto field = speckle({40, 40}, 15);
  ErrorDiffusionOptions options;
  float scale = 0;
  const auto expected = diffuse(options, floyd_steinberg_weights(), field.view(), &scale);
  options.scale = static_cast<double>(scale);
  options.clip = 0.5;  // ignored
  float given = 0;
  const auto got = diffuse(options, floyd_steinberg_weights(), field.view(), &given);
  EXPECT_EQ(given, scale);
  EXPECT_TRUE(std::equal(got.data(), got.data() + got.size(), expected.data()));
}

TEST(ErrorDiffusion, AnyTableOfLevels) {
  const auto field = speckle({40, 40}, 4);
  ErrorDiffusionOptions options;
  options.bits = 3;
  options.levels = {0.3, 6.1, 1.4, 3.3, -2.0};
  expect_nearest("five phases in no order", options, floyd_steinberg_weights(), field.view());
  options.levels = {1, 1 + 2 * M_PI, 4};
  expect_nearest("two codes of one phase", options, no_weights(), field.view());
  options.modulation = Modulation::amplitude;
  options.levels = {0, 0.1, 0.5, 1};
  expect_nearest("four amplitudes", options, floyd_steinberg_weights(), field.view());
}

TEST(ErrorDiffusion, FieldsOfAnySizeGiveTheSameCodes) {
  const auto field = speckle({40, 40}, 8);
  const auto weights = floyd_steinberg_weights();
  float usual = 0;
  const auto expected = diffuse({}, weights, field.view(), &usual);
  for (const int power : {-120, -60, 100, 124}) {
    auto other = field.to(Device{});
    for (std::int64_t i = 0; i < other.size(); ++i) other.data()[i] *= std::ldexp(1.0F, power);
    float scale = 0;
    const auto got = diffuse({}, weights, other.view(), &scale);
    EXPECT_EQ(scale, std::ldexp(usual, power));
    EXPECT_TRUE(std::equal(got.data(), got.data() + got.size(), expected.data())) << "times 2^" << power;
  }
}

TEST(ErrorDiffusion, TheShareIsClipped) {
  const auto field = speckle({100, 100}, 9);
  std::vector<double> moduli;
  for (std::int64_t i = 0; i < field.size(); ++i) moduli.push_back(std::abs(Complex64(field.data()[i])));
  std::sort(moduli.begin(), moduli.end());
  for (const double share : {0.01, 0.5, 0.999, 1.0}) {
    ErrorDiffusionOptions options;
    options.clip = share;
    float scale = 0;
    (void)diffuse(options, no_weights(), field.view(), &scale);
    const double expected = moduli[static_cast<std::size_t>(std::ceil(share * 10000)) - 1];
    EXPECT_NEAR(scale, expected, 1e-6 * expected) << share;
  }
}

TEST(ErrorDiffusion, FloydSteinbergKeepsTheMean) {
  ErrorDiffusionOptions options;
  options.modulation = Modulation::amplitude;
  options.bits = 1;
  options.clip = 1;
  Array<Complex, 2> field({128, 128});
  std::fill_n(field.data(), field.size(), Complex(-0.4F));
  field(0, 0) = 1;  // sets the scale
  const auto codes = diffuse(options, floyd_steinberg_weights(), field.view());
  double sum = 0;
  for (std::int64_t i = 0; i < codes.size(); ++i) sum += codes.data()[i];
  EXPECT_NEAR(sum / static_cast<double>(codes.size()), 0.3, 3e-3);
}

TEST(ErrorDiffusion, HogelsAreByThemselves) {
  const auto field = speckle({48, 64}, 5);
  ErrorDiffusionOptions options;
  options.hogel_px = 32;
  const auto weights = window_filters({2, 2}, {});
  const auto all = diffuse(options, weights, field.view());
  // The scale must be the same.
  Array<Complex, 2> part({16, 32});
  Array<Complex, 2> other = field.to(Device{});
  for (std::int64_t row = 0; row < 48; ++row) {
    for (std::int64_t column = 0; column < 64; ++column) {
      if (row < 32 || column < 32) other(row, column) = field(row % 16 + 32, column % 32 + 32);
    }
  }
  options.clip = 1;
  const auto first = diffuse(options, weights, other.view());
  for (std::int64_t row = 0; row < 32; ++row) {
    for (std::int64_t column = 0; column < 32; ++column) other(row, column) *= 0.5F;
  }
  const auto second = diffuse(options, weights, other.view());
  for (std::int64_t row = 32; row < 48; ++row) {
    for (std::int64_t column = 32; column < 64; ++column) EXPECT_EQ(first(row, column), second(row, column));
  }
}

/// Power of q - h in a window of the spectrum over all power of q, in dB.
double noise_db(const ErrorDiffusionOptions& options, const DiffusionWeights& weights, const SignalWindow& window,
                View<const Complex, 2> field) {
  float scale = 0;
  const auto codes = diffuse(options, weights, field, &scale);
  const auto [ny, nx] = field.shape();
  Array<Complex, 2> noise(field.shape());
  for (std::int64_t row = 0; row < ny; ++row) {
    for (std::int64_t column = 0; column < nx; ++column) {
      Complex64 h = Complex64(field(row, column)) / static_cast<double>(scale);
      h /= std::max(1.0, std::abs(h));
      noise(row, column) = Complex(shown(options, codes(row, column)) - h);
    }
  }
  FftPlan(field.shape()).execute(noise.view(), FftDirection::forward);
  double power = 0;
  const auto frequency = [](std::int64_t i, std::int64_t n) {
    return static_cast<double>(i < n / 2 ? i : i - n) / static_cast<double>(n);
  };
  for (std::int64_t row = 0; row < ny; ++row) {
    for (std::int64_t column = 0; column < nx; ++column) {
      const bool inside = std::abs(frequency(column, nx) - window.xi) <= window.width / 2 &&
                          std::abs(frequency(row, ny) - window.eta) <= window.height / 2;
      if (inside) power += std::norm(Complex64(noise(row, column)));
    }
  }
  const auto pixels = static_cast<double>(field.size());
  return 10 * std::log10(power / pixels / pixels);
}

/// Signal-to-noise ratio in a window of the spectrum, in dB.
double seen_db(const ErrorDiffusionOptions& options, const DiffusionWeights& weights, const SignalWindow& window,
               View<const Complex, 2> field) {
  float scale = 0;
  const auto codes = diffuse(options, weights, field, &scale);
  const auto seen = projected(window_noise(field, codes.view(), options, static_cast<double>(scale), window));
  return 10 * std::log10(seen.signal / seen.noise);
}

/// Speckle whose spectrum is confined to the window.
Array<Complex, 2> light_into(const SignalWindow& window, std::int64_t side) {
  auto field = speckle({side, side}, 6);
  for (std::int64_t i = 0; i < field.size(); ++i) {
    const auto frequency = [&](std::int64_t k) {
      return static_cast<double>(k < side / 2 ? k : k - side) / static_cast<double>(side);
    };
    const bool inside = std::abs(frequency(i % side) - window.xi) <= window.width / 2 &&
                        std::abs(frequency(i / side) - window.eta) <= window.height / 2;
    if (!inside) field.data()[i] = 0;
  }
  FftPlan({side, side}).execute(field.view(), FftDirection::inverse);
  return field;
}

TEST(ErrorDiffusion, NoiseStaysOutOfTheWindow) {
  const SignalWindow window{0.11, -0.07, 0.16, 0.16};
  auto field = light_into(window, 256);
  for (const int bits : {8, 3, 1}) {
    ErrorDiffusionOptions options;
    options.bits = bits;
    // One-bit phase is real.
    for (std::int64_t i = 0; bits == 1 && i < field.size(); ++i) field.data()[i] = field.data()[i].real();
    const double truncated = noise_db(options, no_weights(), window, field.view());
    const double truncated_seen = seen_db(options, no_weights(), window, field.view());
    for (const int p : {0, 6, 3, 1}) {
      WeightOptions weight_options;
      weight_options.parallelism = p;
      const double by_eq1 =
          noise_db(options, diffusion_weights(std::span(&window, 1), weight_options), window, field.view());
      const double eq1_seen =
          seen_db(options, diffusion_weights(std::span(&window, 1), weight_options), window, field.view());
      weight_options.rule = WeightRule::least_squares;
      const double by_squares =
          noise_db(options, diffusion_weights(std::span(&window, 1), weight_options), window, field.view());
      std::printf("%d bits, p = %d: noise in the window, dB: truncated %.1f, Eq. (1) %.1f, least squares %.1f\n", bits,
                  p, truncated, by_eq1, by_squares);
      const double seen =
          seen_db(options, diffusion_weights(std::span(&window, 1), weight_options), window, field.view());
      std::printf("%d bits, p = %d: signal to noise, dB: truncated %.1f, Eq. (1) %.1f, least squares %.1f\n", bits, p,
                  truncated_seen, eq1_seen, seen);
      EXPECT_GT(seen, truncated_seen + 8);
      EXPECT_LT(by_eq1, truncated - 4);
      EXPECT_LT(by_squares, truncated - 18);
    }
  }
}

TEST(ErrorDiffusion, SerpentineKeepsNoiseOutToo) {
  const SignalWindow window{0.11, -0.07, 0.16, 0.16};
  const auto field = light_into(window, 256);
  WeightOptions weight_options;
  weight_options.rule = WeightRule::least_squares;
  weight_options.serpentine = true;
  ErrorDiffusionOptions options;
  const double truncated = noise_db(options, no_weights(), window, field.view());
  options.serpentine = true;
  const double back = noise_db(options, diffusion_weights(std::span(&window, 1), weight_options), window, field.view());
  std::printf("noise in the window, dB: truncated %.1f, least squares, serpentine %.1f\n", truncated, back);
  EXPECT_LT(back, truncated - 18);
}

TEST(ErrorDiffusion, BadOptionsAreNamed) {
  const auto field = speckle({4, 5}, 1);
  const auto expect = [&](const std::string& text, const ErrorDiffusionOptions& options,
                          const DiffusionWeights& weights) {
    expect_error(ErrorCode::invalid_argument, text, [&] { (void)diffuse(options, weights, field.view()); });
  };
  ErrorDiffusionOptions options;
  options.bits = 9;
  expect("bits", options, no_weights());
  options = {};
  options.levels = {1, INFINITY};
  expect("code 1", options, no_weights());
  options.levels = {1};
  expect("2 to 256", options, no_weights());
  options.modulation = Modulation::amplitude;
  options.levels = {0, 0.5, 0.5};
  expect("rising amplitudes", options, no_weights());
  options = {};
  options.hogel_px = 3;
  expect("one set or 4", options, window_filters({1, 3}, {}));
  options = {};
  expect("later in raster order", options, {{{-1, 0}}, Array<float, 2>({1, 1})});
  auto wild = floyd_steinberg_weights();
  wild.values(0, 1) = NAN;
  expect("finite numbers", options, wild);
  auto broken = field.to(Device{});
  broken(2, 3) = Complex(1, NAN);
  expect_error(ErrorCode::invalid_argument, "row 2, column 3", [&] { (void)diffuse({}, no_weights(), broken.view()); });
  std::fill_n(broken.data(), broken.size(), Complex(0));
  EXPECT_EQ(diffuse({}, floyd_steinberg_weights(), broken.view())(0, 0), 0);
}

}  // namespace
}  // namespace holotone
