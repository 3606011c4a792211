// Panels so wide or high that CUDA sums them in blocks, each from the points that light it, against the float64 sum.
#include <algorithm>
#include <cmath>
#include <complex>
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
using Complex = std::complex<float>;

constexpr std::int64_t samples = 400;

class PointCloudBlocks : public support::OnEachDevice {};
HOLOTONE_ON_DEVICES(PointCloudBlocks, "cuda");

cases::PointCloudCase wide(std::string name, const holotone::Shape<2>& shape) {
  cases::PointCloudCase c;
  c.name = std::move(name);
  c.options.shape = shape;
  c.options.pitch_m = 1e-6;
  c.options.method = PointMethod::fast;
  c.count = 600000;
  c.near_m = 3e-3;  // lights 800 pixels to each side
  c.far_m = 5e-3;
  c.phases = true;
  return c;
}

void expect_blocks(const PointCloudPlan& plan) {
  EXPECT_NE(plan.info().arithmetic.find(" of blocks of "), std::string::npos) << plan.info().arithmetic;
}

/// The whole field by parts, in host memory.
Array<Complex, 2> compute_field(const PointCloudPlan& plan, std::int64_t rows_a_part, const holotone::Queue& queue) {
  const auto& shape = plan.options().shape;
  Array<Complex, 2> field(shape);
  for (std::int64_t row = 0; row < shape[0]; row += rows_a_part) {
    const RowRange part{row, std::min(rows_a_part, shape[0] - row)};
    Array<Complex, 2> block({part.rows, shape[1]}, queue);
    plan.execute(part, {block.view(), {}, {}});
    queue.synchronize();
    const auto host = block.to(Device{});
    std::copy_n(host.data(), host.size(), field.data() + row * shape[1]);
  }
  return field;
}

void check(const cases::PointCloudCase& c, Device device, std::int64_t rows_at_once = 0) {
  const auto points = cases::make_points(c);
  const holotone::Queue queue(device);
  PointCloudPlan plan(c.options, queue, rows_at_once);
  plan.set_points(cases::sources(points));
  expect_blocks(plan);
  const auto field = compute_field(plan, rows_at_once > 0 ? rows_at_once : c.options.shape[0], queue);
  const auto expected = cases::sample_reference(c, points, samples);
  support::expect_within(c.name + ", " + plan.info().arithmetic, cases::relative_error(expected, field.data()),
                         c.options.tolerance);
  support::expect_within(c.name + ", largest", cases::largest_error(expected, field.data()), 10 * c.options.tolerance);
}

TEST_P(PointCloudBlocks, WideAndHighPanels) {
  on_each([](Device device) {
    check(wide("wide", {1500, 8500}), device);
    check(wide("high", {8500, 1100}), device);
    auto fine = wide("fine", {700, 8500});
    fine.options.tolerance = 1e-4;
    check(fine, device);
    auto all_lit = wide("without a band limit", {400, 8500});
    all_lit.options.band_limit = false;
    all_lit.near_m = 0.09;
    all_lit.far_m = 0.1;
    check(all_lit, device);
    auto far = wide("points beyond the panel's edges", {900, 8500});
    far.offset = 0.6;
    check(far, device);
  });
}

TEST_P(PointCloudBlocks, PartsOfAWidePanel) {
  on_each([](Device device) {
    check(wide("parts", {1501, 8501}), device, 600);
    auto deep = wide("deep parts", {1000, 9001});
    deep.near_m = 0.2e-3;
    check(deep, device, 500);
  });
}

// Blocks that no point lights are exactly dark; those beside them are not.
TEST_P(PointCloudBlocks, BlocksWithoutLight) {
  auto c = wide("one corner", {1200, 12300});
  c.extent = 0.1;
  c.offset = -0.4;
  on_each([&](Device device) {
    check(c, device);
    const holotone::Queue queue(device);
    PointCloudPlan plan(c.options, queue);
    plan.set_points(cases::sources(cases::make_points(c)));
    const auto field = compute_field(plan, c.options.shape[0], queue);
    for (std::int64_t column = 6500; column < 12300; ++column) {
      ASSERT_EQ(field(600, column), Complex(0)) << column;
      ASSERT_EQ(field(0, column), Complex(0)) << column;
    }
    EXPECT_NE(field(1000, 1500), Complex(0));
    // Then a cloud elsewhere.
    c.offset = 0.4;
    const auto points = cases::make_points(c);
    plan.set_points(cases::sources(points));
    const auto moved = compute_field(plan, c.options.shape[0], queue);
    EXPECT_LE(cases::relative_error(cases::sample_reference(c, points, samples), moved.data()), c.options.tolerance);
    EXPECT_EQ(moved(1000, 1500), Complex(0));
    c.offset = -0.4;
  });
}

// Codes and the real part of a block lie where the field's pixels do.
TEST_P(PointCloudBlocks, EveryOutput) {
  const auto c = wide("outputs", {500, 8300});
  const auto points = cases::make_points(c);
  on_each([&](Device device) {
    const holotone::Queue queue(device);
    PointCloudPlan plan(c.options, queue);
    plan.set_points(cases::sources(points));
    Array<Complex, 2> field(c.options.shape, queue);
    Array<float, 2> real(c.options.shape, queue);
    Array<std::uint8_t, 2> phase(c.options.shape, queue);
    plan.execute({field.view(), real.view(), phase.view()});
    queue.synchronize();
    const auto values = field.to(Device{});
    const auto parts = real.to(Device{});
    const auto codes = phase.to(Device{});
    constexpr double turn = 2 * 3.14159265358979323846;
    int far = 0;
    for (std::int64_t i = 0; i < values.size(); ++i) {
      ASSERT_FLOAT_EQ(parts.data()[i], values.data()[i].real()) << i;
      const double level = std::arg(std::complex<double>(values.data()[i])) / turn * 256;
      far += std::abs(std::remainder(codes.data()[i] - level, 256)) > 0.51 ? 1 : 0;
    }
    EXPECT_EQ(far, 0);
  });
}

}  // namespace
