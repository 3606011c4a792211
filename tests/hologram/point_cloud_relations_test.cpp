// Relations between results for any input: closed forms and invariances, for every method and device.
#include <cmath>
#include <cstdio>
#include <functional>
#include <gtest/gtest.h>
#include <holotone/core/device.hpp>
#include <holotone/hologram/point_cloud.hpp>
#include <limits>
#include <numbers>
#include <numeric>
#include <tests/cases/point_cloud.hpp>
#include <tests/support/on_each_device.hpp>

namespace {

using holotone::Array;
using holotone::Device;
using holotone::PointCloudOptions;
using holotone::PointCloudPlan;
using holotone::PointMethod;
using support::Complex;

constexpr double tolerance = 1e-4;

class PointCloudRelations : public support::OnEachDevice {
 protected:
  void for_every_engine(const std::function<void(PointMethod, Device)>& body) const {
    on_each([&](Device device) {
      for (const auto method : cases::point_methods) {
        if (!cases::has_method(method, tolerance, device)) continue;
        SCOPED_TRACE(to_string(method));
        body(method, device);
      }
    });
  }
};
HOLOTONE_ON_EACH_DEVICE(PointCloudRelations);

cases::PointCloudCase base_case(PointMethod method) {
  cases::PointCloudCase c;
  c.options.shape = {47, 83};
  c.options.method = method;
  c.options.tolerance = tolerance;
  c.count = 60;
  c.near_m = 0.1;
  c.far_m = 0.15;
  c.seed = 5;
  return c;
}

Array<Complex, 2> compute_field(const reference::PointWaves& points, const PointCloudOptions& options, Device device) {
  return point_cloud_field(cases::sources(points), options, device).to(Device{});
}

/// ||a - b|| / ||b||
double difference(const Array<Complex, 2>& a, const Array<Complex, 2>& b) {
  double error = 0;
  double norm = 0;
  for (std::int64_t i = 0; i < b.size(); ++i) {
    error += std::norm(std::complex<double>(a.data()[i]) - std::complex<double>(b.data()[i]));
    norm += std::norm(std::complex<double>(b.data()[i]));
  }
  return std::sqrt(error / norm);
}

TEST_P(PointCloudRelations, OnePointIsAZonePlate) {
  for_every_engine([](PointMethod method, Device device) {
    PointCloudOptions options{
        .pitch_m = 8e-6, .shape = {51, 101}, .method = method, .tolerance = tolerance, .band_limit = false};
    for (const float distance : {0.05F, 0.2F, 1.0F, -0.1F}) {
      reference::PointWaves point{{{16e-6F, -24e-6F, -distance}}, {2.0F}, {0.5F}};
      const auto field = compute_field(point, options, device);
      double error = 0;
      for (std::int64_t row = 0; row < 51; ++row) {
        for (std::int64_t col = 0; col < 101; ++col) {
          // Two columns right of the centre and three rows below it.
          const double dx = (static_cast<double>(col) - 50) * 8e-6 - static_cast<double>(16e-6F);
          const double dy = (25 - static_cast<double>(row)) * 8e-6 - static_cast<double>(-24e-6F);
          const double phase = 0.5 + std::numbers::pi * (dx * dx + dy * dy) / (532e-9 * static_cast<double>(distance));
          error += std::norm(std::complex<double>(field(row, col)) - std::polar(2.0, phase));
        }
      }
      const double relative = std::sqrt(error / (51.0 * 101.0)) / 2;
      EXPECT_LE(relative, tolerance);
      // On its axis: the pixel whose centre is the point's foot, where the phase is the point's own.
      EXPECT_NEAR(std::arg(field(28, 52)), 0.5, 4 * tolerance);
    }
  });
}

TEST_P(PointCloudRelations, EnergyOfOnePointIsItsLitPixels) {
  for_every_engine([](PointMethod method, Device device) {
    PointCloudOptions options{
        .shape = {101, 201}, .method = method, .wave = holotone::Wave::fresnel, .tolerance = tolerance};
    // lambda d / (2 pitch) = 0.3325 mm at 1 cm: 41.6 pixels to each side of the axis at (100, 50)
    const reference::PointWaves point{{{0, 0, -0.01F}}, {1.5F}, {}};
    const auto field = compute_field(point, options, device);
    double energy = 0;
    std::int64_t lit = 0;
    for (std::int64_t row = 0; row < 101; ++row) {
      for (std::int64_t col = 0; col < 201; ++col) {
        energy += std::norm(std::complex<double>(field(row, col)));
        const bool inside = std::abs(row - 50) <= 41 && std::abs(col - 100) <= 41;
        EXPECT_EQ(field(row, col) != Complex(), inside) << row << ", " << col;
        lit += inside ? 1 : 0;
      }
    }
    EXPECT_NEAR(energy, 1.5 * 1.5 * static_cast<double>(lit), 2 * tolerance * energy);
  });
}

TEST_P(PointCloudRelations, BandLimitCutsWhereFringesWouldAlias) {
  // Along the row through the axis the phase step between neighbours is 2 curvature (u + 1/2) turns. With the limit no
  // lit pair steps by more than half a turn; without it, pairs beyond it do, and the samples show a coarser fringe.
  for_every_engine([](PointMethod method, Device device) {
    PointCloudOptions options{
        .shape = {3, 401}, .method = method, .wave = holotone::Wave::fresnel, .tolerance = tolerance};
    const reference::PointWaves point{{{0, 0, -0.01F}}, {1.0F}, {}};
    const auto limited = compute_field(point, options, device);
    options.band_limit = false;
    const auto open = compute_field(point, options, device);
    const double curvature = 8e-6 * 8e-6 / (2 * 532e-9 * static_cast<double>(0.01F));
    const auto step_turns = [](const Array<Complex, 2>& field, std::int64_t col) {
      return std::arg(std::complex<double>(field(1, col + 1)) * std::conj(std::complex<double>(field(1, col)))) /
             (2 * std::numbers::pi);
    };
    int aliased = 0;
    for (std::int64_t col = 200; col < 400; ++col) {
      const double wanted = curvature * (2 * static_cast<double>(col - 200) + 1);
      const double seen = step_turns(open, col);
      EXPECT_NEAR(std::remainder(seen - wanted, 1.0), 0, tolerance) << col;
      if (limited(1, col + 1) != Complex()) {
        EXPECT_LE(wanted, 0.5);
        EXPECT_NEAR(step_turns(limited, col), wanted, tolerance);
      } else {
        EXPECT_GT(wanted, 0.5 - 2 * curvature);
      }
      if (wanted > 0.5 && std::abs(seen) < 0.5 * std::abs(wanted)) ++aliased;
    }
    EXPECT_GT(aliased, 50);
  });
}

TEST_P(PointCloudRelations, ShiftingTheCloudByWholePixelsShiftsTheField) {
  for_every_engine([](PointMethod method, Device device) {
    auto c = base_case(method);
    // A pitch and positions that are binary fractions: the shift is exact in float32.
    c.options.pitch_m = 0x1p-17;
    auto points = cases::make_points(c);
    for (auto& position : points.position_m) {
      for (int axis = 0; axis < 2; ++axis) {
        auto& value = position[static_cast<std::size_t>(axis)];
        value = std::round(value * 0x1p25F) * 0x1p-25F;
      }
    }
    const auto before = compute_field(points, c.options, device);
    constexpr std::int64_t right = 7;
    constexpr std::int64_t up = 4;
    for (auto& position : points.position_m) {
      position[0] += static_cast<float>(right) * 0x1p-17F;
      position[1] += static_cast<float>(up) * 0x1p-17F;
    }
    const auto after = compute_field(points, c.options, device);
    double error = 0;
    double norm = 0;
    for (std::int64_t row = 0; row + up < 47; ++row) {
      for (std::int64_t col = right; col < 83; ++col) {
        error += std::norm(std::complex<double>(after(row, col)) - std::complex<double>(before(row + up, col - right)));
        norm += std::norm(std::complex<double>(before(row + up, col - right)));
      }
    }
    EXPECT_LE(std::sqrt(error / norm), 2 * tolerance);
  });
}

// A plan for 19 rows sums the panel's 47 rows in three parts; the last one overlaps.
TEST_P(PointCloudRelations, BandsOfRowsMakeThePanel) {
  for_every_engine([](PointMethod method, Device device) {
    auto c = base_case(method);
    c.near_m = -0.006;  // light ends within the panel
    c.far_m = 0.012;
    const auto points = cases::make_points(c);
    const auto whole = compute_field(points, c.options, device);
    PointCloudPlan plan(c.options, device, 19);
    plan.set_points(cases::sources(points));
    Array<Complex, 2> bands(c.options.shape);
    for (const std::int64_t first : {0, 19, 28}) {
      Array<Complex, 2> there({19, 83}, device);
      plan.execute({first, 19}, {there.view(), {}, {}});
      holotone::Queue(device).synchronize();
      const auto band = there.to(Device{});
      for (std::int64_t i = 0; i < band.size(); ++i) bands.data()[first * 83 + i] = band.data()[i];
    }
    const double error = difference(bands, whole);
    std::printf("%s: bands differ by %.2g\n", std::string(to_string(method)).c_str(), error);
    EXPECT_LE(error, method == PointMethod::direct ? 1e-6 : 2 * tolerance);
  });
}

// Rows at the bottom of a panel of 24,576. Point coordinates in float32 there have steps of 0.9 nm; a subtraction in
// float32 would change phases by about 1e-3.
TEST_P(PointCloudRelations, ABandFarFromTheMiddleIsExact) {
  for_every_engine([](PointMethod method, Device device) {
    constexpr std::int64_t all_rows = 24576;
    cases::PointCloudCase c = base_case(method);
    c.options.pitch_m = 750e-9;
    c.options.shape = {all_rows, 64};
    c.near_m = 0.004;
    c.far_m = 0.02;
    auto points = cases::make_points(c);
    for (std::size_t j = 0; j < points.position_m.size(); ++j) {
      auto& [x, y, z] = points.position_m[j];
      y = -9.2e-3F + 1.5e-3F * static_cast<float>(holotone::random_uniform64(3, j));
      if (j % 3 == 0) z = -z;
    }
    const std::int64_t first = all_rows - 11;
    PointCloudPlan plan(c.options, device, 11);
    plan.set_points(cases::sources(points));
    Array<Complex, 2> there({11, 64}, device);
    plan.execute({first, 11}, {there.view(), {}, {}});
    holotone::Queue(device).synchronize();
    const auto field = there.to(Device{});
    const auto panel = cases::panel_of(c.options);
    double error = 0;
    double norm = 0;
    for (std::int64_t row = 0; row < 11; ++row) {
      for (std::int64_t col = 0; col < 64; ++col) {
        const auto expected = reference::point_cloud_pixel(points, panel, first + row, col);
        error += std::norm(std::complex<double>(field(row, col)) - expected);
        norm += std::norm(expected);
      }
    }
    error = std::sqrt(error / norm);
    std::printf("%s: %.2g of %.2g\n", std::string(to_string(method)).c_str(), error, tolerance);
    EXPECT_GT(norm, 1);
    EXPECT_LE(error, tolerance);
  });
}

TEST_P(PointCloudRelations, FieldsOfTwoCloudsAdd) {
  for_every_engine([](PointMethod method, Device device) {
    auto c = base_case(method);
    const auto first = cases::make_points(c);
    c.seed = 6;
    c.near_m = -0.2;
    c.far_m = -0.1;
    const auto second = cases::make_points(c);
    auto both = first;
    both.position_m.insert(both.position_m.end(), second.position_m.begin(), second.position_m.end());
    both.amplitude.insert(both.amplitude.end(), second.amplitude.begin(), second.amplitude.end());
    auto sum = compute_field(first, c.options, device);
    const auto other = compute_field(second, c.options, device);
    for (std::int64_t i = 0; i < sum.size(); ++i) sum.data()[i] += other.data()[i];
    EXPECT_LE(difference(compute_field(both, c.options, device), sum), 2.5 * tolerance);
  });
}

TEST_P(PointCloudRelations, AmplitudeScalesAndPhaseTurnsTheField) {
  for_every_engine([](PointMethod method, Device device) {
    const auto c = base_case(method);
    auto points = cases::make_points(c);
    auto expected = compute_field(points, c.options, device);
    for (auto& amplitude : points.amplitude) amplitude *= -250.0F;
    points.phase_rad.assign(points.amplitude.size(), 1.25F);
    for (std::int64_t i = 0; i < expected.size(); ++i) expected.data()[i] *= -250.0F * std::polar(1.0F, 1.25F);
    EXPECT_LE(difference(compute_field(points, c.options, device), expected), 2.5 * tolerance);
  });
}

TEST_P(PointCloudRelations, OrderOfThePointsDoesNotMatter) {
  for_every_engine([](PointMethod method, Device device) {
    auto c = base_case(method);
    c.count = 700;
    const auto points = cases::make_points(c);
    auto shuffled = points;
    for (std::size_t j = points.amplitude.size() - 1; j > 0; --j) {
      const auto k = static_cast<std::size_t>(holotone::random_bits(9, j) % (j + 1));
      std::swap(shuffled.position_m[j], shuffled.position_m[k]);
      std::swap(shuffled.amplitude[j], shuffled.amplitude[k]);
    }
    EXPECT_LE(difference(compute_field(shuffled, c.options, device), compute_field(points, c.options, device)),
              2 * tolerance);
  });
}

TEST_P(PointCloudRelations, FrontAndBackAreConjugate) {
  for_every_engine([](PointMethod method, Device device) {
    const auto c = base_case(method);
    auto points = cases::make_points(c);
    auto expected = compute_field(points, c.options, device);
    for (auto& position : points.position_m) position[2] = -position[2];
    for (std::int64_t i = 0; i < expected.size(); ++i) expected.data()[i] = std::conj(expected.data()[i]);
    EXPECT_LE(difference(compute_field(points, c.options, device), expected), 2 * tolerance);
  });
}

TEST_P(PointCloudRelations, PlanTwiceEqualsPlanOnceEqualsOneShot) {
  for_every_engine([](PointMethod method, Device device) {
    auto c = base_case(method);
    const auto first = cases::make_points(c);
    c.seed = 8;
    c.count = 90;
    c.phases = true;
    const auto second = cases::make_points(c);
    PointCloudPlan plan(c.options, device);
    Array<Complex, 2> field(c.options.shape, device);
    const auto run = [&](const reference::PointWaves& points) {
      plan.set_points(cases::sources(points));
      plan.execute({field.view(), {}, {}});
      holotone::Queue(device).synchronize();
      return field.to(Device{});
    };
    const auto once = run(first);
    const auto other = run(second);
    const auto again = run(first);
    const auto one_shot = compute_field(first, c.options, device);
    EXPECT_GT(difference(other, once), 0.5);
    for (std::int64_t i = 0; i < once.size(); ++i) {
      ASSERT_EQ(once.data()[i], again.data()[i]);
      ASSERT_EQ(once.data()[i], one_shot.data()[i]);
    }
  });
}

TEST_P(PointCloudRelations, PointsOnThePlansDeviceGiveWhatHostPointsGive) {
  for_every_engine([](PointMethod method, Device device) {
    auto c = base_case(method);
    c.phases = true;
    const auto points = cases::make_points(c);
    const auto host = cases::sources(points);
    const auto position = copy_of(host.position_m, device);
    const auto amplitude = copy_of(host.amplitude, device);
    const auto phase = copy_of(host.phase_rad, device);
    const auto there = point_cloud_field({position.view(), amplitude.view(), phase.view()}, c.options, device);
    EXPECT_EQ(difference(there.to(Device{}), compute_field(points, c.options, device)), 0);
  });
}

TEST_P(PointCloudRelations, OutputsAreWrittenWholeAndNothingElse) {
  for_every_engine([](PointMethod method, Device device) {
    auto c = base_case(method);
    c.options.shape = {21, 37};
    const auto points = cases::make_points(c);
    PointCloudPlan plan(c.options, device);
    plan.set_points(cases::sources(points));
    const auto size = c.pixels();
    constexpr std::int64_t guard = 64;
    const float nan = std::numeric_limits<float>::quiet_NaN();
    Array<Complex, 1> field({size + 2 * guard});
    Array<float, 1> real({size + 2 * guard});
    std::fill(field.data(), field.data() + field.size(), Complex(nan, nan));
    std::fill(real.data(), real.data() + real.size(), nan);
    Array<std::uint8_t, 1> phase_a({size + 2 * guard});
    Array<std::uint8_t, 1> phase_b({size + 2 * guard});
    std::fill(phase_a.data(), phase_a.data() + phase_a.size(), std::uint8_t{0xAB});
    std::fill(phase_b.data(), phase_b.data() + phase_b.size(), std::uint8_t{0x54});
    auto there_field = field.to(device);
    auto there_real = real.to(device);
    auto there_a = phase_a.to(device);
    auto there_b = phase_b.to(device);
    const auto inner = [&](auto& array) { return holotone::View(array.data() + guard, c.options.shape, device); };
    plan.execute({inner(there_field), inner(there_real), inner(there_a)});
    plan.execute({{}, {}, inner(there_b)});
    holotone::Queue(device).synchronize();
    const auto got_field = there_field.to(Device{});
    const auto got_real = there_real.to(Device{});
    const auto got_a = there_a.to(Device{});
    const auto got_b = there_b.to(Device{});
    for (std::int64_t i = 0; i < size + 2 * guard; ++i) {
      const bool outside = i < guard || i >= size + guard;
      EXPECT_EQ(std::isnan(got_field(i).real()) && std::isnan(got_field(i).imag()), outside) << i;
      EXPECT_EQ(std::isnan(got_real(i)), outside) << i;
      if (outside) {
        EXPECT_EQ(got_a(i), 0xAB) << i;
        EXPECT_EQ(got_b(i), 0x54) << i;
      } else {
        EXPECT_EQ(got_a(i), got_b(i)) << i;  // written both times, otherwise the two fill values differ
      }
    }
  });
}

TEST_P(PointCloudRelations, PointsThatLightNothingAddNothing) {
  for_every_engine([](PointMethod method, Device device) {
    const auto c = base_case(method);
    auto points = cases::make_points(c);
    const auto expected = compute_field(points, c.options, device);
    points.position_m.insert(points.position_m.begin(), {5.0F, -5.0F, -0.1F});  // metres off the panel
    points.amplitude.insert(points.amplitude.begin(), 1e6F);
    points.position_m.push_back({2e-6F, 2e-6F, -1e-9F});  // so near that its light falls between pixels
    points.amplitude.push_back(1e6F);
    points.position_m.push_back({0, 0, -0.1F});
    points.amplitude.push_back(0);
    EXPECT_LE(difference(compute_field(points, c.options, device), expected), 2 * tolerance);
  });
}

}  // namespace
