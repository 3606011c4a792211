// The adjoint of the sum over points on the tensor cores: conj(h_j) U with h_j(row, col) = y_j(row) x_j(col), as in
// adjoint_cpu.cpp. A matrix product sums over the rows, for all points and columns; a kernel does the dot products over
// the columns. With Y = y_j and G the field, three real products form the complex one:
//   T1 = Yr Gr, T2 = Yi Gi, T3 = (Yr - Yi)(Gr + Gi):   conj(Y) G = T1 + T2 + i (T3 - T1 + T2)
// Factors and field are pairs of half precision, v = high + low, 22 bits. The depth of a product holds the segments
// high * low, low * high and, last, high * high. The tensor cores' accumulator drops bits of what it holds at each step
// of the depth: the small segments come while it is small, and the rows are divided into bands that are added in
// float32.
#include <algorithm>
#include <cuda_fp16.h>
#include <holotone/core/cuda_check.hpp>
#include <holotone/core/matrix_product/matrix_product_cuda.hpp>
#include <holotone/hologram/point_cloud/engine.hpp>
#include <holotone/optics/phase_math.h>

namespace holotone::point_cloud {
namespace {

constexpr int products = 3;
constexpr int segments = 3;
/// Rows of a band. The accumulator drops up to 8.6e-9 of the sum at a step (separable_cuda.cpp). Only the steps of the
/// last segment count, during which the sum grows from 0: half of it a row, 1.1e-6 for a band.
constexpr std::int64_t max_band_rows = 256;
constexpr std::int64_t row_granularity = 16;
constexpr std::int64_t point_granularity = 64;
constexpr std::int64_t max_points = 2048;
constexpr std::int64_t field_budget_bytes = std::int64_t{64} << 20;
constexpr std::int64_t call_budget_bytes = std::int64_t{256} << 20;

/// The stored field's largest part is 2^13 to 2^14, so that the sum of two parts is finite, and its factors reach 2^10:
/// the low halves of most numbers are then normal.
constexpr int field_exponent = 13;
constexpr int factor_exponent = 10;

constexpr int threads = 128;
constexpr int tile = 32;       ///< rows and columns of the field that a block turns over
constexpr int tile_lines = 8;  ///< of them, those that the threads copy at once

/// Matrices of one call of the product, b < bands, the depth contiguous:
///   factors[b][product][points][segments band_rows], field[b][product][columns][segments band_rows],
///   sums[b][product][points][columns]
struct AdjointShape {
  int points = 0;     ///< a multiple of 64
  int columns = 0;    ///< the panel's, rounded up to a multiple of 8
  int band_rows = 0;  ///< a multiple of 16
  int bands = 0;
  [[nodiscard]] HOLOTONE_HOST_DEVICE int rows() const { return bands * band_rows; }
  [[nodiscard]] HOLOTONE_HOST_DEVICE int depth() const { return segments * band_rows; }
  [[nodiscard]] std::int64_t batch() const { return std::int64_t{products} * bands; }
};

/// exp(2 pi i curvature offset^2)
__device__ __forceinline__ float2 wave_factor(double curvature, double offset) {
  float2 factor;
  sincospif(2 * reduce_turns(curvature * offset * offset), &factor.y, &factor.x);
  return factor;
}

/// Exponent of the power of two that brings the largest part of the field to 2^field_exponent.
__device__ __forceinline__ int scale_exponent(const unsigned* largest) {
  const float value = __uint_as_float(*largest);
  const int exponent = value > 0 ? ilogbf(value) : 0;
  return field_exponent - min(max(exponent, -100), 127);
}

/// Stores the three operands of a complex number, each as three segments, in row `row` of a matrix line.
template <bool IsField>
__device__ __forceinline__ void store(__half* matrices, const AdjointShape& shape, int lines, int line, int row,
                                      float re, float im) {
  const float values[products] = {re, im, IsField ? re + im : re - im};
  const std::int64_t first = std::int64_t{products} * (row / shape.band_rows) * lines + line;
#pragma unroll
  for (int i = 0; i < products; ++i) {
    __half* const to =
        matrices + (first + static_cast<std::int64_t>(i) * lines) * shape.depth() + row % shape.band_rows;
    const __half high = __float2half_rn(values[i]);
    const __half low = __float2half_rn(values[i] - __half2float(high));
    to[0] = IsField ? low : high;
    to[shape.band_rows] = IsField ? high : low;
    to[2 * shape.band_rows] = high;
  }
}

__global__ void points_kernel(PanelFrame frame, const float* __restrict__ position, std::int64_t count,
                              std::int64_t padded, PixelPoint* __restrict__ points) {
  const std::int64_t j = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x;
  if (j >= padded) return;
  points[j] = j < count ? to_pixels(frame, position[3 * j], position[3 * j + 1], position[3 * j + 2], 1, 0)
                        : PixelPoint{};  // lights nothing
}

/// Bits of the largest modulus, which order like the floats.
__global__ void largest_kernel(const float* __restrict__ values, std::int64_t count, unsigned* __restrict__ largest) {
  float most = 0;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x; i < count;
       i += static_cast<std::int64_t>(gridDim.x) * threads) {
    most = fmaxf(most, fabsf(values[i]));
  }
  for (int offset = 16; offset > 0; offset /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffffU, most, offset));
  if (threadIdx.x % 32 == 0) atomicMax(largest, __float_as_uint(most));
}

/// Turns the field's rows from `first_row` on into lines of columns; zeros beyond the panel.
__global__ void __launch_bounds__(tile* tile_lines)
    field_kernel(const float2* __restrict__ field, std::int64_t ny, int nx, std::int64_t first_row, AdjointShape shape,
                 const unsigned* __restrict__ largest, __half* __restrict__ matrices) {
  __shared__ float2 values[tile][tile + 1];
  const int first_column = static_cast<int>(blockIdx.x) * tile;
  const int first_line = static_cast<int>(blockIdx.y) * tile;
  const int across = static_cast<int>(threadIdx.x);
  for (int i = static_cast<int>(threadIdx.y); i < tile; i += tile_lines) {
    const std::int64_t row = first_row + first_line + i;
    const int column = first_column + across;
    values[i][across] = row < ny && column < nx ? field[row * nx + column] : make_float2(0, 0);
  }
  __syncthreads();
  const int row = first_line + across;
  if (row >= shape.rows()) return;
  const float scale = scalbnf(1.0F, scale_exponent(largest));
  for (int i = static_cast<int>(threadIdx.y); i < tile; i += tile_lines) {
    const int column = first_column + i;
    if (column >= shape.columns) return;
    const float2 value = values[across][i];
    store<true>(matrices, shape, shape.columns, column, row, scale * value.x, scale * value.y);
  }
}

/// Factors of the rows from `first_row` on; a row of blocks for each point.
__global__ void factors_kernel(const PixelPoint* __restrict__ points, std::int64_t first_row, AdjointShape shape,
                               __half* __restrict__ matrices) {
  const int row = static_cast<int>(blockIdx.x) * threads + static_cast<int>(threadIdx.x);
  if (row >= shape.rows()) return;
  const int line = static_cast<int>(blockIdx.y);
  const PixelPoint& point = points[line];
  const std::int64_t panel_row = first_row + row;
  float2 factor = make_float2(0, 0);
  if (panel_row >= point.row_begin && panel_row < point.row_end) {
    factor = wave_factor(point.curvature, static_cast<double>(panel_row) - point.row);
  }
  constexpr float scale = 1 << factor_exponent;
  store<false>(matrices, shape, shape.points, line, row, scale * factor.x, scale * factor.y);
}

/// One block per point: the dot product with the columns' factors, in float64.
__global__ void __launch_bounds__(threads)
    dot_kernel(const PixelPoint* __restrict__ points, const float* __restrict__ sums, AdjointShape shape,
               const unsigned* __restrict__ largest, bool accumulate, float2* __restrict__ values) {
  const PixelPoint& point = points[blockIdx.x];
  const float* const line = sums + static_cast<std::int64_t>(blockIdx.x) * shape.columns;
  const std::int64_t plane = static_cast<std::int64_t>(shape.points) * shape.columns;
  double re = 0;
  double im = 0;
  for (int x = point.column_begin + static_cast<int>(threadIdx.x); x < point.column_end; x += threads) {
    float t[products] = {};
    for (int band = 0; band < shape.bands; ++band) {
#pragma unroll
      for (int i = 0; i < products; ++i) t[i] += line[(products * band + i) * plane + x];
    }
    const float2 factor = wave_factor(point.curvature, static_cast<double>(x) - point.column);
    const double c = factor.x;
    const double s = factor.y;
    const double u = t[0] + t[1];
    const double v = t[2] - t[0] + t[1];
    re += c * u + s * v;
    im += c * v - s * u;
  }
  __shared__ double parts[threads / 32][2];
  for (int offset = 16; offset > 0; offset /= 2) {
    re += __shfl_xor_sync(0xffffffffU, re, offset);
    im += __shfl_xor_sync(0xffffffffU, im, offset);
  }
  if (threadIdx.x % 32 == 0) {
    parts[threadIdx.x / 32][0] = re;
    parts[threadIdx.x / 32][1] = im;
  }
  __syncthreads();
  if (threadIdx.x > 0) return;
  for (int i = 1; i < threads / 32; ++i) {
    re += parts[i][0];
    im += parts[i][1];
  }
  const int exponent = -scale_exponent(largest) - factor_exponent;
  float2 value = make_float2(static_cast<float>(ldexp(re, exponent)), static_cast<float>(ldexp(im, exponent)));
  if (accumulate) {
    value.x += values[blockIdx.x].x;
    value.y += values[blockIdx.x].y;
  }
  values[blockIdx.x] = value;
}

constexpr std::int64_t divided_up(std::int64_t value, std::int64_t by) { return (value + by - 1) / by; }
constexpr std::int64_t round_up(std::int64_t value, std::int64_t step) { return divided_up(value, step) * step; }

/// Division of panel and points into calls of one shape. Bands and points beyond them are dark.
struct Division {
  AdjointShape shape;
  std::int64_t groups = 0;  ///< of `shape.bands` bands
  std::int64_t calls = 0;   ///< of `shape.points` points, for each group
};

Division divide(const Shape<2>& panel, std::int64_t count) {
  constexpr std::int64_t number_bytes = products * segments * sizeof(__half);
  const std::int64_t columns = round_up(panel[1], 8);
  const std::int64_t band_rows = round_up(divided_up(panel[0], divided_up(panel[0], max_band_rows)), row_granularity);
  const std::int64_t all_bands = divided_up(panel[0], band_rows);
  const std::int64_t point_bytes = number_bytes * band_rows + std::int64_t{products} * sizeof(float) * columns;
  const std::int64_t max_bands =
      std::clamp<std::int64_t>(std::min(field_budget_bytes / (number_bytes * band_rows * columns),
                                        call_budget_bytes / (point_granularity * point_bytes)),
                               1, all_bands);
  const std::int64_t groups = divided_up(all_bands, max_bands);
  const std::int64_t bands = divided_up(all_bands, groups);
  const std::int64_t affordable = std::clamp(call_budget_bytes / (bands * point_bytes) / point_granularity,
                                             std::int64_t{1}, max_points / point_granularity) *
                                  point_granularity;
  const std::int64_t calls = divided_up(count, affordable);
  const std::int64_t points = round_up(divided_up(count, calls), point_granularity);
  return {{static_cast<int>(points), static_cast<int>(columns), static_cast<int>(band_rows), static_cast<int>(bands)},
          groups,
          calls};
}

/// Memory and product of the calls, all of one shape.
class AdjointCalls {
 public:
  AdjointCalls(const AdjointShape& shape, const Queue& queue)
      : shape_(shape),
        queue_(queue),
        largest_({1}, queue),
        field_({shape.batch() * shape.columns * shape.depth()}, queue),
        factors_({shape.batch() * shape.points * shape.depth()}, queue),
        sums_({shape.batch() * shape.points * shape.columns}, queue),
        scratch_({static_cast<std::int64_t>(cuda::MatrixProduct::workspace_bytes)}, queue),
        product_(
            [&] {
              cuda::MatrixProductShape product;
              product.rows = shape.points;
              product.columns = shape.columns;
              product.depth = shape.depth();
              product.batch = shape.batch();
              return product;
            }(),
            queue, scratch_.data()) {}

  void find_scale(View<const std::complex<float>, 2> field) {
    const std::int64_t count = 2 * field.size();
    cuda::check(cudaMemsetAsync(largest_.data(), 0, largest_.bytes(), stream()), "cudaMemsetAsync");
    largest_kernel<<<std::min(cuda::blocks_for(count, threads), 2048U), threads, 0, stream()>>>(
        reinterpret_cast<const float*>(field.data()), count, largest_.data());
    cuda::check_launch("adjoint largest");
  }

  void set_rows(View<const std::complex<float>, 2> field, std::int64_t first_row) {
    first_row_ = first_row;
    const auto [ny, nx] = field.shape();
    const dim3 grid(cuda::blocks_for(shape_.columns, tile), cuda::blocks_for(shape_.rows(), tile));
    field_kernel<<<grid, dim3(tile, tile_lines), 0, stream()>>>(reinterpret_cast<const float2*>(field.data()), ny,
                                                                static_cast<int>(nx), first_row, shape_,
                                                                largest_.data(), field_.data());
    cuda::check_launch("adjoint field");
  }

  /// Computes the parts of the rows in the values of `count` points, or adds them.
  void add(const PixelPoint* points, std::int64_t count, std::complex<float>* values, bool accumulate) {
    const dim3 grid(cuda::blocks_for(shape_.rows(), threads), static_cast<unsigned>(shape_.points));
    factors_kernel<<<grid, threads, 0, stream()>>>(points, first_row_, shape_, factors_.data());
    cuda::check_launch("adjoint factors");
    product_.choose(cuda::MatrixProductChoice::timed, factors_.data(), field_.data(), sums_.data());
    product_.run(factors_.data(), field_.data(), sums_.data(), false);
    dot_kernel<<<static_cast<unsigned>(count), threads, 0, stream()>>>(points, sums_.data(), shape_, largest_.data(),
                                                                       accumulate, reinterpret_cast<float2*>(values));
    cuda::check_launch("adjoint dot");
  }

 private:
  [[nodiscard]] cudaStream_t stream() const { return cuda::stream_of(queue_); }

  AdjointShape shape_;
  Queue queue_;
  std::int64_t first_row_ = 0;
  Array<unsigned, 1> largest_;
  Array<__half, 1> field_;
  Array<__half, 1> factors_;
  Array<float, 1> sums_;
  Array<std::byte, 1> scratch_;
  cuda::MatrixProduct product_;
};

}  // namespace

void adjoint_cuda(const PointCloudOptions& options, View<const float, 2> position_m,
                  View<const std::complex<float>, 2> field, View<std::complex<float>, 1> values, const Queue& queue,
                  Progress& progress) {
  constexpr std::string_view stage = "multiplying factors";
  const cuda::DeviceScope scope(queue.device());
  const std::int64_t count = position_m.shape()[0];
  progress.step(stage, 0, count);
  const Division division = divide(options.shape, count);
  const std::int64_t call_points = division.shape.points;
  Array<PixelPoint, 1> points({division.calls * call_points}, queue);
  points_kernel<<<cuda::blocks_for(points.size(), threads), threads, 0, cuda::stream_of(queue)>>>(
      frame_of(options), position_m.data(), count, points.size(), points.data());
  cuda::check_launch("adjoint points");
  AdjointCalls calls(division.shape, queue);
  calls.find_scale(field);
  for (std::int64_t group = 0; group < division.groups; ++group) {
    calls.set_rows(field, group * division.shape.rows());
    for (std::int64_t first = 0; first < count; first += call_points) {
      const std::int64_t some = std::min(call_points, count - first);
      calls.add(points.data() + first, some, values.data() + first, group > 0);
      progress.step(stage, (group * count + first + some) / division.groups, count);
    }
  }
}

}  // namespace holotone::point_cloud
