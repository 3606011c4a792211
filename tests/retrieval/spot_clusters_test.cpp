// Spots that merge, against float64 sums: clusters take no light from the others.
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <holotone/core/random.hpp>
#include <holotone/retrieval/spots/spot_plan.hpp>
#include <tests/reference/spots.hpp>
#include <tests/support/on_each_device.hpp>
#include <tests/support/small_spots.hpp>
#include <utility>

namespace {

using holotone::Array;
using holotone::Device;
using holotone::SpotOptions;
using holotone::SpotPlan;

using support::positions;
using support::small_spot_panel;
using support::Spots;

/// Twenty places on a skewed lattice of 7 widths, and `many` within 0.4 widths of another place.
Spots with_cluster(const SpotOptions& options, int many, double depth) {
  const auto width_m = holotone::spot_width_m(options);
  Spots spots;
  const auto add = [&](double x, double y, double z) {
    spots.push_back(
        {static_cast<float>(x * width_m[0]), static_cast<float>(y * width_m[1]), static_cast<float>(z * width_m[2])});
  };
  for (int i = 0; i < 20; ++i) add(7 * (i % 5) - 12.3 + 0.9 * (i / 5), 7 * (i / 5) - 15.1, i % 2 == 0 ? depth : -depth);
  for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(many); ++i) {
    const auto draw = [&](std::uint64_t k) { return 0.4 * (holotone::random_uniform64(3, 2 * i + k) - 0.5); };
    add(-25.2 + draw(0), 11.4 + draw(1), depth);
  }
  return spots;
}

/// The largest difference of spots' light from the mean of those that stand alone, over it.
double largest_difference(const SpotPlan& plan, const Spots& spots, std::size_t first, std::size_t last) {
  const auto& grid = plan.options().grid;
  Array<float, 2> phase_rad(grid.shape());
  plan.phase(phase_rad.view());
  const auto light = reference::spot_intensities(
      {grid.nx, grid.ny, grid.pitch_m, grid.wavelength_m, plan.options().focal_length_m}, spots, phase_rad.host());
  double mean = 0;
  for (std::size_t m = 0; m < 20; ++m) mean += light[m] / 20;
  double farthest = 0;
  for (std::size_t m = first; m < last; ++m) farthest = std::max(farthest, std::abs(light[m] - mean) / mean);
  return farthest;
}

class SpotClusters : public support::OnEachDevice {};
HOLOTONE_ON_EACH_DEVICE(SpotClusters);

// With the whole gain each spot of the forty has 170 times the light of the others, and of the six in depth 43 times.
TEST_P(SpotClusters, TakeNoLightFromTheOthers) {
  on_each([](Device device) {
    for (const auto& [many, depth] : {std::pair{2, 0.0}, {40, 0.0}, {6, 1.2}}) {
      const auto options = small_spot_panel();
      const auto spots = with_cluster(options, many, depth);
      SpotPlan plan(options, holotone::Queue(device));
      plan.set_spots(positions(spots));
      plan.solve({.free_steps = 2, .kept_steps = 30});
      EXPECT_LT(largest_difference(plan, spots, 0, 20), 0.05) << many << " " << depth;
      EXPECT_LT(largest_difference(plan, spots, 20, spots.size()), 0.25) << many << " " << depth;
      // The same spots apart, and together again.
      const auto apart = with_cluster(options, 1, depth);
      plan.set_spots(positions(apart));
      plan.solve({.free_steps = 2, .kept_steps = 10});
      EXPECT_LT(largest_difference(plan, apart, 0, 21), 0.01) << many << " " << depth;
      plan.set_spots(positions(spots));
      plan.solve({.free_steps = 2, .kept_steps = 30});
      EXPECT_LT(largest_difference(plan, spots, 0, 20), 0.05) << many << " " << depth;
    }
  });
}

}  // namespace
