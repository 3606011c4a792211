// The propagation out of core against the float64 reference and PropagationPlan, with bands and strips forced by small
// limits, on every device.
#include <algorithm>
#include <holotone/core/random.hpp>
#include <holotone/optics/large_propagation.hpp>
#include <holotone/optics/propagation.hpp>
#include <mutex>
#include <set>
#include <stdexcept>
#include <tests/reference/propagation.hpp>
#include <tests/support/on_each_device.hpp>
#include <tests/support/reference_plane.hpp>
#include <thread>

namespace {

using holotone::Array;
using holotone::Device;
using holotone::ErrorCode;
using holotone::FieldGrid;
using holotone::LargePropagationOptions;
using holotone::LargePropagationPlan;
using holotone::Progress;
using holotone::View;
using support::Complex;
using support::Complex64;
using support::reference_plane;
using Values = std::vector<Complex64>;

constexpr double green = 532e-9;
/// Bound of large_propagation.hpp against the same formula in float64.
constexpr double promised_error = 1e-6;

/// White noise: all frequencies of the grid, rounded to float32 so that the reference uses the same field.
Values noise(const FieldGrid& grid, std::uint64_t seed) {
  Values values(reference_plane(grid).size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = {static_cast<double>(2 * holotone::random_uniform(seed, 2 * i) - 1),
                 static_cast<double>(2 * holotone::random_uniform(seed, 2 * i + 1) - 1)};
  }
  return values;
}

std::int64_t padded_length(std::int64_t n) { return reference::padded_size(std::max<std::int64_t>(2 * n, 16)); }

/// Memory for at most this many lines a device.
std::size_t bytes_of_lines(const FieldGrid& grid, std::size_t lines) {
  return lines * 32 * static_cast<std::size_t>(std::max(padded_length(grid.nx), padded_length(grid.ny)));
}

Array<Complex, 2> run(const LargePropagationOptions& options, const Values& field, std::vector<Device> devices) {
  LargePropagationPlan plan(options, std::move(devices));
  const auto input = support::upload(field, options.grid.shape(), Device{});
  Array<Complex, 2> output(options.grid.shape());
  plan.execute(input.view(), output.view());
  return output;
}

bool same_bits(const Array<Complex, 2>& a, const Array<Complex, 2>& b) {
  return std::equal(a.host().begin(), a.host().end(), b.host().begin(), b.host().end());
}

std::string label(const std::string& what, const FieldGrid& grid, double distance_m) {
  return what + " " + holotone::to_string(grid.shape()) + " at " + std::to_string(distance_m);
}

class LargePropagation : public support::OnEachDevice {};

TEST_P(LargePropagation, AgreesWithFloat64) {
  const struct {
    FieldGrid grid;
    double distance_m;
  } cases[] = {{{64, 64, 8e-6, green}, 0.03},    {{47, 33, 8e-6, green}, 0.004},     {{47, 33, 8e-6, green}, -0.03},
               {{64, 40, 3.74e-6, 638e-9}, 0.2}, {{40, 64, 6.4e-6, 450e-9}, -0.001}, {{57, 1, 8e-6, green}, 0.01},
               {{1, 30, 8e-6, green}, -0.01},    {{36, 50, 0.2e-6, green}, 3e-6},    {{101, 75, 2e-6, green}, 0.01},
               {{36, 50, 0.2e-6, green}, -3e-6}};  // two: evanescent waves
  on_each([&](Device device) {
    std::set<std::int64_t> widths;
    int number = 0;
    for (const auto& c : cases) {
      // OpenCL compiles its transforms for each size of bands and strips, a second each.
      const bool compiles = device.backend == holotone::Backend::opencl;
      if (compiles && number++ % 2 == 1) continue;
      const auto field = noise(c.grid, 1);
      for (const bool band_limit : {true, false}) {
        const auto expected =
            reference::angular_spectrum(field, reference_plane(c.grid), c.grid.wavelength_m, c.distance_m,
                                        padded_length(c.grid.ny), padded_length(c.grid.nx), band_limit);
        for (const std::size_t lines : {1, 5, 30, 0}) {
          if (compiles && lines != 5) continue;
          const LargePropagationOptions options{c.grid, c.distance_m, band_limit, bytes_of_lines(c.grid, lines)};
          const auto got = run(options, field, {device});
          support::expect_within(label(std::to_string(lines) + " lines", c.grid, c.distance_m),
                                 support::relative_error(got.data(), expected), promised_error);
        }
        const auto info = holotone::large_propagation_info({c.grid, c.distance_m, band_limit}, {device});
        EXPECT_EQ(info.padded, (holotone::Shape<2>{padded_length(c.grid.ny), padded_length(c.grid.nx)}));
        widths.insert(1000 * info.spectrum_columns / info.padded[1]);
      }
    }
    EXPECT_GT(widths.size(), 3u);  // whole spectra, and some cut by the band limit or evanescent waves
    EXPECT_EQ(*widths.rbegin(), 1000);
  });
}

TEST_P(LargePropagation, AgreesWithPropagationPlan) {
  on_each([](Device device) {
    const FieldGrid grid{301, 190, 8e-6, green};
    const auto field = noise(grid, 2);
    const double distance = 0.05;
    holotone::PropagationPlan plan({.grid = grid, .method = holotone::PropagationMethod::angular_spectrum});
    const auto input = support::upload(field, grid.shape(), Device{});
    Array<Complex, 2> expected(grid.shape());
    plan.execute(input.view(), expected.view(), distance);
    const Values wanted(expected.host().begin(), expected.host().end());
    for (const std::size_t lines : {7, 100}) {
      const auto got = run({grid, distance, true, bytes_of_lines(grid, lines)}, field, {device});
      support::expect_within("as PropagationPlan", support::relative_error(got.data(), wanted), promised_error);
    }
  });
}

TEST_P(LargePropagation, TheNumberOfDevicesChangesNoBit) {
  on_each([](Device device) {
    const FieldGrid grid{131, 97, 8e-6, green};
    const auto field = noise(grid, 3);
    const LargePropagationOptions options{grid, 0.02, true, bytes_of_lines(grid, 12)};
    const auto one = run(options, field, {device});
    for (const std::size_t count : {2, 5}) {
      EXPECT_TRUE(same_bits(run(options, field, std::vector<Device>(count, device)), one)) << count;
    }
    if (device.backend == holotone::Backend::cpu) {  // nor do bands and strips
      EXPECT_TRUE(same_bits(run({grid, 0.02, true, bytes_of_lines(grid, 1)}, field, {device}), one));
      EXPECT_TRUE(same_bits(run({grid, 0.02}, field, {device, device}), one));
    }
  });
}

TEST_P(LargePropagation, ReadsInOrderAndWritesEachRowOnce) {
  on_each([](Device device) {
    const FieldGrid grid{40, 203, 8e-6, green};
    const auto field = support::upload(noise(grid, 4), grid.shape(), Device{});
    for (const double distance : {0.01, 0.0}) {
      LargePropagationPlan plan({grid, distance, true, bytes_of_lines(grid, 20)}, {device, device});
      std::int64_t rows_read = 0;
      std::set<std::int64_t> rows_written;
      Array<Complex, 2> output(grid.shape());
      const auto read = [&](std::int64_t first, View<Complex, 2> rows) {
        EXPECT_EQ(first, rows_read);
        EXPECT_LE(rows.shape()[0], plan.info().rows_at_once);
        rows_read += rows.shape()[0];
        std::copy_n(field.data() + first * grid.nx, rows.size(), rows.data());
      };
      const auto write = [&](std::int64_t first, View<const Complex, 2> rows) {
        if (distance != 0) {
          EXPECT_EQ(rows_read, grid.ny);
        }
        for (std::int64_t i = 0; i < rows.shape()[0]; ++i) EXPECT_TRUE(rows_written.insert(first + i).second);
        std::copy_n(rows.data(), rows.size(), output.data() + first * grid.nx);
      };
      for (int again = 0; again < 2; ++again) {
        rows_read = 0;
        rows_written.clear();
        plan.execute(read, write);
        EXPECT_EQ(rows_read, grid.ny);
        EXPECT_EQ(std::ssize(rows_written), grid.ny);
        Array<Complex, 2> both = field.to(Device{});
        plan.execute(both.view(), both.view());
        EXPECT_TRUE(same_bits(both, output));
        EXPECT_EQ(same_bits(field, output), distance == 0);
      }
    }
  });
}

TEST_P(LargePropagation, StaysWithinTheLimit) {
  on_each([](Device device) {
    const FieldGrid grid{300, 200, 8e-6, green};
    for (const std::size_t lines : {1, 2, 10, 1000}) {
      const LargePropagationOptions options{grid, 0.01, false, bytes_of_lines(grid, lines)};
      const auto info = LargePropagationPlan(options, {device}).info();
      const auto before = holotone::large_propagation_info(options, {device});
      EXPECT_LE(info.device_bytes, options.device_memory_bytes);
      EXPECT_LE(info.device_bytes, before.device_bytes);
      EXPECT_EQ(info.host_bytes, before.host_bytes);
      EXPECT_EQ(info.spectrum_columns, 600);
      EXPECT_GE(info.host_bytes, 8u * 200 * 600);
      const bool moves = device.backend != holotone::Backend::cpu;
      EXPECT_EQ(info.moved_bytes, moves ? 8u * (2 * 200 * 300 + 4 * 200 * 600) : 0u);
      if (lines == 1) {
        EXPECT_EQ(info.rows_at_once, 1);
        EXPECT_EQ(info.columns_at_once, 1);
      }
    }
  });
}

/// Cancels at a share of the work.
class Cancelling final : public Progress {
 public:
  explicit Cancelling(double share) : share_(share) {}
  bool update(std::string_view, std::int64_t done, std::int64_t total) override {
    EXPECT_EQ(std::this_thread::get_id(), caller_);
    EXPECT_GE(done, last_);
    EXPECT_LE(done, total);
    last_ = done;
    return static_cast<double>(done) < share_ * static_cast<double>(total);
  }

 private:
  std::thread::id caller_ = std::this_thread::get_id();
  double share_;
  std::int64_t last_ = 0;
};

TEST_P(LargePropagation, IsCancelledAndGoesOnAfterwards) {
  on_each([](Device device) {
    const FieldGrid grid{100, 90, 8e-6, green};
    const auto values = noise(grid, 5);
    const auto field = support::upload(values, grid.shape(), Device{});
    const LargePropagationOptions options{grid, 0.01, true, bytes_of_lines(grid, 6)};
    const auto expected = run(options, values, {device});
    LargePropagationPlan plan(options, {device, device});
    Array<Complex, 2> output(grid.shape());
    for (const double share : {0.0, 0.3, 0.6, 1.0}) {
      Cancelling cancelling(share);
      support::expect_error(ErrorCode::cancelled, "propagating rows and columns: cancelled",
                            [&] { plan.execute(field.view(), output.view(), cancelling); });
    }
    plan.execute(field.view(), output.view());
    EXPECT_TRUE(same_bits(output, expected));
  });
}

TEST_P(LargePropagation, WhatCallbacksThrowReachesTheCaller) {
  on_each([](Device device) {
    const FieldGrid grid{30, 50, 8e-6, green};
    LargePropagationPlan plan({grid, 0.01, true, bytes_of_lines(grid, 6)}, {device, device});
    const auto read = [](std::int64_t, View<Complex, 2> rows) { std::fill_n(rows.data(), rows.size(), Complex(1)); };
    const auto failing = [](std::int64_t first, View<const Complex, 2>) {
      if (first > 20) throw std::runtime_error("disk full");
    };
    EXPECT_THROW(plan.execute(read, failing), std::runtime_error);
    const auto broken = [](std::int64_t first, View<Complex, 2>) {
      if (first > 20) throw std::runtime_error("file cut short");
    };
    EXPECT_THROW(plan.execute(broken, failing), std::runtime_error);
  });
}

TEST_P(LargePropagation, RefusesWrongArguments) {
  on_each([](Device device) {
    const FieldGrid grid{30, 50, 8e-6, green};
    const auto refused = [&](const LargePropagationOptions& options, const std::string& text) {
      support::expect_error(ErrorCode::invalid_argument, text, [&] { LargePropagationPlan(options, {device}); });
      support::expect_error(ErrorCode::invalid_argument, text,
                            [&] { (void)holotone::large_propagation_info(options, {device}); });
    };
    refused({{0, 50, 8e-6, green}, 0.1}, "LargePropagationPlan: grid: expected");
    refused({{30, 2000000, 8e-6, green}, 0.1}, "LargePropagationPlan: grid: expected");
    refused({{30, 50, 0, green}, 0.1}, "LargePropagationPlan: pitch_m: expected");
    refused({{30, 50, 8e-6, 532}, 0.1}, "LargePropagationPlan: wavelength_m: expected");
    refused({grid, NAN}, "LargePropagationPlan: distance_m: expected a finite number, got nan");
    refused({grid, INFINITY}, "LargePropagationPlan: distance_m: expected a finite number, got inf");
    refused(
        {grid, 0.1, true, bytes_of_lines(grid, 1) - 1},
        "LargePropagationPlan: device_memory_bytes: expected at least 3.1 KiB (3200 bytes) for lines of 100 values");
    support::expect_error(ErrorCode::invalid_argument, "LargePropagationPlan: devices: expected at least one", [&] {
      LargePropagationPlan({grid, 0.1}, std::vector<Device>{});
    });
    LargePropagationPlan plan({grid, 0.1}, {device});
    Array<Complex, 2> right(grid.shape());
    Array<Complex, 2> wrong({30, 50});
    support::expect_error(ErrorCode::invalid_argument, "LargePropagationPlan::execute: input: expected shape {50, 30}",
                          [&] { plan.execute(wrong.view(), right.view()); });
    support::expect_error(ErrorCode::invalid_argument, "LargePropagationPlan::execute: output: expected shape {50, 30}",
                          [&] { plan.execute(right.view(), wrong.view()); });
    if (device.backend == holotone::Backend::cpu) return;
    Array<Complex, 2> there(grid.shape(), device);
    support::expect_error(ErrorCode::invalid_argument, "expected an array on device cpu",
                          [&] { plan.execute(there.view(), right.view()); });
  });
}

TEST(LargePropagationInfo, FieldOf65536Pixels) {
  const FieldGrid grid{65536, 65536, 1e-6, green};
  constexpr double gib = 1024.0 * 1024 * 1024;
  const auto info = holotone::large_propagation_info({grid, 0.2, true, std::size_t{16} << 30});
  EXPECT_EQ(info.padded, (holotone::Shape<2>{131072, 131072}));
  EXPECT_EQ(info.spectrum_columns, 131072);
  EXPECT_GE(static_cast<double>(info.host_bytes) / gib, 64);
  EXPECT_LE(static_cast<double>(info.host_bytes) / gib, 70);
  // Farther away the band limit leaves fewer frequencies, and the host needs less.
  const auto far = holotone::large_propagation_info({grid, 2, true, std::size_t{16} << 30});
  EXPECT_LT(far.spectrum_columns, 131072 / 7);
  EXPECT_LT(static_cast<double>(far.host_bytes) / gib, 11);
  // A distance of zero copies bands.
  EXPECT_LT(static_cast<double>(holotone::large_propagation_info({grid, 0}).host_bytes) / gib, 2);
}

HOLOTONE_ON_EACH_DEVICE(LargePropagation);

}  // namespace
