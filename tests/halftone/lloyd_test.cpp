// Weighted Voronoi stippling against brute force and closed forms.
#include <cstdio>
#include <gtest/gtest.h>
#include <holotone/core/error.hpp>
#include <holotone/halftone/ink.hpp>
#include <holotone/halftone/lloyd.hpp>
#include <holotone/halftone/sampling.hpp>
#include <omp.h>
#include <tests/halftone/stippling_support.hpp>

namespace holotone {
namespace {

using test::even_ink;
using test::uneven_ink;

TEST(Lloyd, NearestDotsAreThoseOfBruteForce) {
  const auto ink = uneven_ink(61, 83);
  for (const std::int64_t count : {1, 2, 7, 500, 1100}) {
    Dots dots = importance_sampled_dots(ink.view(), count, 4);
    if (count == 500) {  // equal dots: the first is nearest; off the page: as for any other dot
      dots.position[20] = dots.position[10];
      dots.position[21] = dots.position[11];
      dots.position[30] = -40;
    }
    for (const auto& shape : {Shape<2>{61, 83}, Shape<2>{1, 50}, Shape<2>{50, 1}, Shape<2>{130, 35}, Shape<2>{1, 1}}) {
      const auto owner = nearest_dots(dots, shape);
      for (std::int64_t row = 0; row < shape[0]; ++row) {
        for (std::int64_t col = 0; col < shape[1]; ++col) {
          const double x = (static_cast<double>(col) + 0.5) * 83 / static_cast<double>(shape[1]);
          const double y = (static_cast<double>(row) + 0.5) * 61 / static_cast<double>(shape[0]);
          const auto distance = [&](std::int64_t j) {
            return std::hypot(static_cast<double>(dots.position[static_cast<std::size_t>(2 * j)]) - x,
                              static_cast<double>(dots.position[static_cast<std::size_t>(2 * j + 1)]) - y);
          };
          std::int64_t nearest = 0;
          for (std::int64_t j = 1; j < count; ++j) {
            if (distance(j) < distance(nearest)) nearest = j;
          }
          ASSERT_NEAR(distance(owner(row, col)), distance(nearest), 1e-6 * (1 + distance(nearest)))
              << row << " " << col;
          ASSERT_TRUE(count != 500 || owner(row, col) != 10) << "dot 5 is as near and comes first";
        }
      }
    }
  }
}

TEST(Lloyd, EnergyNeverRises) {
  const auto ink = uneven_ink(48, 64);
  LloydOptions options;
  options.iterations = 60;
  options.tolerance = 0;
  const auto result = lloyd_dots(ink.view(), importance_sampled_dots(ink.view(), 300, 1), options);
  ASSERT_EQ(result.energy.size(), 60u);
  for (std::size_t i = 1; i < result.energy.size(); ++i) {
    // Positions are float32: a shift of one ulp of 64 in a cell of 3 pixels.
    EXPECT_LE(result.energy[i], result.energy[i - 1] * (1 + 1e-7)) << i;
  }
  std::printf("energy falls to %.3f of the start's\n", result.energy.back() / result.energy.front());
  EXPECT_LT(result.energy.back(), 0.75 * result.energy.front());
}

// Second moment per dot and dimension: a hexagonal lattice has the minimum, 5 / (36 sqrt 3) area^2 = 0.0802 area^2 (L.
// Fejes Toth 1953); random dots have 1 / (2 pi) = 0.159. Defects and the page's edge add a twentieth.
TEST(Lloyd, ConstantDensityGivesNearlyHexagons) {
  constexpr std::int64_t count = 400;
  const auto ink = even_ink(80, 80, 0.5F);
  LloydOptions options;
  options.iterations = 200;
  options.tolerance = 0;
  const auto result = lloyd_dots(ink.view(), importance_sampled_dots(ink.view(), count, 2), options);
  const double area = 80.0 * 80 / count;
  const double moment = result.energy.back() / (2 * 0.5 * count * area * area);
  const double neighbours = test::relative_neighbour_distance(result.dots, 8);
  std::printf("second moment %.4f area^2 (hexagons 0.0802), neighbours at %.3f of hexagons'\n", moment, neighbours);
  EXPECT_GT(moment, 0.0795);
  EXPECT_LT(moment, 0.0802 * 1.06);
  EXPECT_GT(neighbours, 0.85);
}

// One dot converges to the centre of the ink; two dots on a row divide it.
TEST(Lloyd, FewDotsAreInClosedForm) {
  Array<float, 2> row({1, 8});
  for (std::int64_t i = 0; i < 8; ++i) row(0, i) = i < 6 ? 0.0F : 1.0F;
  Dots one;
  one.width = 8;
  one.height = 1;
  one.position = {0.5F, 0.2F};
  LloydOptions options;
  options.samples_per_dot = 1;
  const auto single = lloyd_dots(row.view(), one, options);
  EXPECT_TRUE(single.converged);
  EXPECT_FLOAT_EQ(single.dots.position[0], 7);
  EXPECT_FLOAT_EQ(single.dots.position[1], 0.5F);
  Dots two = one;
  two.position = {6.4F, 0.5F, 7.6F, 0.5F};
  const auto pair = lloyd_dots(row.view(), two, options);
  EXPECT_FLOAT_EQ(pair.dots.position[0], 6.5F);
  EXPECT_FLOAT_EQ(pair.dots.position[2], 7.5F);
  EXPECT_EQ(pair.energy.back(), 0);
}

// Of equal dots the first keeps the cell, and the other is moved elsewhere.
TEST(Lloyd, CoincidentDotsSeparate) {
  const auto ink = even_ink(20, 20, 1);
  Dots dots;
  dots.width = 20;
  dots.height = 20;
  dots.position.assign(12, 10);
  const auto result = lloyd_dots(ink.view(), dots, {});
  for (std::size_t i = 0; i < 12; i += 2) {
    for (std::size_t j = 0; j < i; j += 2) {
      EXPECT_GT(std::hypot(result.dots.position[i] - result.dots.position[j],
                           result.dots.position[i + 1] - result.dots.position[j + 1]),
                4);
    }
  }
}

TEST(Lloyd, SameBitsWithAnyNumberOfThreads) {
  const auto ink = uneven_ink(40, 30);
  const Dots start = importance_sampled_dots(ink.view(), 100, 1);
  LloydOptions options;
  options.iterations = 10;
  const int threads = omp_get_max_threads();
  omp_set_num_threads(1);
  const auto one = lloyd_dots(ink.view(), start, options);
  omp_set_num_threads(5);
  const auto five = lloyd_dots(ink.view(), start, options);
  omp_set_num_threads(threads);
  EXPECT_EQ(one.dots.position, five.dots.position);
}

TEST(Lloyd, RefusesWhatItCannotUse) {
  const auto ink = even_ink(8, 8, 1);
  const Dots start = importance_sampled_dots(ink.view(), 10, 1);
  Dots bad = start;
  bad.position[3] = NAN;
  EXPECT_THROW((void)lloyd_dots(ink.view(), bad, {}), Error);
  bad = start;
  bad.width = 9;
  EXPECT_THROW((void)lloyd_dots(ink.view(), bad, {}), Error);
  bad = start;
  bad.position.clear();
  EXPECT_THROW((void)lloyd_dots(ink.view(), bad, {}), Error);
  EXPECT_THROW((void)lloyd_dots(even_ink(8, 8, 0).view(), start, {}), Error);
  EXPECT_THROW((void)nearest_dots(start, {0, 3}), Error);
}

}  // namespace
}  // namespace holotone
