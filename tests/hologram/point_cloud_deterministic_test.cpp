// PointCloudOptions::deterministic: the same bits in every run, by any number of threads and on any plan.
#include <algorithm>
#include <complex>
#include <cstring>
#include <gtest/gtest.h>
#include <holotone/core/device.hpp>
#include <holotone/core/parallel.hpp>
#include <holotone/hologram/point_cloud.hpp>
#include <tests/cases/point_cloud.hpp>
#include <tests/support/on_each_device.hpp>
#include <vector>

namespace {

using holotone::Array;
using holotone::Backend;
using holotone::Device;
using holotone::PointCloudPlan;
using holotone::PointMethod;
using holotone::Queue;
using holotone::RowRange;
using holotone::View;
using Complex = std::complex<float>;

class PointCloudDeterministic : public support::OnEachDevice {};
HOLOTONE_ON_EACH_DEVICE(PointCloudDeterministic);

/// Field and real part alone of the whole panel, in host memory.
struct Result {
  explicit Result(const holotone::Shape<2>& shape) : field(shape), real(shape) {}
  Array<Complex, 2> field;
  Array<float, 2> real;
};

template <class T>
void expect_same_bits(const Array<T, 2>& a, const Array<T, 2>& b, const char* what) {
  EXPECT_EQ(std::memcmp(a.data(), b.data(), a.bytes()), 0) << what;
}

void expect_same_bits(const Result& a, const Result& b) {
  expect_same_bits(a.field, b.field, "field");
  expect_same_bits(a.real, b.real, "real part");
}

std::vector<RowRange> bands(std::int64_t rows, std::int64_t at_once) {
  std::vector<RowRange> all;
  for (std::int64_t row = 0; row < rows; row += at_once) all.push_back({row, std::min(at_once, rows - row)});
  return all;
}

/// Sums the bands in the given order.
Result sum(const PointCloudPlan& plan, const std::vector<RowRange>& parts, const Queue& queue) {
  const auto& shape = plan.options().shape;
  Result result(shape);
  for (const auto& part : parts) {
    const holotone::Shape<2> block_shape{part.rows, shape[1]};
    Array<Complex, 2> field(block_shape, queue);
    Array<float, 2> real(block_shape, queue);
    plan.execute(part, {field.view(), {}, {}});
    plan.execute(part, {{}, real.view(), {}});
    copy<Complex, 2>(View<Complex, 2>(result.field.data() + part.first_row * shape[1], block_shape), field.view(),
                     queue);
    copy<float, 2>(View<float, 2>(result.real.data() + part.first_row * shape[1], block_shape), real.view(), queue);
    queue.synchronize();
  }
  return result;
}

/// Restores the number of threads.
class Threads {
 public:
  Threads() : before_(holotone::thread_count()) {}
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;
  ~Threads() { holotone::limit_threads(before_); }

 private:
  int before_;
};

/// Sums by bands: again and again on one plan, on a plan that gets the bands in another order after other points, and
/// on new plans, with various numbers of threads.
void check(const cases::PointCloudCase& given, Device device, std::int64_t at_once) {
  auto c = given;
  c.options.deterministic = true;
  SCOPED_TRACE(testing::Message() << c.name << ", " << to_string(c.options.method) << ", tolerance "
                                  << c.options.tolerance << ", " << at_once << " rows at once");
  const Threads threads;
  const auto points = cases::make_points(c);
  auto parts = bands(c.options.shape[0], at_once);
  const Queue queue(device);
  PointCloudPlan plan(c.options, queue, at_once);
  plan.set_points(cases::sources(points));
  const Result first = sum(plan, parts, queue);
  const auto expected = cases::sample_reference(c, points, 100);
  EXPECT_LE(cases::relative_error(expected, first.field.data()), c.options.tolerance);
  for (int run = 0; run < (device.backend == Backend::cpu ? 1 : 4); ++run)
    expect_same_bits(sum(plan, parts, queue), first);
  std::reverse(parts.begin(), parts.end());
  const bool cpu = device.backend == Backend::cpu;
  for (const int count : cpu ? std::vector<int>{1, 2, 3} : std::vector<int>{1}) {
    SCOPED_TRACE(testing::Message() << count << " threads");
    holotone::limit_threads(count);
    const Queue other(device);
    PointCloudPlan another(c.options, other, at_once);
    auto before = c;
    before.seed = 7;
    before.extent = 0.78;
    another.set_points(cases::sources(cases::make_points(before)));
    another.execute(parts.front(), {Array<Complex, 2>({parts.front().rows, c.options.shape[1]}, other).view(), {}, {}});
    another.set_points(cases::sources(points));
    EXPECT_EQ(another.info().method, plan.info().method);
    EXPECT_EQ(another.info().arithmetic, plan.info().arithmetic);
    expect_same_bits(sum(another, parts, other), first);
  }
}

cases::PointCloudCase small(std::string name, PointMethod method, bool band_limit, double tolerance) {
  cases::PointCloudCase c;
  c.name = std::move(name);
  c.options.shape = {150, 83};
  c.options.method = method;
  c.options.tolerance = tolerance;
  c.options.band_limit = band_limit;
  c.count = 300;
  c.near_m = band_limit ? -0.006 : 0.1;
  c.far_m = band_limit ? 0.012 : 0.15;
  c.phases = true;
  return c;
}

TEST_P(PointCloudDeterministic, EveryMethod) {
  on_each([](Device device) {
    for (const auto method : cases::point_methods) {
      for (const double tolerance : {1e-2, 1e-3, 1e-4, 5e-6}) {
        if (!cases::has_method(method, tolerance, device)) continue;
        const bool products = method == PointMethod::separable || method == PointMethod::fast;
        if (tolerance != 1e-3 && !(products && device.backend == Backend::cuda)) continue;
        for (const bool band_limit : {false, true}) {
          check(small(band_limit ? "at the band limit" : "all lit", method, band_limit, tolerance), device, 60);
        }
      }
    }
  });
}

// Blocks of several rows and columns, and of the last ones.
TEST_P(PointCloudDeterministic, ProductsOfManyBlocks) {
  on_each([](Device device) {
    for (const double tolerance : {1e-3, 5e-6}) {
      if (!cases::has_method(PointMethod::separable, tolerance, device)) continue;
      auto c = small("blocks", PointMethod::separable, false, tolerance);
      c.options.shape = {531, 1043};
      c.count = 700;
      check(c, device, 531);
      c.options.band_limit = true;
      c.near_m = 0.02;
      c.far_m = 0.1;
      check(c, device, 300);
    }
  });
}

/// Points that light some 700 pixels to each side of HD, 130 of a panel of 400.
cases::PointCloudCase at_band_limit(cases::PointCloudCase c) {
  c.near_m = c.options.shape[1] > 1000 ? 0.17 : 0.031;
  c.far_m = 1.1 * c.near_m;
  return c;
}

// Blocks of a wide panel, whatever other blocks were summed before.
TEST_P(PointCloudDeterministic, BlocksOfAWidePanel) {
  on_each([](Device device) {
    if (device.backend != Backend::cuda) GTEST_SKIP() << "blocks are of CUDA alone";
    for (const double tolerance : {1e-3, 1e-4}) {
      auto c = small("blocks of a wide panel", PointMethod::fast, true, tolerance);
      c.options.shape = {400, 8300};
      c.options.pitch_m = 1e-6;
      c.near_m = 3e-3;
      c.far_m = 5e-3;
      c.count = 300000;
      check(c, device, 170);
    }
  });
}

// Large enough for transforms; on a GPU points are sorted from 200,000 records on.
TEST_P(PointCloudDeterministic, Transforms) {
  on_each([](Device device) {
    const bool cpu = device.backend == Backend::cpu;
    for (const double tolerance : cpu ? std::vector{1e-2} : std::vector{1e-3, 1e-4}) {
      if (!cases::has_method(PointMethod::fast, tolerance, device)) continue;
      auto c = small("transforms", PointMethod::fast, false, tolerance);
      c.options.shape = cpu ? holotone::Shape<2>{240, 400} : holotone::Shape<2>{1080, 1920};
      c.near_m = 0.5;
      c.far_m = 0.6;
      for (const std::int64_t count : cpu ? std::vector{20000} : std::vector{15000, 60000}) {
        c.count = count;
        c.name = "all lit";
        c.options.band_limit = false;
        check(c, device, c.options.shape[0]);
        c.name = "at the band limit";
        c.options.band_limit = true;
        check(at_band_limit(c), device, c.options.shape[0] / 2);
      }
    }
  });
}

}  // namespace
