// Starts by optimal transport: rays along the phase's gradient against the quantiles of separable light and against
// pictures, on each device; shares of light, and vortices.
#include <cmath>
#include <gtest/gtest.h>
#include <holotone/retrieval/transport/transport.hpp>
#include <holotone/retrieval/vortices.hpp>
#include <limits>
#include <numbers>
#include <tests/retrieval/retrieval_support.hpp>

namespace {

using holotone::Array;
using holotone::Device;
using holotone::PhaseRetrievalOptions;
using holotone::PhaseRetrievalPlan;
using holotone::Shape;
using support::beam_of;
using support::Complex;
using support::draw_picture;
using support::make_grid;

constexpr double turn = 2 * std::numbers::pi;

/// Where the light of a pixel goes: row and column of the picture.
struct Ray {
  double row = 0;
  double column = 0;
};

/// The place to which the phase's slope sends a pixel that is no edge, by the paraxial propagation of a plane wave, or
/// by the lens.
Ray follow(const PhaseRetrievalOptions& options, const Array<float, 2>& phase, std::int64_t row, std::int64_t column) {
  const auto& grid = options.grid;
  const auto step = [&](float from, float to) {
    return std::remainder(static_cast<double>(to) - static_cast<double>(from), turn);
  };
  const auto cycles = [&](float before, float here, float after) {
    return (step(before, here) + step(here, after)) / (2 * turn);
  };
  const double down = cycles(phase(row - 1, column), phase(row, column), phase(row + 1, column));
  const double right = cycles(phase(row, column - 1), phase(row, column), phase(row, column + 1));
  if (options.focal_length_m > 0) {
    return {static_cast<double>(grid.ny - 1) / 2 + down * static_cast<double>(grid.ny),
            static_cast<double>(grid.nx - 1) / 2 + right * static_cast<double>(grid.nx)};
  }
  const double reach = -options.planes.front().distance_m * grid.wavelength_m / (grid.pitch_m * grid.pitch_m);
  return {static_cast<double>(row) + reach * down, static_cast<double>(column) + reach * right};
}

/// Free space before and behind the panel, and a lens; the picture in a part of an oblong panel.
std::vector<PhaseRetrievalOptions> geometries(Shape<2> shape) {
  const auto grid = make_grid(shape[0], shape[1]);
  const holotone::SignalRegion region{shape[0] / 8, shape[1] / 4, shape[0] / 2, shape[1] / 2};
  return {{.grid = grid, .planes = {{.distance_m = 0.05}}, .region = region},
          {.grid = grid, .planes = {{.distance_m = -0.08}}, .region = region},
          {.grid = grid, .planes = {{.distance_m = 0}}, .focal_length_m = 0.2, .region = region}};
}

/// Quantile of light 1 + slope (2 y - 1) over 0 to 1.
double quantile(double share, double slope) {
  const double half = 1 - slope;  // slope y^2 + half y = share
  return (-half + std::sqrt(half * half + 4 * slope * share)) / (2 * slope);
}

class TransportOnDevice : public support::OnEachDevice {};

TEST_P(TransportOnDevice, SeparableLightGoesToItsQuantiles) {
  constexpr double slope = 0.8;
  const Shape<2> shape{96, 160};
  for (const auto& options : geometries(shape)) {
    Array<float, 2> target(shape);
    const auto& region = options.region;
    for (std::int64_t y = 0; y < shape[0]; ++y) {
      for (std::int64_t x = 0; x < shape[1]; ++x) {
        const double v = (static_cast<double>(y - region.row) + 0.5) / static_cast<double>(region.rows);
        const double u = (static_cast<double>(x - region.column) + 0.5) / static_cast<double>(region.columns);
        const double light = (1 + slope * (2 * v - 1)) * (1 - slope * (2 * u - 1));
        target(y, x) = static_cast<float>(std::sqrt(std::max(0.0, light)));
      }
    }
    on_each([&](Device device) {
      const auto phase = holotone::transport_phase(options, target.view(), {}, 1, device).phase_rad;
      double worst = 0;
      for (std::int64_t y = 8; y < shape[0] - 8; y += 5) {
        for (std::int64_t x = 8; x < shape[1] - 8; x += 5) {
          const Ray ray = follow(options, phase, y, x);
          const double v = quantile((static_cast<double>(y) + 0.5) / static_cast<double>(shape[0]), slope);
          const double u = 1 - quantile(1 - (static_cast<double>(x) + 0.5) / static_cast<double>(shape[1]), slope);
          const double row = static_cast<double>(region.row) - 0.5 + v * static_cast<double>(region.rows);
          const double column = static_cast<double>(region.column) - 0.5 + u * static_cast<double>(region.columns);
          worst = std::max({worst, std::abs(ray.row - row), std::abs(ray.column - column)});
        }
      }
      support::expect_within("place of rays, pixels", worst, 0.5);
    });
  }
}

/// Light in 8 x 8 tiles of a region, as shares of all.
template <class Add>
std::vector<double> tiles(const holotone::SignalRegion& region, const Add& add_all) {
  constexpr int count = 8;
  std::vector<double> sums(count * count);
  double all = 0;
  add_all([&](double row, double column, double light) {
    all += light;
    const double y = (row + 0.5 - static_cast<double>(region.row)) / static_cast<double>(region.rows) * count;
    const double x = (column + 0.5 - static_cast<double>(region.column)) / static_cast<double>(region.columns) * count;
    if (y < 0 || x < 0 || y >= count || x >= count) return;
    sums[static_cast<std::size_t>(y) * count + static_cast<std::size_t>(x)] += light;
  });
  for (double& sum : sums) sum /= all;
  return sums;
}

TEST_P(TransportOnDevice, RaysOfABeamMakeThePicture) {
  const Shape<2> shape{128, 192};
  const auto beam = beam_of(shape);  // whose phase is taken off
  const auto target = draw_picture(shape);
  for (const auto& options : geometries(shape)) {
    const auto& region = options.region;
    const auto wanted = tiles(region, [&](const auto& add) {
      for (std::int64_t y = 0; y < region.rows; ++y) {
        for (std::int64_t x = 0; x < region.columns; ++x) {
          const auto value = static_cast<double>(target(region.row + y, region.column + x));
          add(static_cast<double>(region.row + y), static_cast<double>(region.column + x), value * value);
        }
      }
    });
    on_each([&](Device device) {
      for (const double share : {1.0, 0.7}) {
        auto phase = holotone::transport_phase(options, target.view(), beam.view(), share, device).phase_rad;
        for (std::int64_t i = 0; i < phase.size(); ++i) phase.data()[i] += std::arg(beam.data()[i]);
        const auto got = tiles(region, [&](const auto& add) {
          for (std::int64_t y = 1; y + 1 < shape[0]; ++y) {
            for (std::int64_t x = 1; x + 1 < shape[1]; ++x) {
              const Ray ray = follow(options, phase, y, x);
              add(ray.row, ray.column, static_cast<double>(std::norm(beam(y, x))));
            }
          }
        });
        double error = 0;
        double sum = 0;
        for (std::size_t i = 0; i < got.size(); ++i) {
          error += std::abs(got[i] - share * wanted[i]);
          sum += got[i];
        }
        support::expect_within("light in tiles", error, 0.08 * share);
        support::expect_within("light in the picture", std::abs(sum - share), 0.03);
      }
    });
  }
}

TEST_P(TransportOnDevice, DevicesAgree) {
  const Shape<2> shape{50, 70};
  for (const auto& options : geometries(shape)) {
    const auto beam = beam_of(shape);
    const auto target = draw_picture(shape);
    const auto expected = holotone::transport_phase(options, target.view(), beam.view(), 0.8);
    on_each([&](Device device) {
      const auto got = holotone::transport_phase(options, target.view(), beam.view(), 0.8, device);
      double worst = 0;
      for (std::int64_t i = 0; i < got.phase_rad.size(); ++i) {
        const auto difference = static_cast<double>(got.phase_rad.data()[i] - expected.phase_rad.data()[i]);
        worst = std::max(worst, std::abs(std::remainder(difference, turn)));
      }
      support::expect_within("phase against the CPU, rad", worst, 0.01);
      EXPECT_NEAR(got.highest_frequency, expected.highest_frequency, 1e-3);
    });
  }
}

HOLOTONE_ON_EACH_DEVICE(TransportOnDevice);

TEST(Transport, EvenLightForAnEvenPictureNeedsNoPhase) {
  // Light that already is the picture needs no phase: constant up to the cells.
  const Shape<2> shape{64, 64};
  Array<float, 2> even(shape);
  std::fill_n(even.data(), even.size(), 0.5F);
  const PhaseRetrievalOptions options{.grid = make_grid(64, 64), .planes = {{.distance_m = 0.03}}};
  const auto made = holotone::transport_phase(options, even.view());
  const auto [low, high] = std::minmax_element(made.phase_rad.data(), made.phase_rad.data() + made.phase_rad.size());
  EXPECT_LT(*high - *low, 0.3F);
  EXPECT_LT(made.highest_frequency, 0.01);
}

TEST(Transport, MoreLightAndFewerVorticesThanTheSmoothStart) {
  const Shape<2> shape{128, 128};
  auto target = draw_picture(shape);
  for (std::int64_t i = 0; i < target.size(); ++i) target.data()[i] *= (i / 128 / 16 + i / 16) % 2 == 0 ? 1.0F : 0.4F;
  PhaseRetrievalPlan plan(
      {.grid = make_grid(128, 128), .planes = {{.distance_m = 0.04}}, .region = {13, 13, 102, 102}});
  plan.set_target(target.view());
  const auto run = [&](Array<float, 3> phase) {
    plan.optimize(phase.view(), {.iterations = 20});
    return std::pair{plan.quality(phase.view()).front(), plan.vortices(phase.view()).front()};
  };
  const auto made = holotone::transport_phase(plan.options(), target.view(), {}, 0.8);
  Array<float, 3> start = holotone::starting_phase({1, 128, 128}, 0.25);
  for (std::int64_t i = 0; i < start.size(); ++i) start.data()[i] += made.phase_rad.data()[i];
  const auto [transported, few] = run(std::move(start));
  const auto [smooth, many] = run(holotone::starting_phase({1, 128, 128}));
  EXPECT_GT(transported.efficiency, 1.2 * smooth.efficiency);
  EXPECT_GT(transported.psnr_worst_db, smooth.psnr_worst_db);
  EXPECT_LE(few, many);
}

TEST(Transport, BadArgumentsAreNamed) {
  const Shape<2> shape{16, 24};
  const PhaseRetrievalOptions options{.grid = make_grid(16, 24), .planes = {{.distance_m = 0.05}}};
  const auto refused = [&](const PhaseRetrievalOptions& wrong, const Array<float, 2>& target,
                           const Array<Complex, 2>& source, double share, const std::string& text) {
    support::expect_error(holotone::ErrorCode::invalid_argument, text,
                          [&] { (void)holotone::transport_phase(wrong, target.view(), source.view(), share); });
  };
  const auto target = draw_picture(shape);
  Array<float, 2> dark(shape);
  std::fill_n(dark.data(), dark.size(), 0.0F);
  Array<Complex, 2> black(shape);
  std::fill_n(black.data(), black.size(), Complex{});
  auto wrong = options;
  wrong.planes = {{.distance_m = 0}};
  refused(wrong, target, {}, 1, "planes.distance_m: expected a distance other than 0, got 0");
  refused(options, draw_picture({16, 16}), {}, 1, "amplitude: expected {16, 24}, got {16, 16}");
  refused(options, dark, {}, 1, "amplitude: expected finite values, not all zero");
  refused(options, target, black, 1, "source: expected finite values, not all zero");
  refused(options, target, Array<Complex, 2>({4, 4}), 1, "source: expected {16, 24}, got {4, 4}");
  for (const double share : {0.0, -1.0, 1.5, std::numeric_limits<double>::quiet_NaN()}) {
    refused(options, target, {}, share, "share: expected > 0 to 1, got ");
  }
}

TEST(Transport, TinyAndLongPanelsAreStarted) {
  for (const Shape<2> shape : {Shape<2>{1, 1}, {1, 40}, {300, 2}, {7, 9}}) {
    const auto made = holotone::transport_phase(
        {.grid = make_grid(shape[0], shape[1]), .planes = {{.distance_m = 0.05}}}, draw_picture(shape).view(), {}, 0.8);
    ASSERT_EQ(made.phase_rad.shape(), shape);
    for (const float value : made.phase_rad.host()) ASSERT_TRUE(std::isfinite(value));
  }
}

// The derivative of the loss with a fixed scale, against differences of the loss.
TEST(LightShare, GradientIsThatOfTheFixedScale) {
  const Shape<2> shape{12, 10};
  PhaseRetrievalPlan plan(
      {.grid = make_grid(12, 10), .planes = {{.distance_m = 2e-3}}, .region = {2, 2, 8, 6}, .efficiency = 0.7});
  const auto beam = beam_of(shape);
  plan.set_source(beam.view());
  plan.set_target(draw_picture(shape).view());
  auto phase = holotone::starting_phase({1, 12, 10}, 2, 5);
  const auto derivative = support::gradient_at(plan, phase, Device{}).second;
  double error = 0;
  double sum = 0;
  for (std::int64_t i = 0; i < phase.size(); i += 7) {
    constexpr float step = 0.02F;
    const float here = phase.data()[i];
    phase.data()[i] = here + step;
    const double above = support::gradient_at(plan, phase, Device{}).first;
    phase.data()[i] = here - step;
    const double below = support::gradient_at(plan, phase, Device{}).first;
    phase.data()[i] = here;
    const double expected = (above - below) / (2 * static_cast<double>(step));
    error += std::pow(static_cast<double>(derivative.data()[i]) - expected, 2);
    sum += expected * expected;
  }
  support::expect_within("gradient", std::sqrt(error / sum), 2e-3);
}

TEST(LightShare, ThePictureGetsIt) {
  const Shape<2> shape{64, 80};
  const auto target = draw_picture(shape);
  for (const double wanted : {0.3, 0.6}) {
    PhaseRetrievalPlan plan(
        {.grid = make_grid(64, 80), .planes = {{.distance_m = 0.02}}, .region = {8, 10, 48, 60}, .efficiency = wanted});
    plan.set_target(target.view());
    auto phase = holotone::starting_phase({1, 64, 80});
    plan.optimize(phase.view(), {.iterations = 60});
    EXPECT_NEAR(plan.quality(phase.view()).front().efficiency, wanted, 0.03);
  }
}

TEST(LightShare, BadArgumentsAreNamed) {
  const auto refused = [](const PhaseRetrievalOptions& options, const std::string& text) {
    support::expect_error(holotone::ErrorCode::invalid_argument, text, [&] { PhaseRetrievalPlan plan(options); });
  };
  refused({.grid = make_grid(8, 8), .efficiency = 1.5}, "efficiency: expected 0 to 1, got 1.5");
  refused({.grid = make_grid(8, 8), .planes = {{}, {}}, .efficiency = 0.5}, "efficiency: expected one plane, got 2");
  refused({.grid = make_grid(8, 8), .loss = holotone::RetrievalLoss::intensity, .efficiency = 0.5},
          "efficiency: expected the loss amplitude, got intensity");
}

// Light with zeros of either sign at known places.
TEST(Vortices, ZerosAroundWhichThePhaseTurnsAreCounted) {
  constexpr std::int64_t rows = 12;
  constexpr std::int64_t columns = 16;
  const auto make_waves = [&](const auto& wave) {
    holotone::retrieval::PositionWaves waves;
    for (std::size_t p = 0; p < waves.size(); ++p) {
      waves[p] = Array<Complex, 2>({rows, columns});
      for (std::int64_t y = 0; y < rows; ++y) {
        for (std::int64_t x = 0; x < columns; ++x) {
          const double down = 0.5 * holotone::half_pixels[p][0];
          const double right = 0.5 * holotone::half_pixels[p][1];
          waves[p](y, x) = Complex(wave(static_cast<double>(x) + right, static_cast<double>(y) + down));
        }
      }
    }
    return waves;
  };
  Array<float, 2> amplitude({rows, columns});
  std::fill_n(amplitude.data(), amplitude.size(), 1.0F);
  const auto lit = holotone::retrieval::lit_pixels(amplitude.view(), {0, 0, rows, columns}, 1);
  using Value = std::complex<double>;
  const auto two = [](double x, double y) {
    return Value(x - 3.2, y - 4.7) * std::conj(Value(x - 9.1, y - 6.3)) * std::polar(1.0, 0.3 * x - 0.2 * y);
  };
  const auto line = [](double x, double) { return Value(x - 5.3, 0); };  // dark, and no vortex
  EXPECT_EQ(holotone::retrieval::count_vortices(make_waves(two), lit.view()), 2);
  EXPECT_EQ(holotone::retrieval::count_vortices(make_waves(line), lit.view()), 0);
  for (std::int64_t x = 0; x < 6; ++x) amplitude(4, x) = 0.05F;  // the first zero lies in the dark
  const auto part = holotone::retrieval::lit_pixels(amplitude.view(), {0, 0, rows, columns}, 1);
  EXPECT_EQ(holotone::retrieval::count_vortices(make_waves(two), part.view()), 1);
}

}  // namespace
