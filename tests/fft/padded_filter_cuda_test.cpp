// The three passes against sums of a few shifted fields, for lines of every length that has kernels.
#include <cmath>
#include <holotone/core/random.hpp>
#include <holotone/fft/padded_filter_cuda.hpp>
#include <numbers>
#include <tests/support/on_each_device.hpp>

namespace {

using holotone::Array;
using holotone::Device;
using holotone::Queue;
using holotone::Shape;
using holotone::fft::CudaPaddedFilter;
using support::Complex;
using support::Complex64;

std::vector<Complex64> random_values(std::int64_t count, std::uint64_t seed) {
  std::vector<Complex64> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = {static_cast<double>(holotone::random_uniform(seed, 2 * i) - 0.5F),
                 static_cast<double>(holotone::random_uniform(seed, 2 * i + 1) - 0.5F)};
  }
  return values;
}

/// factor cos(2 pi ky row / ly) cos(2 pi kx column / lx), whose impulse response is four points.
struct Tap {
  Complex64 factor;
  std::int64_t row = 0;
  std::int64_t column = 0;
};

std::vector<Tap> random_taps(Shape<2> field, std::uint64_t seed) {
  std::vector<Tap> taps;
  const auto factors = random_values(5, seed);
  for (std::size_t i = 0; i < factors.size(); ++i) {
    const auto within = [&](std::int64_t count, std::size_t draw) {
      return static_cast<std::int64_t>(holotone::random_uniform64(seed + 1, 2 * i + draw) * static_cast<double>(count));
    };
    taps.push_back({factors[i], within(field[0], 0), within(field[1], 1)});
  }
  return taps;
}

double cosine_of(std::int64_t product, std::int64_t length) {
  return std::cos(2 * std::numbers::pi * static_cast<double>(product % length) / static_cast<double>(length));
}

Array<Complex, 2> transfer_of(const CudaPaddedFilter& filter, const std::vector<Tap>& taps, Shape<2> padded,
                              Device device) {
  const auto frequencies = holotone::copy_of(filter.transfer_frequencies(), Device{});
  const auto [rows, columns] = filter.transfer_shape();
  std::vector<Complex64> values;
  for (std::int64_t kx = 0; kx < rows; ++kx) {
    for (std::int64_t i = 0; i < columns; ++i) {
      Complex64 sum;
      for (const Tap& tap : taps) {
        sum += tap.factor * cosine_of(frequencies(i) * tap.row, padded[0]) * cosine_of(kx * tap.column, padded[1]);
      }
      values.push_back(sum / static_cast<double>(padded[0] * padded[1]));
    }
  }
  return support::upload(values, {rows, columns}, device);
}

/// Fields of a batch, each filtered by the taps and shifted by (down, right).
std::vector<Complex64> expected(const std::vector<Complex64>& input, const std::vector<Tap>& taps, Shape<2> field,
                                Shape<2> padded, std::int64_t down = 0, std::int64_t right = 0) {
  const std::int64_t size = field[0] * field[1];
  std::vector<Complex64> result(input.size());
  for (std::int64_t i = 0; i < std::ssize(result); ++i) {
    for (const Tap& tap : taps) {
      for (const std::int64_t row : {tap.row, -tap.row}) {
        for (const std::int64_t column : {tap.column, -tap.column}) {
          const std::int64_t y = (i % size / field[1] + row + down + padded[0]) % padded[0];
          const std::int64_t x = (i % field[1] + column + right + padded[1]) % padded[1];
          if (y >= field[0] || x >= field[1]) continue;
          result[static_cast<std::size_t>(i)] +=
              0.25 * tap.factor * input[static_cast<std::size_t>(i / size * size + y * field[1] + x)];
        }
      }
    }
  }
  return result;
}

struct Case {
  Shape<2> field, padded;
};

/// Fields with long rows and with long columns.
std::vector<Case> cases_of_every_length() {
  std::vector<Case> cases;
  for (const std::int64_t side :
       {512, 600, 720, 768, 800, 1024, 1080, 1152, 1200, 1280, 1600, 1920, 2048, 2160, 2400, 2560, 3840, 4096}) {
    cases.push_back({{7, side}, {128, 2 * side}});
    cases.push_back({{side - 3, 5}, {2 * side, 128}});
  }
  return cases;
}

class CudaPaddedFilterTest : public support::OnEachDevice {};

TEST_P(CudaPaddedFilterTest, AgreesWithShiftedFieldsForEveryLength) {
  auto cases = cases_of_every_length();
  cases.insert(cases.end(), {{{64, 64}, {128, 128}}, {{63, 50}, {128, 128}}, {{1, 64}, {128, 128}}});
  on_each([&](Device device) {
    const Queue queue(device);
    for (const auto& [field, padded] : cases) {
      const auto filter = CudaPaddedFilter::make(field, padded, queue);
      ASSERT_TRUE(filter) << holotone::to_string(padded);
      const auto input = random_values(field[0] * field[1], 1);
      const auto taps = random_taps(field, 2);
      const auto source = support::upload(input, field, device);
      const auto transfer = transfer_of(*filter, taps, padded, device);
      Array<Complex, 2> output(field, queue);
      filter->forward(source.data());
      filter->apply(transfer.data(), output.data(), nullptr);
      queue.synchronize();
      support::expect_within(holotone::to_string(field) + " in " + holotone::to_string(padded),
                             support::relative_error(output.to(Device{}).data(), expected(input, taps, field, padded)),
                             1e-6);
    }
  });
}

TEST_P(CudaPaddedFilterTest, SeveralFiltersShareTheSpectrumOfABatch) {
  on_each([](Device device) {
    const Queue queue(device);
    const Shape<2> field{61, 64};
    const Shape<2> padded{128, 128};
    const std::int64_t batch = 3;
    const auto filter = CudaPaddedFilter::make(field, padded, queue, {.batch = batch});
    ASSERT_TRUE(filter);
    const auto input = random_values(batch * field[0] * field[1], 3);
    const auto source = support::upload(input, {batch * field[0], field[1]}, device);
    filter->forward(source.data());
    for (const std::uint64_t seed : {4, 5}) {
      const auto taps = random_taps(field, seed);
      const auto transfer = transfer_of(*filter, taps, padded, device);
      Array<Complex, 2> output({batch * field[0], field[1]}, queue);
      Array<float, 2> intensity({batch * field[0], field[1]}, queue);
      filter->apply(transfer.data(), output.data(), nullptr, true);
      filter->apply(transfer.data(), nullptr, intensity.data(), true);
      queue.synchronize();
      support::expect_within(
          "field", support::relative_error(output.to(Device{}).data(), expected(input, taps, field, padded)), 1e-6);
      auto light = expected(input, taps, field, padded);
      for (auto& value : light) value = std::norm(value);
      support::expect_within("intensity", support::relative_error(intensity.to(Device{}).data(), light), 1e-6);
    }
  });
}

/// exp(2 pi i k shift / length): the field at n + shift.
std::vector<Complex> shift_by(std::int64_t shift, std::int64_t length) {
  std::vector<Complex> values;
  for (std::int64_t k = 0; k < length; ++k) {
    const double turns = static_cast<double>(k * shift % length) / static_cast<double>(length);
    values.emplace_back(std::polar(1.0, 2 * std::numbers::pi * turns));
  }
  return values;
}

TEST_P(CudaPaddedFilterTest, FourShiftedFieldsShareTransformsForEveryLength) {
  auto cases = cases_of_every_length();
  cases.push_back({{61, 64}, {128, 128}});
  on_each([&](Device device) {
    const Queue queue(device);
    for (const auto& [field, padded] : cases) {
      const auto [ny, nx] = field;
      const auto along_y = shift_by(2, padded[0]);
      const auto along_x = shift_by(-3, padded[1]);
      const auto filter = CudaPaddedFilter::make(field, padded, queue, {.along_y = along_y, .along_x = along_x});
      ASSERT_TRUE(filter) << holotone::to_string(padded);
      const auto input = random_values(ny * nx, 3);
      const auto source = support::upload(input, field, device);
      const auto taps = random_taps(field, 4);
      const auto transfer = transfer_of(*filter, taps, padded, device);
      std::vector<Complex64> wanted;
      for (const auto& [down, right] : {std::pair{0, 0}, {0, -3}, {2, 0}, {2, -3}}) {
        const auto padded_wanted = expected(input, taps, field, padded, down, right);
        wanted.insert(wanted.end(), padded_wanted.begin(), padded_wanted.end());
      }
      Array<Complex, 2> output({4 * ny, nx}, queue);
      filter->forward(source.data());
      filter->apply_four(transfer.data(), output.data());
      queue.synchronize();
      const std::string what = holotone::to_string(field) + " in " + holotone::to_string(padded);
      support::expect_within(what, support::relative_error(output.to(Device{}).data(), wanted), 1e-6);

      // <A x, y> = <x, A* y>, of four fields and of one.
      for (const std::int64_t count : {4, 1}) {
        const auto other = random_values(count * ny * nx, 5);
        const auto back = support::upload(other, {count * ny, nx}, device);
        Array<Complex, 2> result(field, queue);
        if (count == 4) {
          filter->adjoint_four(transfer.data(), back.data(), result.data());
        } else {
          filter->adjoint(transfer.data(), back.data(), result.data());
        }
        queue.synchronize();
        const auto host = result.to(Device{});
        Complex64 left;
        Complex64 right;
        double scale = 0;
        for (std::size_t i = 0; i < other.size(); ++i) {
          left += wanted[i] * std::conj(other[i]);
          scale += std::norm(wanted[i]);
        }
        for (std::size_t i = 0; i < input.size(); ++i) right += input[i] * std::conj(Complex64(host.data()[i]));
        support::expect_within(what + ", adjoint", std::abs(left - right) / scale, 1e-5);
      }
    }
  });
}

TEST_P(CudaPaddedFilterTest, ThereIsNoneForOtherShapes) {
  on_each([](Device device) {
    const Queue queue(device);
    EXPECT_FALSE(CudaPaddedFilter::make({64, 64}, {64, 64}, queue)) << "not padded";
    EXPECT_FALSE(CudaPaddedFilter::make({64, 60}, {128, 120}, queue)) << "no kernels of the length";
  });
}

HOLOTONE_ON_DEVICES(CudaPaddedFilterTest, "cuda");

}  // namespace
