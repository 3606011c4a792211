#pragma once
// Spreading points onto a grid and interpolating the grid at points, on the CPU. Not for users.
#include <holotone/nufft/spread_points_cpu.hpp>
#include <holotone/nufft/window.hpp>

namespace holotone::nufft {

/// Largest window width of the compiled loops, in nodes.
constexpr int widest_spread = 16;

/// Polynomials of a window in the loops' precision; row k has the coefficients of t^k. `error` is theirs, relative to
/// phi(0).
template <class Real>
struct SpreadKernel {
  explicit SpreadKernel(const SpreadWindow& window, double error, std::int64_t exact_points = INT64_MAX);
  int width = 0;
  int degree = 0;
  int stride = 0;
  std::int64_t exact_points;  ///< points that may be added one by one in Real; see longest_float_sum
  std::vector<Real> coefficient;
};

/// grid[cell] += sum_j strength[index_j] phi(cell - point_j). A cell and a strength have `Components` numbers (1:
/// real, 2: complex, interleaved). The caller initialises the grid with zeros or earlier sums. Slabs that are not
/// adjacent run in parallel. A slab with more than a sixteenth of all points (a cluster) is split into parts, summed
/// separately and added in order. Sparse clusters are not split if that costs more. Where more than exact_points points
/// crowd, short sums are added in float64. The result has the same bits for any number of threads. Cost O(points
/// width^Rank).
template <class Real, std::size_t Rank, int Components>
void spread(const SpreadPoints<Real, Rank>& points, const SpreadKernel<Real>& kernel, const SpreadGrid<Rank>& grid,
            const Real* strength, Real* cells);

/// value[index_j] = sum over cells of grid[cell] phi(cell - point_j). `gradient` (Rank values of Components numbers a
/// point, fastest axis first) is its derivative by the point's coordinates in grid steps. Either may be null.
template <class Real, std::size_t Rank, int Components>
void interpolate(const SpreadPoints<Real, Rank>& points, const SpreadKernel<Real>& kernel, const SpreadGrid<Rank>& grid,
                 const Real* cells, Real* value, Real* gradient);

}  // namespace holotone::nufft
