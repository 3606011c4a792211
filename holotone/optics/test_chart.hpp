#pragma once
#include <array>
#include <cstdint>
#include <holotone/core/array.hpp>
#include <holotone/core/bounds.hpp>
#include <holotone/core/enum_names.hpp>
#include <holotone/optics/field.hpp>
#include <holotone/optics/row_range.hpp>
#include <vector>

// Pictures of codes, not of phases, that test a panel: a numbered chart, and the levels of a response curve.
namespace holotone {

struct TestChartOptions {
  std::int64_t columns = 0;      ///< fields side by side, at most 1000; 0: as many as fit, at most 16
  std::int64_t fields_down = 0;  ///< fields below each other, likewise
  int bits = 8;                  ///< bits per code, 1 to 16
};

/// A field of a test chart: its number, code and place in pixels.
struct TestChartField {
  std::int64_t number = 0;
  std::uint16_t code = 0;
  std::int64_t first_row = 0;
  std::int64_t first_column = 0;
  std::int64_t height = 0;
  std::int64_t width = 0;
};

/// Returns the fields of test_chart for a panel {ny, nx}, numbered along the rows from the upper left corner.
/// Throws invalid_argument for bits or numbers of fields out of range, and for a panel too small for the numbers.
std::vector<TestChartField> test_chart_fields(const TestChartOptions& options, const Shape<2>& shape);

/// Draws a chart that shows a panel's orientation, size, order of levels and dead pixels: fields with their number in
/// them, inside a line of one pixel along the rim.
///
/// Field i of N has the code floor(i (L - 1) / (N - 1) + 1/2), L = 2^bits: with 16 x 16 fields and 8 bits its number.
/// Its digits have the code half of the levels away, (code + L/2) mod L. The outermost pixels have the code L/2, those
/// beside them 0. Codes {ny, nx}, or {part.rows, nx} of a part (no rows: the whole panel), in host memory. Throws as
/// test_chart_fields, and for rows beyond the panel. CPU, O(nx ny).
Array<std::uint16_t, 2> test_chart(const TestChartOptions& options, const Shape<2>& shape, const RowRange& part = {});

enum class ResponseLayout {
  full,     ///< all pixels have the code
  halves,   ///< the left half (of an odd number of columns the smaller) has the reference, the right half the code
  stripes,  ///< vertical stripes of half a period: the reference, then the code
};

template <>
inline constexpr auto enum_names<ResponseLayout> =
    std::array{EnumName{ResponseLayout::full, "full"}, EnumName{ResponseLayout::halves, "halves"},
               EnumName{ResponseLayout::stripes, "stripes"}};

struct ResponseStepOptions {
  std::uint16_t code = 0;
  std::uint16_t reference = 0;
  ResponseLayout layout = ResponseLayout::full;
  std::int64_t period_px = 8;  ///< of the stripes, even, >= 2
};

template <>
inline constexpr Bounds bounds_of<&ResponseStepOptions::period_px>{2, largest_grid_side};

/// Draws one picture of a set that measures a panel's response, phase or intensity of each code. `full` is for a
/// photodiode or a polarimeter. `halves` is for an interferometer, whose fringes move by the phase between the halves.
/// `stripes` are a binary grating: for a phase d between the two codes its first orders have (4/pi^2) sin^2(d/2) of the
/// light, the zero order cos^2(d/2). Codes {ny, nx}, or {part.rows, nx}, in host memory. Throws invalid_argument for an
/// odd period or rows beyond the panel. CPU, O(nx ny).
Array<std::uint16_t, 2> response_step(const ResponseStepOptions& options, const Shape<2>& shape,
                                      const RowRange& part = {});

}  // namespace holotone
