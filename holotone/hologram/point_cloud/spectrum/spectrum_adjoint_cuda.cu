// The adjoint of the exact wave's sum: the transpose of its steps (spectrum_cuda.cpp), backwards, on the conjugate
// field, so that all factors keep their signs. An FFT gives the field's plane waves; those of each tile, times the
// phases of each plane, are transformed to the tile's box by two dense products; points interpolate the box.
#include <algorithm>
#include <cmath>
#include <holotone/core/matrix_product/matrix_product_cuda.hpp>
#include <holotone/fft/fft.hpp>
#include <holotone/hologram/point_cloud/fast/fast_place_cuda.cuh>
#include <holotone/hologram/point_cloud/fast/parted_product_cuda.hpp>
#include <holotone/hologram/point_cloud/spectrum/spectrum_factors_cuda.cuh>
#include <holotone/hologram/point_cloud/spectrum/spectrum_tables_cuda.hpp>

namespace holotone::point_cloud {
namespace {

constexpr int threads = 256;
/// Of the tolerance, for the sums: few values may err more than the field of many points does.
constexpr double tolerance_share = 0.7;
constexpr int corner = 32;       ///< rows and columns of plane waves that a block turns over
constexpr int corner_lines = 8;  ///< of them, those that its threads hold at once
/// Most that the first product's largest operand may be, 2^4 to 2^5.
constexpr int max_exponent = 4;

/// What a pass over the spectrum sums.
struct Pass {
  PointDerivative by = PointDerivative::none;  ///< factor of the plane waves
  bool of_distance = false;                    ///< points' strengths are derived by the distance: 1 in place of d
};

/// Plane waves of the conjugate field, times all factors, and their steps from plane to plane; the largest part's bits.
__global__ void turn_kernel(FastGrid grid, FastFactors factors, SpectrumEnd end, Pass pass, const float2* spectrum,
                            float2* waves, float2* steps, unsigned* largest) {
  const int column = blockIdx.x * threads + threadIdx.x;
  float most = 0;
  for (int row = blockIdx.y; row < grid.panel_height && column < grid.panel_width; row += gridDim.y) {
    const int tile_x = column / grid.tile_width;
    const int tile_y = row / grid.tile_height;
    const WaveTile& about = grid.wave_tiles[tile_y * grid.tiles_x + tile_x];
    const WaveFactors wave = wave_factors(grid, factors, end, about, row, column, row - tile_y * grid.tile_height,
                                          column - tile_x * grid.tile_width);
    const int m_row = row - end.half_rows;
    const int m = column - end.half_columns;
    const float2 value = spectrum[static_cast<std::int64_t>(m_row < 0 ? m_row + end.rows : m_row) * end.columns +
                                  (m < 0 ? m + end.columns : m)];
    float2 turned = times(make_float2(value.x, -value.y), wave.outside);
    if (pass.by != PointDerivative::none) {
      // -2 pi i fx; that of a row's frequency with the other sign, since y falls as the row rises; 2 pi i (K - 1 /
      // lambda) by d.
      const double fy = m_row * end.row_step;
      const double fx = m * end.column_step;
      double rate = fy;
      if (pass.by == PointDerivative::x) rate = -fx;
      if (pass.by == PointDerivative::z) {
        const double squares = fx * fx + fy * fy;
        const double square = fmax(end.full * end.full - squares, (1 - cone_end * cone_end) * end.full * end.full);
        rate = sqrt(square) - end.full;
      }
      const auto factor = static_cast<float>(two_pi * rate);
      turned = make_float2(-factor * turned.y, factor * turned.x);
    }
    const std::int64_t at = static_cast<std::int64_t>(row) * grid.panel_width + column;
    waves[at] = turned;
    steps[at] = wave.step;
    most = fmaxf(most, fmaxf(fabsf(turned.x), fabsf(turned.y)));
  }
  for (int offset = 16; offset > 0; offset /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffffU, most, offset));
  if (threadIdx.x % 32 == 0) atomicMax(largest, __float_as_uint(most));  // positive floats order like their bits
}

/// Exponent of the power of two that brings the largest part to 2^exponent.
__device__ __forceinline__ int scale_exponent(const unsigned* largest, int exponent) {
  const float value = __uint_as_float(*largest);
  return exponent - min(max(value > 0 ? ilogbf(value) : 0, -100), 127);
}

/// Writes the operand of the first product, [tile, plane][X][2 Y + c]: a tile's plane waves times the phases of each
/// plane.
template <int Split>
__global__ void __launch_bounds__(corner* corner_lines)
    planes_kernel(FastGrid grid, const float2* waves, const float2* steps, const unsigned* largest, int exponent,
                  __half* operand) {
  __shared__ float2 values[corner][corner + 1];
  const int tile = blockIdx.z;
  const int tile_x = tile % grid.tiles_x;
  const int tile_y = tile / grid.tiles_x;
  const int first_x = blockIdx.x * corner;
  const int first_y = blockIdx.y * corner;
  const int across = threadIdx.x;
  const float scale = scalbnf(1.0F, scale_exponent(largest, exponent));
  float2 wave[corner / corner_lines] = {};
  float2 step[corner / corner_lines] = {};
#pragma unroll
  for (int i = 0; i < corner / corner_lines; ++i) {
    const int x = first_x + across;
    const int y = first_y + i * corner_lines + threadIdx.y;
    const int column = tile_x * grid.tile_width + x;
    const int row = tile_y * grid.tile_height + y;
    if (x < grid.tile_width && y < grid.tile_height && column < grid.panel_width && row < grid.panel_height) {
      const std::int64_t at = static_cast<std::int64_t>(row) * grid.panel_width + column;
      wave[i] = make_float2(scale * waves[at].x, scale * waves[at].y);
      step[i] = steps[at];
    }
  }
  const std::int64_t segment = 2 * grid.tile_height;
  for (int plane = 0; plane < grid.planes; ++plane) {
#pragma unroll
    for (int i = 0; i < corner / corner_lines; ++i) {
      values[i * corner_lines + threadIdx.y][across] = wave[i];
      wave[i] = times(wave[i], step[i]);
    }
    __syncthreads();
    const int y = first_y + across;
#pragma unroll
    for (int i = 0; i < corner / corner_lines; ++i) {
      const int from = i * corner_lines + threadIdx.y;
      const int x = first_x + from;
      if (x >= grid.tile_width || y >= grid.tile_height) continue;
      const float2 value = values[across][from];
      __half* const line =
          operand + ((static_cast<std::int64_t>(tile) * grid.planes + plane) * grid.tile_width + x) * segment * Split;
      put_pair<Split>(line, segment, 2 * y, value.x, value.y);
    }
    __syncthreads();
  }
}

/// Matrix [2 k + c'][2 sample + c] of a transform from samples to the steps of an axis, times `weights` of the samples.
template <int Split>
__global__ void matrix_kernel(int samples, int steps, double period, int before, const float* weights, __half* matrix) {
  const int sample = blockIdx.x * threads + threadIdx.x;
  const int k = blockIdx.y;
  if (sample >= samples) return;
  const float2 phase = unit(static_cast<double>(k - before) * (sample - samples / 2) / period);
  const float weight = weights != nullptr ? weights[sample] : 1.0F;
  const std::int64_t segment = 2 * samples;
  __half* const real = matrix + 2 * k * segment * Split;
  __half* const imaginary = real + segment * Split;
  put_constant<Split>(real, segment, 2 * sample, weight * phase.x);
  put_constant<Split>(real, segment, 2 * sample + 1, -weight * phase.y);
  put_constant<Split>(imaginary, segment, 2 * sample, weight * phase.y);
  put_constant<Split>(imaginary, segment, 2 * sample + 1, weight * phase.x);
}

__device__ __forceinline__ float to_float(__half value) { return __half2float(value); }
__device__ __forceinline__ float to_float(float value) { return value; }

/// Converts the first product [tile, plane][2 ky + c][X], times the factors between the products, to the operand of the
/// second, [tile, plane, ky][2 X + c].
template <int Split, class Value>
__global__ void between_kernel(FastGrid grid, const Value* product, const float2* middle, __half* operand) {
  const std::int64_t i = blockIdx.x * static_cast<std::int64_t>(threads) + threadIdx.x;
  const std::int64_t width = grid.tile_width;
  const std::int64_t line = i / width;
  const int x = static_cast<int>(i - line * width);
  if (line >= std::int64_t{1} * grid.tiles() * grid.depth_rows()) return;
  const int tile = static_cast<int>(line / grid.depth_rows());
  const Value* const from = product + 2 * line * width + x;
  const float2 value = times(make_float2(to_float(from[0]), to_float(from[width])), middle[tile * width + x]);
  const std::int64_t segment = 2 * width;
  put_pair<Split>(operand + line * segment * Split, segment, 2 * x, value.x, value.y);
}

/// Adds to the values of points: cells of all tiles within their windows, times their strengths.
template <int Width>
__global__ void interpolate_kernel(FastGrid grid, RawPoints points, Pass pass, float beta_log2, const float2* cells,
                                   const unsigned* largest, int exponent, float2* values) {
  const std::int64_t j = blockIdx.x * static_cast<std::int64_t>(threads) + threadIdx.x;
  if (j >= points.count) return;
  double re = 0;
  double im = 0;
  for (int tile = 0; tile < grid.tiles(); ++tile) {
    Place place = place_point(grid, points, j, tile);
    if (place.lit != Lit::wholly) continue;
    if (pass.of_distance) place.factor = make_float2(static_cast<float>(1 / grid.largest_m), 0);
    const auto column = static_cast<float>(place.column);
    const auto row = static_cast<float>(place.row);
    const auto plane = static_cast<float>(place.plane);
    const int first_column = first_node<Width>(column);
    const int first_row = first_node<Width>(row);
    const int first_plane = first_node<Width>(plane);
    float across[Width];
#pragma unroll
    for (int i = 0; i < Width; ++i) {
      across[i] = window<Width>(beta_log2, static_cast<float>(first_column + i) - column);
    }
    float2 sum{};
    for (int p = 0; p < Width; ++p) {
      const float deep = window<Width>(beta_log2, static_cast<float>(first_plane + p) - plane);
#pragma unroll
      for (int r = 0; r < Width; ++r) {
        const float weight = deep * window<Width>(beta_log2, static_cast<float>(first_row + r) - row);
        const float2* const from =
            cells +
            ((static_cast<std::int64_t>(tile) * grid.planes + first_plane + p) * grid.rows + first_row + r) *
                grid.columns +
            first_column;
        float2 line{};
#pragma unroll
        for (int i = 0; i < Width; ++i) {
          line.x = fmaf(across[i], from[i].x, line.x);
          line.y = fmaf(across[i], from[i].y, line.y);
        }
        sum.x = fmaf(weight, line.x, sum.x);
        sum.y = fmaf(weight, line.y, sum.y);
      }
    }
    const float2 phase = unit(place.turns);
    const float2 value = times(times(sum, phase), place.factor);
    re += value.x;
    im += value.y;
  }
  const int scale = -scale_exponent(largest, exponent);
  values[j].x += static_cast<float>(ldexp(re, scale));
  values[j].y -= static_cast<float>(ldexp(im, scale));  // the conjugate
}

__global__ void negate_kernel(std::int64_t count, float2* values) {
  const std::int64_t j = blockIdx.x * static_cast<std::int64_t>(threads) + threadIdx.x;
  if (j < count) values[j] = make_float2(-values[j].x, -values[j].y);
}

/// Tables, products and buffers of the adjoint on one grid.
class Adjoint {
 public:
  Adjoint(const SpectrumGrid& choice, const PointCloudOptions& options, const Queue& queue);
  /// Sets the plane waves of a field.
  void set(View<const std::complex<float>, 2> field);
  /// Adds a pass over the points to the values.
  void add(const FastGrid& grid, const Pass& pass, const RawPoints& points, float2* values);
  [[nodiscard]] const FastGrid& grid() const { return tables_.grid(); }

 private:
  [[nodiscard]] cudaStream_t stream() const { return cuda::stream_of(queue_); }
  template <int Split, class Value>
  void enqueue(const FastGrid& grid);

  Queue queue_;
  SpectrumTables tables_;
  Shape<2> period_;
  FftPlan transform_;
  Array<std::byte, 1> scratch_;
  Array<float2, 1> spectrum_;
  Array<float2, 1> waves_;  ///< and their steps
  Array<float2, 1> middle_;
  Array<unsigned, 1> largest_;
  int exponent_ = 0;  ///< of the first product's largest operand
  Array<__half, 1> row_matrix_;
  Array<__half, 1> column_matrix_;
  Array<__half, 1> operand_;  ///< of the first product, then of the second
  Array<std::byte, 1> between_;
  Array<float2, 1> cells_;
  PartedProduct rows_product_;
  PartedProduct columns_product_;
};

Adjoint::Adjoint(const SpectrumGrid& choice, const PointCloudOptions& options, const Queue& queue)
    : queue_(queue),
      tables_(queue),
      period_(choice.layout.period),
      transform_(period_, queue, {.scale_inverse = false, .first_row = 0, .rows = options.shape[0]}),
      scratch_({static_cast<std::int64_t>(cuda::MatrixProduct::workspace_bytes)}, queue),
      spectrum_({element_count(period_)}, queue),
      largest_({1}, queue) {
  tables_.make(choice);
  const FastGrid& grid = tables_.grid();
  const std::int64_t all_rows = std::int64_t{1} * grid.tiles() * grid.depth_rows();
  const std::int64_t sums = std::int64_t{2} * grid.tiles() * grid.planes * grid.tile_width * grid.tile_height;
  const std::int64_t values = 2 * all_rows * grid.tile_width;
  const std::int64_t number_bytes = grid.split == 1 ? sizeof(__half) : sizeof(float);
  reserve(waves_, std::int64_t{2} * grid.panel_width * grid.panel_height, queue_);
  reserve(middle_, std::int64_t{1} * grid.tiles() * grid.tile_width, queue_);
  reserve(row_matrix_, std::int64_t{4} * grid.rows * grid.tile_height * grid.split, queue_);
  reserve(column_matrix_, std::int64_t{4} * grid.columns * grid.tile_width * grid.split, queue_);
  reserve(operand_, std::max(sums, values) * grid.split, queue_);
  reserve(between_, values * number_bytes, queue_);
  reserve(cells_, grid.cells(), queue_);
  make_wave_middle(grid, tables_.factors(), middle_.data(), stream());
  const auto matrix = [&](int samples, int steps, double period, bool wrap, const float* weights, __half* target) {
    const dim3 blocks(cuda::blocks_for(samples, threads), static_cast<unsigned>(steps));
    with_split(grid.split, [&](auto split) {
      matrix_kernel<split.value>
          <<<blocks, threads, 0, stream()>>>(samples, steps, period, wrap ? grid.window_width : 0, weights, target);
    });
    cuda::check_launch("adjoint matrix");
  };
  matrix(grid.tile_height, grid.rows, grid.steps_y, grid.wrap_rows, tables_.factors().row, row_matrix_.data());
  matrix(grid.tile_width, grid.columns, grid.steps_x, grid.wrap_columns, nullptr, column_matrix_.data());
  cuda::MatrixProductShape rows;
  rows.rows = 2 * grid.rows;
  rows.columns = grid.tile_width;
  rows.depth = std::int64_t{2} * grid.tile_height * grid.split;
  rows.batch = std::int64_t{1} * grid.tiles() * grid.planes;
  rows.share_a = true;
  rows.half_output = grid.split == 1;
  rows_product_.make(rows, depth_parts(grid, grid.tile_height, options.tolerance), queue_, scratch_.data());
  cuda::MatrixProductShape columns;
  columns.rows = all_rows;
  columns.columns = 2 * grid.columns;
  columns.depth = std::int64_t{2} * grid.tile_width * grid.split;
  columns_product_.make(columns, depth_parts(grid, grid.tile_width, options.tolerance), queue_, scratch_.data());
  // Waves in phase: the first product's sums, and these times the columns' factors, stay below fp16's largest number.
  const double largest_sum = std::sqrt(2.0) * 2 * tables_.row_factor_sum() * tables_.largest_column_factor();
  exponent_ = std::min(max_exponent, static_cast<int>(std::floor(std::log2(60000 / largest_sum))));
}

void Adjoint::set(View<const std::complex<float>, 2> field) {
  const auto [ny, nx] = field.shape();
  cuda::check(cudaMemsetAsync(spectrum_.data(), 0, spectrum_.bytes(), stream()), "cudaMemsetAsync");
  cuda::check(
      cudaMemcpy2DAsync(spectrum_.data(), static_cast<std::size_t>(period_[1]) * sizeof(float2), field.data(),
                        static_cast<std::size_t>(nx) * sizeof(float2), static_cast<std::size_t>(nx) * sizeof(float2),
                        static_cast<std::size_t>(ny), cudaMemcpyDeviceToDevice, stream()),
      "cudaMemcpy2DAsync");
  transform_.execute({reinterpret_cast<std::complex<float>*>(spectrum_.data()), period_, queue_.device()},
                     FftDirection::forward);
}

template <int Split, class Value>
void Adjoint::enqueue(const FastGrid& grid) {
  constexpr auto how = cuda::MatrixProductChoice::built_in;
  const dim3 corners(cuda::blocks_for(grid.tile_width, corner), cuda::blocks_for(grid.tile_height, corner),
                     static_cast<unsigned>(grid.tiles()));
  float2* const steps = waves_.data() + std::int64_t{1} * grid.panel_width * grid.panel_height;
  planes_kernel<Split><<<corners, dim3(corner, corner_lines), 0, stream()>>>(
      grid, waves_.data(), steps, largest_.data(), exponent_, operand_.data());
  cuda::check_launch("adjoint planes");
  rows_product_.run(how, row_matrix_.data(), operand_.data(), between_.data());
  const std::int64_t count = std::int64_t{1} * grid.tiles() * grid.depth_rows() * grid.tile_width;
  between_kernel<Split><<<cuda::blocks_for(count, threads), threads, 0, stream()>>>(
      grid, reinterpret_cast<const Value*>(between_.data()), middle_.data(), operand_.data());
  cuda::check_launch("adjoint between");
  columns_product_.run(how, operand_.data(), column_matrix_.data(), cells_.data());
}

void Adjoint::add(const FastGrid& grid, const Pass& pass, const RawPoints& points, float2* values) {
  cuda::check(cudaMemsetAsync(largest_.data(), 0, largest_.bytes(), stream()), "cudaMemsetAsync");
  const dim3 blocks(cuda::blocks_for(grid.panel_width, threads),
                    static_cast<unsigned>(std::min(grid.panel_height, 65535)));
  float2* const steps = waves_.data() + std::int64_t{1} * grid.panel_width * grid.panel_height;
  turn_kernel<<<blocks, threads, 0, stream()>>>(grid, tables_.factors(), tables_.end(), pass, spectrum_.data(),
                                                waves_.data(), steps, largest_.data());
  cuda::check_launch("adjoint turn");
  if (grid.split == 1) {
    enqueue<1, __half>(grid);
  } else {
    enqueue<3, float>(grid);
  }
  with_width(grid.window_width, [&](auto width) {
    interpolate_kernel<width.value><<<cuda::blocks_for(points.count, threads), threads, 0, stream()>>>(
        grid, points, pass, window_beta_log2(grid), cells_.data(), largest_.data(), exponent_, values);
  });
  cuda::check_launch("adjoint interpolate");
}

}  // namespace

void spectrum_adjoint_cuda(const PointCloudOptions& options, PointDerivative by, const PointSummary& summary,
                           View<const float, 2> position_m, View<const std::complex<float>, 2> field,
                           View<std::complex<float>, 1> values, const Queue& queue, Progress& progress) {
  constexpr std::string_view stage = "summing plane waves";
  const cuda::DeviceScope scope(queue.device());
  const std::int64_t count = position_m.shape()[0];
  const FastCloud cloud = fast_cloud(options, {0, 0, options.shape}, count, summary);
  PointCloudOptions finer = options;
  finer.tolerance = std::max(tolerance_share * options.tolerance, point_cloud_fast_tolerance_floor);
  const auto choice = choose_spectrum_grid(finer, cloud, fast_precision(finer.tolerance), false);
  if (choice.microseconds == 0) {
    throw_unsupported("PointCloudPlan::adjoint", "wave", "fresnel for light of such depths and distances", "spherical");
  }
  const auto stream = cuda::stream_of(queue);
  cuda::check(cudaMemsetAsync(values.data(), 0, static_cast<std::size_t>(count) * sizeof(float2), stream),
              "cudaMemsetAsync");
  const RawPoints points{position_m.data(),    nullptr,        nullptr,        count,
                         cloud.inverse_pitch,  cloud.center_x, cloud.center_y, cloud.turns_metre,
                         cloud.reach_per_metre};
  auto* const target = reinterpret_cast<float2*>(values.data());
  Adjoint adjoint(choice, finer, queue);
  progress.step(stage, 0, 1);
  adjoint.set(field);
  if (by == PointDerivative::z && !options.falloff) {
    adjoint.add(adjoint.grid(), {PointDerivative::none, true}, points, target);
  }
  adjoint.add(adjoint.grid(), {by, false}, points, target);
  if (choice.near) {
    FastGrid near = adjoint.grid();
    near.near_terms = true;
    adjoint.add(near, {by, false}, points, target);
  }
  if (by == PointDerivative::z) {  // z = -d
    negate_kernel<<<cuda::blocks_for(count, threads), threads, 0, stream>>>(count, target);
    cuda::check_launch("adjoint negate");
  }
  progress.step(stage, 1, 1);
}

}  // namespace holotone::point_cloud
