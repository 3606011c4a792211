#include <algorithm>
#include <holotone/quantize/window_noise.hpp>
#include <holotone/recipes/hogel_weights.hpp>
#include <holotone/recipes/window_meter.hpp>
#include <utility>

namespace holotone {
namespace {

constexpr std::int64_t most_side = 512;
constexpr std::int64_t squares_across = 3;

struct Span {
  std::int64_t first;
  std::int64_t count;
};

/// Central parts, at most most_side long, of up to three hogels along an axis; without hogels, of up to three sections.
std::vector<Span> spans_of(std::int64_t all, std::int64_t side) {
  const std::int64_t own =
      side > 0 ? side : std::max<std::int64_t>((all + squares_across - 1) / squares_across, std::min(most_side, all));
  const std::int64_t count = (all + own - 1) / own;
  const std::int64_t some = std::min(count, squares_across);
  std::vector<Span> spans;
  for (std::int64_t i = 0; i < some; ++i) {
    const std::int64_t first = (2 * i + 1) * count / (2 * some) * own;
    const std::int64_t length = std::min(own, all - first);
    const std::int64_t seen = std::min(length, most_side);
    spans.push_back({first + (length - seen) / 2, seen});
  }
  return spans;
}

template <class T>
Array<T, 2> cut(View<const T, 2> from, std::int64_t row, std::int64_t column, Shape<2> shape) {
  Array<T, 2> own(shape);
  for (std::int64_t y = 0; y < shape[0]; ++y) std::copy_n(&from(row + y, column), shape[1], &own(y, 0));
  return own;
}

}  // namespace

WindowMeter::WindowMeter(ErrorDiffusionOptions options, const FieldGrid& grid, const Viewer& viewer)
    : options_(std::move(options)) {
  const std::int64_t side = options_.hogel_px;
  options_.hogel_px = 0;
  options_.serpentine = false;
  for (const auto& y : spans_of(grid.ny, side)) {
    for (const auto& x : spans_of(grid.nx, side)) {
      const double right = (static_cast<double>(x.first) + static_cast<double>(x.count - grid.nx) / 2) * grid.pitch_m;
      const double down = (static_cast<double>(y.first) + static_cast<double>(y.count - grid.ny) / 2) * grid.pitch_m;
      const auto window = reached_window(grid, viewer, right, -down);
      if (window) squares_.push_back({y.first, x.first, y.count, x.count, *window});
    }
  }
}

void WindowMeter::add_rows(std::int64_t first_row, View<const Complex, 2> field, View<const std::uint8_t, 2> codes,
                           double scale) {
  for (const auto& square : squares_) {
    const std::int64_t row = square.row - first_row;
    if (row < 0 || row + square.height > field.shape()[0]) continue;
    const Shape<2> shape{square.height, square.width};
    const auto own = cut(field, row, square.column, shape);
    const auto found =
        window_noise(own.view(), cut(codes, row, square.column, shape).view(), options_, scale, square.window);
    options_.scale = scale;
    ErrorDiffusionPlan truncation(options_, {{}, Array<float, 2>({1, 0})}, shape);
    Array<std::uint8_t, 2> truncated(shape);
    truncation.execute(own.view(), truncated.view());
    ++sums_.squares;
    sums_.noise += found.noise;
    sums_.light += found.light;
    const auto by_truncation = window_noise(own.view(), truncated.view(), options_, scale, square.window);
    sums_.truncated += by_truncation.noise;
    sums_.truncated_light += by_truncation.light;
  }
}

WindowMeasure WindowMeter::measured() const {
  WindowMeasure mean = sums_;
  for (double* const own : {&mean.noise, &mean.light, &mean.truncated, &mean.truncated_light})
    *own /= std::max(1, sums_.squares);
  return mean;
}

}  // namespace holotone
