#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/optics/contact_sheet.hpp>
#include <holotone/optics/field.hpp>
#include <holotone/optics/test_chart.hpp>
#include <string>

namespace holotone {
namespace {

constexpr std::int64_t glyph_width = 5;
constexpr std::int64_t glyph_height = 7;
constexpr std::int64_t frame_px = 2;
constexpr std::int64_t max_fields = 1000;  ///< along an axis
constexpr std::int64_t max_by_default = 16;

void require_shape(std::string_view where, const Shape<2>& shape) {
  const auto [ny, nx] = shape;
  if (std::min(ny, nx) >= 1 && std::max(ny, nx) <= largest_picture_side) return;
  throw_argument(where, "shape", fmt::format("1 to {} pixels a side", largest_picture_side), to_string(shape));
}

RowRange check_rows(std::string_view where, const Shape<2>& shape, const RowRange& part) {
  require_shape(where, shape);
  if (part == RowRange{}) return {0, shape[0]};
  require_rows(where, part, shape[0]);
  return part;
}

std::int64_t count_digits(std::int64_t number) { return std::ssize(std::to_string(number)); }

/// Smallest sides of a field whose digits are one pixel wide, with a pixel around them.
std::int64_t min_width(std::int64_t digits) { return digits * (glyph_width + 1) + 1; }
constexpr std::int64_t min_height = glyph_height + 2;

/// Columns and rows of fields.
std::array<std::int64_t, 2> count_fields(const TestChartOptions& options, const Shape<2>& shape) {
  constexpr std::string_view where = "test_chart";
  require_shape(where, shape);
  if (options.bits < 1 || options.bits > 16) {
    throw_argument(where, "bits", "1 to 16", fmt::format("{}", options.bits));
  }
  const auto [ny, nx] = shape;
  const auto count = [&](std::string_view name, std::int64_t asked, std::int64_t pixels, std::int64_t least) {
    if (asked < 0 || asked > max_fields) {
      throw_argument(where, name, fmt::format("1 to {}, or 0", max_fields), fmt::format("{}", asked));
    }
    return asked > 0 ? asked : std::clamp<std::int64_t>((pixels - 2 * frame_px) / least, 1, max_by_default);
  };
  const std::int64_t digits = count_digits(max_by_default * max_by_default - 1);
  const std::int64_t columns = count("columns", options.columns, nx, min_width(digits));
  const std::int64_t down = count("fields_down", options.fields_down, ny, min_height);
  const std::int64_t width = (nx - 2 * frame_px) / columns;
  const std::int64_t height = (ny - 2 * frame_px) / down;
  const std::int64_t least = min_width(count_digits(columns * down - 1));
  if (width < least || height < min_height) {
    throw_argument(where, width < least ? "columns" : "fields_down",
                   fmt::format("fields of at least {} x {} pixels for their numbers", least, min_height),
                   fmt::format("{} x {}", std::max<std::int64_t>(width, 0), std::max<std::int64_t>(height, 0)));
  }
  return {columns, down};
}

/// Number of a field, drawn into rows of codes.
class Label {
 public:
  Label(const TestChartField& field, std::int64_t digits, std::uint16_t code)
      : text_(std::to_string(field.number)), code_(code) {
    const std::int64_t across = digits * (glyph_width + 1) - 1;
    // Three quarters of the field for the longest number.
    scale_ = std::max<std::int64_t>(1, std::min(field.width * 3 / 4 / across, field.height * 3 / 4 / glyph_height));
    const std::int64_t width = std::ssize(text_) * (glyph_width + 1) - 1;
    first_row_ = field.first_row + (field.height - glyph_height * scale_) / 2;
    first_column_ = field.first_column + (field.width - width * scale_) / 2;
  }

  void draw(std::int64_t row, std::uint16_t* codes) const {
    const std::int64_t line = row < first_row_ ? -1 : (row - first_row_) / scale_;
    if (line < 0 || line >= glyph_height) return;
    for (std::size_t i = 0; i < text_.size(); ++i) {
      const unsigned bits = caption_glyph(text_[i])[static_cast<std::size_t>(line)];
      for (std::int64_t dot = 0; dot < glyph_width; ++dot) {
        if ((bits >> static_cast<unsigned>(glyph_width - 1 - dot) & 1U) == 0) continue;
        const std::int64_t at = first_column_ + (static_cast<std::int64_t>(i) * (glyph_width + 1) + dot) * scale_;
        std::fill_n(codes + at, scale_, code_);
      }
    }
  }

 private:
  std::string text_;
  std::uint16_t code_;
  std::int64_t scale_ = 1;
  std::int64_t first_row_ = 0;
  std::int64_t first_column_ = 0;
};

}  // namespace

std::vector<TestChartField> test_chart_fields(const TestChartOptions& options, const Shape<2>& shape) {
  const auto [columns, down] = count_fields(options, shape);
  const std::int64_t last = columns * down - 1;
  const std::int64_t top_code = (std::int64_t{1} << options.bits) - 1;
  const auto edge = [](std::int64_t i, std::int64_t count, std::int64_t pixels) {
    return frame_px + i * (pixels - 2 * frame_px) / count;
  };
  std::vector<TestChartField> fields;
  for (std::int64_t i = 0; i <= last; ++i) {
    const std::int64_t row = i / columns;
    const std::int64_t column = i % columns;
    TestChartField field;
    field.number = i;
    field.code = static_cast<std::uint16_t>(last == 0 ? 0 : (2 * i * top_code + last) / (2 * last));
    field.first_row = edge(row, down, shape[0]);
    field.first_column = edge(column, columns, shape[1]);
    field.height = edge(row + 1, down, shape[0]) - field.first_row;
    field.width = edge(column + 1, columns, shape[1]) - field.first_column;
    fields.push_back(field);
  }
  return fields;
}

Array<std::uint16_t, 2> test_chart(const TestChartOptions& options, const Shape<2>& shape, const RowRange& part) {
  const auto fields = test_chart_fields(options, shape);
  const auto [first, count] = check_rows("test_chart", shape, part);
  const auto [ny, nx] = shape;
  const std::int64_t digits = count_digits(fields.back().number);
  const unsigned levels = 1U << static_cast<unsigned>(options.bits);
  const auto half = static_cast<std::uint16_t>(levels / 2);
  Array<std::uint16_t, 2> codes({count, nx});
  for (const TestChartField& field : fields) {
    const Label label(field, digits, static_cast<std::uint16_t>((field.code + half) % levels));
    const std::int64_t end = std::min(field.first_row + field.height, first + count);
    for (std::int64_t row = std::max(field.first_row, first); row < end; ++row) {
      std::uint16_t* const line = codes.data() + (row - first) * nx;
      std::fill_n(line + field.first_column, field.width, field.code);
      label.draw(row, line);
    }
  }
  for (std::int64_t row = first; row < first + count; ++row) {
    std::uint16_t* const line = codes.data() + (row - first) * nx;
    const std::int64_t rim = std::min(row, ny - 1 - row);
    if (rim < frame_px) std::fill_n(line, nx, std::uint16_t{0});
    if (rim == 0) std::fill_n(line, nx, half);
    line[1] = line[nx - 2] = rim == 0 ? half : std::uint16_t{0};
    line[0] = line[nx - 1] = half;
  }
  return codes;
}

Array<std::uint16_t, 2> response_step(const ResponseStepOptions& options, const Shape<2>& shape, const RowRange& part) {
  const auto [first, count] = check_rows("response_step", shape, part);
  require_bounds("response_step", "period_px", static_cast<double>(options.period_px),
                 bounds_of<&ResponseStepOptions::period_px>);
  if (options.period_px % 2 != 0) {
    throw_argument("response_step", "period_px", "an even number", fmt::format("{}", options.period_px));
  }
  const std::int64_t nx = shape[1];
  Array<std::uint16_t, 2> codes({count, nx});
  for (std::int64_t col = 0; col < nx; ++col) {
    bool reference = false;
    if (options.layout == ResponseLayout::halves) reference = col < nx / 2;
    if (options.layout == ResponseLayout::stripes) reference = col % options.period_px < options.period_px / 2;
    codes(0, col) = reference ? options.reference : options.code;
  }
  for (std::int64_t row = 1; row < count; ++row) std::copy_n(codes.data(), nx, codes.data() + row * nx);
  return codes;
}

}  // namespace holotone
