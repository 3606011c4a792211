// The plan against the float64 transform, closed forms and its own relations, on every device.
#include <holotone/core/random.hpp>
#include <holotone/fft/fft.hpp>
#include <numbers>
#include <set>
#include <tests/reference/dft.hpp>
#include <tests/support/on_each_device.hpp>

namespace {

using holotone::Array;
using holotone::Device;
using holotone::FftDirection;
using holotone::FftPlan;
using holotone::Queue;
using holotone::Shape;
using support::Complex;
using support::Complex64;

std::vector<Complex64> random_field(Shape<2> shape, std::uint64_t seed) {
  std::vector<Complex64> values(static_cast<std::size_t>(holotone::element_count(shape)));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = {2 * holotone::random_uniform64(seed, 2 * i) - 1, 2 * holotone::random_uniform64(seed, 2 * i + 1) - 1};
  }
  return values;
}

/// One rounding step per stage: the relative l2 error of an FFT grows with the number of stages.
double tolerance_for(Shape<2> shape) {
  return 6e-8 * (2 + std::log2(static_cast<double>(holotone::element_count(shape))));
}

std::string label(const char* what, Shape<2> shape) { return std::string(what) + " " + holotone::to_string(shape); }

const Shape<2> shapes[] = {{1, 1},   {1, 16},  {7, 1},   {8, 8},    {31, 37},
                           {45, 64}, {64, 45}, {97, 30}, {63, 105}, {128, 96}};

class Fft : public support::OnEachDevice {};

TEST_P(Fft, AgreesWithTheFloat64Transform) {
  on_each([](Device device) {
    for (const auto shape : shapes) {
      const auto values = random_field(shape, 1);
      const Queue queue(device);
      const FftPlan plan(shape, queue);
      for (const auto direction : {FftDirection::forward, FftDirection::inverse}) {
        auto data = support::upload(values, shape, device);
        plan.execute(data.view(), direction);
        queue.synchronize();
        auto expected = reference::dft(values, shape[0], shape[1], direction == FftDirection::forward ? -1 : 1);
        if (direction == FftDirection::inverse) {
          for (auto& v : expected) v /= static_cast<double>(holotone::element_count(shape));
        }
        support::expect_within(label(direction == FftDirection::forward ? "forward" : "inverse", shape),
                               support::relative_error(data.to(Device{}).data(), expected), tolerance_for(shape));
      }
    }
  });
}

TEST_P(Fft, KeepsTheEnergy) {
  on_each([](Device device) {
    const Shape<2> shape{420, 400};  // large enough for threads
    const auto values = random_field(shape, 2);
    auto data = support::upload(values, shape, device);
    const Queue queue(device);
    FftPlan(shape, queue).execute(data.view(), FftDirection::forward);
    queue.synchronize();
    const auto spectrum = data.to(Device{});
    double before = 0;
    double after = 0;
    for (const auto& v : values) before += std::norm(v);
    for (const auto& v : spectrum.host()) after += std::norm(Complex64(v));
    support::expect_within("Parseval", std::abs(after / (before * 420 * 400) - 1), tolerance_for(shape));
  });
}

TEST_P(Fft, TransformsAPlaneWaveToOneSample) {
  on_each([](Device device) {
    const Shape<2> shape{30, 48};
    std::vector<Complex64> wave(30 * 48);
    std::vector<Complex64> expected(wave.size());
    for (int y = 0; y < 30; ++y) {
      for (int x = 0; x < 48; ++x) {
        wave[static_cast<std::size_t>(y * 48 + x)] =
            std::polar(1.0, 2 * std::numbers::pi * (7 * x / 48.0 + 4 * y / 30.0));
      }
    }
    expected[4 * 48 + 7] = 30 * 48;
    auto data = support::upload(wave, shape, device);
    const Queue queue(device);
    FftPlan(shape, queue).execute(data.view(), FftDirection::forward);
    queue.synchronize();
    support::expect_within("plane wave", support::relative_error(data.to(Device{}).data(), expected),
                           tolerance_for(shape));
  });
}

TEST_P(Fft, InverseUndoesForward) {
  on_each([](Device device) {
    // Lines that are copied to be aligned and such that need not be, few and many.
    for (const Shape<2> shape : {Shape<2>{77, 96}, Shape<2>{1000, 405}, Shape<2>{3, 50'000}, Shape<2>{200'000, 9}}) {
      const auto values = random_field(shape, 3);
      auto data = support::upload(values, shape, device);
      const Queue queue(device);
      const FftPlan plan(shape, queue);
      plan.execute(data.view(), FftDirection::forward);
      plan.execute(data.view(), FftDirection::inverse);
      queue.synchronize();
      support::expect_within(label("round trip", shape), support::relative_error(data.to(Device{}).data(), values),
                             2 * tolerance_for(shape));
    }
  });
}

TEST_P(Fft, ABatchIsItsTransformsOneByOne) {
  on_each([](Device device) {
    for (const Shape<2> shape : {Shape<2>{12, 16}, Shape<2>{9, 7}}) {
      const Shape<2> all{5 * shape[0], shape[1]};
      const auto values = random_field(all, 6);
      auto data = support::upload(values, all, device);
      const Queue queue(device);
      const FftPlan plan(shape, queue, {.batch = 5});
      for (const auto direction : {FftDirection::forward, FftDirection::inverse}) {
        plan.execute(data.view(), direction);
        queue.synchronize();
        if (direction == FftDirection::inverse) {
          support::expect_within(label("batch and back", shape),
                                 support::relative_error(data.to(Device{}).data(), values), 2 * tolerance_for(shape));
          continue;
        }
        std::vector<Complex64> expected;
        for (std::int64_t i = 0; i < 5; ++i) {
          const auto begin = values.begin() + i * holotone::element_count(shape);
          const auto spectrum = reference::dft(std::vector<Complex64>(begin, begin + holotone::element_count(shape)),
                                               shape[0], shape[1], -1);
          expected.insert(expected.end(), spectrum.begin(), spectrum.end());
        }
        support::expect_within(label("batch", shape), support::relative_error(data.to(Device{}).data(), expected),
                               tolerance_for(shape));
      }
    }
  });
}

TEST_P(Fft, LeavesTheInverseUnscaledWhenAsked) {
  on_each([](Device device) {
    const Shape<2> shape{20, 24};
    auto values = random_field(shape, 4);
    auto data = support::upload(values, shape, device);
    const Queue queue(device);
    const FftPlan plan(shape, queue, {.scale_inverse = false});
    plan.execute(data.view(), FftDirection::forward);
    plan.execute(data.view(), FftDirection::inverse);
    queue.synchronize();
    for (auto& v : values) v *= 20 * 24;
    support::expect_within("unscaled", support::relative_error(data.to(Device{}).data(), values),
                           2 * tolerance_for(shape));
  });
}

// Zero padding declared to the plan changes the work, not the result.
TEST_P(Fft, NamedRowsGiveTheSameAsAllRows) {
  on_each([](Device device) {
    for (const std::int64_t first : {0, 3, 8}) {
      const Shape<2> shape{36, 50};
      const std::int64_t rows = 17;
      auto values = random_field(shape, 5);
      for (std::int64_t y = 0; y < 36; ++y) {
        if (y >= first && y < first + rows) continue;
        for (std::int64_t x = 0; x < 50; ++x) values[static_cast<std::size_t>(y * 50 + x)] = 0;
      }
      auto data = support::upload(values, shape, device);
      const Queue queue(device);
      const FftPlan plan(shape, queue, {.first_row = first, .rows = rows});
      plan.execute(data.view(), FftDirection::forward);
      queue.synchronize();
      support::expect_within("named rows, forward",
                             support::relative_error(data.to(Device{}).data(), reference::dft(values, 36, 50, -1)),
                             tolerance_for(shape));
      plan.execute(data.view(), FftDirection::inverse);
      queue.synchronize();
      const auto back = data.to(Device{});
      const std::vector<Complex64> named(values.begin() + first * 50, values.begin() + (first + rows) * 50);
      support::expect_within("named rows, round trip", support::relative_error(&back(first, 0), named),
                             2 * tolerance_for(shape));
    }
  });
}

HOLOTONE_ON_EACH_DEVICE(Fft);

TEST(FftPlan, TakesDataOfAnyAlignment) {
  const Shape<2> shape{12, 20};
  const auto values = random_field(shape, 6);
  for (const std::int64_t rows : {0, 5}) {
    std::vector<Complex> memory(12 * 20 + 1);
    for (std::size_t i = 0; i < values.size(); ++i) {
      memory[i + 1] = rows == 0 || i < 100 ? Complex(values[i]) : Complex{};
    }
    std::vector<Complex64> input(memory.begin() + 1, memory.end());
    const FftPlan plan(shape, {}, {.rows = rows});
    plan.execute({memory.data() + 1, shape}, FftDirection::forward);
    support::expect_within("unaligned", support::relative_error(memory.data() + 1, reference::dft(input, 12, 20, -1)),
                           tolerance_for(shape));
  }
}

TEST(FftPlan, NamesWhatIsWrong) {
  using holotone::ErrorCode;
  support::expect_error(ErrorCode::invalid_argument, "FftPlan: shape: expected extents from 1 to 2^30, got {0, 5}", [] {
    const FftPlan plan({0, 5});
  });
  support::expect_error(ErrorCode::invalid_argument, "FftPlan: rows: expected rows within 0..8, got 5 from row 4", [] {
    const FftPlan plan({8, 8}, {}, {.first_row = 4, .rows = 5});
  });
  Array<Complex, 2> data({4, 5});
  support::expect_error(ErrorCode::invalid_argument, "FftPlan: batch: expected at least 1", [] {
    const FftPlan plan({8, 8}, {}, {.batch = 0});
  });
  support::expect_error(ErrorCode::invalid_argument, "got 2 of 5 rows", [] {
    const FftPlan plan({8, 8}, {}, {.rows = 5, .batch = 2});
  });
  support::expect_error(ErrorCode::invalid_argument, "FftPlan::execute: data: expected shape {5, 4}, got {4, 5}", [&] {
    FftPlan({5, 4}).execute(data.view(), FftDirection::forward);
  });
}

TEST(FftFriendlySize, IsTheNextEvenSevenSmoothNumber) {
  std::set<std::int64_t> smooth;
  for (std::int64_t two = 2; two <= 20000; two *= 2) {
    for (std::int64_t three = two; three <= 20000; three *= 3) {
      for (std::int64_t five = three; five <= 20000; five *= 5) {
        for (std::int64_t seven = five; seven <= 20000; seven *= 7) smooth.insert(seven);
      }
    }
  }
  for (std::int64_t minimum = -1; minimum < 10000; ++minimum) {
    ASSERT_EQ(holotone::fft_friendly_size(minimum), *smooth.lower_bound(minimum)) << minimum;
  }
  support::expect_error(holotone::ErrorCode::invalid_argument, "fft_friendly_size: minimum: expected at most 2^30",
                        [] { holotone::fft_friendly_size((std::int64_t{1} << 30) + 1); });
}

}  // namespace
