// Bounds and powers used by the CPU's lists and sums.
#include <cmath>
#include <gtest/gtest.h>
#include <holotone/core/random.hpp>
#include <holotone/smoe/render/selection/select_pruner.hpp>
#include <holotone/smoe/render/sums/tile_sums.hpp>
#include <iostream>
#include <numeric>

namespace {

using holotone::smoe::Candidates;
using holotone::smoe::ImageComponent;
using holotone::smoe::PixelBox;
using holotone::smoe::Pruner;

/// Components of all sizes and directions in and around 64 x 64 pixels.
std::vector<ImageComponent> some_components(std::size_t count) {
  std::uint64_t counter = 0;
  const auto between = [&](double low, double high) {
    return low + (high - low) * holotone::random_uniform64(77, counter++);
  };
  std::vector<ImageComponent> components(count);
  for (auto& component : components) {
    component.x = between(-30, 94);
    component.y = between(-30, 94);
    component.across = std::exp2(between(-6, 2));
    component.down = std::exp2(between(-6, 2));
    component.skew = between(-1, 1) * component.across;
    component.peak = between(-10, 5);
    for (std::size_t c = 0; c < 3; ++c) {
      component.colour[c] = static_cast<float>(between(0, 1));
      component.slope_x[c] = static_cast<float>(between(-0.2, 0.2));
      component.slope_y[c] = static_cast<float>(between(-0.2, 0.2));
    }
  }
  return components;
}

double expert(const ImageComponent& component, std::size_t c, double x, double y) {
  return static_cast<double>(component.colour[c]) + static_cast<double>(component.slope_x[c]) * (x - component.x) +
         static_cast<double>(component.slope_y[c]) * (y - component.y);
}

TEST(SmoeSelect, PowersOfTwoAreWithinTheirBound) {
  double worst = 0;
  for (int i = 0; i < 253 * 731; ++i) {
    const auto exponent = static_cast<float>(-126 + i / 731.0);
    const double expected = std::exp2(static_cast<double>(exponent));
    const double power = static_cast<double>(holotone::smoe::power_of_two(exponent));
    worst = std::max(worst, std::abs(power / expected - 1));
  }
  std::cout << "powers of two: relative error " << worst << '\n';
  EXPECT_LT(worst, 3e-7);
  for (const float below : {-126.5F, -1e4F, -1e30F, -INFINITY}) {
    EXPECT_EQ(holotone::smoe::power_of_two(below), holotone::smoe::power_of_two(-126.0F)) << below;
  }
}

// More candidates than are loaded at once, and not a multiple of a vector.
TEST(SmoeSelect, DroppedComponentsChangeNoColourByMoreThanTheBudget) {
  const auto components = some_components(1237);
  std::vector<std::uint32_t> all(components.size());
  std::iota(all.begin(), all.end(), 0U);
  const std::vector<PixelBox> boxes{{0, 15, 0, 7}, {16, 31, 8, 15}, {40, 40, 50, 50}, {0, 63, 0, 63}};
  Candidates candidates(3);
  candidates.load(components, all, {0, 63, 0, 63});
  std::vector<std::uint32_t> packs(candidates.padded() / Candidates::lanes);
  std::iota(packs.begin(), packs.end(), 0U);
  Pruner pruner;
  for (std::size_t b = 0; b < boxes.size(); ++b) {
    const PixelBox& box = boxes[b];
    pruner.locate(candidates, box);
    pruner.measure(candidates, box, pruner.densest);
    EXPECT_NEAR(pruner.best, Pruner::best_of(candidates, packs, box), 1e-4);
    for (const double budget : {1e-1, 1e-3, 1e-6, 1e-12}) {
      pruner.weigh(pruner.best);
      const auto kept = pruner.kept(budget);
      std::vector<bool> stays(components.size());
      for (const auto j : kept) stays[j] = true;
      double worst = 0;
      const auto width = static_cast<int>(box.right - box.left) + 1;
      const auto height = static_cast<int>(box.bottom - box.top) + 1;
      for (int row = 0; row < height; ++row) {
        for (int column = 0; column < width; ++column) {
          const double x = box.left + column;
          const double y = box.top + row;
          double most = -INFINITY;
          for (const auto& component : components) most = std::max(most, component.log2_density(x, y));
          ASSERT_LE(most, static_cast<double>(pruner.most)) << "box " << b;
          ASSERT_GE(most, static_cast<double>(pruner.best)) << "box " << b;
          double weights[2] = {};
          double sums[2][3] = {};
          for (std::size_t j = 0; j < components.size(); ++j) {
            const double weight = std::exp2(components[j].log2_density(x, y) - most);
            for (std::size_t only_kept = 0; only_kept < (stays[j] ? 2U : 1U); ++only_kept) {
              weights[only_kept] += weight;
              for (std::size_t c = 0; c < 3; ++c) sums[only_kept][c] += weight * expert(components[j], c, x, y);
            }
          }
          for (std::size_t c = 0; c < 3; ++c) {
            worst = std::max(worst, std::abs(sums[0][c] / weights[0] - sums[1][c] / weights[1]));
          }
        }
      }
      std::cout << "box " << b << ", budget " << budget << ": " << kept.size() << " of " << components.size()
                << " kept, off by " << worst << '\n';
      EXPECT_LE(worst, budget + 1e-13);
      EXPECT_LT(kept.size(), components.size());
    }
  }
}

}  // namespace
