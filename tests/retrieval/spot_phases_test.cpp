// Spots of given phases, against float64 sums: what they are, and how neighbours interfere.
#include <algorithm>
#include <cmath>
#include <complex>
#include <gtest/gtest.h>
#include <holotone/core/random.hpp>
#include <holotone/retrieval/spots/spot_plan.hpp>
#include <limits>
#include <numbers>
#include <tests/reference/spots.hpp>
#include <tests/support/on_each_device.hpp>
#include <tests/support/small_spots.hpp>

namespace {

using holotone::Array;
using holotone::Device;
using holotone::SpotOptions;
using holotone::SpotPlan;

using support::positions;
using support::small_spot_panel;
using support::Spots;

/// A skewed lattice of n places, `depth` widths in front of and behind the focal plane by turns.
Spots places(const SpotOptions& options, int n, double depth) {
  const auto width_m = holotone::spot_width_m(options);
  Spots spots;
  for (int i = 0; i < n; ++i) {
    const std::array<double, 3> at{4.3 * (i % 6) + 0.37 * (i / 6) + 5, 3.9 * (i / 6) - 8.2,
                                   i % 2 == 0 ? depth : -depth};
    auto& spot = spots.emplace_back();
    for (std::size_t axis = 0; axis < 3; ++axis) spot[axis] = static_cast<float>(at[axis] * width_m[axis]);
  }
  return spots;
}

std::vector<std::complex<double>> fields_of(const SpotPlan& plan, const Spots& spots) {
  const auto& grid = plan.options().grid;
  Array<float, 2> phase_rad(grid.shape());
  plan.phase(phase_rad.view());
  return reference::spot_fields({grid.nx, grid.ny, grid.pitch_m, grid.wavelength_m, plan.options().focal_length_m},
                                spots, phase_rad.host());
}

class SpotPhases : public support::OnEachDevice {};
HOLOTONE_ON_EACH_DEVICE(SpotPhases);

TEST_P(SpotPhases, SpotsHaveThem) {
  on_each([](Device device) {
    for (const double depth : {0.0, 1.5}) {
      for (const int levels : {0, 64}) {
        auto options = small_spot_panel();
        options.levels = levels;
        const auto spots = places(options, 24, depth);
        std::vector<float> phase;
        std::vector<float> intensity;
        for (std::uint64_t m = 0; m < spots.size(); ++m) {
          phase.push_back(static_cast<float>(20 * holotone::random_uniform64(7, m)));
          intensity.push_back(m % 3 == 0 ? 0.4F : 1.0F);
        }
        SpotPlan plan(options, holotone::Queue(device));
        plan.set_spots(positions(spots), {intensity.data(), {std::ssize(intensity)}});
        plan.set_phases({phase.data(), {std::ssize(phase)}});
        const auto report = plan.solve();
        const auto fields = fields_of(plan, spots);
        std::complex<double> common;
        for (std::size_t m = 0; m < fields.size(); ++m) common += fields[m] * std::polar(1.0, -double{phase[m]});
        double square = 0;
        double worst = 0;
        double mean = 0;
        for (std::size_t m = 0; m < fields.size(); ++m) {
          const double error = std::arg(fields[m] * std::polar(1.0, -double{phase[m]}) / common);
          square += error * error / static_cast<double>(fields.size());
          mean += std::norm(fields[m]) / double{intensity[m]} / static_cast<double>(fields.size());
        }
        for (std::size_t m = 0; m < fields.size(); ++m) {
          worst = std::max(worst, std::abs(std::norm(fields[m]) / double{intensity[m]} / mean - 1));
        }
        const double error_rad = std::sqrt(square);
        std::printf("depth %.1f, %d levels: phases %.1e rad, intensities %.1e, %.0f %% of the light\n", depth, levels,
                    error_rad, worst, 100 * report.light.efficiency);
        EXPECT_LT(error_rad, levels == 0 ? 5e-3 : 0.02);
        EXPECT_LT(worst, levels == 0 ? 7.5e-3 : 0.03);
        EXPECT_NEAR(report.light.phase_error_rad, error_rad, 5e-4);
        EXPECT_GT(report.light.efficiency, 0.5);
      }
    }
  });
}

// Half way between two spots 1.4 widths apart: dark if they are opposite, bright if they are alike.
TEST_P(SpotPhases, NeighboursInterfereByThem) {
  on_each([](Device device) {
    const auto options = small_spot_panel();
    const auto width_m = holotone::spot_width_m(options);
    const auto x = [&](double widths) { return static_cast<float>(widths * width_m[0]); };
    const Spots spots{{x(9), x(4), 0}, {x(10.4), x(4), 0}};
    const Spots between{{x(9.7), x(4), 0}};
    std::array<double, 2> middle{};
    for (const std::size_t i : {0U, 1U}) {
      SpotPlan plan(options, holotone::Queue(device));
      plan.set_spots(positions(spots));
      const std::array<float, 2> phase{0, i == 0 ? 0 : static_cast<float>(std::numbers::pi)};
      plan.set_phases({phase.data(), {2}});
      const auto report = plan.solve();
      EXPECT_LT(report.light.worst, 7.5e-3);
      EXPECT_LT(report.light.phase_error_rad, 5e-3);
      middle.at(i) = std::norm(fields_of(plan, between).front()) / std::norm(fields_of(plan, spots).front());
    }
    std::printf("half way: %.3f of a spot if alike, %.1e if opposite\n", middle[0], middle[1]);
    EXPECT_GT(middle[0], 0.5);
    EXPECT_LT(middle[1], 1e-3);
  });
}

// Codes that a panel shows are refined to the same phases; without phases they are free again.
TEST_P(SpotPhases, StoredPhasesAreRefined) {
  on_each([](Device device) {
    const auto options = small_spot_panel();
    const auto spots = places(options, 12, 0);
    const std::vector<float> phase(12, 0.5F);
    SpotPlan plan(options, holotone::Queue(device));
    plan.set_spots(positions(spots));
    plan.set_phases({phase.data(), {12}});
    plan.solve();
    Array<float, 2> shown(options.grid.shape());
    plan.phase(shown.view());
    SpotPlan again(options, holotone::Queue(device));
    again.set_spots(positions(spots));
    again.set_phases({phase.data(), {12}});
    again.start_from(shown.view());
    const std::vector<float> measured{1, 1.2F, 1, 0.8F, 1, 1, 1, 1, 1, 1, 1, 1};
    again.set_measured({measured.data(), {12}}, 1);
    EXPECT_LT(again.refine().light.phase_error_rad, 5e-3);
    again.set_spots(positions(spots));
    EXPECT_EQ(again.solve().light.phase_error_rad, 0);
  });
}

TEST_P(SpotPhases, OthersAreRefused) {
  on_each([](Device device) {
    const auto options = small_spot_panel();
    SpotPlan plan(options, holotone::Queue(device));
    std::vector<float> phase(3, 0.0F);
    const auto set = [&] { plan.set_phases({phase.data(), {std::ssize(phase)}}); };
    support::expect_error(holotone::ErrorCode::invalid_argument, "a call of set_spots before", set);
    plan.set_spots(positions(places(options, 4, 0)));
    support::expect_error(holotone::ErrorCode::invalid_argument, "shape {4}", set);
    phase = {0, 1, std::numeric_limits<float>::quiet_NaN(), 2};
    support::expect_error(holotone::ErrorCode::invalid_argument, "spot 2: expected a finite phase, got nan", set);
  });
}

}  // namespace
