// Every method on every device against the float64 sum, for both waves and from loose to tightest tolerance.
#include <cmath>
#include <cstdio>
#include <gtest/gtest.h>
#include <holotone/core/device.hpp>
#include <holotone/hologram/point_cloud.hpp>
#include <span>
#include <tests/cases/point_cloud.hpp>
#include <tests/support/on_each_device.hpp>

namespace {

using holotone::Array;
using holotone::Device;
using holotone::PointCloudPlan;
using holotone::PointMethod;
using holotone::Wave;

constexpr double tolerances[] = {1e-1, 1e-2, 1e-3, 1e-4, 1e-5, holotone::point_cloud_tolerance_floor};

cases::PointCloudCase small(std::string name, std::int64_t ny, std::int64_t nx, std::int64_t count, double near_m,
                            double far_m) {
  cases::PointCloudCase c;
  c.name = std::move(name);
  c.options.shape = {ny, nx};
  c.count = count;
  c.near_m = near_m;
  c.far_m = far_m;
  c.seed = 11;
  return c;
}

/// Odd sizes, both sides of the panel, effective band limits, points off the panel, one point, individual phases.
std::vector<cases::PointCloudCase> small_cases() {
  std::vector<cases::PointCloudCase> all;
  all.push_back(small("behind", 64, 96, 200, 0.5, 0.6));
  all.push_back(small("in front, odd size", 65, 131, 150, -0.3, -0.2));
  all.push_back(small("one point", 33, 57, 1, 0.2, 0.2));
  all.push_back(small("deep", 64, 96, 150, 0.01, 1.0));
  all.push_back(small("lit in part", 97, 203, 180, 0.004, 0.012));
  all.push_back(small("in front, lit in part", 150, 300, 120, -0.02, -0.01));
  all.push_back(small("off the axis", 61, 140, 90, 0.05, 0.06));
  all.back().offset = 0.9;
  all.push_back(small("with phases", 40, 129, 77, 0.3, 0.4));
  all.back().phases = true;
  all.push_back(small("one row", 1, 515, 30, 0.1, 0.2));
  all.push_back(small("one column", 300, 1, 30, 0.1, 0.2));
  all.push_back(small("fine pitch, no band limit", 64, 100, 60, 0.02, 0.03));
  all.back().options.pitch_m = 3.74e-6;
  all.back().options.band_limit = false;
  all.push_back(small("red", 48, 80, 64, 0.15, 0.25));
  all.back().options.wavelength_m = 638e-9;
  all.push_back(small("red in the cone of blue", 97, 203, 180, 0.004, 0.02));
  all.back().options.wavelength_m = 638e-9;
  all.back().options.cone_wavelength_m = 450e-9;
  return all;
}

/// Checks field, real part and 8-bit phase of one case and prints the used share of the tolerance.
void check(const cases::PointCloudCase& c, const reference::PointWaves& points, const cases::PixelSample& expected,
           Device device) {
  SCOPED_TRACE(c.name + " on " + to_string(device) + ", " + std::string(to_string(c.options.method)));
  const holotone::Queue queue(device);
  PointCloudPlan plan(c.options, queue);
  plan.set_points(cases::sources(points));
  EXPECT_EQ(plan.point_count(), c.count);
  EXPECT_LE(plan.info().expected_error, c.options.tolerance);
  EXPECT_GT(plan.info().workspace_bytes, 0U);
  Array<std::complex<float>, 2> field(c.options.shape, queue);
  Array<float, 2> real(c.options.shape, queue);
  Array<float, 2> real_alone(c.options.shape, queue);
  Array<std::uint8_t, 2> phase(c.options.shape, queue);
  plan.execute({field.view(), real.view(), phase.view()});
  plan.execute({{}, real_alone.view(), {}});
  queue.synchronize();
  const auto host_field = field.to(Device{});
  const auto host_real = real.to(Device{});
  const double error = cases::relative_error(expected, host_field.data());
  const double real_error = cases::relative_error(expected, real_alone.to(Device{}).data());
  EXPECT_LE(error, c.options.tolerance);
  EXPECT_LE(real_error, c.options.tolerance);
  for (std::int64_t i = 0; i < c.pixels(); ++i) {
    ASSERT_EQ(host_real.data()[i], host_field.data()[i].real()) << "pixel " << i;
  }
  EXPECT_LE(cases::phase_error_levels(expected, phase.to(Device{}).data()), 0.31 + 40.8 * c.options.tolerance);
  std::printf("  %-26s %-6s %-10s tolerance %.0e: field %.1e, real part %.1e (%.0f %% used)\n", c.name.c_str(),
              to_string(device).c_str(), std::string(to_string(plan.info().method)).c_str(), c.options.tolerance, error,
              real_error, 100 * error / c.options.tolerance);
}

class PointCloud : public support::OnEachDevice {
 protected:
  void check_all(const cases::PointCloudCase& c, std::span<const PointMethod> all_methods,
                 std::span<const double> all_tolerances, std::int64_t samples) const {
    check_all(c, cases::make_points(c), all_methods, all_tolerances, samples);
  }

  /// Checks the case with every given method and tolerance; the reference is computed once.
  void check_all(cases::PointCloudCase c, const reference::PointWaves& points, std::span<const PointMethod> all_methods,
                 std::span<const double> all_tolerances, std::int64_t samples) const {
    const auto expected = cases::sample_reference(c, points, samples);
    on_each([&](Device device) {
      for (const auto method : all_methods) {
        for (const double tolerance : all_tolerances) {
          if (!cases::has_method(method, tolerance, device)) continue;
          c.options.method = method;
          c.options.tolerance = tolerance;
          check(c, points, expected, device);
        }
      }
    });
  }
};
HOLOTONE_ON_EACH_DEVICE(PointCloud);

TEST_P(PointCloud, EveryMethodAndDeviceHoldsEveryTolerance) {
  for (const auto& c : small_cases()) check_all(c, cases::point_methods, tolerances, 6000);
}

TEST_P(PointCloud, SphericalWaveHoldsEveryTolerance) {
  constexpr PointMethod direct[] = {PointMethod::direct};
  for (auto c : small_cases()) {
    c.options.wave = Wave::spherical;
    check_all(c, direct, tolerances, 6000);
  }
}

TEST_P(PointCloud, WholePanelIsRightEverywhere) {
  constexpr double tolerance[] = {1e-3};
  auto uneven = small("LETO cut", 1079, 1931, 20, 0.05, 0.3);
  uneven.options.pitch_m = 6.4e-6;
  check_all(uneven, cases::point_methods, tolerance, 4096);
  check_all(small("PLUTO, near", 1080, 1920, 20, 0.2, 0.21), cases::point_methods, tolerance, 4096);
  check_all(small("PLUTO, far, in front", 1080, 1920, 20, -0.6, -0.5), cases::point_methods, tolerance, 4096);
}

TEST_P(PointCloud, ManyPointsAreSummedWithoutLoss) {
  // More points than any engine processes at once, and more than it sums in float32 at once.
  constexpr double tolerance[] = {1e-5};
  check_all(small("many", 30, 50, 70001, 0.3, 0.4), cases::point_methods, tolerance, 100);
}

// Waves in phase add up everywhere, and so do the losses of long float32 sums.
TEST_P(PointCloud, EqualPointsAreSummedWithoutLoss) {
  constexpr double tight[] = {5e-4, 4e-4, 1e-4, 1e-5};
  const auto c = small("equal points", 16, 24, 40960, 0.2354, 0.2354);
  check_all(c, cases::equal_points(c), cases::point_methods, tight, 100);
}

TEST(PointCloudOnTheCpu, SumsMillionsOfEqualPointsToTheFloor) {
  auto c = small("one of three million", 16, 24, 1, 0.2354, 0.2354);
  auto expected = cases::sample_reference(c, cases::equal_points(c), 16 * 24);
  c.count = 3'000'000;
  for (auto& value : expected.value) value *= static_cast<double>(c.count);
  c.options.tolerance = holotone::point_cloud_tolerance_floor;
  const auto points = cases::equal_points(c);
  for (const auto method : {PointMethod::direct, PointMethod::recurrence}) {
    c.options.method = method;
    check(c, points, expected, Device{});
  }
}

}  // namespace
