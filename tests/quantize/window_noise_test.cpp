// Noise and light in a window, against explicit sums in float64.
#include <cmath>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <holotone/core/random.hpp>
#include <holotone/quantize/window_noise.hpp>
#include <tests/reference/window.hpp>
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
double window_share(const std::vector<Complex64>& plane, Shape<2> shape, const SignalWindow& window) {
  const auto [ny, nx] = shape;
  double sum = 0;
  for (std::int64_t v = -ny / 2; v < ny - ny / 2; ++v) {
    for (std::int64_t u = -nx / 2; u < nx - nx / 2; ++u) {
      const double xi = static_cast<double>(u) / static_cast<double>(nx);
      const double eta = static_cast<double>(v) / static_cast<double>(ny);
      if (std::abs(xi - window.xi) > window.width / 2 || std::abs(eta - window.eta) > window.height / 2) continue;
      Complex64 field = 0;
      for (std::int64_t row = 0; row < ny; ++row) {
        for (std::int64_t column = 0; column < nx; ++column) {
          const double turns = xi * static_cast<double>(column) + eta * static_cast<double>(row);
          field += plane[static_cast<std::size_t>(row * nx + column)] * std::polar(1.0, -2 * M_PI * turns);
        }
      }
      sum += std::norm(field);
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
      const double noise_expected = window_share(noise, shape, window);
      const double light_expected = window_share(light, shape, window);
      support::expect_within("noise", std::abs(got.noise / noise_expected - 1), 2e-6);
      support::expect_within("light", std::abs(got.light / light_expected - 1), 2e-6);
    }
  }
}

/// Codes of a random field, their light and the field over its scale; the scale clips half of the pixels.
struct Coded {
  Array<Complex, 2> field;
  Array<std::uint8_t, 2> codes;
  reference::Windowed part;
};
Coded coded(Shape<2> shape, const ErrorDiffusionOptions& options, double scale, const SignalWindow& window) {
  Coded coded{random_field(shape), Array<std::uint8_t, 2>(shape), {{}, {}, shape[0], shape[1]}};
  coded.part.xi = window.xi;
  coded.part.eta = window.eta;
  coded.part.width = window.width;
  coded.part.height = window.height;
  for (std::int64_t i = 0; i < coded.field.size(); ++i) {
    const auto h = Complex64(coded.field.data()[i]) / scale;
    const double last = (1 << options.bits) - 1;
    const bool phase = options.modulation == Modulation::phase;
    const double share =
        phase ? std::arg(h) / (2 * M_PI) * (last + 1) : (1 + std::clamp(h.real(), -1.0, 1.0)) / 2 * last;
    const auto code = static_cast<int>(std::lround(share + (last + 1))) & static_cast<int>(last);
    coded.codes.data()[i] = static_cast<std::uint8_t>(code);
    coded.part.field.push_back(h);
    coded.part.light.push_back(phase ? std::polar(1.0, 2 * M_PI * code / (last + 1)) : code / last - 0.5);
  }
  return coded;
}

TEST(WindowNoise, SignalIsThePartOfTheLightThatIsTheField) {
  const double scale = 1;
  for (const auto modulation : {Modulation::phase, Modulation::amplitude}) {
    ErrorDiffusionOptions options;
    options.modulation = modulation;
    options.bits = 3;
    WindowNoise sums;
    std::vector<reference::Windowed> parts;
    double twin = 0;
    // Two hogels of other sizes and windows share one gain.
    for (const auto& [shape, window] : {std::pair{Shape<2>{15, 22}, SignalWindow{0.13, -0.21, 0.21, 0.3}},
                                        std::pair{Shape<2>{16, 12}, SignalWindow{-0.2, 0.1, 0.6, 0.4}}}) {
      auto code = coded(shape, options, scale, window);
      sums += window_noise(code.field.view(), code.codes.view(), options, scale, window);
      auto conjugate = code.part;
      for (auto& h : conjugate.field) h = std::conj(h);
      for (const auto& [h, q] : reference::amplitudes(conjugate)) twin += std::norm(h);
      parts.push_back(std::move(code.part));
    }
    const auto got = projected(sums);
    const auto expected = reference::seen(parts);
    support::expect_within("signal", std::abs(got.signal / expected.signal - 1), 2e-6);
    support::expect_within("noise", std::abs(got.noise / expected.noise - 1), 2e-6);
    support::expect_within("signal and noise", std::abs((got.signal + got.noise) / sums.light - 1), 1e-12);
    if (makes_twin(options)) {
      support::expect_within("twin", std::abs(sums.twin / twin - 1), 2e-6);
    } else {
      EXPECT_EQ(sums.twin, 0);
    }
  }
}

// A dimmer and turned picture is no noise; the older measure counts both.
TEST(WindowNoise, ADimmedAndTurnedFieldHasNoNoise) {
  Array<std::uint8_t, 2> codes({16, 16});
  Array<Complex, 2> field({16, 16});
  for (std::int64_t i = 0; i < codes.size(); ++i) {
    codes.data()[i] = static_cast<std::uint8_t>(256 * random_uniform64(6, static_cast<std::uint64_t>(i)));
    field.data()[i] = Complex(std::polar(0.4, 2 * M_PI * codes.data()[i] / 256 + 1));
  }
  const auto sums = window_noise(field.view(), codes.view(), {}, 1, {0, 0, 0.5, 0.5});
  const auto seen = projected(sums);
  EXPECT_LT(seen.noise, 1e-12 * seen.signal);
  EXPECT_NEAR(seen.signal, sums.light, 1e-6);
  EXPECT_GT(sums.noise, 0.5 * sums.light);
  // No light of the field: all is noise.
  std::fill_n(field.data(), field.size(), Complex(0));
  const auto dark = projected(window_noise(field.view(), codes.view(), {}, 1, {0, 0, 0.5, 0.5}));
  EXPECT_EQ(dark.signal, 0);
  EXPECT_GT(dark.noise, 0);
}

/// Light (H, Q) of a panel in the plane of a viewing window: sums of spherical waves from its pixels, at samples finer
/// than the speckle.
std::vector<std::pair<Complex64, Complex64>> in_the_window(const reference::Windowed& part, const FieldGrid& grid,
                                                           const Viewer& viewer) {
  const auto samples = [&](std::int64_t pixels, double size_m) {
    const double step = 0.8 * grid.wavelength_m * viewer.distance_m / (static_cast<double>(pixels) * grid.pitch_m);
    std::vector<double> places;
    for (int i = 0; (i + 0.5) * step < size_m; ++i) places.push_back((i + 0.5) * step - size_m / 2);
    return places;
  };
  std::vector<std::pair<Complex64, Complex64>> all;
  for (const double v : samples(grid.ny, viewer.height_m)) {
    for (const double u : samples(grid.nx, viewer.width_m)) {
      Complex64 h = 0;
      Complex64 q = 0;
      for (std::int64_t i = 0; i < grid.nx * grid.ny; ++i) {
        const double x = (static_cast<double>(i % grid.nx) - static_cast<double>(grid.nx - 1) / 2) * grid.pitch_m;
        const double y = (static_cast<double>(grid.ny - 1) / 2 - static_cast<double>(i / grid.nx)) * grid.pitch_m;
        const double r = std::sqrt(std::pow(viewer.x_m + u - x, 2) + std::pow(viewer.y_m + v - y, 2) +
                                   viewer.distance_m * viewer.distance_m);
        const auto wave = std::polar(1 / r, 2 * M_PI * std::fmod(r / grid.wavelength_m, 1.0));
        h += wave * part.field[static_cast<std::size_t>(i)];
        q += wave * part.light[static_cast<std::size_t>(i)];
      }
      all.emplace_back(h, q);
    }
  }
  return all;
}

// The window is in the near field of the pixels: without the lens the same frequencies hold other light.
TEST(WindowNoise, TheLensShowsTheLightInThePlaneOfTheWindow) {
  const FieldGrid grid{64, 56, 2e-6, 532e-9};
  const Viewer viewer{0.25e-3, 0.2e-3, 2e-3, 0.1e-3, -0.05e-3};
  const ErrorDiffusionOptions options;
  const auto window = signal_window(grid, viewer, 0, 0);
  auto on_device = coded(grid.shape(), options, 1, window);
  // Light that converges on a place near the window's right edge.
  for (std::int64_t i = 0; i < on_device.field.size(); ++i) {
    const double x = (static_cast<double>(i % grid.nx) - static_cast<double>(grid.nx - 1) / 2) * grid.pitch_m;
    const double y = (static_cast<double>(grid.ny - 1) / 2 - static_cast<double>(i / grid.nx)) * grid.pitch_m;
    const double r = std::hypot(viewer.x_m + 0.1e-3 - x, viewer.y_m - y, viewer.distance_m);
    const auto beam = 0.4 * std::polar(1.0, -2 * M_PI * std::fmod(r / grid.wavelength_m, 1.0));
    const auto& noise = on_device.part.light[static_cast<std::size_t>(i)];
    on_device.part.field[static_cast<std::size_t>(i)] = beam;
    on_device.field.data()[i] = Complex(beam);
    const int code = static_cast<int>(std::lround(std::arg(beam + noise) / (2 * M_PI) * 256)) & 255;
    on_device.codes.data()[i] = static_cast<std::uint8_t>(code);
    on_device.part.light[static_cast<std::size_t>(i)] = std::polar(1.0, 2 * M_PI * code / 256);
  }
  Complex64 product = 0;
  double norm = 0;
  double light = 0;
  for (const auto& [h, q] : in_the_window(on_device.part, grid, viewer)) {
    product += std::conj(h) * q;
    norm += std::norm(h);
    light += std::norm(q);
  }
  const double expected = std::norm(product) / norm / (light - std::norm(product) / norm);
  const auto lens = window_lens(grid, viewer, 0, 0, grid.shape());
  const View<const std::uint8_t, 2> codes[] = {on_device.codes.view()};
  const auto ratio = [&](View<const Complex, 2> with) {
    const auto seen = projected(window_noise(on_device.field.view(), codes, options, 1, window, with)[0]);
    return seen.signal / seen.noise;
  };
  std::printf("signal to noise %.3f by spherical waves, %.3f with the lens, %.3f without\n", expected,
              ratio(lens.view()), ratio({}));
  EXPECT_NEAR(ratio(lens.view()) / expected, 1, 0.1);
  EXPECT_GT(std::abs(ratio({}) / expected - 1), 0.2);
  double worst = 0;
  for (std::int64_t i = 0; i < lens.size(); ++i) {
    const double x = (static_cast<double>(i % grid.nx) - static_cast<double>(grid.nx - 1) / 2) * grid.pitch_m;
    const double y = (static_cast<double>(grid.ny - 1) / 2 - static_cast<double>(i / grid.nx)) * grid.pitch_m;
    const auto written = reference::curvature(x, y, viewer.x_m, viewer.y_m, viewer.distance_m, grid.wavelength_m);
    worst = std::max(worst, std::abs(Complex64(lens.data()[i]) - written));
  }
  support::expect_within("lens", worst, 3e-7);  // phases in float32
}

TEST(WindowNoise, CodesOnALineHaveATwinAndAZeroOrder) {
  EXPECT_FALSE(makes_twin({}));
  ErrorDiffusionOptions amplitude;
  amplitude.modulation = Modulation::amplitude;
  EXPECT_TRUE(makes_twin(amplitude));
  ErrorDiffusionOptions binary;
  binary.bits = 1;
  EXPECT_TRUE(makes_twin(binary));
  ErrorDiffusionOptions pair;
  pair.levels = {0, 2.0};  // not half a turn apart
  EXPECT_TRUE(makes_twin(pair));
  const auto field = random_field({8, 8});
  Array<std::uint8_t, 2> codes({8, 8});
  std::fill_n(codes.data(), codes.size(), std::uint8_t{0});
  const auto zero_order = [&](const ErrorDiffusionOptions& options, const SignalWindow& window) {
    return window_noise(field.view(), codes.view(), options, 1, window).zero_order;
  };
  const SignalWindow on_axis{0.1, 0, 0.3, 0.2};
  EXPECT_NEAR(zero_order(amplitude, on_axis), 0.25, 1e-12);
  EXPECT_NEAR(zero_order(binary, on_axis), 0, 1e-12);
  EXPECT_NEAR(zero_order(pair, on_axis), std::norm((1.0 + std::polar(1.0, 2.0)) / 2.0), 1e-6);
  EXPECT_EQ(zero_order({}, on_axis), 0);
  EXPECT_EQ(zero_order(amplitude, {0.3, 0, 0.3, 0.2}), 0);
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
  for (const int bits : {-2, 0, 9, 64}) {
    options.bits = bits;
    support::expect_error(ErrorCode::invalid_argument, "bits: expected 1 to 8", [&] {
      (void)window_noise(field.view(), codes.view(), options, 1, {0, 0, 1, 1});
    });
  }
}

}  // namespace
}  // namespace holotone
