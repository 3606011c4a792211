#pragma once
// Matrices of at most four rows and slices of components in float64. Not for users.
#include <array>
#include <cmath>
#include <holotone/smoe/model.hpp>
#include <optional>

namespace holotone::smoe {

using Vector = std::array<double, most_smoe_dimensions>;
using Matrix = std::array<Vector, most_smoe_dimensions>;

/// From the lower triangle, row by row.
inline Matrix symmetric(const float* triangle, int d) {
  Matrix m{};
  for (int row = 0; row < d; ++row) {
    for (int column = 0; column <= row; ++column) m[row][column] = m[column][row] = static_cast<double>(*triangle++);
  }
  return m;
}

/// L of m = L L^T, none unless m is positive definite.
inline std::optional<Matrix> cholesky(const Matrix& m, int d) {
  Matrix l{};
  for (int row = 0; row < d; ++row) {
    for (int column = 0; column <= row; ++column) {
      double sum = m[row][column];
      for (int k = 0; k < column; ++k) sum -= l[row][k] * l[column][k];
      if (row == column) {
        if (!(sum > 0) || !std::isfinite(sum)) return std::nullopt;
        l[row][row] = std::sqrt(sum);
      } else {
        l[row][column] = sum / l[column][column];
      }
    }
  }
  return l;
}

/// L^-1 b
inline Vector forward_solve(const Matrix& l, Vector b, int d) {
  for (int row = 0; row < d; ++row) {
    for (int k = 0; k < row; ++k) b[row] -= l[row][k] * b[k];
    b[row] /= l[row][row];
  }
  return b;
}

/// L^-T b
inline Vector backward_solve(const Matrix& l, Vector b, int d) {
  for (int row = d - 1; row >= 0; --row) {
    for (int k = row + 1; k < d; ++k) b[row] -= l[k][row] * b[k];
    b[row] /= l[row][row];
  }
  return b;
}

/// One component where the last coordinates are fixed (see slice).
struct Slice {
  double log_weight = 0;
  Vector centre{};
  Matrix covariance{};
  std::array<double, most_smoe_channels> colour{};
};
Slice slice_component(const SmoeModel& model, std::int64_t j, std::span<const double> fixed);

}  // namespace holotone::smoe
