// A hundred thousand spots, against float64 sums of some of them.
#include <cmath>
#include <gtest/gtest.h>
#include <holotone/core/random.hpp>
#include <holotone/retrieval/spots/spot_plan.hpp>
#include <tests/reference/spots.hpp>
#include <tests/support/on_each_device.hpp>

namespace {

using holotone::Array;
using holotone::Device;

class SpotCrowd : public support::OnEachDevice {};
// OpenCL sums 10^11 waves a step, minutes on a CPU.
INSTANTIATE_TEST_SUITE_P(Device, SpotCrowd, testing::Values("cpu", "cuda"),
                         [](const auto& one) { return std::string(one.param); });

TEST_P(SpotCrowd, IsEven) {
  on_each([](Device device) {
    holotone::SpotOptions options;
    options.grid = {1024, 1024, 8e-6, 1.064e-6};
    options.focal_length_m = 0.2;
    const double width_m = holotone::spot_width_m(options)[0];
    // Places of a lattice of 3.2 widths, each moved by up to 0.8.
    std::vector<std::array<float, 3>> spots;
    for (std::uint64_t i = 0; i < 100'000; ++i) {
      const auto moved = [&](std::uint64_t k) { return 1.6 * (holotone::random_uniform64(11, 2 * i + k) - 0.5); };
      const auto at = [&](std::uint64_t place, std::uint64_t k) {
        return static_cast<float>(width_m * (3.2 * (static_cast<double>(place) - 158) + moved(k)));
      };
      spots.push_back({at(i % 317, 0), at(i / 317, 1), 0});
    }
    holotone::SpotPlan plan(options, holotone::Queue(device));
    plan.set_spots({spots.front().data(), {std::ssize(spots), 3}});
    const auto report = plan.solve({.free_steps = 2, .kept_steps = 8});
    EXPECT_GT(report.light.efficiency, 0.8);
    EXPECT_LT(report.light.deviation, 1e-3);
    EXPECT_LT(report.light.worst, 7e-3);
    Array<float, 2> phase_rad(options.grid.shape());
    plan.phase(phase_rad.view());
    std::vector<std::array<float, 3>> some;
    for (std::size_t m = 0; m < spots.size(); m += 3001) some.push_back(spots[m]);
    const auto exact = reference::spot_intensities({1024, 1024, 8e-6, 1.064e-6, 0.2}, some, phase_rad.host());
    for (std::size_t m = 0; m < some.size(); ++m) {
      EXPECT_NEAR(report.light.intensity[3001 * m] / exact[m], 1, 3e-3) << m;
    }
  });
}

}  // namespace
