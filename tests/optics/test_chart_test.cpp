// The numbered chart and the pictures of a response curve, pixel by pixel.
#include <algorithm>
#include <gtest/gtest.h>
#include <holotone/optics/contact_sheet.hpp>
#include <holotone/optics/test_chart.hpp>
#include <tests/support/on_each_device.hpp>

namespace holotone {
namespace {

template <class Call>
void expect_error(const Call& call, const char* text) {
  support::expect_error(ErrorCode::invalid_argument, text, call);
}

/// Number that the digits of a field show, read by comparison with the font at every scale.
std::int64_t number_in(const Array<std::uint16_t, 2>& codes, const TestChartField& field) {
  // Bounding box of all pixels that are not the field's.
  std::int64_t top = 1 << 20, left = top, bottom = -1, right = -1;
  for (std::int64_t row = field.first_row; row < field.first_row + field.height; ++row) {
    for (std::int64_t col = field.first_column; col < field.first_column + field.width; ++col) {
      if (codes(row, col) == field.code) continue;
      top = std::min(top, row), bottom = std::max(bottom, row);
      left = std::min(left, col), right = std::max(right, col);
    }
  }
  const std::int64_t scale = (bottom - top + 1) / 7;
  EXPECT_EQ((bottom - top + 1) % 7, 0);
  for (std::int64_t number = 0; number < 1000; ++number) {
    const auto text = std::to_string(number);
    // A glyph may leave its first and last columns empty, as the 1 does.
    for (std::int64_t start = left - 2 * scale; start <= left; start += scale) {
      bool same = true;
      for (std::int64_t row = top; row <= bottom && same; ++row) {
        for (std::int64_t col = start; col <= std::max(right, start) && same; ++col) {
          const auto dot = (col - start) / scale;
          const auto glyph = static_cast<std::size_t>(dot / 6);
          bool lit = false;
          if (glyph < text.size() && dot % 6 < 5) {
            lit = (caption_glyph(text[glyph])[static_cast<std::size_t>((row - top) / scale)] >> (4 - dot % 6) & 1) != 0;
          }
          same = lit == (codes(row, col) != field.code);
        }
      }
      const std::int64_t end = start + (static_cast<std::int64_t>(text.size()) * 6 - 1) * scale;
      if (same && right < end && right >= end - 2 * scale - 1) return number;
    }
  }
  return -1;
}

TEST(TestChart, FieldsHaveTheirNumbersAndCodes) {
  const TestChartOptions options{.columns = 7, .fields_down = 5, .bits = 4};
  const Shape<2> shape{130, 301};
  const auto fields = test_chart_fields(options, shape);
  const auto codes = test_chart(options, shape);
  ASSERT_EQ(fields.size(), 35u);
  for (const auto& field : fields) {
    EXPECT_EQ(codes(field.first_row, field.first_column), field.code);
    EXPECT_EQ(field.code, (field.number * 15 * 2 + 34) / 68);
    EXPECT_EQ(number_in(codes, field), field.number);
  }
  EXPECT_EQ(fields.front().first_row, 2);
  EXPECT_EQ(fields.back().first_row + fields.back().height, 128);
  EXPECT_EQ(fields.back().first_column + fields.back().width, 299);
  EXPECT_EQ(fields.back().code, 15);
}

TEST(TestChart, TheRimIsALineOfOnePixel) {
  const Shape<2> shape{130, 301};
  const auto codes = test_chart({.bits = 8}, shape);
  for (std::int64_t row = 0; row < 130; ++row) {
    for (std::int64_t col = 0; col < 301; ++col) {
      const auto rim = std::min({row, col, 129 - row, 300 - col});
      if (rim < 2) {
        ASSERT_EQ(codes(row, col), rim == 0 ? 128 : 0);
      }
    }
  }
}

TEST(TestChart, OnAFullPanelEachNumberIsItsCode) {
  const auto fields = test_chart_fields({}, {1080, 1920});
  ASSERT_EQ(fields.size(), 256u);
  for (const auto& field : fields) ASSERT_EQ(field.code, field.number);
  EXPECT_EQ(test_chart_fields({}, {64, 48}).size(), 2u * 6u) << "as many as fit";
}

TEST(TestChart, RowsAreThoseOfTheWholePanel) {
  const Shape<2> shape{130, 301};
  const auto whole = test_chart({.bits = 10}, shape);
  for (std::int64_t first = 0; first < 130; first += 13) {
    const auto part = test_chart({.bits = 10}, shape, {first, 13});
    ASSERT_TRUE(std::equal(part.host().begin(), part.host().end(), whole.data() + first * 301)) << first;
  }
}

TEST(TestChart, WhatHasNoRoomIsRefused) {
  expect_error([] { (void)test_chart({.columns = 16}, {100, 200}); }, "columns");
  expect_error([] { (void)test_chart({.fields_down = 16}, {100, 800}); }, "fields_down");
  expect_error([] { (void)test_chart({}, {5, 5}); }, "7 x 9");
  expect_error([] { (void)test_chart({.bits = 17}, {100, 200}); }, "bits");
  expect_error([] { (void)test_chart({}, {100, 200}, {90, 20}); }, "rows");
}

TEST(ResponseStep, LayoutsHaveReferenceAndCode) {
  const Shape<2> shape{3, 9};
  const auto read_row = [&](ResponseLayout layout) {
    const auto codes = response_step({.code = 7, .reference = 2, .layout = layout, .period_px = 4}, shape);
    for (std::int64_t col = 0; col < 9; ++col) EXPECT_EQ(codes(2, col), codes(0, col));
    return std::vector<int>(codes.data(), codes.data() + 9);
  };
  EXPECT_EQ(read_row(ResponseLayout::full), (std::vector<int>(9, 7)));
  EXPECT_EQ(read_row(ResponseLayout::halves), (std::vector<int>{2, 2, 2, 2, 7, 7, 7, 7, 7}));
  EXPECT_EQ(read_row(ResponseLayout::stripes), (std::vector<int>{2, 2, 7, 7, 2, 2, 7, 7, 2}));
  EXPECT_EQ(response_step({.code = 7}, shape, {1, 2}).shape(), (Shape<2>{2, 9}));
  expect_error([&] { (void)response_step({.period_px = 3}, shape); }, "period_px");
  expect_error([&] { (void)response_step({}, {0, 9}); }, "shape");
}

}  // namespace
}  // namespace holotone
