#include <algorithm>
#include <bench/baselines/mitani.hpp>
#include <holotone/core/cuda_check.hpp>

namespace bench {
namespace {

using holotone::Queue;
using holotone::View;

constexpr int block_columns = 32;
constexpr int block_rows = 8;
constexpr int block_threads = block_columns * block_rows;
constexpr int shared_points = 32;

struct Output {
  float2* field;
  std::uint8_t* phase;
  int nx;
  int ny;
};

Output make_output(View<std::complex<float>, 2> field, View<std::uint8_t, 2> phase) {
  return {reinterpret_cast<float2*>(field.data()), phase.data(), static_cast<int>(field.shape()[1]),
          static_cast<int>(field.shape()[0])};
}

dim3 make_grid(const Output& output) {
  return {holotone::cuda::blocks_for(output.nx, block_columns), holotone::cuda::blocks_for(output.ny, block_rows)};
}

__device__ void write(const Output& output, std::int64_t index, float re, float im) {
  constexpr float levels_a_radian = 40.7436654F;  // 256 / (2 pi)
  output.field[index] = make_float2(re, im);
  output.phase[index] = static_cast<std::uint8_t>(__float2int_rn(atan2f(im, re) * levels_a_radian) & 255);
}

__global__ void old_method(const float4* points, std::int64_t count, Output output) {
  const int column = blockIdx.x * block_columns + threadIdx.x;
  const int row = blockIdx.y * block_rows + threadIdx.y;
  if (column >= output.nx || row >= output.ny) return;
  const auto x = static_cast<float>(column);
  const auto y = static_cast<float>(row);
  float re = 0;
  float im = 0;
  for (std::int64_t j = 0; j < count; ++j) {
    const float4 point = points[j];
    const float dx = x - point.x;
    const float dy = y - point.y;
    float sine;
    float cosine;
    __sincosf(point.z * (dx * dx + dy * dy), &sine, &cosine);
    re += point.w * cosine;
    im += point.w * sine;
  }
  write(output, static_cast<std::int64_t>(row) * output.nx + column, re, im);
}

/// factors[p][i] = exp(i P_p (i - x_p)^2), times A_p for columns: blockIdx.y is the point.
template <bool Columns>
__global__ void axis_factors(const float4* points, int size, float2* factors) {
  const int i = blockIdx.x * block_threads + threadIdx.x;
  if (i >= size) return;
  const float4 point = points[blockIdx.y];
  const float distance = static_cast<float>(i) - (Columns ? point.x : point.y);
  float sine;
  float cosine;
  __sincosf(point.z * (distance * distance), &sine, &cosine);
  const float amplitude = Columns ? point.w : 1.0F;
  factors[static_cast<std::int64_t>(blockIdx.y) * size + i] = make_float2(amplitude * cosine, amplitude * sine);
}

/// Adds a batch of points by the addition theorem; `first` clears the sums. Each batch writes the phase of the sums so
/// far, once a pixel.
__global__ void add_products(const float2* columns, const float2* rows, int count, bool first, Output output) {
  __shared__ float2 column_factor[shared_points][block_columns];
  __shared__ float2 row_factor[shared_points][block_rows];
  const int column = blockIdx.x * block_columns + threadIdx.x;
  const int row = blockIdx.y * block_rows + threadIdx.y;
  const bool inside = column < output.nx && row < output.ny;
  const std::int64_t index = static_cast<std::int64_t>(row) * output.nx + column;
  const float2 before = inside && !first ? output.field[index] : float2{};
  float re = before.x;
  float im = before.y;
  for (int base = 0; base < count; base += shared_points) {
    __syncthreads();
    for (int p = threadIdx.y; p < shared_points; p += block_rows) {
      const std::int64_t at = base + p;
      column_factor[p][threadIdx.x] = at < count && column < output.nx ? columns[at * output.nx + column] : float2{};
    }
    // As many threads as there are points and rows.
    const int p = threadIdx.x;
    const std::int64_t at = base + p;
    row_factor[p][threadIdx.y] = at < count && row < output.ny ? rows[at * output.ny + row] : float2{};
    __syncthreads();
#pragma unroll
    for (int j = 0; j < shared_points; ++j) {
      const float2 x = column_factor[j][threadIdx.x];
      const float2 y = row_factor[j][threadIdx.y];
      re += x.x * y.x - x.y * y.y;
      im += x.y * y.x + x.x * y.y;
    }
  }
  if (inside) write(output, index, re, im);
}

static_assert(shared_points == block_columns, "add_products loads a row's factors with one thread for each point");

}  // namespace

void mitani_old_cuda(View<const float, 2> points, View<std::complex<float>, 2> field, View<std::uint8_t, 2> phase,
                     const Queue& queue) {
  const holotone::cuda::DeviceScope scope(queue.device());
  const Output output = make_output(field, phase);
  old_method<<<make_grid(output), dim3(block_columns, block_rows), 0, holotone::cuda::stream_of(queue)>>>(
      reinterpret_cast<const float4*>(points.data()), points.shape()[0], output);
  holotone::cuda::check_launch("mitani old_method");
}

MitaniNewCuda::MitaniNewCuda(const holotone::Shape<2>& shape, const Queue& queue)
    : queue_(queue), columns_({batch, shape[1]}, queue), rows_({batch, shape[0]}, queue) {}

void MitaniNewCuda::run(View<const float, 2> points, View<std::complex<float>, 2> field, View<std::uint8_t, 2> phase) {
  const holotone::cuda::DeviceScope scope(queue_.device());
  const auto stream = holotone::cuda::stream_of(queue_);
  const Output output = make_output(field, phase);
  auto* const columns = reinterpret_cast<float2*>(columns_.data());
  auto* const rows = reinterpret_cast<float2*>(rows_.data());
  for (std::int64_t first = 0; first < points.shape()[0]; first += batch) {
    const auto* records = reinterpret_cast<const float4*>(points.data()) + first;
    const auto count = static_cast<int>(std::min(batch, points.shape()[0] - first));
    const auto grid = [&](int size) {
      return dim3(holotone::cuda::blocks_for(size, block_threads), static_cast<unsigned>(count));
    };
    axis_factors<true><<<grid(output.nx), block_threads, 0, stream>>>(records, output.nx, columns);
    axis_factors<false><<<grid(output.ny), block_threads, 0, stream>>>(records, output.ny, rows);
    add_products<<<make_grid(output), dim3(block_columns, block_rows), 0, stream>>>(columns, rows, count, first == 0,
                                                                                    output);
    holotone::cuda::check_launch("mitani add_products");
  }
}

}  // namespace bench
