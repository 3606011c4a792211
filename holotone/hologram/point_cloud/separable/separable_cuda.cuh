#pragma once
// Parts of the separable CUDA engine: the matrices that represent a complex product, and the kernels around it.
#include <holotone/core/matrix_product/matrix_product_cuda.hpp>
#include <holotone/hologram/point_cloud/engine_cuda.cuh>

namespace holotone::point_cloud {

/// Storage format of factors for the tensor cores.
enum class FactorType {
  int8,         ///< round(127 v)
  float16,      ///< v
  float16_pair  ///< v = high + low: the depth holds high*high, high*low and low*high
};

/// Real products that form the complex one, with X_j = exp(2 pi i a u^2), Y_j = A exp(2 pi i (a v^2 + phi)).
enum class ProductForm {
  complex_three,  ///< T1 = Yr Xr, T2 = Yi Xi, T3 = (Yr + Yi)(Xr + Xi): Re = T1 - T2, Im = T3 - T1 - T2
  complex_four,   ///< [Re; Im] = [Yr -Yi; Yi Yr] [Xr; Xi]
  real_part       ///< Re = [Yr -Yi] [Xr; Xi]
};

constexpr int factor_bytes(FactorType type) { return type == FactorType::int8 ? 1 : 2; }
/// Number of separate products of a form; each has its own X, Y and C.
constexpr int product_count(ProductForm form) { return form == ProductForm::complex_three ? 3 : 1; }
/// Blocks of rows stacked in Y and C.
constexpr int row_blocks(ProductForm form) { return form == ProductForm::complex_four ? 2 : 1; }
/// Depth of the product per point.
constexpr int depth_segments(FactorType type, ProductForm form) {
  return (form == ProductForm::complex_three ? 1 : 2) * (type == FactorType::float16_pair ? 3 : 1);
}

struct Arithmetic {
  FactorType type = FactorType::float16;
  ProductForm form = ProductForm::complex_three;
  double error = 0;  ///< relative l2
  const char* name = "";
};
/// The cheapest floating-point arithmetic that keeps the tolerance.
Arithmetic choose_float_arithmetic(double tolerance);
/// Maximum points of a batch; in longer ones the tensor cores' accumulators lose more than the arithmetic's error.
std::int64_t max_batch_points(const Arithmetic& arithmetic);

/// Scale of the stored Y, which keeps the parts of dim points normal numbers in half precision.
constexpr float y_scale(FactorType type) { return type == FactorType::int8 ? 1.0F : 1024.0F; }
/// Divisor of a product of two stored factors.
constexpr float product_scale(FactorType type) { return type == FactorType::int8 ? 127.0F * 127.0F : y_scale(type); }

/// One batch of factor matrices in memory: X[batch][product][columns][depth], Y[batch][product][row
/// block][rows][depth], depth = segments * batch_points with a segment's points contiguous.
struct FactorShape {
  int columns = 0;       ///< panel columns rounded up to a multiple of 8
  int rows = 0;          ///< rows of the band
  int first_row = 0;     ///< panel row of the band's first row
  int batch_points = 0;  ///< points per batch, a multiple of 64
  int batches = 0;
};

/// Fills X and Y for batches * batch_points points from `first_point`; points past `padded_count` are dark.
void generate_factors(FactorType type, ProductForm form, const PointRecords& points, std::int64_t first_point,
                      std::int64_t padded_count, const FactorShape& shape, void* x, void* y, cudaStream_t stream);

/// Sums the batches and undoes the scale of the amplitudes. Writes those of the band's rows that lie in `part` to an
/// output whose first row is the part's.
void combine_products(FactorType type, ProductForm form, const void* c, const FactorShape& shape, const RowRange& part,
                      int panel_columns, const unsigned* amplitude_max, const OutputPointers& output,
                      cudaStream_t stream);

}  // namespace holotone::point_cloud
