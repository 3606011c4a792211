#include <cstdint>
#include <gtest/gtest.h>
#include <holotone/core/array.hpp>
#include <numeric>
#include <string>
#include <tests/support/on_each_device.hpp>
#include <utility>
#include <vector>

namespace holotone {
namespace {

using support::expect_error;

const Device absent_gpu{Backend::cuda, 63};

TEST(Array, IsRowMajorWithTheLastIndexFastest) {
  Array<int, 3> array({2, 3, 4});
  std::iota(array.host().begin(), array.host().end(), 0);
  EXPECT_EQ(array.size(), 24);
  EXPECT_EQ(array.bytes(), 24 * sizeof(int));
  EXPECT_EQ(array(0, 0, 1), 1);
  EXPECT_EQ(array(0, 1, 0), 4);
  EXPECT_EQ(array(1, 0, 0), 12);
  EXPECT_EQ(array(1, 2, 3), 23);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(array.data()) % 64, 0u);  // a cache line, a 512-bit vector
}

TEST(Array, EmptyOnesAreAllowed) {
  const Array<float, 2> none;
  EXPECT_TRUE(none.empty());
  EXPECT_EQ(none.data(), nullptr);
  const Array<float, 2> flat({0, 5});
  EXPECT_TRUE(flat.empty());
  EXPECT_TRUE(flat.host().empty());
  EXPECT_TRUE((View<float, 2>{}.empty()));
}

TEST(Array, RefusesNegativeAndOverflowingExtents) {
  const std::string expected = "Array: shape: expected extents >= 0 whose product fits in memory, got ";
  const auto make = [](Shape<2> shape) { return [shape] { const Array<double, 2> array(shape); }; };
  expect_error(ErrorCode::invalid_argument, expected + "{-1, 5}", make({-1, 5}));
  expect_error(ErrorCode::invalid_argument, expected + "{0, -5}", make({0, -5}));
  expect_error(ErrorCode::invalid_argument, expected + "{4294967296, 4294967296}",
               make({std::int64_t{1} << 32, std::int64_t{1} << 32}));
  expect_error(ErrorCode::invalid_argument, expected, make({std::int64_t{1} << 60, 2}));  // the bytes overflow
}

TEST(Array, OutOfMemorySaysWhatWasAskedAndWhatIsFree) {
  for (const Device device : devices()) {
    const std::string need = "Array: expected 4.0 TiB";
    expect_error(ErrorCode::out_of_memory, need, [&] { const Array<char, 1> array({std::int64_t{1} << 42}, device); });
    expect_error(ErrorCode::out_of_memory, "free",
                 [&] { const Array<char, 1> array({std::int64_t{1} << 42}, device); });
    const Array<char, 1> usable_after({1024}, device);
    EXPECT_EQ(usable_after.size(), 1024);
  }
}

TEST(Array, MovesLeaveNothingBehind) {
  Array<int, 1> first({3});
  first(0) = 7;
  const Array<int, 1> second = std::move(first);
  EXPECT_EQ(second(0), 7);
  EXPECT_TRUE(first.empty());  // NOLINT(bugprone-use-after-move): the point of the test
}

TEST(Array, CopiesBetweenEveryPairOfDevices) {
  Array<std::int32_t, 2> source({7, 13});
  std::iota(source.host().begin(), source.host().end(), -40);
  for (const Device from : devices()) {
    const auto there = source.to(from);
    EXPECT_EQ(there.device(), from);
    for (const Device target : devices()) {
      const auto moved = there.to(target);
      EXPECT_EQ(moved.device(), target);
      EXPECT_EQ(moved.shape(), source.shape());
      const auto back = moved.to(Device{});
      EXPECT_TRUE(std::equal(back.host().begin(), back.host().end(), source.host().begin()));
    }
  }
}

TEST(Array, CopyRefusesAnotherShape) {
  Array<float, 2> target({2, 3});
  const Array<float, 2> source({3, 2});
  expect_error(ErrorCode::invalid_argument, "copy: source: expected shape {2, 3}, got {3, 2}",
               [&] { copy(target.view(), source.view(), Queue{}); });
}

TEST(View, MismatchNamesBothDevices) {
  float value = 0;
  const View<float, 1> elsewhere(&value, {1}, absent_gpu);
  expect_error(ErrorCode::invalid_argument, "expected an array on device cpu, got one on device cuda:63",
               [&] { (void)elsewhere.host(); });
  expect_error(ErrorCode::invalid_argument,
               "Plan::execute: field: expected an array on device cpu, got one on device cuda:63",
               [&] { require_view("Plan::execute", "field", elsewhere, {1}, Device{}); });
}

TEST(View, ShapeMismatchNamesBothShapes) {
  Array<float, 2> array({2, 3});
  expect_error(ErrorCode::invalid_argument, "Plan::execute: field: expected shape {3, 3}, got {2, 3}", [&] {
    require_view("Plan::execute", "field", array.view(), {3, 3}, Device{});
  });
  expect_error(ErrorCode::invalid_argument, "expected shape {0, 0}, got {0, 0}", [] {
    require_view("Plan::execute", "field", View<float, 2>{}, {0, 0}, Device{});
  });
}

TEST(View, ReadsWhatTheRangeHolds) {
  std::vector<double> values{1, 2, 3};
  const View<double, 1> view = view_of(std::span(values));
  view(1) = 5;
  const View<const double, 1> read_only = view;
  EXPECT_EQ(read_only(1), 5);
  EXPECT_EQ(values[1], 5);
  EXPECT_EQ(read_only.size(), 3);
}

}  // namespace
}  // namespace holotone
