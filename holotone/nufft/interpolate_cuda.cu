// Interpolation of the grid at points on CUDA, with gradients.
#include <holotone/nufft/spread_cuda.cuh>
#include <utility>

namespace holotone::nufft {
namespace {

constexpr int threads = 128;

/// Value of a cell, or a sum of values.
template <int Components>
struct Cell;
template <>
struct Cell<1> {
  float re = 0;
  __device__ __forceinline__ void add(float weight, const Cell& cell) { re = fmaf(weight, cell.re, re); }
};
template <>
struct alignas(8) Cell<2> {
  float re = 0;
  float im = 0;
  __device__ __forceinline__ void add(float weight, const Cell& cell) {
    re = fmaf(weight, cell.re, re);
    im = fmaf(weight, cell.im, im);
  }
};

template <std::size_t Rank>
struct Point {
  int cell[Rank];
  float place[Rank];
  std::size_t index;
};

template <std::size_t Rank>
__device__ __forceinline__ Point<Rank> point_at(const SortedPoints& points, std::int64_t j) {
  Point<Rank> point;
  const uint4 record = points.record[j];
  point.cell[0] = static_cast<int>(record.x);
  point.cell[1] = static_cast<int>(record.y);
  point.place[0] = __uint_as_float(record.z);
  point.place[1] = __uint_as_float(record.w);
  if constexpr (Rank == 3) {
    const uint2 depth = points.depth[j];
    point.cell[2] = static_cast<int>(depth.x);
    point.place[2] = __uint_as_float(depth.y);
  }
  point.index = points.index[j];
  return point;
}

__device__ __forceinline__ int wrapped(int cell, int extent) { return cell < extent ? cell : cell - extent; }

/// Calls action(dz, dy, row of the grid) for the rows of a point's window.
template <std::size_t Rank, int Components, int Width, class Action>
__device__ __forceinline__ void over_rows(const TileGrid<Rank>& grid, const GridCells<Rank>& cells,
                                          const Point<Rank>& point, const Action& action) {
  using Row = const Cell<Components>*;
#pragma unroll
  for (int dz = 0; dz < (Rank == 3 ? Width : 1); ++dz) {
    const float* plane = cells.data;
    if constexpr (Rank == 3) plane += wrapped(point.cell[2] + dz, grid.extent[2]) * cells.plane;
#pragma unroll
    for (int dy = 0; dy < Width; ++dy) {
      action(dz, dy, reinterpret_cast<Row>(plane + wrapped(point.cell[1] + dy, grid.extent[1]) * cells.row));
    }
  }
}

/// Loads the window's cells of a row; without wrapping if the window does not cross the period's end.
template <int Components, int Width>
__device__ __forceinline__ void load_row(const Cell<Components>* row, int cell, int extent, bool inside,
                                         Cell<Components> (&line)[Width]) {
  if (inside) {
#pragma unroll
    for (int dx = 0; dx < Width; ++dx) line[dx] = row[cell + dx];
  } else {
#pragma unroll
    for (int dx = 0; dx < Width; ++dx) line[dx] = row[wrapped(cell + dx, extent)];
  }
}

template <std::size_t Rank, int Components, int Width>
__global__ void __launch_bounds__(threads) interpolate_kernel(TileGrid<Rank> grid, SortedPoints points, float beta_log2,
                                                              GridCells<Rank> cells, float* __restrict__ value) {
  const std::int64_t j = blockIdx.x * static_cast<std::int64_t>(threads) + threadIdx.x;
  if (j >= points.count) return;
  const Point<Rank> point = point_at<Rank>(points, j);
  constexpr float step = 2.0F / Width;
  float weight[Rank][Width];
#pragma unroll
  for (int axis = 0; axis < static_cast<int>(Rank); ++axis) {
    const float first = (0.5F * (1.0F + point.place[axis]) - 0.5F * Width) * step;
#pragma unroll
    for (int i = 0; i < Width; ++i) weight[axis][i] = window_at(beta_log2, first + i * step);
  }
  int column[Width];
#pragma unroll
  for (int i = 0; i < Width; ++i) column[i] = wrapped(point.cell[0] + i, grid.extent[0]);
  // Sums down the columns first; each sum is weighted across once.
  Cell<Components> sums[Width];
  over_rows<Rank, Components, Width>(grid, cells, point, [&](int dz, int dy, const Cell<Components>* row) {
    const float product = Rank == 3 ? weight[Rank - 1][dz] * weight[1][dy] : weight[1][dy];
#pragma unroll
    for (int i = 0; i < Width; ++i) sums[i].add(product, row[column[i]]);
  });
  Cell<Components> sum;
#pragma unroll
  for (int i = 0; i < Width; ++i) sum.add(weight[0][i], sums[i]);
  const std::size_t at = points.place != nullptr ? static_cast<std::size_t>(j) : point.index;
  reinterpret_cast<Cell<Components>*>(value)[at] = sum;
}

/// Copies Cells cells per point from the sorted order to the caller's: the first to `value` unless null, the others to
/// `gradient`.
template <int Components, int Cells>
__global__ void __launch_bounds__(threads)
    fetch_kernel(SortedPoints points, float* __restrict__ value, float* __restrict__ gradient) {
  const std::int64_t j = blockIdx.x * static_cast<std::int64_t>(threads) + threadIdx.x;
  if (j >= points.count) return;
  using Own = Cell<Components>;
  const Own* const from = reinterpret_cast<const Own*>(points.results) + std::size_t{points.place[j]} * Cells;
  if (value != nullptr) reinterpret_cast<Own*>(value)[j] = from[0];
#pragma unroll
  for (int i = 1; i < Cells; ++i) reinterpret_cast<Own*>(gradient)[j * (Cells - 1) + i - 1] = from[i];
}

/// Computes phi and its derivative by the coordinate in periods at the nodes of one axis. `place` decreases by two per
/// grid step of the point.
template <int Width>
__device__ __forceinline__ void weights_and_slopes(const SlopeKernel& kernel, float place, float extent,
                                                   float (&weight)[Width], float (&slope)[Width]) {
#pragma unroll
  for (int i = 0; i < Width; ++i) {
    weight[i] = kernel.coefficient[kernel.degree][i];
    slope[i] = 0;
  }
  for (int k = kernel.degree - 1; k >= 0; --k) {
#pragma unroll
    for (int i = 0; i < Width; ++i) {
      slope[i] = fmaf(slope[i], place, weight[i]);
      weight[i] = fmaf(weight[i], place, kernel.coefficient[k][i]);
    }
  }
#pragma unroll
  for (int i = 0; i < Width; ++i) slope[i] *= -2 * extent;
}

template <std::size_t Rank, int Components, int Width>
__global__ void __launch_bounds__(threads)
    gradient_kernel(TileGrid<Rank> grid, SortedPoints points, const __grid_constant__ SlopeKernel kernel,
                    GridCells<Rank> cells, float* __restrict__ value, float* __restrict__ gradient) {
  const std::int64_t j = blockIdx.x * static_cast<std::int64_t>(threads) + threadIdx.x;
  if (j >= points.count) return;
  const Point<Rank> point = point_at<Rank>(points, j);
  float weight[Rank][Width];
  float slope[Rank][Width];
#pragma unroll
  for (int axis = 0; axis < static_cast<int>(Rank); ++axis) {
    weights_and_slopes(kernel, point.place[axis], static_cast<float>(grid.extent[axis]), weight[axis], slope[axis]);
  }
  const bool inside = point.cell[0] + Width <= grid.extent[0];
  Cell<Components> sum;
  Cell<Components> slopes[Rank];
  over_rows<Rank, Components, Width>(grid, cells, point, [&](int dz, int dy, const Cell<Components>* row) {
    Cell<Components> line[Width];
    load_row(row, point.cell[0], grid.extent[0], inside, line);
    Cell<Components> across;
    Cell<Components> sloped;
#pragma unroll
    for (int dx = 0; dx < Width; ++dx) {
      across.add(weight[0][dx], line[dx]);
      sloped.add(slope[0][dx], line[dx]);
    }
    const float deep = Rank == 3 ? weight[Rank - 1][dz] : 1.0F;
    sum.add(deep * weight[1][dy], across);
    slopes[0].add(deep * weight[1][dy], sloped);
    slopes[1].add(deep * slope[1][dy], across);
    if constexpr (Rank == 3) slopes[2].add(slope[2][dz] * weight[1][dy], across);
  });
  using Own = Cell<Components>;
  Own* target = reinterpret_cast<Own*>(gradient) + point.index * Rank;
  if (points.place != nullptr) {
    target = reinterpret_cast<Own*>(points.results) + static_cast<std::size_t>(j) * (Rank + 1);
    *target++ = sum;
  } else if (value != nullptr) {
    reinterpret_cast<Own*>(value)[point.index] = sum;
  }
#pragma unroll
  for (int axis = 0; axis < static_cast<int>(Rank); ++axis) target[axis] = slopes[axis];
}

}  // namespace

template <std::size_t Rank>
void interpolate(const PointSort<Rank>& sorted, const SpreadWindow& window, int components,
                 const GridCells<Rank>& cells, float* value, cudaStream_t stream) {
  const SortedPoints& points = sorted.points();
  if (points.count == 0) return;
  const unsigned blocks = cuda::blocks_for(points.count, threads);
  const bool in_order = points.place != nullptr;
  with_width_and_components(window.width, components, [&](auto width, auto own_components) {
    interpolate_kernel<Rank, own_components.value, width.value><<<blocks, threads, 0, stream>>>(
        sorted.grid(), points, beta_log2_of(window), cells, in_order ? points.results : value);
    cuda::check_launch("nufft interpolate");
    if (in_order) fetch_kernel<own_components.value, 1><<<blocks, threads, 0, stream>>>(points, value, nullptr);
  });
  cuda::check_launch("nufft fetch");
}

template <std::size_t Rank>
void interpolate_gradient(const PointSort<Rank>& sorted, const SlopeKernel& kernel, int components,
                          const GridCells<Rank>& cells, float* value, float* gradient, cudaStream_t stream) {
  const SortedPoints& points = sorted.points();
  if (points.count == 0) return;
  const unsigned blocks = cuda::blocks_for(points.count, threads);
  with_width_and_components(sorted.grid().width, components, [&](auto width, auto own_components) {
    gradient_kernel<Rank, own_components.value, width.value>
        <<<blocks, threads, 0, stream>>>(sorted.grid(), points, kernel, cells, value, gradient);
    cuda::check_launch("nufft gradient");
    if (points.place != nullptr) {
      fetch_kernel<own_components.value, static_cast<int>(Rank) + 1>
          <<<blocks, threads, 0, stream>>>(points, value, gradient);
    }
  });
  cuda::check_launch("nufft fetch");
}

#define HOLOTONE_INTERPOLATE(Rank)                                                                                  \
  template void interpolate<Rank>(const PointSort<Rank>&, const SpreadWindow&, int, const GridCells<Rank>&, float*, \
                                  cudaStream_t);                                                                    \
  template void interpolate_gradient<Rank>(const PointSort<Rank>&, const SlopeKernel&, int, const GridCells<Rank>&, \
                                           float*, float*, cudaStream_t);
HOLOTONE_INTERPOLATE(2)
HOLOTONE_INTERPOLATE(3)
#undef HOLOTONE_INTERPOLATE

}  // namespace holotone::nufft
