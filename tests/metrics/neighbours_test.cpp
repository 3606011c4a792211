// Pairs and nearest neighbours: closed forms, counts by brute force, random sets against theory.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <holotone/metrics/neighbours.hpp>
#include <limits>
#include <numeric>
#include <tests/metrics/point_sets.hpp>
#include <tests/reference/metrics.hpp>
#include <tests/support/on_each_device.hpp>

namespace holotone {
namespace {

using point_sets::Points;
using point_sets::square_lattice;
using point_sets::to_double;
using point_sets::uniform;
using point_sets::view;
using support::expect_error;
using support::expect_within;

TEST(PairCorrelation, CountsEveryPairOnce) {
  for (const std::size_t count : {2u, 3u, 57u, 701u}) {
    for (const double largest : {0.7, 4.0, 9.5}) {
      const Points points = uniform(count, 31, 9.5, count);
      const auto result =
          pair_correlation(view(points), {.region = {0, 0, 31, 9.5}, .largest_distance = largest, .bins = 37});
      EXPECT_EQ(result.pairs, reference::metrics_pairs(to_double(points), largest, 37)) << count << ' ' << largest;
      EXPECT_EQ(result.every, 1);
      EXPECT_EQ(result.points, static_cast<std::int64_t>(count));
    }
  }
}

// The counted pairs equal g times the expected pairs of random dots, from quadrature over directions.
TEST(PairCorrelation, CorrectsForEdgesAsTheOverlapSays) {
  const Points points = uniform(900, 21, 13, 4);
  const auto result = pair_correlation(view(points), {.region = {0, 0, 21, 13}, .largest_distance = 13, .bins = 26});
  double worst = 0;
  for (std::size_t i = 0; i < result.value.size(); ++i) {
    double expected = 0;
    constexpr int steps = 20;
    for (int s = 0; s < steps; ++s) {
      const double r = (static_cast<double>(i) + (s + 0.5) / steps) * result.step;
      expected += 2 * reference::metrics_pi * r * reference::metrics_overlap(21, 13, r) * result.step / steps;
    }
    expected *= 900.0 * 899 / (21 * 13 * 21 * 13);
    worst = std::max(worst, std::abs(result.value[i] * expected / static_cast<double>(result.pairs[i]) - 1));
  }
  expect_within("edge correction", worst, 1e-3);  // error of the midpoint rule in the first bins
}

TEST(PairCorrelation, RandomDotsHaveOne) {
  const Points points = uniform(20000, 200, 40, 6);
  const auto result = pair_correlation(view(points), {.region = {0, 0, 200, 40}, .largest_distance = 20, .bins = 40});
  double worst = 0;
  for (std::size_t i = 0; i < result.value.size(); ++i) {
    const auto pairs = static_cast<double>(result.pairs[i]) / 2;  // independent pairs
    // Edges give dots unequal numbers of neighbours: by a sixth (rms) at r = 20 of 40 pixels. This changes all pairs at
    // once.
    const double unequal = std::sqrt(4.0 / 20000) * result.distance[i] / 20 / 6;
    worst = std::max(worst, std::abs(result.value[i] - 1) / std::hypot(1 / std::sqrt(pairs), unequal));
  }
  expect_within("g - 1 of random dots, standard deviations", worst, 4.5);
}

TEST(PairCorrelation, EverySoManyDotsGiveTheSameMean) {
  const Points points = uniform(6000, 60, 60, 9);
  PairCorrelationOptions options{.region = {0, 0, 60, 60}, .largest_distance = 6, .bins = 6};
  const auto all = pair_correlation(view(points), options);
  options.max_pairs = 200'000;
  const auto some = pair_correlation(view(points), options);
  EXPECT_GT(some.every, 3);
  for (std::size_t i = 0; i < all.value.size(); ++i) {
    EXPECT_LT(some.pairs[i], all.pairs[i] / 3);
    EXPECT_NEAR(some.value[i], all.value[i], 5 / std::sqrt(static_cast<double>(some.pairs[i])));
  }
}

TEST(PairCorrelation, LatticeDistances) {
  const Points lattice = square_lattice(40, 40, 2);
  const auto result =
      pair_correlation(view(lattice), {.region = {0, 0, 80, 80}, .largest_distance = 5.01, .bins = 501});
  const auto pairs_at = [&](double r) { return result.pairs[static_cast<std::size_t>(r / result.step)]; };
  EXPECT_EQ(pairs_at(2.0005), 4 * 40 * 39);
  EXPECT_EQ(pairs_at(2 * std::sqrt(2.0)), 4 * 39 * 39);
  EXPECT_EQ(pairs_at(4.0005), 4 * 40 * 38);
  EXPECT_EQ(std::accumulate(result.pairs.begin(), result.pairs.end(), std::int64_t{0}),
            4 * (40 * 39 + 39 * 39 + 40 * 38) + 8 * 39 * 38);
}

TEST(PairCorrelation, AMillionDotsInOnePlaceEnd) {
  Points points(2 * 200'000, 5.0F);
  points[0] = points[1] = 1;
  const auto result = pair_correlation(view(points), {.region = {0, 0, 10, 10}, .max_pairs = 10'000'000});
  EXPECT_GT(result.every, 1000);
  EXPECT_GT(result.value[0], 100);
}

TEST(PairCorrelation, RefusesWhatItCannotDo) {
  const Points points = uniform(10, 8, 8, 1);
  const auto refused = [&](const PairCorrelationOptions& options, const char* text) {
    expect_error(ErrorCode::invalid_argument, text, [&] { (void)pair_correlation(view(points), options); });
  };
  refused({}, "pair_correlation: region.width");
  refused({.region = {0, 0, 8, 8}, .largest_distance = 8.1}, "largest_distance");
  refused({.region = {0, 0, 8, 8}, .bins = 0}, "bins");
  refused({.region = {20, 20, 8, 8}}, "at least two dots in the region, got 0");
}

TEST(NearestDistances, AgreeWithBruteForce) {
  for (const std::size_t count : {2u, 3u, 12u, 13u, 14u, 100u, 2001u}) {
    Points points = uniform(count, 7, 100, count);
    for (std::size_t i = 0; i < points.size() / 4; ++i) points[i] = points[i] * 1e-3F + 5;  // clustered points
    const auto got = nearest_distances(view(points));
    const auto exact = to_double(points);
    double worst = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const double expected = reference::metrics_nearest(exact, i);
      worst = std::max(worst, std::abs(static_cast<double>(got[i]) - expected) / expected);
    }
    EXPECT_LE(worst, 6e-8) << count;  // rounded once
  }
}

TEST(NearestDistances, CoincidentDotsAndSingleOnes) {
  Points points(2 * 50'000, 3.0F);
  auto distances = nearest_distances(view(points));
  EXPECT_EQ(*std::max_element(distances.begin(), distances.end()), 0);
  points[20] = 4;
  distances = nearest_distances(view(points));
  EXPECT_EQ(distances[10], 1);
  const auto summary = summarise_nearest(view(points), distances, {0, 0, 10, 10});
  EXPECT_EQ(summary.coincident, 49'999);
  EXPECT_EQ(summary.smallest, 0);
  const Points one{1, 2};
  EXPECT_TRUE(std::isinf(nearest_distances(view(one))[0]));
  EXPECT_TRUE(std::isnan(summarise_nearest(view(one), nearest_distances(view(one)), {0, 0, 10, 10}).mean));
  EXPECT_TRUE(nearest_distances({one.data(), {0, 2}}).empty());
}

TEST(NearestDistances, HexagonalLatticeIsTheLargest) {
  Points points;
  for (int row = 0; row < 60; ++row) {
    for (int column = 0; column < 60; ++column) {
      points.push_back(static_cast<float>(3 * (column + 0.5 * (row % 2) + 0.25)));
      points.push_back(static_cast<float>(3 * (row + 0.5) * std::sqrt(3.0) / 2));
    }
  }
  const auto summary =
      summarise_nearest(view(points), nearest_distances(view(points)), {0, 0, 180, 60 * 3 * std::sqrt(3.0) / 2});
  EXPECT_NEAR(summary.smallest_relative, 1, 1e-5);  // float32 coordinates of 180 pixels
  EXPECT_NEAR(summary.mean_relative, 1, 1e-5);
  EXPECT_EQ(summary.points, 3600);
  EXPECT_EQ(summary.coincident, 0);
}

}  // namespace
}  // namespace holotone
