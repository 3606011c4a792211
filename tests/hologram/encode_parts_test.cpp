// Codes of parts of a panel against those of the whole, bit for bit, and rejected parts.
#include <holotone/core/parallel.hpp>
#include <tests/cases/encode.hpp>
#include <tests/support/on_each_device.hpp>

namespace {

using cases::grid_of;
using holotone::Array;
using holotone::Complex;
using holotone::Device;
using holotone::EncodeOptions;
using holotone::EncodePlan;
using holotone::Encoding;
using holotone::ErrorCode;
using holotone::FieldGrid;
using holotone::Queue;
using holotone::RowRange;

class EncodeParts : public support::OnEachDevice {};
HOLOTONE_ON_EACH_DEVICE(EncodeParts);

void give_range(EncodeOptions& options) {
  const auto range = holotone::encoding_traits(options.encoding).range;
  if (range == holotone::EncodingTraits::Range::none) return;
  options.amplitude_max = 2.5F;
  if (range == holotone::EncodingTraits::Range::symmetric) options.amplitude_min = -2;
}

/// Every encoding that supports parts, with beams, tables and a correction that differs from row to row.
std::vector<EncodeOptions> all_of_parts(const Array<float, 2>& correction) {
  std::vector<EncodeOptions> all;
  for (auto options : cases::one_of_each()) {
    if (!holotone::encoding_traits(options.encoding).by_rows) continue;
    give_range(options);
    if (holotone::encoding_traits(options.encoding).encodes_beam) options.reference_angle_y_rad = 0.017;
    all.push_back(options);
    if (!holotone::needs_phase_modulator(options.encoding)) continue;
    options.correction_rad = correction.view();
    all.push_back(options);
  }
  return all;
}

template <class Code>
void expect_parts_of_whole(const EncodeOptions& options, const FieldGrid& grid, Device device) {
  const Queue queue(device);
  const auto field = cases::upload(cases::disc_field(grid, 4), grid, device);
  EncodePlan plan(options, grid, queue);
  Array<Code, 2> there(grid.shape(), queue);
  plan.execute(field.view(), there.view());
  queue.synchronize();
  const auto whole = there.to(Device{});
  for (const std::int64_t rows : {std::int64_t{1}, std::int64_t{9}, std::int64_t{16}, grid.ny}) {
    std::int64_t different = 0;
    for (std::int64_t first = 0; first < grid.ny; first += rows) {
      const RowRange part{first, std::min(rows, grid.ny - first)};
      Array<Code, 2> codes({part.rows, grid.nx}, queue);
      plan.execute(part, {field.data() + first * grid.nx, {part.rows, grid.nx}, device}, codes.view());
      queue.synchronize();
      const auto host = codes.to(Device{});
      for (std::int64_t i = 0; i < host.size(); ++i) {
        different += host.data()[i] == whole.data()[first * grid.nx + i] ? 0 : 1;
      }
    }
    EXPECT_EQ(different, 0) << rows << " rows at once";
  }
  EXPECT_EQ(plan.report().amplitude_max, options.amplitude_max);
}

// The largest range of the parts is that of the whole, and gives its codes.
TEST_P(EncodeParts, TheirRangesAreThatOfTheWhole) {
  on_each([](Device device) {
    const auto grid = grid_of(43, 65);
    const Queue queue(device);
    const auto field = cases::upload(cases::disc_field(grid, 4), grid, device);
    for (auto options : cases::one_of_each()) {
      if (!holotone::encoding_traits(options.encoding).by_rows) continue;
      SCOPED_TRACE(testing::Message() << to_string(options.encoding));
      options.amplitude_min = options.amplitude_max = 0;
      if (holotone::encoding_traits(options.encoding).encodes_beam) options.reference_angle_y_rad = 0.017;
      EncodePlan plan(options, grid, queue);
      const auto all = [&](EncodePlan& encoder) {
        Array<std::uint16_t, 2> codes(grid.shape(), queue);
        encoder.execute(field.view(), codes.view());
        queue.synchronize();
        return codes.to(Device{});
      };
      const auto whole = all(plan);
      holotone::EncodeReport range;
      for (std::int64_t first = 0; first < grid.ny; first += 9) {
        const RowRange part{first, std::min<std::int64_t>(9, grid.ny - first)};
        const auto measured = plan.measure(part, {field.data() + first * grid.nx, {part.rows, grid.nx}, device});
        range.amplitude_min = std::min(range.amplitude_min, measured.amplitude_min);
        range.amplitude_max = std::max(range.amplitude_max, measured.amplitude_max);
      }
      EXPECT_EQ(range.amplitude_min, plan.report().amplitude_min);
      EXPECT_EQ(range.amplitude_max, plan.report().amplitude_max);
      options.amplitude_min = range.amplitude_min;
      options.amplitude_max = range.amplitude_max;
      EncodePlan second(options, grid, queue);
      EXPECT_TRUE(std::ranges::equal(all(second).host(), whole.host()));
      Array<Complex, 2> dark({2, grid.nx});
      std::fill_n(dark.data(), dark.size(), Complex{});
      EXPECT_EQ(plan.measure({0, 2}, std::as_const(dark).to(device).view()).amplitude_max, 0);
    }
  });
}

// A plan made where one thread was allowed, and executed by more.
TEST(EncodeThreads, MayBecomeMore) {
  const auto grid = grid_of(300, 64);
  EncodeOptions options;
  options.encoding = Encoding::burckhardt;
  const auto field = cases::upload(cases::disc_field(grid, 4), grid, Device{});
  Array<std::uint16_t, 2> alone(grid.shape());
  Array<std::uint16_t, 2> together(grid.shape());
  const int threads = holotone::thread_count();
  holotone::limit_threads(1);
  EncodePlan plan(options, grid);
  plan.execute(field.view(), alone.view());
  holotone::limit_threads(4);
  plan.execute(field.view(), together.view());
  holotone::limit_threads(threads);
  EXPECT_TRUE(std::ranges::equal(alone.host(), together.host()));
}

TEST_P(EncodeParts, TogetherTheyAreTheWhole) {
  on_each([](Device device) {
    for (const auto& grid : {grid_of(43, 65), grid_of(20, 64)}) {
      Array<float, 2> correction(grid.shape());
      for (std::int64_t i = 0; i < correction.size(); ++i) {
        correction.data()[i] = 7 * holotone::random_uniform(8, static_cast<std::uint64_t>(i));
      }
      for (const auto& options : all_of_parts(correction)) {
        SCOPED_TRACE(testing::Message() << to_string(options.encoding)
                                        << (options.correction_rad.empty() ? "" : ", corrected")
                                        << (options.carrier_y_rad != 0 ? ", carrier" : "")
                                        << (options.level_phase_rad.empty() ? "" : ", levels"));
        expect_parts_of_whole<std::uint8_t>(options, grid, device);
        expect_parts_of_whole<std::uint16_t>(options, grid, device);
      }
    }
  });
}

// The checkerboard refers to the panel: a part that begins at an odd row begins with its odd squares.
TEST_P(EncodeParts, TheCheckerboardIsThePanels) {
  on_each([](Device device) {
    const auto grid = grid_of(4, 6);
    EncodeOptions options{.encoding = Encoding::double_phase};
    options.amplitude_max = 1;
    const Queue queue(device);
    EncodePlan plan(options, grid, queue);
    const auto field = cases::upload(std::vector<Complex>(12, Complex(0, 0.5F)), grid_of(2, 6), device);
    const auto encode_row = [&](std::int64_t first_row) {
      Array<std::uint8_t, 2> codes({2, 6}, queue);
      plan.execute({first_row, 2}, field.view(), codes.view());
      queue.synchronize();
      const auto host = codes.to(Device{});
      return std::vector<int>(host.data(), host.data() + host.size());
    };
    // 64 + 256 arccos(0.5) / 2 pi = 64 +- 42.7
    EXPECT_EQ(encode_row(0), (std::vector<int>{107, 21, 107, 21, 107, 21, 21, 107, 21, 107, 21, 107}));
    EXPECT_EQ(encode_row(1), (std::vector<int>{21, 107, 21, 107, 21, 107, 107, 21, 107, 21, 107, 21}));
    EXPECT_EQ(encode_row(2), encode_row(0));
  });
}

TEST_P(EncodeParts, WhatHasNoPartsIsRefused) {
  on_each([](Device device) {
    const auto grid = grid_of(10, 12);
    const Queue queue(device);
    Array<Complex, 2> field(grid.shape(), queue);
    Array<std::uint8_t, 2> codes(grid.shape(), queue);
    const auto execute = [&](const EncodeOptions& options, const RowRange& part, std::int64_t rows) {
      EncodePlan(options, grid, queue)
          .execute(part, {field.data(), {rows, 12}, device}, {codes.data(), {rows, 12}, device});
    };
    const auto refused = [&](ErrorCode code, const std::string& text, const EncodeOptions& options,
                             const RowRange& part, std::int64_t rows) {
      support::expect_error(code, text, [&] { execute(options, part, rows); });
    };
    EncodeOptions sideband{.encoding = Encoding::single_sideband};
    refused(ErrorCode::unsupported,
            "EncodePlan::execute: part: expected the whole panel for single-sideband, whose filter needs all rows; "
            "amplitude encodes parts, got 9 of 10 rows",
            sideband, {0, 9}, 9);
    give_range(sideband);
    refused(ErrorCode::unsupported, "single-sideband", sideband, {1, 9}, 9);
    for (const auto& [encoding, name] : holotone::enum_names<Encoding>) {
      const auto traits = holotone::encoding_traits(encoding);
      if (!traits.by_rows || traits.range == holotone::EncodingTraits::Range::none) continue;
      EncodeOptions options{.encoding = encoding};
      refused(ErrorCode::invalid_argument,
              "EncodePlan::execute: part: expected the whole panel, or a given amplitude_min and amplitude_max for " +
                  std::string(name) + ", got 3 of 10 rows",
              options, {7, 3}, 3);
      execute(options, {0, 10}, 10);  // all rows are the whole panel
    }
    execute(sideband, {0, 10}, 10);
    const EncodeOptions phase;
    refused(ErrorCode::invalid_argument,
            "EncodePlan::execute: part: expected 1 or more rows within rows 0 to 9, got 3 rows from row -1", phase,
            {-1, 3}, 3);
    refused(ErrorCode::invalid_argument, "got 3 rows from row 8", phase, {8, 3}, 3);
    refused(ErrorCode::invalid_argument, "got 0 rows from row 0", phase, {0, 0}, 1);
    refused(ErrorCode::invalid_argument, "field: expected shape {3, 12}, got {4, 12}", phase, {0, 3}, 4);
  });
}

}  // namespace
