// The three passes against one transform of the padded field, for lines of every radix.
#include <holotone/core/random.hpp>
#include <holotone/fft/line_plan.hpp>
#include <holotone/fft/padded_filter_opencl.hpp>
#include <set>
#include <tests/reference/dft.hpp>
#include <tests/support/on_each_device.hpp>

namespace {

using holotone::Array;
using holotone::Device;
using holotone::Queue;
using holotone::Shape;
using holotone::fft::PaddedFilter;
using support::Complex;
using support::Complex64;

std::vector<Complex64> random_values(std::int64_t count, std::uint64_t seed) {
  std::vector<Complex64> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = {holotone::random_uniform64(seed, 2 * i) - 0.5, holotone::random_uniform64(seed, 2 * i + 1) - 0.5};
  }
  return values;
}

/// Index of H(y, x) in the table of a PaddedFilter.
std::size_t table_index(std::int64_t y, std::int64_t x, Shape<2> padded) {
  const auto [ly, lx] = padded;
  const std::int64_t row = std::min(x, lx - x);
  const std::int64_t line = std::min(y, ly - y);
  const std::int64_t count = ly / 4 + 1;
  return static_cast<std::size_t>(row * 2 * count + line % 2 * count + line / 2);
}

std::vector<Complex64> expected(const std::vector<Complex64>& input, const std::vector<Complex64>& transfer,
                                Shape<2> field, Shape<2> padded) {
  const auto [ly, lx] = padded;
  std::vector<Complex64> values(static_cast<std::size_t>(ly * lx));
  for (std::int64_t i = 0; i < field[0] * field[1]; ++i) {
    values[static_cast<std::size_t>(i / field[1] * lx + i % field[1])] = input[static_cast<std::size_t>(i)];
  }
  values = reference::dft(values, ly, lx, -1);
  for (std::int64_t y = 0; y < ly; ++y) {
    for (std::int64_t x = 0; x < lx; ++x)
      values[static_cast<std::size_t>(y * lx + x)] *= transfer[table_index(y, x, padded)];
  }
  values = reference::dft(values, ly, lx, 1);
  std::vector<Complex64> result(input.size());
  for (std::int64_t i = 0; i < std::ssize(result); ++i) {
    result[static_cast<std::size_t>(i)] = values[static_cast<std::size_t>(i / field[1] * lx + i % field[1])];
  }
  return result;
}

class PaddedFilterTest : public support::OnEachDevice {};

TEST_P(PaddedFilterTest, AgreesWithOneTransformForEveryRadix) {
  struct Case {
    Shape<2> field, padded;
    std::size_t local_bytes = 32768;
  };
  const Case cases[] = {{{180, 190}, {360, 392}},    {{126, 128}, {252, 256}}, {{54, 50}, {108, 100}},
                        {{120, 47}, {240, 96}},      {{7, 8}, {16, 18}},       {{1, 33}, {30, 70}},
                        {{54, 50}, {108, 100}, 4000}};
  std::set<int> radices;
  for (const auto& sizes : cases) {
    for (const auto side : sizes.padded) {
      const auto plan = holotone::fft::plan_line(side / 2, 512, 16);
      ASSERT_TRUE(plan);
      radices.insert(plan->radices.begin(), plan->radices.end());
    }
  }
  EXPECT_EQ(radices, (std::set{2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 15, 16})) << "a radix is not tested";
  on_each([&](Device device) {
    const Queue queue(device);
    for (const auto& [field, padded, local_bytes] : cases) {
      const auto filter = PaddedFilter::make(field, padded, queue, local_bytes);
      ASSERT_TRUE(filter) << holotone::to_string(padded);
      const auto input = random_values(field[0] * field[1], 1);
      const auto table_shape = PaddedFilter::transfer_shape(padded);
      const auto table = random_values(table_shape[0] * table_shape[1], 2);
      const auto source = support::upload(input, field, device);
      const auto transfer = support::upload(table, table_shape, device);
      Array<Complex, 2> output(field, queue);
      const auto wanted = expected(input, table, field, padded);
      filter->forward(source.data());
      for (const bool keep : {true, false}) {
        filter->apply(transfer.data(), output.data(), nullptr, keep);
        queue.synchronize();
        support::expect_within(holotone::to_string(field) + " in " + holotone::to_string(padded),
                               support::relative_error(output.to(Device{}).data(), wanted), 1e-6);
      }
    }
  });
}

TEST_P(PaddedFilterTest, ThereIsNoneForOtherShapes) {
  on_each([](Device device) {
    const Queue queue(device);
    EXPECT_FALSE(PaddedFilter::make({64, 64}, {64, 64}, queue)) << "not padded";
    EXPECT_FALSE(PaddedFilter::make({10, 10}, {22, 20}, queue)) << "a factor of 11";
    EXPECT_FALSE(PaddedFilter::make({10, 10}, {21, 20}, queue)) << "odd";
    EXPECT_FALSE(PaddedFilter::make({54, 50}, {108, 100}, queue, 2100)) << "too little local memory";
  });
}

HOLOTONE_ON_DEVICES(PaddedFilterTest, "opencl");

}  // namespace
