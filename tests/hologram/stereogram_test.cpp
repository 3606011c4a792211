// Hogels against a plain sum of waves in float64, the selection of rays, and the guarantees of execute.
#include <holotone/core/random.hpp>
#include <holotone/fft/fft.hpp>
#include <numbers>
#include <tests/reference/stereogram.hpp>
#include <tests/support/stereogram_support.hpp>

namespace holotone {
namespace {

using stereograms::Light;
using stereograms::mean_power;
using stereograms::SceneSource;
using stereograms::whole_field;
using support::Complex64;

/// A scene with light nearly everywhere, at distances on both sides of the panel.
Light everywhere(double x, double y, double slope_x, double slope_y) {
  const double wave = std::sin(40 * slope_x + 3e3 * x) * std::cos(31 * slope_y - 2e3 * y);
  return {wave > -0.6 ? 1.1 + wave : 0, (slope_x < 0.01 ? 1 : -1) * (0.004 + 0.02 * std::abs(slope_y))};
}

/// Phase of ray k of a hogel as the library documents it.
double ray_phase(std::uint64_t seed, std::int64_t hogel, std::int64_t n, std::int64_t kx, std::int64_t ky) {
  const std::int64_t counter = (hogel * n + ky + n / 2) * n + kx + n / 2;
  return 2 * std::numbers::pi * (static_cast<double>(random_uniform(seed, static_cast<std::uint64_t>(counter))) - 0.5);
}

/// Every wave of a hogel, computed from the scene by StereogramPlan's documentation.
std::vector<reference::HogelWave> hogel_waves(const StereogramOptions& options, std::int64_t row, std::int64_t column,
                                              const stereograms::Scene& scene) {
  const auto& grid = options.grid;
  const std::int64_t n = options.hogel_px;
  const double side = static_cast<double>(n) * grid.pitch_m;
  const std::int64_t across = (grid.nx + n - 1) / n;
  const double x = (static_cast<double>(column * n) + 0.5 * static_cast<double>(n - grid.nx)) * grid.pitch_m;
  const double y = -(static_cast<double>(row * n) + 0.5 * static_cast<double>(n - grid.ny)) * grid.pitch_m;
  std::vector<reference::HogelWave> waves;
  double low = 1e30;
  double high = -1e30;
  for (std::int64_t ky = -n; ky <= n; ++ky) {
    for (std::int64_t kx = -n; kx <= n; ++kx) {
      if (2 * std::abs(kx) >= n || 2 * std::abs(ky) >= n) continue;
      if (options.fringe_m > 0 && static_cast<double>(std::max(std::abs(kx), std::abs(ky))) > side / options.fringe_m)
        continue;
      const double cx = grid.wavelength_m * static_cast<double>(kx) / side;
      const double cy = grid.wavelength_m * static_cast<double>(ky) / side;
      const double cz = std::sqrt(1 - cx * cx - cy * cy);
      const Light light = scene(x, y, cx / cz, cy / cz);
      if (light.intensity <= 0) continue;
      reference::HogelWave wave{std::sqrt(light.intensity), ray_phase(options.seed, row * across + column, n, kx, ky),
                                cx, cy, 0};
      if (options.method == StereogramMethod::layered) {
        const auto two = reference::curvatures_of(cx, cy, light.distance_m);
        const double most = grid.wavelength_m / (2 * side * grid.pitch_m);
        wave.curvature = std::clamp((two.along + two.across) / 2, -most, most);
        // The wave's direction at the hogel's edge, which two pixels must still resolve.
        const double edge = static_cast<double>(std::max(std::abs(kx), std::abs(ky))) / side +
                            std::abs(wave.curvature) * side / 2 / grid.wavelength_m;
        if (edge > 1 / (2 * grid.pitch_m)) continue;
        low = std::min(low, wave.curvature);
        high = std::max(high, wave.curvature);
      }
      waves.push_back(wave);
    }
  }
  if (options.method == StereogramMethod::layered) {
    const double enough = grid.wavelength_m / (2 * side * side);
    const double count = std::clamp(std::ceil((high - low) / enough), 1.0, static_cast<double>(options.layers));
    const double width = (high - low) / count;
    for (auto& wave : waves) {
      wave.curvature = low + (std::min(std::floor((wave.curvature - low) / width), count - 1) + 0.5) * width;
    }
  }
  return waves;
}

/// Relative error of the whole panel against the reference, hogels cut at its edge.
double relative_error(const Array<Complex, 2>& field, const StereogramOptions& options,
                      const stereograms::Scene& scene) {
  const std::int64_t n = options.hogel_px;
  double difference = 0;
  double norm = 0;
  for (std::int64_t row = 0; row * n < options.grid.ny; ++row) {
    for (std::int64_t column = 0; column * n < options.grid.nx; ++column) {
      const auto expected = reference::hogel_field(hogel_waves(options, row, column, scene), n, options.grid.pitch_m,
                                                   options.grid.wavelength_m);
      for (std::int64_t m = 0; m < n && row * n + m < options.grid.ny; ++m) {
        for (std::int64_t i = 0; i < n && column * n + i < options.grid.nx; ++i) {
          const Complex64 value = expected[static_cast<std::size_t>(m * n + i)];
          difference += std::norm(Complex64(field(row * n + m, column * n + i)) - value);
          norm += std::norm(value);
        }
      }
    }
  }
  return std::sqrt(difference / norm);
}

class Stereogram : public support::OnEachDevice {};

TEST_P(Stereogram, HogelsAreTheSumOfTheirWaves) {
  on_each([](Device device) {
    for (const std::int64_t n : {12, 17}) {
      for (const double fringe : {0.0, 5.3e-6}) {
        for (const auto method : {StereogramMethod::flat, StereogramMethod::layered}) {
          const StereogramOptions options{.grid = {40, 29, 2e-6, 532e-9},
                                          .hogel_px = n,
                                          .fringe_m = fringe,
                                          .method = method,
                                          .layers = 6,
                                          .seed = 5};
          const auto field = whole_field(SceneSource(everywhere), options, device);
          // Amplitude, phase and curvature in float32: 6e-8 and 4e-7 rad each; one inverse transform.
          const double tolerance = 6e-8 * (2 + 2 * std::log2(static_cast<double>(n))) + 4 * 4e-7;
          support::expect_within(
              std::string(to_string(method)) + " N = " + std::to_string(n) + (fringe > 0 ? ", fringe" : ""),
              relative_error(field, options, everywhere), tolerance);
        }
      }
    }
  });
}

// Parts of any height, which cut hogels at any row.
TEST_P(Stereogram, RowsCutFromHogelsAreTheSameBitsAsTheWhole) {
  on_each([](Device device) {
    const SceneSource source(everywhere);
    for (const auto method : {StereogramMethod::flat, StereogramMethod::layered}) {
      const StereogramOptions options{
          .grid = {50, 61, 2e-6, 532e-9}, .hogel_px = 16, .method = method, .layers = 5, .seed = 9};
      const auto whole = whole_field(source, options, device);
      StereogramPlan plan(options, device);
      for (const std::int64_t rows : {1, 5, 16, 23, 61}) {
        std::int64_t different = 0;
        for (std::int64_t first = 0; first < 61; first += rows) {
          const RowRange part{first, std::min(rows, 61 - first)};
          Array<Complex, 2> there({part.rows, 50}, device);
          plan.execute(source, 0, part, there.view());
          const auto host = there.to(Device{});
          for (std::int64_t i = 0; i < host.size(); ++i) {
            different += host.data()[i] == whole.data()[first * 50 + i] ? 0 : 1;
          }
        }
        EXPECT_EQ(different, 0) << to_string(method) << ", " << rows << " rows at once";
      }
    }
  });
}

TEST_P(Stereogram, PartsAreTheSameBitsAsTheWhole) {
  on_each([](Device device) {
    const SceneSource source(everywhere);
    const StereogramOptions options{
        .grid = {50, 61, 2e-6, 532e-9}, .hogel_px = 16, .method = StereogramMethod::layered, .layers = 5, .seed = 9};
    const auto whole = whole_field(source, options, device);
    StereogramPlan plan(options, device);
    for (std::int64_t row = 0; row < plan.info().hogels[0]; ++row) {
      const auto rows = plan.rows_of_hogels(row, 1);
      Array<Complex, 2> part({rows.rows, 50}, device);
      plan.execute(source, 0, rows, part.view());
      const auto host = part.to(Device{});
      for (std::int64_t i = 0; i < host.size(); ++i) {
        ASSERT_EQ(host.data()[i], whole.data()[row * 16 * 50 + i]) << "row of hogels " << row << ", " << i;
      }
    }
  });
}

// Mean |U|^2 is the mean intensity over all frequencies: N^2 rays (N odd, none omitted), all of intensity 3.
TEST_P(Stereogram, PowerDoesNotDependOnTheHogelsSize) {
  on_each([](Device device) {
    for (const std::int64_t n : {9, 15, 45}) {
      const StereogramOptions options{.grid = {90, 90, 2e-6, 532e-9}, .hogel_px = n};
      const SceneSource source([](double, double, double, double) { return Light{3, 0.1}; });
      support::expect_within("N = " + std::to_string(n),
                             std::abs(mean_power(whole_field(source, options, device)) / 3 - 1),
                             6e-8 * (2 + 2 * std::log2(static_cast<double>(n))) + 1e-6);
    }
  });
}

// The field of one hogel for a picture at infinity, as through a lens: its transform is the picture.
TEST_P(Stereogram, APictureAtInfinityComesBackFromAHogelsSpectrum) {
  on_each([](Device device) {
    const std::int64_t n = 32;
    const StereogramOptions options{.grid = {n, n, 2e-6, 532e-9}, .hogel_px = n, .seed = 3};
    const double step = 532e-9 / (static_cast<double>(n) * 2e-6);
    const auto picture = [&](std::int64_t kx, std::int64_t ky) {
      return static_cast<double>((3 * kx + 5 * ky + 200) % 11);
    };
    const SceneSource source([&](double, double, double x, double y) {
      const double length = std::sqrt(1 + x * x + y * y);
      return Light{picture(std::lround(x / length / step), std::lround(y / length / step)), 1};
    });
    auto field = stereogram_field(source, 0, options, device);
    const Queue queue(device);
    FftPlan(options.grid.shape(), queue).execute(field.view(), FftDirection::forward);
    queue.synchronize();
    const auto spectrum = field.to(Device{});
    double error = 0;
    double norm = 0;
    for (std::int64_t ky = -15; ky <= 15; ++ky) {
      for (std::int64_t kx = -15; kx <= 15; ++kx) {
        const double power = std::norm(Complex64(spectrum((n - ky) % n, (n + kx) % n))) / static_cast<double>(n * n);
        error += std::pow(power - picture(kx, ky), 2);
        norm += std::pow(picture(kx, ky), 2);
      }
    }
    support::expect_within("picture", std::sqrt(error / norm), 2 * (2 * 6e-8 * 12 + 1e-6));
  });
}

// Light through the window equals that of the whole hologram, and little else is computed.
TEST_P(Stereogram, AViewingWindowLeavesOutTheRest) {
  on_each([](Device device) {
    const Viewer viewer{2e-3, 1.5e-3, 0.03, 1.2e-3, -0.4e-3};
    StereogramOptions options{.grid = {384, 256, 2e-6, 532e-9}, .hogel_px = 64, .viewer = viewer, .seed = 4};
    std::int64_t wanted = 0;
    std::int64_t all = 0;
    const double margin = 32 * 2e-6 + 532e-9 * viewer.distance_m / (2 * 64 * 2e-6);
    const SceneSource source([&](double x, double y, double slope_x, double slope_y) {
      const double beyond_x = std::abs(x + slope_x * viewer.distance_m - viewer.x_m) - viewer.width_m / 2;
      const double beyond_y = std::abs(y + slope_y * viewer.distance_m - viewer.y_m) - viewer.height_m / 2;
      // Light beyond the margin, up to rounding, must not be used.
      return Light{beyond_x < margin + 1e-9 && beyond_y < margin + 1e-9 ? 1.0 : 1e6, 0.1};
    });
    StereogramPlan plan(options, device);
    Array<Complex, 2> field(options.grid.shape(), device);
    const auto report = plan.execute(source, 0, {0, 256}, field.view());
    wanted = report.computed;
    all = report.rays;
    const double share = static_cast<double>(wanted) / static_cast<double>(all);
    EXPECT_EQ(all, 24 * 63 * 63);
    // Window and margins over the zone of the diffraction angle, whose slopes slightly exceed its cosines.
    const double zone = 2 * std::tan(std::asin(532e-9 / 4e-6)) * viewer.distance_m;
    const double expected = (viewer.width_m + 2 * margin) * (viewer.height_m + 2 * margin) / (zone * zone);
    std::printf("computed %.4f of the rays, window over zone %.4f\n", share, expected);
    EXPECT_NEAR(share, expected, 0.06 * expected);  // whole rays: about 17 x 13 of 63 x 63
    EXPECT_EQ(report.lit, report.computed);
    // Power is that of the rays in use: none of intensity 1e6 was used.
    EXPECT_NEAR(mean_power(field.to(Device{})) * 24 * 64 * 64 / static_cast<double>(wanted), 1, 1e-4);
    EXPECT_EQ(plan.info().outside_share, 0);

    // Phases are those of the whole hologram: with the rest dark, the bits are equal.
    const SceneSource window([&](double x, double y, double slope_x, double slope_y) {
      const bool inside = std::abs(x + slope_x * viewer.distance_m - viewer.x_m) <= viewer.width_m / 2 &&
                          std::abs(y + slope_y * viewer.distance_m - viewer.y_m) <= viewer.height_m / 2;
      return Light{inside ? 1.0 : 0.0, 0.1};
    });
    const auto part = whole_field(window, options, device);
    options.viewer.reset();
    const auto whole = whole_field(window, options, device);
    double difference = 0;
    for (std::int64_t i = 0; i < part.size(); ++i)
      difference += std::norm(Complex64(part.data()[i]) - Complex64(whole.data()[i]));
    EXPECT_LE(std::sqrt(difference / static_cast<double>(part.size()) / mean_power(whole)), 1e-6);
  });
}

HOLOTONE_ON_EACH_DEVICE(Stereogram);

TEST(StereogramPlan, SaysHowFarAWindowLiesOutside) {
  // 7.64 degrees: 4.03 mm at 30 mm.
  StereogramOptions options{.grid = {256, 256, 2e-6, 532e-9}, .hogel_px = 64, .viewer = Viewer{2e-3, 2e-3, 0.03, 0, 0}};
  EXPECT_EQ(StereogramPlan(options).info().outside_share, 0);
  EXPECT_EQ(StereogramPlan(options).info().outside_rad, 0);
  EXPECT_NEAR(StereogramPlan(options).info().diffraction_angle_rad, 0.13339, 1e-4);
  options.viewer->x_m = 4.03e-3;
  const auto half = StereogramPlan(options).info();
  EXPECT_NEAR(half.outside_share, 0.5, 0.07);
  EXPECT_NEAR(half.outside_rad, std::atan((5.03e-3 + 192e-6) / 0.03) - 0.13339, 2e-3);
  options.viewer->x_m = 6e-3;
  support::expect_error(ErrorCode::invalid_argument,
                        "diffraction angle of 7.64 degrees, got one whose nearest part is 1.4",
                        [&] { StereogramPlan{options}; });
  options.viewer->x_m = -8e-3;
  support::expect_error(ErrorCode::invalid_argument, "beyond it", [&] { StereogramPlan{options}; });
}

TEST(StereogramPlan, TellsThePadding) {
  const StereogramPlan plan({.grid = {100, 70, 2e-6, 532e-9}, .hogel_px = 32});
  EXPECT_EQ(plan.info().hogels, (Shape<2>{3, 4}));
  EXPECT_EQ(plan.info().padding, (Shape<2>{26, 28}));
  EXPECT_EQ(plan.rows_of_hogels(2, 1), (RowRange{64, 6}));
  EXPECT_EQ(plan.rows_of_hogels(0, 3), (RowRange{0, 70}));
}

TEST(StereogramPlan, RefusesWhatIsNone) {
  const StereogramOptions good{.grid = {64, 64, 2e-6, 532e-9}, .hogel_px = 32};
  const auto refuses = [&](const char* text, const auto& change) {
    StereogramOptions options = good;
    change(options);
    support::expect_error(ErrorCode::invalid_argument, text, [&] { StereogramPlan{options}; });
  };
  refuses("hogel_px: expected 2 to", [](auto& o) { o.hogel_px = 1; });
  refuses("fringe_m: expected at least 4 um, two pixels, got 3 um", [](auto& o) { o.fringe_m = 3e-6; });
  refuses("fringe_m", [](auto& o) { o.fringe_m = NAN; });
  refuses("layers: expected 1 to 255, got 0", [](auto& o) { o.layers = 0; });
  refuses("viewer.distance_m", [](auto& o) { o.viewer = Viewer{1e-3, 1e-3, 0, 0, 0}; });
  refuses("pitch_m", [](auto& o) { o.grid.pitch_m = 0; });

  const SceneSource flat(everywhere, false);
  StereogramPlan plan(good);
  Array<Complex, 2> field({64, 64});
  support::expect_error(ErrorCode::invalid_argument, "channel: expected 0 to 0, got 1", [&] {
    plan.execute(flat, 1, {0, 64}, field.view());
  });
  support::expect_error(ErrorCode::invalid_argument,
                        "hogel_rows: expected at least 1 of the 2 rows of hogels, got 2 from row 1",
                        [&] { (void)plan.rows_of_hogels(1, 2); });
  for (const RowRange part : {RowRange{-1, 64}, RowRange{1, 64}, RowRange{0, 0}, RowRange{64, 1}}) {
    support::expect_error(ErrorCode::invalid_argument,
                          "StereogramPlan::execute: part: expected 1 or more rows within rows 0 to 63, got",
                          [&] { plan.execute(flat, 0, part, field.view()); });
  }
  support::expect_error(ErrorCode::invalid_argument, "output: expected shape {32, 64}, got {64, 64}", [&] {
    plan.execute(flat, 0, {0, 32}, field.view());
  });
  StereogramOptions layered = good;
  layered.method = StereogramMethod::layered;
  StereogramPlan deep(layered);
  support::expect_error(ErrorCode::invalid_argument, "views with distances for layers", [&] {
    deep.execute(flat, 0, {0, 64}, field.view());
  });
}

TEST(StereogramPlan, CountsWhatIsTooNear) {
  // Nearer than 2 N p^2 / lambda = 481 um.
  const StereogramOptions options{
      .grid = {32, 32, 2e-6, 532e-9}, .hogel_px = 32, .method = StereogramMethod::layered, .layers = 4};
  const auto report_at = [&](double distance) {
    StereogramPlan plan(options);
    Array<Complex, 2> field({32, 32});
    return plan.execute(SceneSource([&](double, double, double, double) {
                          return Light{1, distance};
                        }),
                        0, {0, 32}, field.view());
  };
  EXPECT_EQ(report_at(1e-3).too_near, 0);
  EXPECT_EQ(report_at(1e-4).too_near, 31 * 31);
  EXPECT_EQ(report_at(0).too_near, 31 * 31);
  EXPECT_EQ(report_at(-1e-4).too_near, 31 * 31);
  EXPECT_EQ(report_at(1e-4).cut, 31 * 31 - 17 * 17);  // a quarter of the band remains on either side: |k| <= 8
  EXPECT_EQ(report_at(1e3).cut, 0);
  EXPECT_EQ(report_at(1e3).layers, 1);
  EXPECT_LE(report_at(1e-3).curvature_error_rad, std::numbers::pi / 8);
}

TEST(StereogramPlan, StatesTheAstigmatismOfItsRays) {
  // The steepest ray, |cx| = |cy| = 15 lambda / (N p), of points 4 mm away, beside the sphere in float64.
  constexpr double pitch_m = 1e-6;
  constexpr double wavelength_m = 532e-9;
  constexpr std::int64_t n = 32;
  constexpr double distance_m = 4e-3;
  const StereogramOptions options{
      .grid = {n, n, pitch_m, wavelength_m}, .hogel_px = n, .method = StereogramMethod::layered, .layers = 4};
  StereogramPlan plan(options);
  Array<Complex, 2> field({n, n});
  const auto report = plan.execute(SceneSource([&](double, double, double, double) {
                                     return Light{1, distance_m};
                                   }),
                                   0, {0, n}, field.view());
  const double c = 15 * wavelength_m / (n * pitch_m);
  const double cz = std::sqrt(1 - 2 * c * c);
  const double r = distance_m / cz;  // d is along the axis
  double largest = 0;
  for (const double angle : {0.25, 0.75}) {  // along the ray's plane and across it
    const double side = 0.5 * std::sqrt(2.0) * n * pitch_m;
    const double x = side * std::cos(angle * std::numbers::pi);
    const double y = side * std::sin(angle * std::numbers::pi);
    // Even part of the path, without the ray's own slope.
    const double even = 0.5 * (std::hypot(c * r + x, c * r + y, cz * r) + std::hypot(c * r - x, c * r - y, cz * r)) - r;
    const double mean = 0.5 * side * side * 0.5 * (cz + cz * cz * cz) / distance_m;
    largest = std::max(largest, 2 * std::numbers::pi / wavelength_m * std::abs(even - mean));
  }
  EXPECT_NEAR(report.astigmatism_rad, largest, 0.02 * largest);
  EXPECT_GT(largest, 0.01);
}

TEST(StereogramPlan, CanBeCancelled) {
  class Impatient final : public Progress {
   public:
    bool update(std::string_view, std::int64_t, std::int64_t) override { return false; }
  } impatient;
  support::expect_error(ErrorCode::cancelled, "cancelled", [&] {
    stereogram_field(SceneSource(everywhere), 0, {.grid = {64, 64, 2e-6, 532e-9}, .hogel_px = 32}, {}, impatient);
  });
}

}  // namespace
}  // namespace holotone
