// The method `fast` without fallback: panels and clouds large enough for tiles, against the float64 sum.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <holotone/core/device.hpp>
#include <holotone/hologram/point_cloud.hpp>
#include <tests/cases/point_cloud.hpp>
#include <tests/support/on_each_device.hpp>

namespace {

using holotone::Array;
using holotone::Device;
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
HOLOTONE_ON_EACH_DEVICE(PointCloudFast);

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

// Waves in phase add up in few cells: long float32 sums would exceed many tolerances.
TEST_P(PointCloudFast, ManyEqualPointsOnOneSpotLoseNothing) {
  struct Crowd {
    holotone::Shape<2> shape;
    std::int64_t count;
    double tolerance;
  };
  for (const auto& crowd : {Crowd{{90, 100}, 40000, 1e-5}, Crowd{{500, 700}, 400000, 1e-4}}) {
    auto c = large("one spot", 0.2354, 0.2354, crowd.tolerance);
    c.options.shape = crowd.shape;
    c.count = crowd.count;
    check(c, cases::equal_points(c), false);
  }
}

TEST_P(PointCloudFast, BandLimitMasksWhatTilesCannot) {
  for (const double tolerance : {1e-2, 1e-3, 1e-4}) {
    auto c = large("band limit", 0.2, 0.21, tolerance);
    c.options.band_limit = true;
    c.count = 30000;
    check(c);
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
        const auto own = rows_of_field(plan, part, queue);
        std::copy_n(own.data(), own.size(), field.data() + part.first_row * c.options.shape[1]);
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
    const auto tile_of = [](std::int64_t extent, int tiles, int unit) {
      return ((extent + tiles - 1) / tiles + unit - 1) / unit * unit;
    };
    const auto width = tile_of(c.options.shape[1], tiles_x, gpu ? 8 : 1);
    const auto height = tile_of(c.options.shape[0], tiles_y, gpu ? 2 : 1);
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
