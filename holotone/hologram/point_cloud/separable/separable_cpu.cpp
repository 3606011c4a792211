// The hologram as a matrix product. By the addition theorem (Mitani, Suzuki, Takada, section 3) the wave of
// point j is y_j(row) x_j(col) with
//   x_j(col) = exp(i 2 pi curvature_j (col - column_j)^2),
//   y_j(row) = A_j exp(i phi_j) exp(i 2 pi curvature_j (row - row_j)^2),
// so U = Y^T X over all points, with a point's band limit as zeros in its factors. Points are processed in chunks:
// vector code on all threads computes the factors, then BLAS sgemm adds the chunk's product to planes in float32.
//
//   from three_products_tolerance on:
//                       three real products: T1 = Yr Xr, T2 = Yi Xi, T3 = (Yr + Yi)(Xr + Xi),
//                       Re = T1 - T2, Im = T3 - T1 - T2: a quarter fewer multiplications, 1.7 times the
//                       rounding error
//   below               two of twice the depth: Re = [Yr; -Yi]^T [Xr; Xi], Im = [Yi; Yr]^T [Xr; Xi]
//   real part alone     the first of these
#include <algorithm>
#include <cmath>
#include <holotone/core/matrix_product/blas.hpp>
#include <holotone/core/parallel.hpp>
#include <holotone/hologram/point_cloud/precision.hpp>
#include <holotone/hologram/point_cloud/separable/separable_cpu.hpp>

namespace holotone::point_cloud {
namespace {

/// Maximum bytes of one chunk's factors: they are still in a shared cache when sgemm packs them.
constexpr std::size_t factor_bytes = std::size_t{40} << 20;
/// Pixels below which sgemm adds a product's whole depth in sequence, with an error that grows with the depth (3.1e-5
/// for 2048 waves in phase, three products, 16 x 24 pixels). It adds the depth of larger products in blocks.
constexpr std::int64_t small_panel = 65536;

/// Extents of the blocks of a deterministic product: some sixty for 1080p, and a block's factors are packed for no more
/// than a tenth of its time.
constexpr std::int32_t block_rows = 256;
constexpr std::int32_t block_columns = 512;

using Form = SumForm;

int planes_of(Form form) { return form == Form::three_products ? 3 : form == Form::two_products ? 2 : 1; }
/// Number of blocks, with one row per point, in the factors of pixel rows and of pixel columns.
int row_blocks(Form form) { return form == Form::three_products ? 3 : form == Form::two_products ? 4 : 2; }
int column_blocks(Form form) { return form == Form::three_products ? 3 : 2; }

HOLOTONE_SIMD_CLONES
void fill_factors(std::int32_t count, double first, double curvature, double offset, float scale,
                  float* __restrict cosine, float* __restrict sine) {
  for (std::int32_t i = 0; i < count; ++i) {
    const double u = first + static_cast<double>(i);
    float s = 0;
    float c = 0;
    sine_cosine(fixed_turns(curvature * u * u + offset), s, c);
    cosine[i] = scale * c;
    sine[i] = scale * s;
  }
}

void add_factors(const float* a, const float* b, std::int32_t count, float* result) {
  for (std::int32_t i = 0; i < count; ++i) result[i] = a[i] + b[i];
}

/// An axis in parts of nearly the same size, of at most about `most` pixels each.
struct Cuts {
  Cuts(std::int32_t size, std::int32_t most) : parts((size + most - 1) / most), pixels(size) {}
  [[nodiscard]] PixelRange part(std::int64_t i) const { return {cut(i), cut(i + 1)}; }
  [[nodiscard]] std::int32_t cut(std::int64_t i) const {
    constexpr std::int64_t at_once = 16;  // pixels that BLAS multiplies at once
    return static_cast<std::int32_t>(i == parts ? pixels : pixels * i / parts / at_once * at_once);
  }
  std::int64_t parts;
  std::int64_t pixels;
};

/// One chunk of points, the range of pixels that any of them lights, and their factors in blocks of count rows.
class Chunk {
 public:
  Chunk(Form form, std::span<const PixelPoint> points, float* row_factors, float* column_factors)
      : form_(form), points_(points), row_factors_(row_factors), column_factors_(column_factors) {
    const LitArea area = lit_area(points);
    rows_ = area.rows;
    columns_ = area.columns;
    parallel_for(0, std::ssize(points), [this](std::int64_t j) { fill(j); });
  }

  /// Adds the product to planes of `nx` columns, `plane_size` apart.
  void multiply(float* planes, std::int64_t nx, std::int64_t plane_size, bool fixed_blocks) const {
    const std::int64_t products = planes_of(form_);
    const auto add = [&](std::int64_t plane, PixelRange rows, PixelRange columns) {
      add_product(plane, rows, columns, planes + plane * plane_size, nx);
    };
    if (!fixed_blocks) {
      const PixelRange all_rows{0, rows_.size()};
      const PixelRange all_columns{0, columns_.size()};
      for (std::int64_t plane = 0; plane < products; ++plane) add(plane, all_rows, all_columns);
      return;
    }
    // A product of one thread: BLAS divides larger ones by the number of threads, on which the last bits then depend.
    const Cuts down(rows_.size(), block_rows);
    const Cuts across(columns_.size(), block_columns);
    const std::int64_t blocks = down.parts * across.parts;
    parallel_for(0, products * blocks, [&](std::int64_t i) {
      add(i / blocks, down.part(i % blocks / across.parts), across.part(i % across.parts));
    });
  }

 private:
  /// Adds some rows and columns of a product to its plane.
  void add_product(std::int64_t product, PixelRange rows, PixelRange columns, float* plane, std::int64_t nx) const {
    const auto count = std::ssize(points_);
    const auto depth = form_ == Form::three_products ? count : 2 * count;
    const float* y = row_factors_ + product * depth * rows_.size() + rows.begin;
    const float* x = column_factors_ + columns.begin;
    if (form_ == Form::three_products) x += product * depth * columns_.size();
    float* target = plane + (rows_.begin + rows.begin) * nx + columns_.begin + columns.begin;
    blas::multiply(blas::Operand::transposed, blas::Operand::plain, rows.size(), columns.size(),
                   static_cast<int>(depth), y, rows_.size(), x, columns_.size(), 1, target, static_cast<int>(nx));
  }

  void fill(std::int64_t j) const {
    const auto& point = points_[static_cast<std::size_t>(j)];
    const auto count = std::ssize(points_);
    const auto column_at = [&](int block) { return column_factors_ + (block * count + j) * columns_.size(); };
    const auto row_at = [&](int block) { return row_factors_ + (block * count + j) * rows_.size(); };
    axis_factors(columns_, {point.column_begin, point.column_end}, point.column, point.curvature, 0, 1, column_at(0),
                 column_at(1));
    const auto fill_rows = [&](double offset, int cosine, int sine) {
      axis_factors(rows_, {point.row_begin, point.row_end}, point.row, point.curvature, offset, point.amplitude,
                   row_at(cosine), row_at(sine));
    };
    fill_rows(point.phase_turns, 0, 1);
    if (form_ == Form::three_products) {
      add_factors(column_at(0), column_at(1), columns_.size(), column_at(2));
      add_factors(row_at(0), row_at(1), rows_.size(), row_at(2));
      return;
    }
    if (form_ == Form::two_products) {
      std::copy_n(row_at(1), rows_.size(), row_at(2));
      std::copy_n(row_at(0), rows_.size(), row_at(3));
    }
    std::transform(row_at(1), row_at(1) + rows_.size(), row_at(1), [](float value) { return -value; });
  }

  Form form_;
  std::span<const PixelPoint> points_;
  float* row_factors_;
  float* column_factors_;
  PixelRange rows_;
  PixelRange columns_;
};

/// Returns the rows summed at once: the whole panel up to 2^23 pixels (4K), fewer of larger ones.
std::int64_t rows_of_block(const Shape<2>& shape) {
  constexpr std::int64_t block_pixels = std::int64_t{1} << 23;
  return std::clamp<std::int64_t>(block_pixels / shape[1], 1, shape[0]);
}

class SeparableCpu final : public BlockEngine {
 public:
  explicit SeparableCpu(const PointCloudOptions& options)
      : BlockEngine(options),
        block_rows_(rows_of_block(options.shape)),
        full_(sum_form(options.tolerance)),
        sums_({block_rows_, options.shape[1]}, full_, options.deterministic),
        real_sums_({block_rows_, options.shape[1]}, Form::real_part, options.deterministic) {}

  void set_points(EnginePoints points, const MethodChoice& /*choice*/) override {
    points_ = std::move(points.pixels);
    if (options().band_limit && !points_.empty()) sort_by_place(points_, options().shape);
    forget_block();
  }

  [[nodiscard]] PointCloudInfo info() const override {
    return {PointMethod::separable,
            full_ == Form::three_products ? "float32 (BLAS), three products" : "float32 (BLAS), two products",
            sum_error(full_), separable_cpu_bytes(options(), std::ssize(points_)) + field_bytes()};
  }

 protected:
  [[nodiscard]] std::int64_t block_rows() const override { return block_rows_; }
  [[nodiscard]] bool has_real_sum() const override { return true; }
  void sum(const FieldOfRows& field, Progress& progress) override {
    const auto view = field.view();
    sum_blocks_of(field.rows(), sums_, progress, [&](std::int64_t first, std::int64_t rows, bool write) {
      sums_.move_to(write, {view.data() + first * view.shape()[1], {rows, view.shape()[1]}}, {});
    });
  }
  void sum_real(const RealOfRows& real, Progress& progress) override {
    const auto view = real.view();
    sum_blocks_of(real.rows(), real_sums_, progress, [&](std::int64_t first, std::int64_t rows, bool write) {
      real_sums_.move_to(write, {}, {view.data() + first * view.shape()[1], {rows, view.shape()[1]}});
    });
  }

 private:
  /// Sums each block of `blocks` and calls move(first row within blocks, rows, true to write or false to add) whenever
  /// the sums are full.
  template <class Move>
  void sum_blocks_of(const RowRange& blocks, FactorProducts& sums, Progress& progress, const Move& move) {
    constexpr std::string_view stage = "multiplying factors";
    const std::int64_t count = (blocks.rows + block_rows_ - 1) / block_rows_;
    const std::int64_t total = count * std::ssize(points_);
    progress.step(stage, 0, total);
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t first = i * block_rows_;
      const std::int64_t rows = std::min(block_rows_, blocks.rows - first);
      const auto points = find_points({blocks.first_row + first, rows});
      sums.begin(rows);
      bool write = true;
      std::size_t done = 0;
      do {
        const auto some =
            std::min({sums.chunk_points(), points.size() - done, FactorProducts::full_count - sums.count()});
        sums.add(points.subspan(done, some));
        done += some;
        const auto share = points.empty() ? 1 : static_cast<double>(done) / static_cast<double>(points.size());
        progress.step(
            stage, (i * std::ssize(points_)) + static_cast<std::int64_t>(share * static_cast<double>(points_.size())),
            total);
        if (done < points.size() && sums.count() < FactorProducts::full_count) continue;
        move(first, rows, write);
        write = false;
      } while (done < points.size());
    }
  }

  /// Returns the points that light some of the rows, in coordinates relative to the first of these rows.
  std::span<const PixelPoint> find_points(const RowRange& rows) {
    if (rows.rows == options().shape[0]) return points_;
    own_.clear();
    for (PixelPoint point : points_) {
      if (point.row_begin >= rows.end() || point.row_end <= rows.first_row) continue;
      const auto first = static_cast<std::int32_t>(rows.first_row);
      point.row -= first;
      point.row_begin = std::max(point.row_begin - first, 0);
      point.row_end = std::min(point.row_end - first, static_cast<std::int32_t>(rows.rows));
      own_.push_back(point);
    }
    return own_;
  }

  std::int64_t block_rows_;
  Form full_;
  std::vector<PixelPoint> points_;
  std::vector<PixelPoint> own_;  ///< points of one block
  FactorProducts sums_;
  FactorProducts real_sums_;
};

}  // namespace

void axis_factors(PixelRange range, PixelRange lit, double centre, double curvature, double offset, float scale,
                  float* cosine, float* sine) {
  const auto before = lit.begin - range.begin;
  std::fill(cosine, cosine + before, 0.0F);
  std::fill(sine, sine + before, 0.0F);
  fill_factors(lit.size(), lit.begin - centre, curvature, offset, scale, cosine + before, sine + before);
  const auto after = lit.end - range.begin;
  std::fill(cosine + after, cosine + range.size(), 0.0F);
  std::fill(sine + after, sine + range.size(), 0.0F);
}

std::size_t cached_points(std::size_t floats_of_a_point, std::size_t most) {
  return std::clamp<std::size_t>(factor_bytes / (sizeof(float) * floats_of_a_point) / 16 * 16, 16, most);
}

SumForm sum_form(double tolerance) {
  return tolerance >= three_products_tolerance ? Form::three_products : Form::two_products;
}

double sum_error(SumForm form) {
  return form == Form::three_products ? three_products_tolerance : point_cloud_tolerance_floor;
}

std::size_t FactorProducts::factors_of_a_point() const {
  return static_cast<std::size_t>(row_blocks(form_) * shape_[0] + column_blocks(form_) * shape_[1]);
}

std::size_t FactorProducts::chunk_points() const {
  return cached_points(factors_of_a_point(), element_count(shape_) < small_panel ? 256 : 2048);
}

std::size_t FactorProducts::bytes(std::size_t points) const {
  const auto planes = static_cast<std::size_t>(planes_of(form_)) * static_cast<std::size_t>(element_count(shape_));
  return sizeof(float) * (planes + std::min(points, chunk_points()) * factors_of_a_point());
}

void FactorProducts::add(std::span<const PixelPoint> points) {
  const auto pixels = element_count(shape_);
  if (count_ == 0) {
    reserve(planes_, planes_of(form_) * pixels);
    parallel_for(0, planes_of(form_) * shape_[0],
                 [&](std::int64_t row) { std::fill_n(planes_.data() + row * shape_[1], shape_[1], 0.0F); });
  }
  const auto chunk = std::min(chunk_points(), points.size());
  const auto floats = static_cast<std::int64_t>(chunk * factors_of_a_point());
  reserve(factors_, floats);
  float* column_factors = factors_.data() + static_cast<std::int64_t>(chunk) * row_blocks(form_) * shape_[0];
  for (std::size_t done = 0; done < points.size(); done += chunk) {
    Chunk(form_, points.subspan(done, std::min(chunk, points.size() - done)), factors_.data(), column_factors)
        .multiply(planes_.data(), shape_[1], pixels, deterministic_);
  }
  count_ += points.size();
}

void FactorProducts::move_to(bool write, View<std::complex<float>, 2> field, View<float, 2> real) {
  if (count_ == 0) add({});
  count_ = 0;
  const auto nx = shape_[1];
  const auto size = element_count(shape_);
  parallel_for(0, shape_[0], [&](std::int64_t row) {
    const float* t1 = planes_.data() + row * nx;
    const float* t2 = t1 + size;
    const float* t3 = t2 + size;
    if (form_ == Form::real_part) {
      float* target = real.data() + row * nx;
      for (std::int64_t i = 0; i < nx; ++i) target[i] = write ? t1[i] : target[i] + t1[i];
      return;
    }
    auto* target = field.data() + row * nx;
    const bool three = form_ == Form::three_products;
    for (std::int64_t i = 0; i < nx; ++i) {
      const std::complex<float> value =
          three ? std::complex(t1[i] - t2[i], t3[i] - t1[i] - t2[i]) : std::complex(t1[i], t2[i]);
      target[i] = write ? value : target[i] + value;
    }
  });
}

std::size_t separable_cpu_bytes(const PointCloudOptions& options, std::int64_t count) {
  const Shape<2> block{rows_of_block(options.shape), options.shape[1]};
  const auto points = static_cast<std::size_t>(count);
  return points * sizeof(PixelPoint) * (block[0] < options.shape[0] ? 2 : 1) +
         FactorProducts(block, sum_form(options.tolerance), options.deterministic).bytes(points);
}

EnginePointer separable_cpu(const PointCloudOptions& options) { return std::make_unique<SeparableCpu>(options); }

}  // namespace holotone::point_cloud
