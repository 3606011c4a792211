// The adjoint of the sum over points, as the sum itself is computed: by the factors of separable_cpu.cpp without
// amplitude and phase, h_j(row, col) = y_j(row) x_j(col). A matrix product sums conj(y_j) U over the rows, for all
// columns; a dot product with conj(x_j) does the rest. With the field as real numbers, columns in pairs of real and
// imaginary part, sgemm computes R = Yr U and I = Yi U, and the sum over rows is R - i I, a complex number a column.
#include <holotone/core/matrix_product/blas.hpp>
#include <holotone/core/parallel.hpp>
#include <holotone/core/thread_memory.hpp>
#include <holotone/hologram/point_cloud/separable/separable_cpu.hpp>

namespace holotone::point_cloud {
namespace {

/// Point with its index among the plan's points.
struct NumberedPoint : PixelPoint {
  std::int64_t number = 0;
};

/// Floats of a point's row factors and of its sums over rows.
std::size_t floats_of_a_point(const Shape<2>& shape) { return static_cast<std::size_t>(2 * shape[0] + 4 * shape[1]); }

/// The points that light some pixel, whatever their amplitude, in an order of neighbours.
std::vector<NumberedPoint> lit_points(const PointCloudOptions& options, View<const float, 2> position_m) {
  const auto frame = frame_of(options);
  std::vector<NumberedPoint> points;
  for (std::int64_t j = 0; j < position_m.shape()[0]; ++j) {
    const NumberedPoint point{to_pixels(frame, position_m(j, 0), position_m(j, 1), position_m(j, 2), 1, 0), j};
    if (point.column_begin < point.column_end) points.push_back(point);
  }
  if (options.band_limit && !points.empty()) sort_by_place(points, options.shape);
  return points;
}

/// sum over columns of conj(x) (R - i I), in float64.
std::complex<float> dot(PixelRange columns, const float* cosine, const float* sine, const float* real_part,
                        const float* imaginary_part) {
  double re = 0;
  double im = 0;
  for (std::int32_t i = 0; i < columns.size(); ++i) {
    const double c = cosine[i];
    const double s = sine[i];
    const double u = static_cast<double>(real_part[2 * i]) + static_cast<double>(imaginary_part[2 * i + 1]);
    const double v = static_cast<double>(real_part[2 * i + 1]) - static_cast<double>(imaginary_part[2 * i]);
    re += c * u + s * v;
    im += c * v - s * u;
  }
  return {static_cast<float>(re), static_cast<float>(im)};
}

/// Memory of a chunk of points.
struct Chunk {
  Array<float, 1> factors;
  Array<float, 1> sums;
  ThreadMemory<float> columns;
};

void add_up(std::span<const NumberedPoint> points, View<const std::complex<float>, 2> field,
            View<std::complex<float>, 1> values, Chunk& memory) {
  const auto [rows, columns] = lit_area(points);
  const auto count = std::ssize(points);
  const auto nx = field.shape()[1];
  reserve(memory.factors, 2 * count * rows.size());
  reserve(memory.sums, 4 * count * columns.size());
  memory.columns.reserve(2 * columns.size());
  float* const factors = memory.factors.data();
  float* const sums = memory.sums.data();
  parallel_for(0, count, [&, rows = rows](std::int64_t j) {
    const auto& point = points[static_cast<std::size_t>(j)];
    axis_factors(rows, {point.row_begin, point.row_end}, point.row, point.curvature, 0, 1, factors + j * rows.size(),
                 factors + (count + j) * rows.size());
  });
  const auto width = 2 * columns.size();
  const auto* const from = reinterpret_cast<const float*>(field.data() + rows.begin * nx + columns.begin);
  blas::multiply(blas::Operand::plain, blas::Operand::plain, static_cast<int>(2 * count), width, rows.size(), factors,
                 rows.size(), from, static_cast<int>(2 * nx), 0, sums, width);
  parallel_for(0, count, [&, columns = columns](std::int64_t j) {
    const auto& point = points[static_cast<std::size_t>(j)];
    float* const cosine = memory.columns.thread_block();
    float* const sine = cosine + columns.size();
    axis_factors(columns, {point.column_begin, point.column_end}, point.column, point.curvature, 0, 1, cosine, sine);
    values(point.number) = dot(columns, cosine, sine, sums + j * width, sums + (count + j) * width);
  });
}

}  // namespace

void adjoint_cpu(const PointCloudOptions& options, View<const float, 2> position_m,
                 View<const std::complex<float>, 2> field, View<std::complex<float>, 1> values, Progress& progress) {
  constexpr std::string_view stage = "multiplying factors";
  std::fill_n(values.data(), values.size(), std::complex<float>{});
  const auto points = lit_points(options, position_m);
  const auto chunk = cached_points(floats_of_a_point(options.shape), 2048);
  Chunk memory;
  progress.step(stage, 0, std::ssize(points));
  for (std::size_t done = 0; done < points.size(); done += chunk) {
    const auto some = std::min(chunk, points.size() - done);
    add_up(std::span(points).subspan(done, some), field, values, memory);
    progress.step(stage, static_cast<std::int64_t>(done + some), std::ssize(points));
  }
}

}  // namespace holotone::point_cloud
