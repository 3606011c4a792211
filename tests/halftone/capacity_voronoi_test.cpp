// Dots with equal shares of the ink.
#include <algorithm>
#include <cstdio>
#include <gtest/gtest.h>
#include <holotone/core/error.hpp>
#include <holotone/halftone/capacity_voronoi.hpp>
#include <holotone/halftone/ink.hpp>
#include <holotone/halftone/sampling.hpp>
#include <omp.h>
#include <tests/halftone/stippling_support.hpp>

namespace holotone {
namespace {

using test::even_ink;
using test::uneven_ink;

/// x, y pairs in order, to compare as sets.
std::vector<std::array<float, 2>> sorted_places(const std::vector<float>& position) {
  std::vector<std::array<float, 2>> places;
  for (std::size_t i = 0; i < position.size(); i += 2) places.push_back({position[i], position[i + 1]});
  std::sort(places.begin(), places.end());
  return places;
}

// Equal capacities follow by construction only if swaps lose no sample: the samples are those drawn, and each dot is
// the mean of its own samples.
TEST(CapacityVoronoi, EveryDotOwnsTheSameInk) {
  const auto ink = uneven_ink(45, 60);
  CapacityVoronoiOptions options;
  options.capacity = 40;
  options.seed = 9;
  for (const std::int64_t count : {1, 2, 3, 101, 400}) {
    const auto result = capacity_voronoi_dots(ink.view(), count, options);
    ASSERT_EQ(result.dots.count(), count);
    EXPECT_EQ(sorted_places(result.sample), sorted_places(stratified_dots(ink.view(), count * 40, 9).position));
    for (std::int64_t j = 0; j < count; ++j) {
      for (std::size_t axis = 0; axis < 2; ++axis) {
        double mean = 0;
        for (std::int64_t s = 40 * j; s < 40 * (j + 1); ++s) {
          mean += static_cast<double>(result.sample[2 * static_cast<std::size_t>(s) + axis]) / 40;
        }
        EXPECT_NEAR(static_cast<double>(result.dots.position[2 * static_cast<std::size_t>(j) + axis]), mean, 1e-5);
      }
    }
  }
}

TEST(CapacityVoronoi, EnergyFallsUntilNoSwapHelps) {
  const auto ink = uneven_ink(45, 60);
  CapacityVoronoiOptions options;
  options.capacity = 20;
  options.tolerance = 0;
  options.sweeps = 2000;
  const auto result = capacity_voronoi_dots(ink.view(), 60, options);
  ASSERT_TRUE(result.converged) << "no pair has a sample left to swap";
  for (std::size_t i = 1; i < result.energy.size(); ++i) EXPECT_LT(result.energy[i], result.energy[i - 1] * (1 + 1e-6));
  std::printf("%zu sweeps, energy %.3f of the first cells'\n", result.energy.size(),
              result.energy.back() / result.energy.front());
  // Optimality by definition, for all pairs of dots and samples: no swap lowers the energy.
  const auto& p = result.dots.position;
  const auto& s = result.sample;
  double worst = 0;
  for (std::size_t i = 0; i < 60; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const double dx = static_cast<double>(p[2 * j]) - static_cast<double>(p[2 * i]);
      const double dy = static_cast<double>(p[2 * j + 1]) - static_cast<double>(p[2 * i + 1]);
      for (std::size_t a = 20 * i; a < 20 * (i + 1); ++a) {
        for (std::size_t b = 20 * j; b < 20 * (j + 1); ++b) {
          worst = std::max(worst, (static_cast<double>(s[2 * a]) - static_cast<double>(s[2 * b])) * dx +
                                      (static_cast<double>(s[2 * a + 1]) - static_cast<double>(s[2 * b + 1])) * dy);
        }
      }
    }
  }
  std::printf("largest gain left: %.2e pixels^2\n", worst);
  EXPECT_LT(worst, 1e-3);
}

// Balzer et al.: dots are as far apart as with Lloyd's method, and the local density of dots follows the ink.
TEST(CapacityVoronoi, ConstantDensityIsEvenAndWellSpaced) {
  const auto ink = even_ink(80, 80, 0.5F);
  const auto result = capacity_voronoi_dots(ink.view(), 400);
  const double neighbours = test::relative_neighbour_distance(result.dots, 8);
  const double area = 80.0 * 80 / 400;
  const double moment = result.energy.back() / (2 * 0.5 * 400 * area * area);
  std::printf("neighbours at %.3f of hexagons', second moment %.4f area^2 (hexagons 0.0802, random 0.159)\n",
              neighbours, moment);
  EXPECT_GT(neighbours, 0.75);
  EXPECT_GT(moment, 0.0795);
  EXPECT_LT(moment, 0.09);
}

TEST(CapacityVoronoi, AllInkInOnePixel) {
  Array<float, 2> ink = even_ink(9, 7, 0);
  ink(4, 3) = 1;
  const auto result = capacity_voronoi_dots(ink.view(), 200, {16, 20, 1e-3, 0});
  for (std::size_t j = 0; j < 400; j += 2) {
    EXPECT_TRUE(result.dots.position[j] >= 3 && result.dots.position[j] <= 4);
    EXPECT_TRUE(result.dots.position[j + 1] >= 4 && result.dots.position[j + 1] <= 5);
  }
}

TEST(CapacityVoronoi, SameBitsWithAnyNumberOfThreads) {
  const auto ink = uneven_ink(40, 30);
  const int threads = omp_get_max_threads();
  omp_set_num_threads(1);
  const auto one = capacity_voronoi_dots(ink.view(), 150, {32, 20, 0, 3});
  omp_set_num_threads(5);
  const auto five = capacity_voronoi_dots(ink.view(), 150, {32, 20, 0, 3});
  omp_set_num_threads(threads);
  EXPECT_EQ(one.dots.position, five.dots.position);
}

TEST(CapacityVoronoi, RefusesWhatItCannotUse) {
  const auto ink = even_ink(8, 8, 1);
  EXPECT_THROW((void)capacity_voronoi_dots(ink.view(), 0), Error);
  EXPECT_THROW((void)capacity_voronoi_dots(ink.view(), 100'000'000), Error);
  EXPECT_THROW((void)capacity_voronoi_dots(ink.view(), 5, {1, 5, 0, 0}), Error);
  EXPECT_THROW((void)capacity_voronoi_dots(even_ink(8, 8, 0).view(), 5), Error);
}

}  // namespace
}  // namespace holotone
