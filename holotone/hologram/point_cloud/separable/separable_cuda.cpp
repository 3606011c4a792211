#include <algorithm>
#include <cmath>
#include <holotone/hologram/point_cloud/precision.hpp>
#include <holotone/hologram/point_cloud/separable/separable_cuda.cuh>
#include <limits>
#include <optional>

namespace holotone::point_cloud {
namespace {

constexpr int point_granularity = 64;
constexpr std::int64_t factor_budget_bytes = std::int64_t{2} << 30;
constexpr std::int64_t product_budget_bytes = std::int64_t{2} << 30;

std::int64_t round_up(std::int64_t value, std::int64_t step) { return (value + step - 1) / step * step; }

/// Returns the expected relative l2 error of int8 factors. That of one is up to 1 / 254 of the largest, so the error
/// grows with the spread of the amplitudes: both axes are rounded to steps of 1 / 127 (variance 1 / 12
/// of a squared step in each of two components), the Y axis relative to the largest amplitude.
double int8_error(const PointSummary& points, std::int64_t count) {
  const double mean = std::sqrt(static_cast<double>(points.squares) / static_cast<double>(count));
  if (!(mean > 0)) return 1;
  const double step = std::sqrt(2.0 / 12.0) / int8_steps;
  const double ratio = static_cast<double>(points.largest) / mean;
  return int8_margin * step * std::sqrt(1 + ratio * ratio);
}

/// Chooses the cheapest arithmetic for these points.
Arithmetic choose_arithmetic(double tolerance, const PointSummary& points, std::int64_t count) {
  if (tolerance >= int8_tolerance) {
    if (const double error = int8_error(points, count); error <= tolerance) {
      return {FactorType::int8, ProductForm::complex_four, error, "int8, four products"};
    }
  }
  return choose_float_arithmetic(tolerance);
}

/// Division of the points into `calls` products of `batches` batches of `batch_points`.
struct Chunks {
  int batch_points = point_granularity;
  int batches = 1;
  std::int64_t calls = 0;
  friend bool operator==(const Chunks&, const Chunks&) = default;
};

/// Returns the largest batch and the number of batches per call that were fastest on an H200 for a count of points.
/// Long batches feed the tensor cores. Several batches fill the card if one product has too few tiles; few batches keep
/// the traffic of the sums low.
Chunks preferred_chunks(std::int64_t count, ProductForm form) {
  if (count <= 10240) return {10240, 1, 0};
  if (form == ProductForm::real_part) return count <= 40960 ? Chunks{40960, 1, 0} : Chunks{10240, 5, 0};
  return count <= 204800 ? Chunks{6848, 3, 0} : Chunks{10240, 4, 0};
}

/// Limits the preferred chunks to `max_batch_points` and the memory budgets, and evens them out over the calls.
Chunks choose_chunks(std::int64_t count, ProductForm form, std::int64_t max_batch_points, std::int64_t bytes_per_point,
                     std::int64_t bytes_per_batch) {
  if (count == 0) return {};
  const Chunks preferred = preferred_chunks(count, form);
  const std::int64_t batches = std::clamp<std::int64_t>(product_budget_bytes / bytes_per_batch, 1, preferred.batches);
  const std::int64_t affordable = factor_budget_bytes / bytes_per_point / batches;
  const std::int64_t longest = std::max<std::int64_t>(
      point_granularity, std::min({affordable, max_batch_points, std::int64_t{preferred.batch_points}}) /
                             point_granularity * point_granularity);
  const std::int64_t calls = (count + longest * batches - 1) / (longest * batches);
  const std::int64_t even = (count + calls * batches - 1) / (calls * batches);
  return {static_cast<int>(round_up(even, point_granularity)), static_cast<int>(batches), calls};
}

/// Chunks of one product form, and its product with the chosen algorithm, created on first use.
struct Route {
  Chunks chunks;
  std::optional<cuda::MatrixProduct> product;
};

class SeparableCuda final : public PointCloudPlan::Engine {
 public:
  SeparableCuda(const PointCloudOptions& options, std::int64_t rows_at_once, const Queue& queue)
      : options_(options),
        rows_at_once_(rows_at_once),
        queue_(queue),
        points_(options, queue, point_granularity),
        scratch_({static_cast<std::int64_t>(cuda::MatrixProduct::workspace_bytes)}, queue),
        columns_(round_up(options.shape[1], 8)),
        arithmetic_(choose_float_arithmetic(options.tolerance)) {}

  void set_points(EnginePoints points, const MethodChoice& /*choice*/) override {
    const cuda::DeviceScope scope(queue_.device());
    points_.set(points.sources);
    const Arithmetic arithmetic = choose_arithmetic(options_.tolerance, points.summary, points_.count());
    const std::int64_t planes = product_count(arithmetic.form) * row_blocks(arithmetic.form);
    // The band is as high as the product budget allows for one batch: the whole part unless it is huge.
    const std::int64_t max_rows = std::max<std::int64_t>(8, product_budget_bytes / (planes * columns_ * 4));
    const std::int64_t bands = (rows_at_once_ + max_rows - 1) / max_rows;
    const std::int64_t band_rows = (rows_at_once_ + bands - 1) / bands;
    if (band_rows != band_rows_ || arithmetic.type != arithmetic_.type || arithmetic.form != arithmetic_.form) {
      complex_ = {};
      real_ = {};
    }
    arithmetic_ = arithmetic;
    band_rows_ = band_rows;
    set_route(complex_, arithmetic.form);
    set_route(real_, ProductForm::real_part);
    // Made here so that the first execute only enqueues.
    if (!complex_.product && complex_.chunks.calls > 0) make_product(complex_, arithmetic.form);
  }

  void execute(const RowRange& part, const PointCloudOutput& output, Progress& progress) override {
    const cuda::DeviceScope scope(queue_.device());
    const bool real = only_real(output);
    const ProductForm form = real ? ProductForm::real_part : arithmetic_.form;
    Route& route = real ? real_ : complex_;
    if (!route.product && route.chunks.calls > 0) make_product(route, form);
    how_ = cuda::MatrixProduct::choice_after(executions_++, options_.deterministic);
    const OutputPointers pointers = pointers_of(output);
    for (std::int64_t row = part.first_row; row < part.end(); row += band_rows_) {
      // A band at the panel's end starts early enough to be full.
      const std::int64_t first_row = std::min(row, options_.shape[0] - band_rows_);
      sum_band(route, form, static_cast<int>(first_row), part, pointers);
      progress.step("summing points", std::min(row + band_rows_, part.end()) - part.first_row, part.rows);
    }
  }

  [[nodiscard]] PointCloudInfo info() const override {
    return {PointMethod::separable, arithmetic_.name, arithmetic_.error,
            points_.bytes() + scratch_.bytes() + x_.bytes() + y_.bytes() + c_.bytes()};
  }

 private:
  void set_route(Route& route, ProductForm form) {
    const std::int64_t planes = product_count(form) * row_blocks(form);
    const std::int64_t x_lines = columns_ * product_count(form);
    const std::int64_t y_lines = band_rows_ * planes;
    const std::int64_t point_bytes = depth_segments(arithmetic_.type, form) * factor_bytes(arithmetic_.type);
    const std::int64_t plane_bytes = planes * columns_ * band_rows_ * 4;
    const Chunks chunks =
        choose_chunks(points_.count(), form, max_batch_points({arithmetic_.type, form, arithmetic_.error, ""}),
                      (x_lines + y_lines) * point_bytes, plane_bytes);
    if (chunks != route.chunks) route = {chunks, std::nullopt};
    const std::int64_t call_points = static_cast<std::int64_t>(chunks.batch_points) * chunks.batches;
    reserve(x_, x_lines * point_bytes * call_points, queue_);
    reserve(y_, y_lines * point_bytes * call_points, queue_);
    reserve(c_, plane_bytes * chunks.batches, queue_);
  }

  [[nodiscard]] FactorShape factor_shape(const Route& route, int first_row) const {
    return {static_cast<int>(columns_), static_cast<int>(band_rows_), first_row, route.chunks.batch_points,
            route.chunks.batches};
  }

  void make_product(Route& route, ProductForm form) {
    cuda::MatrixProductShape shape;
    shape.element = arithmetic_.type == FactorType::int8 ? cuda::MatrixElement::int8 : cuda::MatrixElement::float16;
    shape.rows = band_rows_ * row_blocks(form);
    shape.columns = columns_;
    shape.depth = static_cast<std::int64_t>(depth_segments(arithmetic_.type, form)) * route.chunks.batch_points;
    shape.batch = static_cast<std::int64_t>(route.chunks.batches) * product_count(form);
    route.product.emplace(shape, queue_, scratch_.data());
    route.product->choose(cuda::MatrixProduct::choice_after(0, options_.deterministic), y_.data(), x_.data(),
                          c_.data());
  }

  void sum_band(Route& route, ProductForm form, int first_row, const RowRange& part, const OutputPointers& output) {
    const auto stream = cuda::stream_of(queue_);
    const Chunks& chunks = route.chunks;
    const FactorShape shape = factor_shape(route, first_row);
    if (chunks.calls == 0) cuda::check(cudaMemsetAsync(c_.data(), 0, c_.bytes(), stream), "cudaMemsetAsync");
    for (std::int64_t call = 0; call < chunks.calls; ++call) {
      const std::int64_t first_point = call * chunks.batch_points * chunks.batches;
      generate_factors(arithmetic_.type, form, points_.records(), first_point, points_.padded_count(), shape, x_.data(),
                       y_.data(), stream);
      if (call == 0) route.product->choose(how_, y_.data(), x_.data(), c_.data());
      route.product->run(y_.data(), x_.data(), c_.data(), call > 0);
    }
    combine_products(arithmetic_.type, form, c_.data(), shape, part, static_cast<int>(options_.shape[1]),
                     points_.records().amplitude_max, output, stream);
  }

  PointCloudOptions options_;
  std::int64_t rows_at_once_;
  Queue queue_;
  PreparedPoints points_;
  Array<std::byte, 1> scratch_;
  Array<std::byte, 1> x_;
  Array<std::byte, 1> y_;
  Array<std::byte, 1> c_;
  std::int64_t columns_;
  std::int64_t band_rows_ = 0;
  Arithmetic arithmetic_;
  Route complex_;
  Route real_;
  std::int64_t executions_ = 0;
  cuda::MatrixProductChoice how_ = cuda::MatrixProductChoice::at_once;
};

}  // namespace

Arithmetic choose_float_arithmetic(double tolerance) {
  if (tolerance >= float16_three_error) {
    return {FactorType::float16, ProductForm::complex_three, float16_three_error, "fp16, three products"};
  }
  if (tolerance >= float16_four_error) {
    return {FactorType::float16, ProductForm::complex_four, float16_four_error, "fp16, four products"};
  }
  return {FactorType::float16_pair, ProductForm::complex_three, std::max(tolerance, float16_pair_floor),
          "fp16 pairs, three products"};
}

// A tight tolerance of pairs shortens the batches, whose sums are added in float32.
std::int64_t max_batch_points(const Arithmetic& arithmetic) {
  if (arithmetic.type != FactorType::float16_pair) return std::numeric_limits<std::int64_t>::max();
  return static_cast<std::int64_t>(arithmetic.error / float16_pair_error_a_step /
                                   depth_segments(arithmetic.type, arithmetic.form));
}

EnginePointer separable_cuda(const PointCloudOptions& options, std::int64_t rows_at_once, const Queue& queue) {
  return std::make_unique<SeparableCuda>(options, rows_at_once, queue);
}

}  // namespace holotone::point_cloud
