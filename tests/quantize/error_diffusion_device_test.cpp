// Error diffusion on every device: every code equals that of the CPU.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/random.hpp>
#include <holotone/quantize/error_diffusion.hpp>
#include <tests/support/on_each_device.hpp>

namespace holotone {
namespace {

using support::expect_error;

class ErrorDiffusionDevice : public support::OnEachDevice {};
HOLOTONE_ON_CPU_AND_CUDA(ErrorDiffusionDevice);

Array<Complex, 2> speckle(Shape<2> shape, double size = 3) {
  Array<Complex, 2> field(shape);
  for (std::int64_t i = 0; i < field.size(); ++i) {
    const auto at = static_cast<std::uint64_t>(i);
    const double modulus = std::sqrt(-std::log(1 - random_uniform64(11, 2 * at)));
    field.data()[i] = Complex(std::polar(size * modulus, 2 * M_PI * random_uniform64(11, 2 * at + 1)));
  }
  return field;
}

DiffusionWeights window_filters(Shape<2> hogels, const WeightOptions& options, double side = 0.2) {
  std::vector<SignalWindow> windows;
  for (std::int64_t i = 0; i < hogels[0] * hogels[1]; ++i) {
    const auto column = static_cast<double>(i % hogels[1]) / static_cast<double>(hogels[1]);
    const auto row = static_cast<double>(i / hogels[1]) / static_cast<double>(hogels[0]);
    windows.push_back({0.25 - 0.4 * column, 0.2 - 0.3 * row, side, side});
  }
  return diffusion_weights(windows, options);
}

Array<std::uint8_t, 2> codes_on(Device device, const ErrorDiffusionOptions& options, const DiffusionWeights& weights,
                                const Array<Complex, 2>& field, float* scale = nullptr) {
  const Queue queue(device);
  ErrorDiffusionPlan plan(options, weights, field.shape(), queue);
  const auto there = field.to(device);
  Array<std::uint8_t, 2> codes(field.shape(), queue);
  plan.execute(there.view(), codes.view());
  plan.execute(there.view(), codes.view());  // state of the first run must not remain
  queue.synchronize();
  if (scale != nullptr) *scale = plan.report().scale;
  return codes.to(Device{});
}

void expect_same(Device device, const std::string& what, const ErrorDiffusionOptions& options,
                 const DiffusionWeights& weights, const Array<Complex, 2>& field) {
  float expected_scale = 0;
  float scale = 0;
  const auto expected = codes_on(Device{}, options, weights, field, &expected_scale);
  const auto codes = codes_on(device, options, weights, field, &scale);
  EXPECT_EQ(scale, expected_scale) << what;
  std::int64_t others = 0;
  std::int64_t first = -1;
  for (std::int64_t i = 0; i < codes.size(); ++i) {
    if (codes.data()[i] == expected.data()[i]) continue;
    if (others++ == 0) first = i;
  }
  EXPECT_EQ(others, 0) << what << ": of " << codes.size() << " codes, the first at " << first / field.shape()[1] << ", "
                       << first % field.shape()[1];
  EXPECT_NE(*std::min_element(codes.data(), codes.data() + codes.size()),
            *std::max_element(codes.data(), codes.data() + codes.size()));
}

TEST_P(ErrorDiffusionDevice, HogelsOfAnySize) {
  const auto field = speckle({203, 331});
  on_each([&](Device device) {
    for (const std::int64_t side : {0, 9, 32, 40, 100, 256}) {
      ErrorDiffusionOptions options;
      options.hogel_px = side;
      const auto hogels = hogels_of(field.shape(), side);
      for (const int p : {0, 1, 3, 6}) {
        WeightOptions weight_options;
        weight_options.parallelism = p;
        expect_same(device, fmt::format("hogels of {}, p = {}", side, p), options,
                    window_filters(hogels, weight_options), field);
      }
      expect_same(device, fmt::format("hogels of {}, Floyd-Steinberg", side), options, floyd_steinberg_weights(),
                  field);
    }
  });
}

TEST_P(ErrorDiffusionDevice, ErrorsCrossBorders) {
  const auto field = speckle({203, 336});
  on_each([&](Device device) {
    for (const std::int64_t side : {64, 72, 100, 300}) {
      const ErrorDiffusionOptions options{.hogel_px = side, .borders = HogelBorders::carry};
      const auto hogels = hogels_of(field.shape(), side);
      for (const int p : {0, 1, 3, 6}) {
        for (const auto rule : {WeightRule::eq1, WeightRule::least_squares}) {
          expect_same(device, fmt::format("hogels of {}, p = {}", side, p), options,
                      window_filters(hogels, {.rule = rule, .parallelism = p}), field);
        }
      }
    }
  });
}

TEST_P(ErrorDiffusionDevice, RowsOfEightCodes) {
  const auto field = speckle({160, 512});
  on_each([&](Device device) {
    for (const std::int64_t side : {0, 64, 128}) {
      ErrorDiffusionOptions options;
      options.hogel_px = side;
      for (const auto rule : {WeightRule::eq1, WeightRule::least_squares}) {
        WeightOptions weight_options;
        weight_options.rule = rule;
        weight_options.parallelism = 3;
        weight_options.kept = 20;
        expect_same(device, fmt::format("hogels of {}", side), options,
                    window_filters(hogels_of(field.shape(), side), weight_options), field);
      }
    }
  });
}

TEST_P(ErrorDiffusionDevice, LevelsOfAnyKind) {
  const auto field = speckle({70, 120});
  WeightOptions weight_options;
  weight_options.rule = WeightRule::least_squares;
  const auto weights = window_filters({2, 2}, weight_options);
  on_each([&](Device device) {
    for (const auto modulation : {Modulation::phase, Modulation::amplitude}) {
      for (const int bits : {1, 2, 5, 8}) {
        ErrorDiffusionOptions options;
        options.modulation = modulation;
        options.bits = bits;
        const std::string of =
            fmt::format("{} bits of {}", bits, modulation == Modulation::phase ? "phase" : "amplitude");
        expect_same(device, of + ", truncated", options, {{}, Array<float, 2>({1, 0})}, field);
        options.hogel_px = 64;
        expect_same(device, of, options, weights, field);
        options.levels = {0, 0.1, 0.55, 1};
        options.levels.resize(std::min<std::size_t>(options.levels.size(), std::size_t{1} << bits));
        expect_same(device, of + ", a table", options, weights, field);
      }
    }
    ErrorDiffusionOptions options;
    options.bits = 3;
    options.levels = {0.3, 6.1, 1.4, 3.3, -2.0};
    expect_same(device, "five phases in no order", options, floyd_steinberg_weights(), field);
  });
}

TEST_P(ErrorDiffusionDevice, TapsOfAnyPattern) {
  const auto field = speckle({90, 130});
  on_each([&](Device device) {
    for (const double side : {0.02, 0.1, 0.45}) {
      for (const int taps : {1, 12, 60}) {
        WeightOptions options;
        options.taps = taps;
        expect_same(device, fmt::format("{} taps, windows of {}", taps, side), {},
                    window_filters({1, 1}, options, side), field);
      }
    }
    const std::vector<std::vector<DiffusionTap>> patterns = {
        {{3, 0}, {1, 0}}, {{24, 0}, {17, 0}}, {{0, 7}}, {{-9, 1}}, {{20, 4}, {-11, 4}, {0, 2}, {2, 0}},
        {{5, 31}, {1, 0}}};
    for (const auto& taps : patterns) {
      DiffusionWeights weights{taps, Array<float, 2>({1, std::ssize(taps)})};
      for (std::int64_t i = 0; i < std::ssize(taps); ++i) weights.values(0, i) = i % 2 == 0 ? 0.4F : -0.3F;
      expect_same(device, fmt::format("first tap {}, {}", taps[0].dx, taps[0].dy), {}, weights, field);
    }
  });
}

TEST_P(ErrorDiffusionDevice, FieldsOfAnySize) {
  on_each([&](Device device) {
    for (const int power : {-120, -50, -30, 30, 50, 120}) {
      expect_same(device, fmt::format("times 2^{}", power), {}, floyd_steinberg_weights(),
                  speckle({50, 60}, std::ldexp(3.0, power)));
    }
    // A single pixel far beyond all others is clipped, at any distance.
    auto field = speckle({50, 60});
    field(20, 30) = Complex(3e38F, -1e38F);
    field(21, 30) = Complex(0);
    expect_same(device, "one of 3e38", {}, floyd_steinberg_weights(), field);
    ErrorDiffusionOptions options;
    options.scale = 5;
    expect_same(device, "a given scale", options, floyd_steinberg_weights(), field);
    options.modulation = Modulation::amplitude;
    expect_same(device, "a given scale of amplitudes", options, floyd_steinberg_weights(), field);
  });
}

// Blocks of a panel share a plan: after a change of weights it equals a plan made with them.
TEST_P(ErrorDiffusionDevice, OtherWeightsAreThoseOfANewPlan) {
  const auto field = speckle({32, 48});
  ErrorDiffusionOptions options;
  options.hogel_px = 16;
  WeightOptions nine;
  nine.taps = 9;
  const auto all = window_filters({4, 3}, nine);
  const auto half = [&](std::int64_t first) {
    DiffusionWeights weights{all.taps, Array<float, 2>({6, 9})};
    std::copy_n(all.values.data() + first * 9, weights.values.size(), weights.values.data());
    return weights;
  };
  const auto first = codes_on(Device{}, options, half(0), field);
  const auto second = codes_on(Device{}, options, half(6), field);
  ASSERT_FALSE(std::equal(first.data(), first.data() + first.size(), second.data()));
  on_each([&](Device device) {
    const Queue queue(device);
    ErrorDiffusionPlan plan(options, half(0), field.shape(), queue);
    const auto there = field.to(device);
    Array<std::uint8_t, 2> codes(field.shape(), queue);
    for (const auto* const expected : {&first, &second, &first}) {
      plan.set_weights(half(expected == &second ? 6 : 0));
      plan.execute(there.view(), codes.view());
      queue.synchronize();
      const auto host = copy_of(codes.view(), Device{});
      EXPECT_TRUE(std::equal(host.data(), host.data() + host.size(), expected->data()));
    }
    expect_error(ErrorCode::invalid_argument,
                 "ErrorDiffusionPlan: weights: expected 6 sets of the same 9 taps, got 1 of 4",
                 [&] { plan.set_weights(floyd_steinberg_weights()); });
  });
}

// Rows of hogels of a panel, with the weights of the whole panel: the last row is cut by the panel's end.
TEST_P(ErrorDiffusionDevice, PartsAreThoseOfThePanel) {
  const auto field = speckle({83, 72});
  ErrorDiffusionOptions options;
  options.hogel_px = 16;
  options.scale = 5;
  WeightOptions nine;
  nine.taps = 9;
  std::vector<DiffusionWeights> all;
  all.push_back(window_filters({6, 5}, nine));
  all.push_back(floyd_steinberg_weights());
  all.push_back({{}, Array<float, 2>({1, 0})});
  for (const auto& weights : all) {
    const auto expected = codes_on(Device{}, options, weights, field);
    on_each([&](Device device) {
      auto parts = options;
      parts.rows_at_once = 32;
      const Queue queue(device);
      ErrorDiffusionPlan plan(parts, weights, field.shape(), queue);
      auto there = field.to(device);
      Array<std::uint8_t, 2> codes(field.shape(), queue);
      const auto slice_part = [&](auto& whole, RowRange part) {
        return View(whole.data() + part.first_row * 72, Shape<2>{part.rows, 72}, device);
      };
      for (const RowRange part : {RowRange{64, 19}, {0, 32}, {32, 16}, {48, 16}}) {
        plan.execute(part, slice_part(there, part), slice_part(codes, part));
      }
      queue.synchronize();
      const auto host = codes.to(Device{});
      EXPECT_TRUE(std::equal(host.data(), host.data() + host.size(), expected.data()));
      const auto refused = [&](RowRange part, const char* words) {
        expect_error(ErrorCode::invalid_argument, words,
                     [&] { plan.execute(part, slice_part(there, part), slice_part(codes, part)); });
      };
      refused({8, 16}, "whole rows of hogels of 16 pixels, at most 32 rows, got rows 8 to 23");
      refused({0, 24}, "got rows 0 to 23");
      refused({0, 48}, "got rows 0 to 47");
      refused({80, 16}, "part");
      auto broken = field.to(Device{});
      broken(50, 7) = Complex(NAN, 0);
      there = broken.to(device);
      expect_error(ErrorCode::invalid_argument, "row 50, column 7", [&] {
        plan.execute({48, 16}, slice_part(there, {48, 16}), slice_part(codes, {48, 16}));
        (void)plan.report();
      });
    });
  }
  options.scale = 0;
  ErrorDiffusionPlan unscaled(options, floyd_steinberg_weights(), field.shape());
  Array<std::uint8_t, 2> codes({16, 72});
  expect_error(ErrorCode::invalid_argument, "scale: expected above 0 for parts of a panel, got 0", [&] {
    unscaled.execute({0, 16}, {field.data(), {16, 72}}, codes.view());
  });
}

TEST_P(ErrorDiffusionDevice, CodesThatBeginAnywhere) {
  const auto field = speckle({64, 128});
  const auto expected = codes_on(Device{}, {}, floyd_steinberg_weights(), field);
  on_each([&](Device device) {
    const Queue queue(device);
    ErrorDiffusionPlan plan({}, floyd_steinberg_weights(), field.shape(), queue);
    const auto there = field.to(device);
    Array<std::uint8_t, 1> memory({field.size() + 3}, queue);
    const View<std::uint8_t, 2> codes(memory.data() + 3, field.shape(), device);
    plan.execute(there.view(), codes);
    queue.synchronize();
    const auto host = copy_of(codes, Device{});
    EXPECT_TRUE(std::equal(host.data(), host.data() + host.size(), expected.data()));
  });
}

TEST_P(ErrorDiffusionDevice, PixelsThatAreNotFiniteAreNamed) {
  on_each([&](Device device) {
    for (const bool truncated : {false, true}) {
      const auto weights = truncated ? DiffusionWeights{{}, Array<float, 2>({1, 0})} : floyd_steinberg_weights();
      for (const double scale : {0.0, 5.0}) {
        for (const auto modulation : {Modulation::phase, Modulation::amplitude}) {
          auto field = speckle({50, 60});
          field(31, 7) = Complex(1, NAN);
          field(40, 2) = Complex(-INFINITY, 0);
          ErrorDiffusionOptions options;
          options.scale = scale;
          options.modulation = modulation;
          expect_error(ErrorCode::invalid_argument, "row 31, column 7", [&] {
            float found = 0;
            (void)codes_on(device, options, weights, field, &found);
          });
        }
      }
    }
  });
}

TEST_P(ErrorDiffusionDevice, WhatItCannotDoIsSaid) {
  on_each([&](Device device) {
    if (device.backend == Backend::cpu) GTEST_SKIP() << "the CPU can do all";
    DiffusionWeights far{{{0, 32}}, Array<float, 2>({1, 1})};
    far.values(0, 0) = 0.5F;
    expect_error(ErrorCode::unsupported, "31 rows above", [&] {
      ErrorDiffusionPlan({}, far, {64, 64}, Queue(device));
    });
  });
}

}  // namespace
}  // namespace holotone
