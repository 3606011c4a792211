// The method `fast` without fallback: panels and clouds large enough for tiles, against the float64 sum.
#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstdio>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <holotone/core/device.hpp>
#include <holotone/core/random.hpp>
#include <holotone/hologram/point_cloud.hpp>
#include <tests/cases/point_cloud.hpp>
#include <tests/support/on_each_device.hpp>

namespace {

using holotone::Array;
using holotone::Device;
using holotone::PointCloudOptions;
using holotone::PointCloudPlan;
using holotone::PointMethod;
using holotone::RowRange;

constexpr std::int64_t samples = 300;

cases::PointCloudCase large(std::string name, double near_m, double far_m, double tolerance) {
  cases::PointCloudCase c;
  c.name = std::move(name);
  c.options.shape = {1080, 1920};
  c.options.method = PointMethod::fast;
  c.options.tolerance = tolerance;
  c.options.band_limit = false;
  c.count = 20000;
  c.near_m = near_m;
  c.far_m = far_m;
  return c;
}

/// The plan sums by `fast`, not by its fallback.
void expect_in_tiles(const PointCloudPlan& plan) {
  EXPECT_NE(plan.info().arithmetic.find("non-uniform FFT"), std::string::npos) << plan.info().arithmetic;
}

/// Some rows of the field, in host memory.
Array<std::complex<float>, 2> rows_of_field(const PointCloudPlan& plan, const RowRange& part,
                                            const holotone::Queue& queue) {
  Array<std::complex<float>, 2> field({part.rows, plan.options().shape[1]}, queue);
  plan.execute(part, {field.view(), {}, {}});
  queue.synchronize();
  return field.to(Device{});
}

class PointCloudFast : public support::OnEachDevice {
 protected:
  void check(const cases::PointCloudCase& c) const { check(c, cases::make_points(c)); }

  void check(const cases::PointCloudCase& c, const reference::PointWaves& points, bool in_tiles = true) const {
    const auto expected = cases::sample_reference(c, points, samples);
    on_each([&](Device device) {
      const holotone::Queue queue(device);
      PointCloudPlan plan(c.options, queue);
      plan.set_points(cases::sources(points));
      if (in_tiles) expect_in_tiles(plan);
      Array<std::complex<float>, 2> field(c.options.shape, queue);
      plan.execute({field.view(), {}, {}});
      queue.synchronize();
      const auto host = field.to(Device{});
      support::expect_within(c.name + ", " + plan.info().arithmetic, cases::relative_error(expected, host.data()),
                             c.options.tolerance);
      support::expect_within(c.name + ", largest", cases::largest_error(expected, host.data()),
                             10 * c.options.tolerance);
    });
  }
};
HOLOTONE_ON_CPU_AND_CUDA(PointCloudFast);

TEST_P(PointCloudFast, EveryTolerance) {
  for (const double tolerance : {1e-1, 1e-2, 1e-3, 5e-4, 1e-4, 1e-5}) check(large("shallow", 0.5, 0.6, tolerance));
}

TEST_P(PointCloudFast, ManyPointsAreSortedAndSpreadAlike) {
  for (const double tolerance : {1e-2, 1e-3, 1e-4}) {
    auto c = large("many points", 0.5, 0.6, tolerance);
    c.count = 60000;
    check(c);
  }
}

TEST_P(PointCloudFast, DeepScenes) {
  auto c = large("deep", 0.2, 0.4, 1e-3);
  c.count = 60000;
  check(c);
}

TEST_P(PointCloudFast, OnePlane) { check(large("one plane", 0.5, 0.5, 1e-3)); }

TEST_P(PointCloudFast, PointsFarOffTheAxis) {
  auto c = large("off the axis", 0.5, 0.6, 1e-3);
  c.offset = 1.2;
  check(c);
}

TEST_P(PointCloudFast, PointsBeyondTheNyquistFringe) {
  auto c = large("beyond Nyquist", 0.08, 0.081, 1e-3);  // fringes as fine as the pixels 330 pixels from a point
  c.count = 60000;
  check(c);
}

TEST_P(PointCloudFast, PointsInFrontWithPhases) {
  auto c = large("in front, with phases", -0.6, -0.5, 1e-3);
  c.phases = true;
  check(c);
}

TEST_P(PointCloudFast, HalfThePointsInOneCorner) {
  const auto c = large("clustered", 0.5, 0.6, 1e-3);
  auto points = cases::make_points(c);
  for (std::size_t j = 0; j < points.position_m.size(); j += 2) {
    for (const std::size_t axis : {0, 1}) points.position_m[j][axis] = 0.05F * points.position_m[j][axis] + 3e-3F;
  }
  check(c, points);
}

using Spot = std::array<float, 3>;

/// A place in the middle 80 % of the panel, 0.2 to 0.5 m behind it.
Spot random_spot(const PointCloudOptions& options, std::uint64_t seed) {
  const auto across = [&](std::size_t axis) {
    return static_cast<float>(0.8 * options.pitch_m * static_cast<double>(options.shape[axis]) *
                              (holotone::random_uniform64(seed, axis) - 0.5));
  };
  return {across(1), across(0), static_cast<float>(-0.2 - 0.3 * holotone::random_uniform64(seed, 2))};
}

/// Checks a cloud to which `count` points in each of some places are added. The waves from a place are one wave times
/// the sum of their strengths, so the reference is that of a single point.
void check_crowd(cases::PointCloudCase c, std::int64_t count, bool phases, const std::vector<Spot>& spots,
                 Device device) {
  auto points = cases::make_points(c);
  points.phase_rad.assign(points.amplitude.size(), 0);
  auto alone = points;  // with one point for a crowd
  std::uint64_t draw = 0;
  for (const auto& spot : spots) {
    std::complex<double> sum = 0;
    for (std::int64_t j = 0; j < count; ++j) {
      points.position_m.push_back(spot);
      points.amplitude.push_back(0.9F);
      points.phase_rad.push_back(phases ? static_cast<float>(6.28 * holotone::random_uniform64(31, draw++)) : 0);
      sum += std::polar(double{points.amplitude.back()}, double{points.phase_rad.back()});
    }
    alone.position_m.push_back(spot);
    alone.amplitude.push_back(static_cast<float>(std::abs(sum)));
    alone.phase_rad.push_back(static_cast<float>(std::arg(sum)));
  }
  c.count = std::ssize(points.amplitude);
  const auto expected = cases::sample_reference(c, alone, samples);
  const holotone::Queue queue(device);
  PointCloudPlan plan(c.options, queue);
  plan.set_points(cases::sources(points));
  Array<std::complex<float>, 2> field(c.options.shape, queue);
  plan.execute({field.view(), {}, {}});
  queue.synchronize();
  support::expect_within(
      fmt::format("{} of {} points on each of {} spots, {}", count, c.count, spots.size(), plan.info().arithmetic),
      cases::relative_error(expected, field.to(Device{}).data()), c.options.tolerance);
}

// Equal waves add up in few cells, and every addition to a float32 sum loses in the same direction. The windows'
// division multiplies that.
TEST_P(PointCloudFast, ManyEqualPointsOnOneSpotLoseNothing) {
  on_each([](Device device) {
    for (const double tolerance : {1e-2, 1e-3, 3e-4, 2e-4, 1.2e-4, 1e-4, 8e-5, 4e-5, 2e-5, 1e-5}) {
      for (const auto& shape : {holotone::Shape<2>{479, 641}, {121, 641}}) {
        auto c = large("one spot", 0.2, 0.5, tolerance);
        c.options.shape = shape;
        c.count = 0;
        for (std::uint64_t place = 0; place < 3; ++place)
          check_crowd(c, 1000, place == 2, {random_spot(c.options, place)}, device);
      }
    }
  });
}

// On pixels, between them and at the panel's corners, in one to four places, on panels down to a few tiles' size.
TEST_P(PointCloudFast, CrowdsOnPixelsBordersAndCornersLoseNothing) {
  on_each([](Device device) {
    for (const double tolerance : {1e-2, 1e-3, 1e-4, 1e-5}) {
      for (const auto& shape : {holotone::Shape<2>{479, 641}, {121, 641}, {64, 48}, {17, 33}}) {
        auto c = large("spots", 0.2, 0.5, tolerance);
        c.options.shape = shape;
        c.count = 0;
        const auto pitch = static_cast<float>(c.options.pitch_m);
        const float right = 0.5F * pitch * static_cast<float>(shape[1]);
        const float top = 0.5F * pitch * static_cast<float>(shape[0]);
        const Spot centre{0, 0, -0.3F};
        const Spot border{0.5F * pitch, 0.5F * pitch, -0.25F};
        const Spot corner{right, top, -0.4F};
        const Spot opposite{-right, -top, -0.2F};
        for (const auto& spot : {centre, border, corner, opposite}) check_crowd(c, 1000, false, {spot}, device);
        check_crowd(c, 500, true, {centre, corner}, device);
        check_crowd(c, 250, false, {centre, border, corner, opposite}, device);
      }
    }
  });
}

TEST_P(PointCloudFast, LargerCrowdsLoseNothing) {
  struct Crowd {
    holotone::Shape<2> shape;
    std::int64_t count;
    double tolerance;
  };
  on_each([](Device device) {
    for (const auto& crowd :
         {Crowd{{90, 100}, 40000, 1e-5}, Crowd{{479, 641}, 20000, 1e-4}, Crowd{{479, 641}, 100000, 1e-3},
          Crowd{{479, 641}, 100000, 1e-4}, Crowd{{479, 641}, 100000, 1e-5}, Crowd{{500, 700}, 1000000, 1e-4}}) {
      auto c = large("one spot", 0.2, 0.5, crowd.tolerance);
      c.options.shape = crowd.shape;
      c.count = 0;
      check_crowd(c, crowd.count, false, {random_spot(c.options, 7)}, device);
    }
  });
}

TEST_P(PointCloudFast, CrowdsAmongOtherPoints) {
  on_each([](Device device) {
    for (const double tolerance : {1e-3, 1.2e-4, 1e-4, 1e-5}) {
      for (const bool band_limit : {false, true}) {
        auto c = large("crowd", 0.2, 0.5, tolerance);
        c.options.shape = {479, 641};
        c.options.band_limit = band_limit;
        c.count = 3000;
        check_crowd(c, 3000, band_limit, {random_spot(c.options, 11)}, device);
      }
    }
  });
}

TEST_P(PointCloudFast, BandLimitMasksWhatTilesCannot) {
  for (const double tolerance : {1e-2, 1e-3, 1e-4}) {
    auto c = large("band limit", 0.2, 0.21, tolerance);
    c.options.band_limit = true;
    c.count = 30000;
    // On Hopper products alone are faster where fp16 suffices.
    check(c, cases::make_points(c), tolerance < 3e-4);
  }
  auto c = large("band limit, phases, in front", -0.25, -0.15, 1e-3);
  c.options.band_limit = true;
  c.phases = true;
  c.count = 30000;
  check(c, cases::make_points(c), false);  // a GPU sums these waves by products of factors alone
}

TEST_P(PointCloudFast, PanelsOfAnySize) {
  for (const auto& shape : {holotone::Shape<2>{1, 20011}, {20011, 1}, {7, 9001}, {1201, 701}}) {
    auto c = large("panel", 0.5, 0.6, 1e-3);
    c.options.shape = shape;
    c.extent = 1;
    const auto points = cases::make_points(c);
    const auto expected = cases::sample_reference(c, points, samples);
    on_each([&](Device device) {
      const auto field = point_cloud_field(cases::sources(points), c.options, device).to(Device{});
      support::expect_within(fmt::format("{} x {}", shape[0], shape[1]), cases::relative_error(expected, field.data()),
                             c.options.tolerance);
    });
  }
}

// A plan for 271 rows: on CUDA every part moves the boxes of the same tiles, and the last one overlaps the part before;
// the CPU computes rows of tiles and keeps the one that a part cuts.
TEST_P(PointCloudFast, PartsInTiles) {
  auto limited = large("parts, band limit", 0.2, 0.21, 1e-3);
  limited.options.band_limit = true;
  limited.count = 30000;
  for (const auto& c : {large("parts", 0.5, 0.6, 1e-3), large("parts, fine", 0.5, 0.6, 1e-4), limited}) {
    const auto points = cases::make_points(c);
    const auto expected = cases::sample_reference(c, points, samples);
    on_each([&](Device device) {
      const holotone::Queue queue(device);
      PointCloudPlan plan(c.options, queue, 271);
      plan.set_points(cases::sources(points));
      expect_in_tiles(plan);
      Array<std::complex<float>, 2> field(c.options.shape);
      for (const RowRange part : {RowRange{600, 480}, RowRange{0, 100}, RowRange{100, 500}}) {
        const auto block = rows_of_field(plan, part, queue);
        std::copy_n(block.data(), block.size(), field.data() + part.first_row * c.options.shape[1]);
      }
      support::expect_within(c.name + ", " + plan.info().arithmetic, cases::relative_error(expected, field.data()),
                             c.options.tolerance);
      support::expect_within(c.name + ", largest", cases::largest_error(expected, field.data()),
                             10 * c.options.tolerance);
    });
  }
}

// Rows at the bottom of a panel of 24,576. Positions in float32 there have steps of 0.9 nm; rounding a difference of
// them again would exceed the tolerance.
TEST_P(PointCloudFast, APartInTilesFarFromTheMiddleIsExact) {
  constexpr RowRange part{24576 - 512, 512};
  auto c = large("far from the middle", 0.02, 0.03, 1e-4);
  c.options.pitch_m = 750e-9;
  c.options.shape = {part.end(), 1024};
  c.count = 10000;
  auto points = cases::make_points(c);
  for (std::size_t j = 0; j < points.position_m.size(); ++j) {
    points.position_m[j][1] = -9.2e-3F + 1.5e-3F * static_cast<float>(holotone::random_uniform64(3, j));
  }
  const auto panel = cases::panel_of(c.options);
  cases::PixelSample expected;
  for (std::uint64_t k = 0; k < samples; ++k) {
    expected.index.push_back(static_cast<std::int64_t>(holotone::random_bits(7, k) % (512 * 1024)));
    expected.value.push_back(reference::point_cloud_pixel(points, panel, part.first_row + expected.index.back() / 1024,
                                                          expected.index.back() % 1024));
  }
  on_each([&](Device device) {
    const holotone::Queue queue(device);
    PointCloudPlan plan(c.options, queue, part.rows);
    plan.set_points(cases::sources(points));
    expect_in_tiles(plan);
    const auto field = rows_of_field(plan, part, queue);
    support::expect_within(c.name + ", " + plan.info().arithmetic, cases::relative_error(expected, field.data()),
                           c.options.tolerance);
  });
}

// Window errors are largest at the edges of a tile. The reference is the same device's separable sum at a fiftieth of
// the tolerance.
TEST_P(PointCloudFast, NoSeamsAtTheTilesEdges) {
  auto c = large("seams", 0.5, 0.6, 1e-3);
  const auto points = cases::make_points(c);
  on_each([&](Device device) {
    const holotone::Queue queue(device);
    PointCloudPlan plan(c.options, queue);
    plan.set_points(cases::sources(points));
    Array<std::complex<float>, 2> field(c.options.shape, queue);
    plan.execute({field.view(), {}, {}});
    queue.synchronize();
    const auto fast = field.to(Device{});
    auto exact = c.options;
    exact.method = PointMethod::separable;
    exact.tolerance = 2e-5;
    const auto expected = point_cloud_field(cases::sources(points), exact, device).to(Device{});
    int tiles_x = 0;
    int tiles_y = 0;
    const std::string arithmetic = plan.info().arithmetic;
    ASSERT_EQ(std::sscanf(arithmetic.c_str() + arithmetic.find("FFT in "), "FFT in %d x %d", &tiles_x, &tiles_y), 2);
    const bool gpu = device.backend == holotone::Backend::cuda;
    const auto split_extent = [](std::int64_t extent, int tiles, int unit) {
      return ((extent + tiles - 1) / tiles + unit - 1) / unit * unit;
    };
    const auto width = split_extent(c.options.shape[1], tiles_x, gpu ? 8 : 1);
    const auto height = split_extent(c.options.shape[0], tiles_y, gpu ? 2 : 1);
    const auto near_edge = [](std::int64_t i, std::int64_t tile) { return i % tile < 4 || i % tile >= tile - 4; };
    double error[2] = {};
    double count[2] = {};
    double light = 0;
    double largest = 0;
    for (std::int64_t row = 0; row < c.options.shape[0]; ++row) {
      for (std::int64_t column = 0; column < c.options.shape[1]; ++column) {
        const double square = std::norm(fast(row, column) - expected(row, column));
        const bool edge = near_edge(row, height) || near_edge(column, width);
        error[edge] += square;
        ++count[edge];
        light += std::norm(expected(row, column));
        largest = std::max(largest, square);
      }
    }
    const double rms_light = std::sqrt(light / static_cast<double>(c.pixels()));
    const double edge_rms = std::sqrt(error[1] / count[1]);
    const double rest_rms = std::sqrt(error[0] / count[0]);
    support::expect_within("error along the edges of " + arithmetic + ", of the rest's", edge_rms / rest_rms, 3);
    support::expect_within("largest error", std::sqrt(largest) / rms_light, 10 * c.options.tolerance);
    support::expect_within("error", std::sqrt((error[0] + error[1]) / light), c.options.tolerance);
  });
}

// Points both near the panel and far from it produce waves too deep for any grid; so do pitches of metres.
TEST_P(PointCloudFast, DepthsThatNoGridHolds) {
  reference::PointWaves points;
  points.position_m = {{0, 0, -0.2F}, {0, 0, 0.2F}, {1e-4F, 0, 1e-6F}, {0, 0, -1e6F}, {0, 0, -1e-9F}};
  points.amplitude = {1, -0.5F, 0.7F, 0.3F, 0.1F};
  for (const double pitch_m : {8e-6, 1e-3}) {
    auto c = large("depths", 0.5, 0.6, 1e-3);
    c.options.shape = {48, 64};
    c.options.pitch_m = pitch_m;
    c.count = std::ssize(points.amplitude);
    on_each([&](Device device) {
      const auto fast = point_cloud_field(cases::sources(points), c.options, device).to(Device{});
      auto other = c.options;
      other.method = PointMethod::separable;
      const auto expected = point_cloud_field(cases::sources(points), other, device).to(Device{});
      for (std::int64_t i = 0; i < fast.size(); ++i) ASSERT_EQ(fast.data()[i], expected.data()[i]) << "pixel " << i;
    });
  }
}

// A plan keeps its tables while the points stay in about the same region, and rebuilds them otherwise.
TEST_P(PointCloudFast, CloudsThatMoveAndGrow) {
  on_each([&](Device device) {
    const holotone::Queue queue(device);
    auto c = large("moving", 0.5, 0.6, 1e-3);
    PointCloudPlan plan(c.options, queue);
    Array<std::complex<float>, 2> field(c.options.shape, queue);
    const auto run = [&] {
      const auto points = cases::make_points(c);
      const auto expected = cases::sample_reference(c, points, samples);
      plan.set_points(cases::sources(points));
      plan.execute({field.view(), {}, {}});
      queue.synchronize();
      support::expect_within(fmt::format("{} points at {} m", c.count, c.near_m),
                             cases::relative_error(expected, field.to(Device{}).data()), c.options.tolerance);
    };
    run();
    c.offset = 0.001;
    run();
    c.near_m = 0.7;
    c.far_m = 0.75;
    run();
    c.count = 1;  // few points are cheaper by products of factors
    run();
    c.count = 60000;
    run();
  });
}

}  // namespace
