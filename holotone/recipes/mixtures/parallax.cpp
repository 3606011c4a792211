#include <algorithm>
#include <holotone/recipes/mixtures.hpp>
#include <vector>

namespace holotone {
namespace {

/// Sum of the channels over squares of `scale` x `scale` pixels.
std::vector<double> shrunk(View<const float, 3> image, std::int64_t scale, std::int64_t& ny, std::int64_t& nx) {
  ny = image.shape()[0] / scale;
  nx = image.shape()[1] / scale;
  std::vector<double> result(static_cast<std::size_t>(ny * nx), 0.0);
  for (std::int64_t row = 0; row < ny * scale; ++row) {
    for (std::int64_t column = 0; column < nx * scale; ++column) {
      for (std::int64_t c = 0; c < image.shape()[2]; ++c) {
        result[static_cast<std::size_t>(row / scale * nx + column / scale)] +=
            static_cast<double>(image(row, column, c));
      }
    }
  }
  return result;
}

/// Sums over a square of products of the picture's gradients and its changes to the neighbouring views.
struct SquareSums {
  double xx = 0, yy = 0, ux = 0, uy = 0, vx = 0, vy = 0;
};

/// Sums over all squares.
struct Evidence {
  double agreement = 0;
  double u_along = 0, u_across = 0, v_along = 0, v_across = 0;  ///< squared change explained by a shift

  void add(const SquareSums& s) {
    // A square with little structure along an axis determines its shift poorly.
    const double weight = std::min(s.xx, s.yy);
    if (!(weight > 0)) return;
    agreement += weight * (s.ux / s.xx) * (s.vy / s.yy);
    u_along += s.ux * s.ux / s.xx;
    u_across += s.uy * s.uy / s.yy;
    v_along += s.vy * s.vy / s.yy;
    v_across += s.vx * s.vx / s.xx;
  }
};

}  // namespace

Parallax find_parallax(View<const float, 3> middle, View<const float, 3> right, View<const float, 3> next) {
  for (const auto* other : {&right, &next}) {
    if (other->shape() != middle.shape()) {
      throw_argument("find_parallax", other == &right ? "right" : "next", "the shape of middle", "another");
    }
  }
  constexpr std::int64_t scale = 4;
  constexpr std::int64_t square = 4;
  constexpr double clearly = 2;
  std::int64_t ny = 0;
  std::int64_t nx = 0;
  const auto a = shrunk(middle, scale, ny, nx);
  const auto u = shrunk(right, scale, ny, nx);
  const auto v = shrunk(next, scale, ny, nx);
  const auto at = [&](std::int64_t row, std::int64_t column) { return static_cast<std::size_t>(row * nx + column); };
  Evidence evidence;
  for (std::int64_t top = 1; top + square < ny; top += square) {
    for (std::int64_t left = 1; left + square < nx; left += square) {
      SquareSums sums;
      for (std::int64_t row = top; row < top + square; ++row) {
        for (std::int64_t column = left; column < left + square; ++column) {
          const double dx = 0.5 * (a[at(row, column + 1)] - a[at(row, column - 1)]);
          const double dy = 0.5 * (a[at(row + 1, column)] - a[at(row - 1, column)]);
          const double du = u[at(row, column)] - a[at(row, column)];
          const double dv = v[at(row, column)] - a[at(row, column)];
          sums.xx += dx * dx;
          sums.yy += dy * dy;
          sums.ux += dx * du;
          sums.uy += dy * du;
          sums.vx += dx * dv;
          sums.vy += dy * dv;
        }
      }
      evidence.add(sums);
    }
  }
  const auto& e = evidence;
  const bool swapped =
      e.u_across > e.u_along && e.v_across > e.v_along && e.u_across + e.v_across > clearly * (e.u_along + e.v_along);
  return {e.agreement < 0, swapped};
}

}  // namespace holotone
