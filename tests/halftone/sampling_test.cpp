// Random and error-diffused dots: counts, densities, reproducible bits.
#include <cmath>
#include <cstdio>
#include <gtest/gtest.h>
#include <holotone/core/error.hpp>
#include <holotone/halftone/floyd_steinberg.hpp>
#include <holotone/halftone/ink.hpp>
#include <holotone/halftone/sampling.hpp>
#include <omp.h>
#include <set>
#include <vector>

namespace holotone {
namespace {

/// A ramp with a hole without ink.
Array<float, 2> ramp(std::int64_t ny, std::int64_t nx) {
  Array<float, 2> ink({ny, nx});
  for (std::int64_t row = 0; row < ny; ++row) {
    for (std::int64_t col = 0; col < nx; ++col) {
      const bool hole = row > ny / 3 && row < ny / 2 && col > nx / 3 && col < nx / 2;
      ink(row, col) = hole ? 0 : static_cast<float>(col + 1) / static_cast<float>(nx + 1);
    }
  }
  return ink;
}

using Sampler = Dots (*)(View<const float, 2>, std::int64_t, std::uint64_t);
Dots diffused(View<const float, 2> ink, std::int64_t count, std::uint64_t seed) {
  return error_diffused_dots(ink, count, seed, 1);
}
constexpr Sampler samplers[] = {importance_sampled_dots, stratified_dots, diffused};

TEST(Sampling, PutsTheNumberAskedWhereThereIsInk) {
  const auto ink = ramp(41, 67);
  for (const auto sampler : samplers) {
    for (const std::int64_t count : {0, 1, 2, 500, 2000, 20'000}) {
      const Dots dots = sampler(ink.view(), count, 3);
      ASSERT_EQ(dots.count(), count);
      EXPECT_EQ(dots.width, 67);
      EXPECT_EQ(dots.height, 41);
      for (std::int64_t j = 0; j < count; ++j) {
        const float x = dots.position[static_cast<std::size_t>(2 * j)];
        const float y = dots.position[static_cast<std::size_t>(2 * j + 1)];
        ASSERT_TRUE(x >= 0 && x < 67 && y >= 0 && y < 41) << x << " " << y;
        ASSERT_GT(ink(static_cast<std::int64_t>(y), static_cast<std::int64_t>(x)), 0) << x << " " << y;
      }
    }
  }
}

// Dots to the left of each of eight columns against the ink there: binomial for independent dots (4 standard
// deviations), closer for spread dots.
TEST(Sampling, DensityIsTheInks) {
  const auto ink = ramp(64, 90);
  const double total = total_ink(ink.view());
  constexpr std::int64_t count = 40'000;
  for (const auto sampler : samplers) {
    const Dots dots = sampler(ink.view(), count, 11);
    double worst = 0;
    for (std::int64_t end = 10; end < 90; end += 10) {
      double share = 0;
      for (std::int64_t row = 0; row < 64; ++row) {
        for (std::int64_t col = 0; col < end; ++col) share += static_cast<double>(ink(row, col)) / total;
      }
      std::int64_t seen = 0;
      for (std::size_t j = 0; j < dots.position.size(); j += 2) seen += dots.position[j] < static_cast<float>(end);
      const double deviation = std::sqrt(count * share * (1 - share));
      worst = std::max(worst, std::abs(static_cast<double>(seen) - count * share) / deviation);
    }
    std::printf("largest difference in binomial standard deviations: %.3f\n", worst);
    EXPECT_LT(worst, sampler == importance_sampled_dots ? 4 : 1);
  }
}

TEST(Sampling, SameSeedSameBitsWithAnyNumberOfThreads) {
  const auto ink = ramp(31, 45);
  const int threads = omp_get_max_threads();
  for (const auto sampler : samplers) {
    omp_set_num_threads(1);
    const Dots one = sampler(ink.view(), 10'000, 5);
    omp_set_num_threads(7);
    const Dots seven = sampler(ink.view(), 10'000, 5);
    omp_set_num_threads(threads);
    EXPECT_EQ(one.position, seven.position);
    EXPECT_NE(one.position, sampler(ink.view(), 10'000, 6).position);
  }
}

// The hash was computed from the same formulas in Python: it detects deviating machines and compilers.
TEST(Sampling, TheBitsAreTheSameEverywhere) {
  Array<float, 2> ink({4, 4});
  for (std::int64_t i = 0; i < 16; ++i) ink.data()[i] = static_cast<float>(i) / 16;
  std::uint64_t hash = 0;
  for (const float value : importance_sampled_dots(ink.view(), 1000, 42).position) {
    hash = hash * 1099511628211ULL + static_cast<std::uint64_t>(static_cast<double>(value) * 0x1p40);
  }
  EXPECT_EQ(hash, 18205624107892917120ULL);
}

TEST(Sampling, DiffusedDotsSitAtCentresWithoutJitter) {
  const auto ink = ramp(20, 30);
  const Dots dots = error_diffused_dots(ink.view(), 150);
  std::set<std::pair<float, float>> places;
  for (std::size_t j = 0; j < dots.position.size(); j += 2) {
    EXPECT_EQ(dots.position[j] - std::floor(dots.position[j]), 0.5F);
    places.insert({dots.position[j], dots.position[j + 1]});
  }
  EXPECT_EQ(places.size(), 150u) << "one a pixel while there are fewer dots than ink";
}

TEST(Sampling, OnePixelAndOneRow) {
  Array<float, 2> one({1, 1});
  one(0, 0) = 0.3F;
  Array<float, 2> row({1, 9});
  for (std::int64_t i = 0; i < 9; ++i) row(0, i) = i == 4 ? 1.0F : 0.0F;
  for (const auto sampler : samplers) {
    EXPECT_EQ(sampler(one.view(), 5, 0).count(), 5);
    for (const float x : {sampler(row.view(), 3, 0).position[0], sampler(row.view(), 3, 0).position[4]}) {
      EXPECT_TRUE(x >= 4 && x < 5) << x;
    }
  }
}

TEST(Sampling, RefusesNoInkAndBadCounts) {
  Array<float, 2> white({2, 2});
  std::fill(white.data(), white.data() + 4, 0.0F);
  const auto ink = ramp(5, 5);
  for (const auto sampler : samplers) {
    EXPECT_THROW((void)sampler(white.view(), 3, 0), Error);
    EXPECT_THROW((void)sampler({}, 3, 0), Error);
    EXPECT_THROW((void)sampler(ink.view(), -1, 0), Error);
    EXPECT_THROW((void)sampler(ink.view(), max_dots + 1, 0), Error);
  }
  EXPECT_THROW((void)error_diffused_dots(ink.view(), 3, 0, 1.5), Error);
}

TEST(Sampling, HilbertsCurveIsABijectionOfNeighbours) {
  constexpr int order = 5;
  constexpr std::uint32_t side = 1U << order;
  std::vector<std::array<int, 2>> at(side * side, {-1, -1});
  for (std::uint32_t y = 0; y < side; ++y) {
    for (std::uint32_t x = 0; x < side; ++x) {
      const auto index = hilbert_index(order, x, y);
      ASSERT_LT(index, at.size());
      ASSERT_EQ(at[index][0], -1);
      at[index] = {static_cast<int>(x), static_cast<int>(y)};
    }
  }
  for (std::size_t i = 1; i < at.size(); ++i) {
    EXPECT_EQ(std::abs(at[i][0] - at[i - 1][0]) + std::abs(at[i][1] - at[i - 1][1]), 1) << i;
  }
}

TEST(FloydSteinberg, KeepsTheInk) {
  for (const auto& shape : {Shape<2>{33, 57}, Shape<2>{1, 40}, Shape<2>{40, 1}, Shape<2>{1, 1}}) {
    const auto ink = ramp(shape[0], shape[1]);
    const auto bitmap = floyd_steinberg(ink.view());
    double ones = 0;
    for (const auto bit : bitmap.host()) ones += bit;
    EXPECT_LE(std::abs(ones - total_ink(ink.view())), 0.5 + 1e-9) << shape[0] << " x " << shape[1];
  }
}

// The error of a mean over a block of 8 x 8 is that of the block's boundary alone.
TEST(FloydSteinberg, LocalMeansAreTheInks) {
  const auto ink = ramp(64, 64);
  const auto bitmap = floyd_steinberg(ink.view());
  double worst = 0;
  for (std::int64_t row = 0; row < 64; row += 8) {
    for (std::int64_t col = 0; col < 64; col += 8) {
      double sum = 0;
      for (std::int64_t k = 0; k < 64; ++k) {
        sum += bitmap(row + k / 8, col + k % 8) - static_cast<double>(ink(row + k / 8, col + k % 8));
      }
      worst = std::max(worst, std::abs(sum));
    }
  }
  std::printf("largest difference of a block's sum: %.2f of 64\n", worst);
  EXPECT_LT(worst, 5);
}

// By hand: errors of a row of halves and of two rows of quarters.
TEST(FloydSteinberg, SmallPicturesByHand) {
  Array<float, 2> row({1, 4});
  std::fill(row.data(), row.data() + 4, 0.5F);
  const auto bits = floyd_steinberg(row.view());
  EXPECT_EQ((std::vector<int>(bits.data(), bits.data() + 4)), (std::vector<int>{1, 0, 1, 0}));
  Array<float, 2> block({2, 2});
  std::fill(block.data(), block.data() + 4, 0.25F);
  // (0,0): 0.25 -> 0, error 0.25 to (0,1) 7/13, (1,0) 5/13, (1,1) 1/13. (0,1): 0.385 -> 0, error to (1,0) 3/8, (1,1)
  // 5/8.
  // Backwards (1,1): 0.25 + 0.019 + 0.240 = 0.510 -> 1.
  const auto square = floyd_steinberg(block.view());
  EXPECT_EQ((std::vector<int>(square.data(), square.data() + 4)), (std::vector<int>{0, 0, 0, 1}));
  const Dots dots = dots_of_bitmap(square.view());
  EXPECT_EQ(dots.position, (std::vector<float>{1.5F, 1.5F}));
}

TEST(FloydSteinberg, RefusesBadInk) {
  Array<float, 2> ink({1, 2});
  ink(0, 0) = 0;
  ink(0, 1) = NAN;
  EXPECT_THROW((void)floyd_steinberg(ink.view()), Error);
  EXPECT_THROW((void)floyd_steinberg({}), Error);
}

}  // namespace
}  // namespace holotone
