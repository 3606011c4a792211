// Several inks whose dots repel each other.
#include <algorithm>
#include <cstdio>
#include <gtest/gtest.h>
#include <holotone/core/error.hpp>
#include <holotone/halftone/colour_classes.hpp>
#include <holotone/halftone/sampling.hpp>
#include <numeric>
#include <omp.h>
#include <tests/halftone/stippling_support.hpp>
#include <tests/support/on_each_device.hpp>

namespace holotone {
namespace {

using test::even_ink;
using test::relative_neighbour_distance;
using test::uneven_ink;

Dots of_class(const Dots& dots, std::uint8_t wanted) {
  Dots one;
  one.width = dots.width;
  one.height = dots.height;
  for (std::size_t j = 0; j < dots.colour_class.size(); ++j) {
    if (dots.colour_class[j] != wanted) continue;
    one.position.push_back(dots.position[2 * j]);
    one.position.push_back(dots.position[2 * j + 1]);
  }
  return one;
}

TEST(ColourClassesOptions, DotsAreSharedOutByInk) {
  const auto full = even_ink(4, 5, 1);
  const auto third = even_ink(4, 5, 0.5F);
  const auto none = even_ink(4, 5, 0);
  const std::vector<View<const float, 2>> inks{full.view(), third.view(), none.view()};
  EXPECT_EQ(dots_of_classes(inks, 300), (std::vector<std::int64_t>{200, 100, 0}));
  EXPECT_EQ(dots_of_classes(inks, 1), (std::vector<std::int64_t>{1, 0, 0}));
  EXPECT_EQ(dots_of_classes(inks, 2), (std::vector<std::int64_t>{1, 1, 0}));
  for (std::int64_t count = 0; count < 50; ++count) {
    const auto dots = dots_of_classes(inks, count);
    EXPECT_EQ(std::accumulate(dots.begin(), dots.end(), std::int64_t{0}), count);
  }
  EXPECT_THROW((void)dots_of_classes({none.view()}, 5), Error);
  EXPECT_THROW((void)dots_of_classes(inks, -1), Error);
}

/// Uses one thread: problems are small, and threads mostly wait.
class ColourClasses : public support::OnEachDevice {
 protected:
  ColourClasses() { omp_set_num_threads(1); }
  ~ColourClasses() override { omp_set_num_threads(threads_); }

 private:
  int threads_ = omp_get_max_threads();
};
HOLOTONE_ON_CPU_AND_CUDA(ColourClasses);

// A single ink is the set of all inks: half of the force within plus half across is the force itself.
TEST_P(ColourClasses, OneClassIsElectrostaticHalftone) {
  on_each([&](Device device) {
    const auto ink = uneven_ink(40, 52);
    const Dots start = importance_sampled_dots(ink.view(), 300, 7);
    DescentOptions descent;
    descent.iterations = 6;
    const auto classes = classes_halftone({ink.view()}, {start}, {0.5, 0.5}, {}, descent, Queue(device));
    ElectrostaticPlan plan({40, 52}, 300, Queue(device));
    plan.set_ink(copy_of(ink.view(), device).view());
    const View<const float, 2> places(start.position.data(), {300, 2});
    Array<float, 2> positions = copy_of(places, device);
    plan.set_positions(positions.view());
    electrostatic_halftone(plan, descent);
    plan.positions(positions.view());
    const auto expected = positions.to(Device{});
    double worst = 0;
    for (std::size_t i = 0; i < 600; ++i) {
      worst = std::max(
          worst, std::abs(static_cast<double>(classes.dots.position[i]) - static_cast<double>(expected.data()[i])));
    }
    std::printf("largest difference %.2e px\n", worst);
    EXPECT_LT(worst, 2e-3) << "rounding of the forces, which are halved and added";
  });
}

// Two even inks. Without a force across, the dots of one ink ignore the other's: together they are as random as two
// independent patterns. With that force all dots keep apart, and so do those of each ink.
TEST_P(ColourClasses, ClassesKeepApart) {
  on_each([&](Device device) {
    const auto ink = even_ink(48, 48, 0.5F);
    const std::vector<View<const float, 2>> inks{ink.view(), ink.view()};
    const std::vector<Dots> starts{importance_sampled_dots(ink.view(), 250, 1),
                                   importance_sampled_dots(ink.view(), 250, 2)};
    DescentOptions descent;
    descent.iterations = 80;
    const auto distances = [&](const ClassWeights& weights) {
      const Dots dots = classes_halftone(inks, starts, weights, {}, descent, Queue(device)).dots;
      const std::array<double, 2> result{relative_neighbour_distance(of_class(dots, 0), 5),
                                         relative_neighbour_distance(dots, 5)};
      std::printf("within %g across %g: neighbours of a class at %.3f of hexagons', of all at %.3f\n", weights.within,
                  weights.across, result[0], result[1]);
      return result;
    };
    const auto alone = distances({1, 0});
    const auto both = distances({1, 0.5});
    const auto together = distances({0, 1});
    EXPECT_GT(alone[0], 0.8);
    EXPECT_LT(alone[1], 0.6);
    EXPECT_GT(both[0], 0.7);
    EXPECT_GT(both[1], alone[1] + 0.1);
    EXPECT_GT(together[1], 0.8);
    EXPECT_LT(together[0], alone[0] - 0.1);
  });
}

TEST_P(ColourClasses, FramesShakingAndEmptyClasses) {
  on_each([&](Device device) {
    const auto ink = uneven_ink(30, 30);
    const auto none = even_ink(30, 30, 0);
    DescentOptions descent;
    descent.iterations = 20;
    descent.frame_interval = 10;
    descent.shake = 0.5;
    std::vector<std::int64_t> frames;
    const auto result =
        classes_halftone({none.view(), ink.view()}, {Dots{}, importance_sampled_dots(ink.view(), 60, 1)}, {}, {},
                         descent, Queue(device), Progress::none(), [&](std::int64_t iteration, const Dots& dots) {
                           frames.push_back(iteration);
                           EXPECT_EQ(dots.count(), 60);
                         });
    EXPECT_EQ(frames.front(), 0);
    EXPECT_EQ(frames.back(), result.report.iterations);
    EXPECT_EQ(result.dots.colour_class, std::vector<std::uint8_t>(60, 1));
  });
}

TEST(ColourClassesOptions, RefusesWhatItCannotUse) {
  const auto ink = even_ink(8, 8, 1);
  const auto other = even_ink(8, 9, 1);
  const auto none = even_ink(8, 8, 0);
  const Dots start = importance_sampled_dots(ink.view(), 10, 1);
  EXPECT_THROW((void)classes_halftone({}, {}), Error);
  EXPECT_THROW((void)classes_halftone({ink.view()}, {start, start}), Error);
  EXPECT_THROW((void)classes_halftone({ink.view(), other.view()}, {start, start}), Error);
  EXPECT_THROW((void)classes_halftone({ink.view(), none.view()}, {start, start}), Error);
  EXPECT_THROW((void)classes_halftone({ink.view()}, {Dots{}}), Error);
  EXPECT_THROW((void)classes_halftone({ink.view()}, {start}, {0, 0}), Error);
  EXPECT_THROW((void)classes_halftone({ink.view()}, {start}, {-1, 2}), Error);
}

}  // namespace
}  // namespace holotone
