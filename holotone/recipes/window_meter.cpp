#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/core/parallel.hpp>
#include <holotone/quantize/window_noise.hpp>
#include <holotone/recipes/hogel_weights.hpp>
#include <holotone/recipes/window_meter.hpp>
#include <numbers>
#include <numeric>
#include <utility>

namespace holotone {
namespace {

constexpr std::int64_t max_side = 576;
constexpr std::int64_t min_overlap = 64;
constexpr std::int64_t squares_across = 8;
constexpr std::size_t max_measured_calls = 4;

/// Part of an axis, and the lengths over which it overlaps with its neighbours.
struct Span {
  std::int64_t first;
  std::int64_t count;
  std::int64_t before;
  std::int64_t after;
};

/// An axis in parts of max_side that overlap, or as a whole.
std::vector<Span> spans_of(std::int64_t all) {
  if (all <= max_side) return {{0, all, 0, 0}};
  constexpr std::int64_t step = max_side - min_overlap;
  const std::int64_t steps = (all - min_overlap + step - 1) / step - 1;
  const auto first_of = [&](std::int64_t part) { return part * (all - max_side) / steps; };
  std::vector<Span> spans;
  for (std::int64_t part = 0; part <= steps; ++part) {
    const std::int64_t first = first_of(part);
    spans.push_back({first, max_side, part > 0 ? first_of(part - 1) + max_side - first : 0,
                     part < steps ? first + max_side - first_of(part + 1) : 0});
  }
  return spans;
}

/// Rises over the overlaps as a sine: the squares of two neighbours' values have the sum 1.
std::vector<float> lap_of(const Span& span) {
  std::vector<float> lap(static_cast<std::size_t>(span.count), 1);
  const auto rise = [](std::int64_t i, std::int64_t length) {
    return static_cast<float>(
        std::sin(std::numbers::pi / 2 * (static_cast<double>(i) + 0.5) / static_cast<double>(length)));
  };
  for (std::int64_t i = 0; i < span.before; ++i) lap[static_cast<std::size_t>(i)] *= rise(i, span.before);
  for (std::int64_t i = 0; i < span.after; ++i)
    lap[static_cast<std::size_t>(span.count - 1 - i)] *= rise(i, span.after);
  return lap;
}

double mean_square(const std::vector<float>& values) {
  const auto add = [](double sum, double value) { return sum + value * value; };
  return std::accumulate(values.begin(), values.end(), 0.0, add) / static_cast<double>(values.size());
}

}  // namespace

/// A part of the panel, filled as its rows arrive.
struct WindowMeter::Square {
  Span rows;
  Span columns;
  double x_m;  ///< centre on the panel
  double y_m;
  SignalWindow window;
  std::int64_t filled = 0;  ///< number of rows
  Array<Complex, 2> field{};
  Array<std::uint8_t, 2> codes{};
  std::vector<bool> added{};  ///< rows, until it is complete
};

WindowMeter::WindowMeter(const ErrorDiffusionOptions& options, const FieldGrid& grid, const Viewer& viewer,
                         const ReferenceBeam& beam)
    : grid_(grid), viewer_(viewer) {
  truncation_.modulation = options.modulation;
  truncation_.bits = options.bits;
  truncation_.levels = options.levels;
  const auto rows = spans_of(grid.ny);
  const auto columns = spans_of(grid.nx);
  const auto down = std::min(squares_across, std::ssize(rows));
  const auto across = std::min(squares_across, std::ssize(columns));
  // One square in each of down x across equal areas, at another place in each: every row and column of parts is taken
  // about as often as any other. `scatter` has no factor in common with down and across.
  constexpr std::int64_t scatter = 13;
  const auto part_at = [&](std::int64_t i, const std::vector<Span>& parts) {
    return parts[static_cast<std::size_t>((2 * i + 1) * std::ssize(parts) / (2 * down * across))];
  };
  for (std::int64_t j = 0; j < down; ++j) {
    for (std::int64_t i = 0; i < across; ++i) {
      const auto y = part_at(j * across + scatter * i % across, rows);
      const auto x = part_at(i * down + scatter * j % down, columns);
      const double right_m = (static_cast<double>(x.first) + static_cast<double>(x.count - grid.nx) / 2) * grid.pitch_m;
      const double down_m = (static_cast<double>(y.first) + static_cast<double>(y.count - grid.ny) / 2) * grid.pitch_m;
      const auto window = reached_window(grid, viewer, right_m, -down_m, beam);
      if (window) squares_.push_back({y, x, right_m, -down_m, *window});
    }
  }
}
WindowMeter::~WindowMeter() = default;
WindowMeter::WindowMeter(WindowMeter&&) noexcept = default;
WindowMeter& WindowMeter::operator=(WindowMeter&&) noexcept = default;

void WindowMeter::add_rows(std::int64_t first_row, View<const Complex, 2> field, View<const std::uint8_t, 2> codes,
                           double scale) {
  constexpr std::string_view where = "WindowMeter::add_rows";
  const auto [count, nx] = field.shape();
  if (first_row < 0 || count < 0 || count > grid_.ny || first_row > grid_.ny - count || nx != grid_.nx) {
    throw_argument(where, "field", fmt::format("rows of {} pixels within {}", grid_.nx, grid_.ny),
                   fmt::format("{} of {} from row {} on", count, nx, first_row));
  }
  require_view(where, "codes", codes, field.shape(), Device{});
  require_positive(where, "scale", scale);
  // The memory of a complete square is another thread's.
  for (const Square& square : squares_) {
    for (std::int64_t row = first_row; row < first_row + count; ++row) {
      const std::int64_t offset = row - square.rows.first;
      if (offset < 0 || offset >= square.rows.count || square.filled == 0) continue;
      if (square.filled < square.rows.count && !square.added[static_cast<std::size_t>(offset)]) continue;
      throw_argument(where, "first_row", "rows that were not added before", fmt::format("row {}, which was", row));
    }
  }
  parallel_for(0, std::ssize(squares_), [&, end = first_row + count](std::int64_t i) {
    Square& square = squares_[static_cast<std::size_t>(i)];
    const auto& rows = square.rows;
    const auto& columns = square.columns;
    const std::int64_t first = std::max(first_row, rows.first);
    const std::int64_t last = std::min(end, rows.first + rows.count);
    if (first >= last) return;
    if (square.filled == 0) {
      square.field = Array<Complex, 2>({rows.count, columns.count});
      square.codes = Array<std::uint8_t, 2>({rows.count, columns.count});
      square.added.assign(static_cast<std::size_t>(rows.count), false);
    }
    for (std::int64_t row = first; row < last; ++row) {
      std::copy_n(&field(row - first_row, columns.first), columns.count, &square.field(row - rows.first, 0));
      std::copy_n(&codes(row - first_row, columns.first), columns.count, &square.codes(row - rows.first, 0));
      square.added[static_cast<std::size_t>(row - rows.first)] = true;
    }
    square.filled += last - first;
  });
  std::vector<Square> complete;
  for (auto& square : squares_) {
    if (square.filled == square.rows.count && !square.field.empty()) complete.push_back(std::move(square));
  }
  if (complete.empty()) return;
  while (measuring_.size() >= max_measured_calls) add_oldest();
  truncation_.scale = scale;
  auto measure_all = [truncation = truncation_, grid = grid_, viewer = viewer_, squares = std::move(complete)] {
    std::vector<SquareNoise> noise(squares.size());
    parallel_for(0, std::ssize(squares), [&](std::int64_t i) {
      const auto number = static_cast<std::size_t>(i);
      noise[number] = measure(squares[number], truncation, grid, viewer);
    });
    return noise;
  };
  // Without a policy: by another thread, or by add_oldest if the system grants none.
  measuring_.push_back(std::async(std::move(measure_all)));
}

/// Waits for the squares of the oldest call and adds them.
void WindowMeter::add_oldest() {
  const auto noise = measuring_.front().get();
  measuring_.pop_front();
  for (const auto& one : noise) {
    sums_ += one.codes;
    truncated_ += one.truncated;
    incident_ += one.incident;
    ++measured_;
  }
}

WindowMeter::SquareNoise WindowMeter::measure(const Square& square, const ErrorDiffusionOptions& options,
                                              const FieldGrid& grid, const Viewer& viewer) {
  const auto shape = square.field.shape();
  ErrorDiffusionPlan truncation(options, {{}, Array<float, 2>({1, 0})}, shape);
  Array<std::uint8_t, 2> truncated(shape);
  truncation.execute(square.field.view(), truncated.view());
  auto lens = window_lens(grid, viewer, square.x_m, square.y_m, shape);
  const auto down = lap_of(square.rows);
  const auto across = lap_of(square.columns);
  for (std::int64_t y = 0; y < shape[0]; ++y) {
    for (std::int64_t x = 0; x < shape[1]; ++x) {
      lens(y, x) *= down[static_cast<std::size_t>(y)] * across[static_cast<std::size_t>(x)];
    }
  }
  const View<const std::uint8_t, 2> both[] = {square.codes.view(), truncated.view()};
  const auto sums = window_noise(square.field.view(), both, options, options.scale, square.window, lens.view());
  return {sums[0], sums[1], mean_square(down) * mean_square(across)};
}

WindowMeasure WindowMeter::measured() {
  while (!measuring_.empty()) add_oldest();
  WindowMeasure mean;
  mean.squares = measured_;
  if (measured_ == 0) return mean;
  mean.noise = sums_.noise / incident_;
  mean.light = sums_.light / incident_;
  mean.truncated = truncated_.noise / incident_;
  mean.truncated_light = truncated_.light / incident_;
  const auto seen = [&](const WindowNoise& sums) {
    const auto all = projected(sums);
    return WindowSignal{all.signal / incident_, all.noise / incident_};
  };
  mean.seen = seen(sums_);
  mean.truncated_seen = seen(truncated_);
  if (sums_.field > 0) mean.twin = sums_.twin / sums_.field;
  mean.zero_order = sums_.zero_order / measured_;
  return mean;
}

}  // namespace holotone
