#pragma once
// Shared parts of spreading and interpolation on the CPU: runs of points, the window's values around a point, a loop
// for each window width. Not for users.
#include <holotone/core/simd.hpp>
#include <holotone/nufft/spread_cpu.hpp>
#include <type_traits>
#include <utility>

namespace holotone::nufft {
// Internal linkage: each including file compiles its own loops, so the compiler can clone and inline them.
namespace {

/// Run of points, and layout of the cells that they are spread to or interpolated from. The cells begin with cell
/// `origin` of the grid (fastest axis first).
template <class Real, std::size_t Rank>
struct Run {
  const SpreadPoint<Real, Rank>* begin;
  const SpreadPoint<Real, Rank>* end;
  const Real* coefficient;
  int degree;
  std::int64_t stride;       ///< cells from row to row
  std::int64_t plane_cells;  ///< cells from plane to plane
  std::array<std::int64_t, Rank> origin;
};

constexpr int padded(int width) { return (width + 3) / 4 * 4; }

/// Computes phi at the nodes of one axis.
template <class Real, int Width>
HOLOTONE_ALWAYS_INLINE void weights(const Real* coefficient, int degree, Real place, Real* result) {
  constexpr int lanes = padded(Width);
  const Real* row = coefficient + static_cast<std::ptrdiff_t>(degree) * lanes;
  for (int i = 0; i < lanes; ++i) result[i] = row[i];
  for (int k = degree - 1; k >= 0; --k) {
    row -= lanes;
    for (int i = 0; i < lanes; ++i) result[i] = result[i] * place + row[i];
  }
}

/// Calls action(constant) for a run-time width: up to 10 in float32, the largest width that its tolerances need.
template <class Real, class Action>
void with_width(int width, const Action& action) {
  constexpr int widest = std::is_same_v<Real, float> ? 10 : widest_spread;
  [&]<int... I>(std::integer_sequence<int, I...>) {
    (void)((width == I + 2 && (action(std::integral_constant<int, I + 2>{}), true)) || ...);
  }
  (std::make_integer_sequence<int, widest - 1>{});
}

template <class Real, std::size_t Rank>
Run<Real, Rank> make_run(const SpreadPoints<Real, Rank>& points, const SpreadKernel<Real>& kernel,
                         const SpreadGrid<Rank>& grid, std::int64_t begin, std::int64_t end) {
  const auto* const all = points.points().data();
  return {all + begin, all + end, kernel.coefficient.data(), kernel.degree, grid.stride(), grid.rows() * grid.stride(),
          {}};
}

}  // namespace
}  // namespace holotone::nufft
