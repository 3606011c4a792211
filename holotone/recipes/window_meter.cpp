#include <algorithm>
#include <holotone/quantize/window_noise.hpp>
#include <holotone/recipes/hogel_weights.hpp>
#include <holotone/recipes/window_meter.hpp>
#include <utility>

namespace holotone {
namespace {

constexpr std::int64_t most_side = 512;
constexpr std::int64_t squares_across = 4;

struct Span {
  std::int64_t first;
  std::int64_t count;
};

/// Up to four parts along an axis, at most most_side long, each within a hogel: spread over hogels and over the places
/// in them, because a hogel's edges see another window than its middle.
std::vector<Span> spans_of(std::int64_t all, std::int64_t side) {
  const std::int64_t own = side > 0 ? std::min(side, all) : all;
  const std::int64_t count = (all + own - 1) / own;
  const std::int64_t some = std::min(squares_across, std::max(count, (all + most_side - 1) / most_side));
  std::vector<Span> spans;
  for (std::int64_t i = 0; i < some; ++i) {
    const double middle = static_cast<double>(2 * i + 1) / static_cast<double>(2 * some);
    const double place = middle * static_cast<double>(count);
    const auto hogel = static_cast<std::int64_t>(place);
    const std::int64_t first = hogel * own;
    const std::int64_t length = std::min(own, all - first);
    const std::int64_t seen = std::min(length, most_side);
    const double within = count >= some ? middle : place - static_cast<double>(hogel);
    const auto start = static_cast<std::int64_t>(within * static_cast<double>(length) - static_cast<double>(seen) / 2);
    spans.push_back({first + std::clamp<std::int64_t>(start, 0, length - seen), seen});
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

WindowMeter::WindowMeter(ErrorDiffusionOptions options, const FieldGrid& grid, const Viewer& viewer,
                         const ReferenceBeam& beam)
    : options_(std::move(options)), grid_(grid), viewer_(viewer) {
  const std::int64_t side = options_.hogel_px;
  options_.hogel_px = 0;
  options_.serpentine = false;
  for (const auto& y : spans_of(grid.ny, side)) {
    for (const auto& x : spans_of(grid.nx, side)) {
      const double right = (static_cast<double>(x.first) + static_cast<double>(x.count - grid.nx) / 2) * grid.pitch_m;
      const double down = (static_cast<double>(y.first) + static_cast<double>(y.count - grid.ny) / 2) * grid.pitch_m;
      const auto window = reached_window(grid, viewer, right, -down, beam);
      if (window) squares_.push_back({y.first, x.first, y.count, x.count, right, -down, *window});
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
    const auto shown = cut(codes, row, square.column, shape);
    options_.scale = scale;
    ErrorDiffusionPlan truncation(options_, {{}, Array<float, 2>({1, 0})}, shape);
    Array<std::uint8_t, 2> truncated(shape);
    truncation.execute(own.view(), truncated.view());
    const auto lens = window_lens(grid_, viewer_, square.x_m, square.y_m, shape);
    const View<const std::uint8_t, 2> both[] = {shown.view(), truncated.view()};
    const auto sums = window_noise(own.view(), both, options_, scale, square.window, lens.view());
    sums_ += sums[0];
    truncated_ += sums[1];
    ++measured_;
  }
}

WindowMeasure WindowMeter::measured() const {
  WindowMeasure mean;
  mean.squares = measured_;
  if (measured_ == 0) return mean;
  mean.noise = sums_.noise / measured_;
  mean.light = sums_.light / measured_;
  mean.truncated = truncated_.noise / measured_;
  mean.truncated_light = truncated_.light / measured_;
  const auto seen = [&](const WindowNoise& sums) {
    const auto all = projected(sums);
    return WindowSignal{all.signal / measured_, all.noise / measured_};
  };
  mean.seen = seen(sums_);
  mean.truncated_seen = seen(truncated_);
  if (sums_.field > 0) mean.twin = sums_.twin / sums_.field;
  mean.zero_order = sums_.zero_order / measured_;
  return mean;
}

}  // namespace holotone
