#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/core/parallel.hpp>
#include <holotone/retrieval/transport/transport_cells.hpp>

namespace holotone::retrieval {
namespace {

constexpr std::int64_t max_cells = 128;  ///< of the longer side
constexpr std::int64_t min_cells = 8;    ///< of the shorter

/// Cells along an axis: some of the part, and wider ones beside it.
struct AxisCells {
  std::vector<double> edges;  ///< in pixels
  std::int64_t first = 0;     ///< of the part
};

AxisCells axis_cells(const Span& part, const Span& around, std::int64_t cells, std::int64_t max_beside) {
  AxisCells axis;
  const double width = static_cast<double>(part.count) / static_cast<double>(cells);
  const auto add = [&](std::int64_t begin, std::int64_t end, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
      axis.edges.push_back(static_cast<double>(begin) +
                           static_cast<double>((end - begin) * i) / static_cast<double>(count));
    }
  };
  const auto beside = [&](std::int64_t length) {
    const auto wanted = static_cast<std::int64_t>(std::ceil(static_cast<double>(length) / width));
    return std::min(max_beside, wanted);
  };
  const std::int64_t part_end = part.first + part.count;
  const std::int64_t end = around.first + around.count;
  axis.first = beside(part.first - around.first);
  add(around.first, part.first, axis.first);
  add(part.first, part_end, cells);
  add(part_end, end, beside(end - part_end));
  axis.edges.push_back(static_cast<double>(end));
  return axis;
}

/// Middles of cells, in fractions of the side from its middle.
std::vector<double> find_middles(const AxisCells& axis, std::int64_t side) {
  std::vector<double> places;
  for (std::size_t i = 0; i + 1 < axis.edges.size(); ++i) {
    places.push_back((axis.edges[i] + axis.edges[i + 1]) / 2 / static_cast<double>(side) - 0.5);
  }
  return places;
}

/// Sums of a line of values over cells of equal length; a value between two cells is divided.
template <class ValueOf, class Add>
void sum_cells(std::int64_t count, std::int64_t cells, const ValueOf& value_of, const Add& add) {
  const double length = static_cast<double>(cells) / static_cast<double>(count);  // of a value, in cells; at most 1
  for (std::int64_t i = 0; i < count; ++i) {
    const double begin = static_cast<double>(i) * length;
    const double end = begin + length;
    const auto cell = std::min(cells - 1, static_cast<std::int64_t>(begin));
    const double edge = static_cast<double>(cell + 1);
    const double beyond = cell + 1 < cells ? std::max(0.0, end - edge) / length : 0;
    add(cell, (1 - beyond) * value_of(i));
    if (beyond > 0) add(cell + 1, beyond * value_of(i));
  }
}

/// Sums over cells of pixels, whose rows `write_row` gives.
Array<double, 2> to_cells(Shape<2> pixels, Shape<2> cells, const TransportLight::Intensity& write_row) {
  const auto [ny, nx] = pixels;
  Array<double, 2> rows({ny, cells[1]});
  Array<double, 2> sums(cells);
  std::ranges::fill(rows.host(), 0.0);
  std::ranges::fill(sums.host(), 0.0);
  parallel_for(0, ny, [&, nx = nx](std::int64_t y) {
    std::vector<double> row(static_cast<std::size_t>(nx));
    write_row(y, row.data());
    sum_cells(
        nx, cells[1], [&](std::int64_t x) { return row[static_cast<std::size_t>(x)]; },
        [&](std::int64_t x, double part) { rows(y, x) += part; });
  });
  parallel_for(0, cells[1], [&, ny = ny](std::int64_t x) {
    sum_cells(
        ny, cells[0], [&](std::int64_t y) { return rows(y, x); },
        [&](std::int64_t y, double part) { sums(y, x) += part; });
  });
  return sums;
}

Shape<2> count_finest_cells(Shape<2> pixels) {
  const auto longer = static_cast<double>(std::max(pixels[0], pixels[1]));
  const auto count = [&](std::int64_t side) {
    const auto wanted = std::llround(static_cast<double>(max_cells) * static_cast<double>(side) / longer);
    return std::min<std::int64_t>(side, std::max<std::int64_t>(min_cells, wanted));
  };
  return {count(pixels[0]), count(pixels[1])};
}

}  // namespace

TransportLight::TransportLight(std::string_view argument, Shape<2> whole, const std::array<Span, 2>& part,
                               const Intensity& row_of)
    : sides_{whole[0], whole[1]}, part_(part), around_(part) {
  const Shape<2> pixels{part[0].count, part[1].count};
  cells_ = to_cells(pixels, count_finest_cells(pixels), row_of);
  if (!std::isfinite(sum()) || sum() <= 0) {
    throw_argument("transport_phase", argument, "finite values, not all zero",
                   fmt::format("a sum of squares of {}", sum()));
  }
}

double TransportLight::sum() const {
  double sum = 0;
  for (const double value : cells_.host()) sum += value;
  return sum;
}

void TransportLight::surround(double share, double margin) {
  double all = 1;
  double area = 1;
  for (std::size_t i = 0; i < 2; ++i) {
    const auto& part = part_[i];
    const auto beyond = static_cast<std::int64_t>(std::ceil(margin * static_cast<double>(part.count)));
    const std::int64_t first = std::min<std::int64_t>(0, part.first - beyond);
    const std::int64_t end = std::max(sides_[i], part.first + part.count + beyond);
    around_[i] = {first, end - first};
    all *= static_cast<double>(end - first);
    area *= static_cast<double>(part.count);
  }
  if (all > area) around_light_ = sum() * (1 - share) / share / (all - area);
}

TransportCells TransportLight::cells(std::int64_t coarser) const {
  constexpr double min_mass = 1e-30;
  constexpr std::int64_t max_beside = 32;
  const Shape<2> shape{std::max<std::int64_t>(1, finest()[0] / coarser),
                       std::max<std::int64_t>(1, finest()[1] / coarser)};
  std::array<AxisCells, 2> axes;
  TransportCells made;
  for (std::size_t i = 0; i < 2; ++i) {
    axes[i] = axis_cells(part_[i], around_[i], shape[i], max_beside / coarser);
    made.places[i] = find_middles(axes[i], sides_[i]);
  }
  const auto part =
      to_cells(finest(), shape, [&](std::int64_t y, double* row) { std::copy_n(&cells_(y, 0), finest()[1], row); });
  std::vector<double> mass;
  const auto& [down, across] = axes;
  for (std::size_t y = 0; y + 1 < down.edges.size(); ++y) {
    const std::int64_t row = static_cast<std::int64_t>(y) - down.first;
    for (std::size_t x = 0; x + 1 < across.edges.size(); ++x) {
      const std::int64_t column = static_cast<std::int64_t>(x) - across.first;
      const double area = (down.edges[y + 1] - down.edges[y]) * (across.edges[x + 1] - across.edges[x]);
      const bool is_inside = row >= 0 && row < shape[0] && column >= 0 && column < shape[1];
      mass.push_back(is_inside ? part(row, column) : area * around_light_);
    }
  }
  double sum = 0;
  for (const double value : mass) sum += value;
  for (const double value : mass) {
    made.log_mass.push_back(static_cast<float>(std::log(std::max(value / sum, min_mass))));
  }
  return made;
}

}  // namespace holotone::retrieval
