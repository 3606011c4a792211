#pragma once
// Interpolation and its gradient on the CPU, for the files that instantiate them: interpolate_*_cpu.cpp. Not for users.
#include <algorithm>
#include <holotone/nufft/spread_run_cpu.hpp>

namespace holotone::nufft {
namespace {

/// Computes phi and d phi / d coordinate (in grid steps): `place` decreases by two per grid step of the point.
template <class Real, int Width>
HOLOTONE_ALWAYS_INLINE void weights_and_slopes(const Real* coefficient, int degree, Real place, Real* result,
                                               Real* slope) {
  constexpr int lanes = padded(Width);
  const Real* row = coefficient + static_cast<std::ptrdiff_t>(degree) * lanes;
  for (int i = 0; i < lanes; ++i) {
    result[i] = row[i];
    slope[i] = 0;
  }
  for (int k = degree - 1; k >= 0; --k) {
    row -= lanes;
    for (int i = 0; i < lanes; ++i) {
      slope[i] = slope[i] * place + result[i];
      result[i] = result[i] * place + row[i];
    }
  }
  for (int i = 0; i < lanes; ++i) slope[i] *= -2;
}

/// sum over i of line[i] weight[i], per component.
template <class Real, int Lanes, int Components>
HOLOTONE_ALWAYS_INLINE void dot(const Real* line, const Real* weight, Real* result) {
  for (int c = 0; c < Components; ++c) {
    Real sum = 0;
    for (int i = 0; i < Lanes; ++i) sum += line[i * Components + c] * weight[i];
    result[c] = sum;
  }
}

template <class Real, std::size_t Rank, int Components, int Width>
HOLOTONE_SIMD_CLONES void interpolate_run(const Run<Real, Rank>& run, const Real* cells, Real* value) {
  constexpr int lanes = padded(Width);
  for (const auto* point = run.begin; point != run.end; ++point) {
    alignas(64) Real x[lanes];
    alignas(64) Real y[lanes];
    weights<Real, Width>(run.coefficient, run.degree, point->place[0], x);
    weights<Real, Width>(run.coefficient, run.degree, point->place[1], y);
    const Real* const corner = cells + (point->cell[1] * run.stride + point->cell[0]) * Components;
    alignas(64) Real line[lanes * Components] = {};
    if constexpr (Rank == 2) {
      for (int dy = 0; dy < Width; ++dy) {
        const Real* const row = corner + dy * run.stride * Components;
        for (int i = 0; i < lanes * Components; ++i) line[i] += y[dy] * row[i];
      }
    } else {
      alignas(64) Real z[lanes];
      weights<Real, Width>(run.coefficient, run.degree, point->place[2], z);
      for (int dz = 0; dz < Width; ++dz) {
        const Real* const plane = corner + (point->cell[2] + dz) * run.plane_cells * Components;
        for (int dy = 0; dy < Width; ++dy) {
          const Real* const row = plane + dy * run.stride * Components;
          const Real weight = z[dz] * y[dy];
          for (int i = 0; i < lanes * Components; ++i) line[i] += weight * row[i];
        }
      }
    }
    dot<Real, lanes, Components>(line, x, value + static_cast<std::size_t>(point->index) * Components);
  }
}

template <class Real, std::size_t Rank, int Components, int Width>
HOLOTONE_SIMD_CLONES void gradient_run(const Run<Real, Rank>& run, const Real* cells, Real* value, Real* gradient) {
  constexpr int lanes = padded(Width);
  for (const auto* point = run.begin; point != run.end; ++point) {
    alignas(64) Real w[Rank][lanes];
    alignas(64) Real slope[Rank][lanes];
    for (std::size_t axis = 0; axis < Rank; ++axis) {
      weights_and_slopes<Real, Width>(run.coefficient, run.degree, point->place[axis], w[axis], slope[axis]);
    }
    const Real* const corner = cells + (point->cell[1] * run.stride + point->cell[0]) * Components;
    // Rows of the grid weighted along the slower axes: by the window alone, and by its slope along one of them.
    alignas(64) Real lines[Rank][lanes * Components] = {};
    for (int dz = 0; dz < (Rank == 3 ? Width : 1); ++dz) {
      const Real weight_z = Rank == 3 ? w[Rank - 1][dz] : Real(1);
      const Real* const plane =
          Rank == 3 ? corner + (point->cell[Rank - 1] + dz) * run.plane_cells * Components : corner;
      for (int dy = 0; dy < Width; ++dy) {
        const Real* const row = plane + dy * run.stride * Components;
        const Real plain = weight_z * w[1][dy];
        const Real sloped = weight_z * slope[1][dy];
        for (int i = 0; i < lanes * Components; ++i) {
          lines[0][i] += plain * row[i];
          lines[1][i] += sloped * row[i];
        }
        if constexpr (Rank == 3) {
          const Real deep = slope[2][dz] * w[1][dy];
          for (int i = 0; i < lanes * Components; ++i) lines[2][i] += deep * row[i];
        }
      }
    }
    const auto at = static_cast<std::size_t>(point->index) * Components;
    if (value != nullptr) dot<Real, lanes, Components>(lines[0], w[0], value + at);
    dot<Real, lanes, Components>(lines[0], slope[0], gradient + at * Rank);
    for (std::size_t axis = 1; axis < Rank; ++axis) {
      dot<Real, lanes, Components>(lines[axis], w[0], gradient + at * Rank + axis * Components);
    }
  }
}

}  // namespace

template <class Real, std::size_t Rank, int Components>
void interpolate(const SpreadPoints<Real, Rank>& points, const SpreadKernel<Real>& kernel, const SpreadGrid<Rank>& grid,
                 const Real* cells, Real* value, Real* gradient) {
  constexpr std::int64_t run_points = 4096;
  const auto count = std::ssize(points.points());
  with_width<Real>(kernel.width, [&](auto width) {
    parallel_for(0, (count + run_points - 1) / run_points, [&](std::int64_t i) {
      const auto run = make_run(points, kernel, grid, i * run_points, std::min(count, (i + 1) * run_points));
      if (gradient != nullptr) {
        gradient_run<Real, Rank, Components, width.value>(run, cells, value, gradient);
      } else {
        interpolate_run<Real, Rank, Components, width.value>(run, cells, value);
      }
    });
  });
}

// NOLINTBEGIN(bugprone-macro-parentheses): types
#define HOLOTONE_INTERPOLATE(Real, Rank, Components)                                                            \
  template void interpolate<Real, Rank, Components>(const SpreadPoints<Real, Rank>&, const SpreadKernel<Real>&, \
                                                    const SpreadGrid<Rank>&, const Real*, Real*, Real*);
// NOLINTEND(bugprone-macro-parentheses)

}  // namespace holotone::nufft
