// Parts of a panel against the whole, for every method and device, and rejected parts.
#include <gtest/gtest.h>
#include <holotone/core/device.hpp>
#include <holotone/hologram/point_cloud.hpp>
#include <limits>
#include <numeric>
#include <tests/cases/point_cloud.hpp>
#include <tests/support/on_each_device.hpp>

namespace {

using holotone::Array;
using holotone::Backend;
using holotone::Device;
using holotone::ErrorCode;
using holotone::PointCloudOptions;
using holotone::PointCloudPlan;
using holotone::PointMethod;
using holotone::Queue;
using holotone::RowRange;
using holotone::View;
using holotone::Wave;
using support::Complex;

constexpr double tolerance = 1e-3;

class PointCloudParts : public support::OnEachDevice {};
HOLOTONE_ON_EACH_DEVICE(PointCloudParts);

/// All results of a plan, in host memory.
struct Result {
  explicit Result(const holotone::Shape<2>& shape) : field(shape), real(shape), phase(shape) {}
  Array<Complex, 2> field;
  Array<float, 2> real;
  Array<std::uint8_t, 2> phase;
};

template <class T>
View<T, 2> slice_rows(Array<T, 2>& array, const RowRange& part) {
  return {array.data() + part.first_row * array.shape()[1], {part.rows, array.shape()[1]}};
}

/// Field and phase by one execute, the real part alone by another.
void run(const PointCloudPlan& plan, const Queue& queue, const RowRange& part, Result& result) {
  const holotone::Shape<2> shape{part.rows, plan.options().shape[1]};
  Array<Complex, 2> field(shape, queue);
  Array<float, 2> real(shape, queue);
  Array<std::uint8_t, 2> phase(shape, queue);
  plan.execute(part, {field.view(), {}, phase.view()});
  plan.execute(part, {{}, real.view(), {}});
  copy<Complex, 2>(slice_rows(result.field, part), field.view(), queue);
  copy<float, 2>(slice_rows(result.real, part), real.view(), queue);
  copy<std::uint8_t, 2>(slice_rows(result.phase, part), phase.view(), queue);
  queue.synchronize();
}

template <class T>
double relative_difference(const Array<T, 2>& a, const Array<T, 2>& b) {
  double error = 0;
  double norm = 0;
  for (std::int64_t i = 0; i < b.size(); ++i) {
    error += std::norm(std::complex<double>(a.data()[i]) - std::complex<double>(b.data()[i]));
    norm += std::norm(std::complex<double>(b.data()[i]));
  }
  return std::sqrt(error / norm);
}

template <class T>
std::int64_t different(const Array<T, 2>& a, const Array<T, 2>& b) {
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < b.size(); ++i) count += a.data()[i] == b.data()[i] ? 0 : 1;
  return count;
}

/// Divisions of 150 rows: all, single rows, various heights with a short last part, from bottom to top.
std::vector<std::vector<RowRange>> ways_to_cut() {
  std::vector<std::vector<RowRange>> ways{
      {{0, 150}}, {{0, 1}, {1, 63}, {64, 64}, {128, 21}, {149, 1}}, {{120, 30}, {60, 60}, {0, 60}}};
  ways.emplace_back();
  for (std::int64_t row = 0; row < 150; row += 19) ways.back().push_back({row, std::min<std::int64_t>(19, 150 - row)});
  return ways;
}

cases::PointCloudCase make_case(PointMethod method, bool band_limit) {
  cases::PointCloudCase c;
  c.options.shape = {150, 83};
  c.options.method = method;
  c.options.tolerance = tolerance;
  c.options.band_limit = band_limit;
  c.count = method == PointMethod::fast ? 30000 : 60;
  c.near_m = band_limit ? -0.006 : 0.1;  // with a band limit, light ends within the panel
  c.far_m = band_limit ? 0.012 : 0.15;
  c.phases = true;
  c.seed = 5;
  return c;
}

void expect_whole(const Result& parts, const Result& whole, PointMethod method, Device device) {
  const double error = relative_difference(parts.field, whole.field);
  if (device.backend == Backend::cpu) {
    EXPECT_EQ(different(parts.field, whole.field), 0) << "differs by " << error;
    EXPECT_EQ(different(parts.real, whole.real), 0);
    EXPECT_EQ(different(parts.phase, whole.phase), 0);
    return;
  }
  const bool sums_alike = method == PointMethod::direct || method == PointMethod::recurrence;
  const double most = sums_alike ? 1e-6 : 2 * tolerance;
  EXPECT_LE(error, most);
  EXPECT_LE(relative_difference(parts.real, whole.real), most);
}

TEST_P(PointCloudParts, TogetherTheyAreTheWhole) {
  on_each([](Device device) {
    const Queue queue(device);
    for (const auto method : cases::point_methods) {
      if (!cases::has_method(method, tolerance, device)) continue;
      for (const bool band_limit : {true, false}) {
        const auto c = make_case(method, band_limit);
        const auto points = cases::make_points(c);
        PointCloudPlan all(c.options, queue);
        all.set_points(cases::sources(points));
        // For points that light small zones products are cheaper; a GPU also sums these few points by products.
        if (method != PointMethod::fast || (device.backend == Backend::cpu && !band_limit)) {
          EXPECT_EQ(all.info().method, method);
        }
        Result whole(c.options.shape);
        run(all, queue, {0, 150}, whole);
        const auto expected = cases::sample_reference(c, points, 200);
        EXPECT_LE(cases::relative_error(expected, whole.field.data()), tolerance) << to_string(method);
        // On the CPU the rows per pass change nothing.
        const bool gpu = device.backend != Backend::cpu;
        for (const std::int64_t rows_at_once :
             gpu ? std::vector<std::int64_t>{0, 19, 60} : std::vector<std::int64_t>{19}) {
          PointCloudPlan plan(c.options, queue, rows_at_once);
          plan.set_points(cases::sources(points));
          for (const auto& parts : ways_to_cut()) {
            SCOPED_TRACE(testing::Message() << to_string(method) << (band_limit ? ", band limit, " : ", ")
                                            << rows_at_once << " rows at once, " << parts.size() << " parts");
            Result put_together(c.options.shape);
            for (const auto& part : parts) run(plan, queue, part, put_together);
            expect_whole(put_together, whole, method, device);
          }
        }
      }
    }
  });
}

TEST_P(PointCloudParts, TheSphericalWave) {
  on_each([](Device device) {
    const Queue queue(device);
    auto c = make_case(PointMethod::direct, true);
    c.options.wave = Wave::spherical;
    PointCloudPlan plan(c.options, queue, 19);
    plan.set_points(cases::sources(cases::make_points(c)));
    Result whole(c.options.shape);
    run(plan, queue, {0, 150}, whole);
    Result parts(c.options.shape);
    const auto ways = ways_to_cut();
    for (const auto& part : ways.back()) run(plan, queue, part, parts);
    expect_whole(parts, whole, PointMethod::direct, device);
  });
}

// New points of the same plan must not reuse rows cached for the previous ones.
TEST_P(PointCloudParts, NewPointsAreNewRows) {
  on_each([](Device device) {
    const Queue queue(device);
    for (const auto method : cases::point_methods) {
      if (!cases::has_method(method, tolerance, device)) continue;
      auto c = make_case(method, false);
      PointCloudPlan plan(c.options, queue, 30);
      Result first(c.options.shape);
      plan.set_points(cases::sources(cases::make_points(c)));
      run(plan, queue, {10, 5}, first);
      c.seed = 6;
      const auto points = cases::make_points(c);
      plan.set_points(cases::sources(points));
      Result second(c.options.shape);
      run(plan, queue, {10, 5}, second);
      double error = 0;
      double norm = 0;
      const auto panel = cases::panel_of(c.options);
      for (std::int64_t row = 10; row < 15; ++row) {
        for (std::int64_t column = 0; column < 83; column += 9) {
          const auto expected = reference::point_cloud_pixel(points, panel, row, column);
          error += std::norm(std::complex<double>(second.field(row, column)) - expected);
          norm += std::norm(expected);
        }
      }
      EXPECT_LE(std::sqrt(error / norm), 3 * tolerance) << to_string(method);
    }
  });
}

// Products for a panel larger than 2^23 pixels are split into blocks of 128 rows of 65536.
TEST(PointCloudPartsCpu, BlocksOfALargePanel) {
  cases::PointCloudCase c;
  c.options.shape = {150, 65536};
  c.options.method = PointMethod::separable;
  c.options.tolerance = tolerance;
  c.near_m = 0.05;
  c.far_m = 0.1;
  c.count = 12;
  const auto points = cases::make_points(c);
  PointCloudPlan plan(c.options);
  plan.set_points(cases::sources(points));
  Array<Complex, 2> whole(c.options.shape);
  plan.execute({whole.view(), {}, {}});
  EXPECT_LE(cases::relative_error(cases::sample_reference(c, points, 2000), whole.data()), tolerance);
  Array<Complex, 2> parts(c.options.shape);
  for (const RowRange part : {RowRange{0, 60}, RowRange{60, 80}, RowRange{140, 10}}) {
    plan.execute(part, {slice_rows(parts, part), {}, {}});
  }
  EXPECT_EQ(different(parts, whole), 0);
}

TEST_P(PointCloudParts, RowsBeyondThePanelAreRefused) {
  on_each([](Device device) {
    auto c = make_case(PointMethod::direct, true);
    PointCloudPlan plan(c.options, device);
    plan.set_points(cases::sources(cases::make_points(c)));
    Array<Complex, 2> field({10, 83}, device);
    constexpr auto largest = std::numeric_limits<std::int64_t>::max();
    const auto refused = [&](const RowRange& part, const std::string& got) {
      support::expect_error(ErrorCode::invalid_argument,
                            "PointCloudPlan::execute: part: expected 1 or more rows within rows 0 to 149, got " + got,
                            [&] {
                              plan.execute(part, {field.view(), {}, {}});
                            });
    };
    refused({-1, 10}, "10 rows from row -1");
    refused({141, 10}, "10 rows from row 141");
    refused({0, 0}, "0 rows from row 0");
    refused({0, -3}, "-3 rows from row 0");
    refused({largest, 10}, "10 rows from row 9223372036854775807");
    refused({10, largest}, "9223372036854775807 rows from row 10");
    support::expect_error(ErrorCode::invalid_argument, "field: expected shape {9, 83}, got {10, 83}", [&] {
      plan.execute({0, 9}, {field.view(), {}, {}});
    });
    for (const std::int64_t rows : {std::int64_t{-1}, std::int64_t{151}, largest}) {
      support::expect_error(
          ErrorCode::invalid_argument,
          "PointCloudPlan: rows_at_once: expected 1 to 150, or 0 for all rows, got " + std::to_string(rows),
          [&] { PointCloudPlan(c.options, device, rows); });
    }
  });
}

TEST(PointCloudPartsCpu, ACancelledPartIsNotKept) {
  class Stops final : public holotone::Progress {
   public:
    bool update(std::string_view, std::int64_t done, std::int64_t) override { return done == 0; }
  } stops;
  auto c = make_case(PointMethod::separable, false);
  c.options.tolerance = 1e-3;
  PointCloudPlan plan(c.options);
  plan.set_points(cases::sources(cases::make_points(c)));
  Array<Complex, 2> whole(c.options.shape);
  plan.execute({whole.view(), {}, {}});
  Array<Complex, 2> part({7, 83});
  EXPECT_THROW(plan.execute({9, 7}, {part.view(), {}, {}}, stops), holotone::Error);
  plan.execute({9, 7}, {part.view(), {}, {}});
  for (std::int64_t i = 0; i < part.size(); ++i) ASSERT_EQ(part.data()[i], whole.data()[9 * 83 + i]);
}

TEST(PointCloudPartsCpu, ProgressOfAPartRisesToItsRows) {
  class Watch final : public holotone::Progress {
   public:
    bool update(std::string_view, std::int64_t done, std::int64_t total) override {
      rising = rising && done >= last && done <= total;
      last = done;
      all = total;
      return true;
    }
    bool rising = true;
    std::int64_t last = 0;
    std::int64_t all = 0;
  };
  for (const auto method : cases::point_methods) {
    const auto c = make_case(method, false);
    PointCloudPlan plan(c.options);
    plan.set_points(cases::sources(cases::make_points(c)));
    Array<Complex, 2> field({100, 83});
    Watch watch;
    plan.execute({20, 100}, {field.view(), {}, {}}, watch);
    EXPECT_TRUE(watch.rising) << to_string(method);
    EXPECT_EQ(watch.last, watch.all) << to_string(method);
  }
}

TEST(PointCloudPartsCpu, TheWorkspaceIsKnownBeforehand) {
  for (const auto method : cases::point_methods) {
    for (const std::int64_t side : {150, 500}) {
      auto c = make_case(method, false);
      c.options.shape = {side, 83};
      PointCloudPlan plan(c.options);
      plan.set_points(cases::sources(cases::make_points(c)));
      Array<Complex, 2> field(c.options.shape);
      plan.execute({field.view(), {}, {}});
      ASSERT_EQ(plan.info().method, method);
      const auto known = static_cast<double>(point_cloud_workspace_bytes(c.options, method, c.count));
      const auto taken = static_cast<double>(plan.info().workspace_bytes);
      std::printf("%s: %.3g bytes, %.3g known\n", std::string(to_string(method)).c_str(), taken, known);
      EXPECT_LE(taken, known * 1.01) << to_string(method);
      if (method != PointMethod::fast) {
        EXPECT_GE(taken, known * 0.99) << to_string(method);
      }
    }
  }
  const PointCloudOptions options{.shape = {1080, 1920}};
  EXPECT_GT(point_cloud_workspace_bytes(options, PointMethod::fast, 1000000), std::size_t{1} << 30U);
  EXPECT_EQ(point_cloud_workspace_bytes(options, PointMethod::automatic, 1000000),
            point_cloud_workspace_bytes(options, PointMethod::fast, 1000000));
}

}  // namespace
