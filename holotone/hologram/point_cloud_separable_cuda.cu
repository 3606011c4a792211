#include <algorithm>
#include <holotone/hologram/point_cloud_separable_cuda.cuh>
#include <optional>

namespace holotone::point_cloud {
namespace {

// Relative l2 errors measured against float64 (docs/performance.md), with a quarter to spare. An int8 factor
// is off by up to 1 / 254 of the largest, so its error grows with the spread of the amplitudes: see
// int8_error.
constexpr double float16_three_error = 5e-4;
constexpr double float16_four_error = 3.2e-4;
constexpr double float16_pair_error = 2e-6;

constexpr int point_granularity = 64;
constexpr std::int64_t factor_budget_bytes = std::int64_t{2} << 30;
constexpr std::int64_t product_budget_bytes = std::int64_t{2} << 30;

std::int64_t round_up(std::int64_t value, std::int64_t step) { return (value + step - 1) / step * step; }

/// Expected relative l2 error of int8 factors: both axes are rounded to steps of 1 / 127 (variance 1 / 12 a
/// step in each of two components), the Y axis relative to the largest amplitude.
double int8_error(float2 amplitude) {
  if (!(amplitude.y > 0)) return 1;
  const double step = std::sqrt(2.0 / 12.0) / 127.0;
  const double ratio = amplitude.x / amplitude.y;
  return 1.2 * step * std::sqrt(1 + ratio * ratio);
}

struct Arithmetic {
  FactorType type;
  ProductForm form;
  double error;
  const char* name;
};

/// The cheapest arithmetic that keeps the tolerance.
Arithmetic choose_arithmetic(double tolerance, const PreparedPoints& points) {
  if (tolerance >= 4e-3) {
    if (const double error = int8_error(points.amplitude_statistics()); error <= tolerance) {
      return {FactorType::int8, ProductForm::complex_four, error, "int8, four products"};
    }
  }
  if (tolerance >= float16_three_error) {
    return {FactorType::float16, ProductForm::complex_three, float16_three_error, "fp16, three products"};
  }
  if (tolerance >= float16_four_error) {
    return {FactorType::float16, ProductForm::complex_four, float16_four_error, "fp16, four products"};
  }
  return {FactorType::float16_pair, ProductForm::complex_three, float16_pair_error,
          "fp16 pairs, three products"};
}

/// How the points are cut: `calls` products of `batches` batches of `batch_points`. Long batches feed the
/// tensor cores well; several side by side fill the card where one product has too few tiles. Found by
/// measurement on an H200.
struct Chunks {
  int batch_points = point_granularity;
  int batches = 1;
  std::int64_t calls = 0;
};

Chunks choose_chunks(std::int64_t count, std::int64_t bytes_per_point, std::int64_t bytes_per_batch) {
  std::int64_t batch_points = 10240;
  std::int64_t batches = 1;
  if (count > 204800) {
    batch_points = 2560;
    batches = 4;
  } else if (count > 40960) {
    batch_points = 2560;
    batches = 10;
  } else if (count > 10240) {
    batch_points = 5120;
    batches = 3;
  }
  batches = std::max<std::int64_t>(1, std::min(batches, product_budget_bytes / bytes_per_batch));
  const std::int64_t most_points =
      std::max<std::int64_t>(point_granularity, factor_budget_bytes / bytes_per_point);
  batch_points = std::clamp<std::int64_t>(most_points / batches / point_granularity * point_granularity,
                                          point_granularity, batch_points);
  const std::int64_t calls = (count + batch_points * batches - 1) / (batch_points * batches);
  if (calls == 0) return {};
  const std::int64_t even = (count + calls * batches - 1) / (calls * batches);
  return {static_cast<int>(round_up(even, point_granularity)), static_cast<int>(batches), calls};
}

/// The products of one form over one band height, with their chosen algorithm.
struct BandProduct {
  FactorShape shape;
  cuda::MatrixProduct product;
};

class SeparableCuda final : public PointCloudPlan::Engine {
 public:
  SeparableCuda(const PointCloudOptions& options, const Queue& queue)
      : options_(options),
        queue_(queue),
        points_(options, queue, point_granularity),
        scratch_({static_cast<std::int64_t>(cuda::MatrixProduct::workspace_bytes)}, queue),
        columns_(round_up(options.shape[1], 8)) {}

  void set_points(const PointSources& points) override {
    points_.set(points);
    const Arithmetic arithmetic = choose_arithmetic(options_.tolerance, points_);
    const std::int64_t planes = product_count(arithmetic.form) * row_blocks(arithmetic.form);
    // The band is as high as the product budget allows for one batch: the whole panel unless it is huge.
    const std::int64_t most_rows = std::max<std::int64_t>(8, product_budget_bytes / (planes * columns_ * 4));
    const std::int64_t bands = (options_.shape[0] + most_rows - 1) / most_rows;
    const std::int64_t band_rows = (options_.shape[0] + bands - 1) / bands;
    const std::int64_t x_lines = columns_ * product_count(arithmetic.form);
    const std::int64_t y_lines = band_rows * planes;
    const std::int64_t depth =
        depth_segments(arithmetic.type, arithmetic.form) * factor_bytes(arithmetic.type);
    const Chunks chunks =
        choose_chunks(points_.count(), (x_lines + y_lines) * depth, planes * columns_ * band_rows * 4);
    const std::int64_t call_points = static_cast<std::int64_t>(chunks.batch_points) * chunks.batches;
    reserve(x_, x_lines * depth * call_points);
    reserve(y_, y_lines * depth * call_points);
    reserve(c_, planes * columns_ * band_rows * 4 * chunks.batches);
    if (band_rows != band_rows_ || !same(chunks, chunks_) || arithmetic.type != arithmetic_.type ||
        arithmetic.form != arithmetic_.form) {
      complex_.reset();
      real_.reset();
    }
    arithmetic_ = arithmetic;
    chunks_ = chunks;
    band_rows_ = band_rows;
  }

  void execute(const PointCloudOutput& output, Progress& progress) override {
    const cuda::DeviceScope scope(queue_.device());
    const bool only_real = output.field.empty() && output.phase.empty();
    const ProductForm form = only_real ? ProductForm::real_part : arithmetic_.form;
    BandProduct& band = prepared(form);
    const OutputPointers pointers = pointers_of(output);
    for (std::int64_t row = 0; row < options_.shape[0]; row += band_rows_) {
      // The last band starts early enough to be full: its rows are then written twice, with the same values.
      band.shape.first_row = static_cast<int>(std::min(row, options_.shape[0] - band_rows_));
      sum_band(form, band, pointers);
      progress.step("summing points", std::min(row + band_rows_, options_.shape[0]), options_.shape[0]);
    }
  }

  [[nodiscard]] PointCloudInfo info() const override {
    return {PointMethod::separable, arithmetic_.name, arithmetic_.error,
            points_.bytes() + scratch_.bytes() + x_.bytes() + y_.bytes() + c_.bytes()};
  }

 private:
  static bool same(const Chunks& a, const Chunks& b) {
    return a.batch_points == b.batch_points && a.batches == b.batches;
  }

  void reserve(Array<std::byte, 1>& buffer, std::int64_t bytes) {
    if (buffer.size() >= bytes) return;
    complex_.reset();  // they were made for the old addresses' contents
    real_.reset();
    buffer = Array<std::byte, 1>();
    buffer = Array<std::byte, 1>({bytes}, queue_);
  }

  /// The product of a form; the first call for a size times cuBLASLt's algorithms on real factors.
  BandProduct& prepared(ProductForm form) {
    auto& slot = form == ProductForm::real_part ? real_ : complex_;
    if (slot) return *slot;
    FactorShape shape;
    shape.columns = static_cast<int>(columns_);
    shape.rows = static_cast<int>(band_rows_);
    shape.batch_points = chunks_.batch_points;
    shape.batches = chunks_.batches;
    cuda::MatrixProductShape matrix;
    matrix.element =
        arithmetic_.type == FactorType::int8 ? cuda::MatrixElement::int8 : cuda::MatrixElement::float16;
    matrix.rows = band_rows_ * row_blocks(form);
    matrix.columns = columns_;
    matrix.depth = static_cast<std::int64_t>(depth_segments(arithmetic_.type, form)) * chunks_.batch_points;
    matrix.batch = static_cast<std::int64_t>(chunks_.batches) * product_count(form);
    slot.emplace(BandProduct{shape, cuda::MatrixProduct(matrix, queue_, scratch_.data())});
    if (chunks_.calls > 0) {
      generate_factors(arithmetic_.type, form, points_.records(), 0, points_.padded_count(), shape, x_.data(),
                       y_.data(), cuda::stream_of(queue_));
      slot->product.choose(y_.data(), x_.data(), c_.data());
    }
    return *slot;
  }

  void sum_band(ProductForm form, BandProduct& band, const OutputPointers& output) {
    const auto stream = cuda::stream_of(queue_);
    const std::int64_t call_points = static_cast<std::int64_t>(chunks_.batch_points) * chunks_.batches;
    if (chunks_.calls == 0) cuda::check(cudaMemsetAsync(c_.data(), 0, c_.bytes(), stream), "cudaMemsetAsync");
    for (std::int64_t call = 0; call < chunks_.calls; ++call) {
      generate_factors(arithmetic_.type, form, points_.records(), call * call_points, points_.padded_count(),
                       band.shape, x_.data(), y_.data(), stream);
      band.product.run(y_.data(), x_.data(), c_.data(), call > 0);
    }
    combine_products(arithmetic_.type, form, c_.data(), band.shape, static_cast<int>(options_.shape[1]),
                     points_.records().amplitude_max, output, stream);
  }

  PointCloudOptions options_;
  Queue queue_;
  PreparedPoints points_;
  Array<std::byte, 1> scratch_;
  Array<std::byte, 1> x_;
  Array<std::byte, 1> y_;
  Array<std::byte, 1> c_;
  std::int64_t columns_;
  std::int64_t band_rows_ = 0;
  Arithmetic arithmetic_{};
  Chunks chunks_;
  std::optional<BandProduct> complex_;
  std::optional<BandProduct> real_;
};

}  // namespace

EnginePointer separable_cuda(const PointCloudOptions& options, const Queue& queue) {
  return std::make_unique<SeparableCuda>(options, queue);
}

}  // namespace holotone::point_cloud
