#pragma once
// Matrices of at most four rows and slices of components in float64, the same on every device. Not for users.
#include <array>
#include <cmath>
#include <holotone/core/random.hpp>  // HOLOTONE_HOST_DEVICE
#include <holotone/smoe/model.hpp>
#include <optional>

// Loops of constant length on a GPU keep small matrices in registers once they are unrolled.
#if defined(__CUDA_ARCH__)
#define HOLOTONE_UNROLL _Pragma("unroll")
#else
#define HOLOTONE_UNROLL
#endif

namespace holotone::smoe {

using Vector = std::array<double, max_smoe_dimensions>;
using Matrix = std::array<Vector, max_smoe_dimensions>;

/// Symmetric matrix from its lower triangle, row by row.
HOLOTONE_HOST_DEVICE inline Matrix symmetric(const float* triangle, int d) {
  Matrix m{};
  HOLOTONE_UNROLL for (int row = 0; row < d; ++row) {
    HOLOTONE_UNROLL for (int column = 0; column <= row; ++column) m[row][column] = m[column][row] =
        static_cast<double>(*triangle++);
  }
  return m;
}

/// Cholesky's factor l of m = l l^T; false unless m is positive definite.
HOLOTONE_HOST_DEVICE inline bool factor(const Matrix& m, int d, Matrix& l) {
  HOLOTONE_UNROLL for (int row = 0; row < d; ++row) {
    HOLOTONE_UNROLL for (int column = 0; column <= row; ++column) {
      double sum = m[row][column];
      HOLOTONE_UNROLL for (int k = 0; k < column; ++k) sum -= l[row][k] * l[column][k];
      if (row == column) {
        if (!(sum > 0) || !std::isfinite(sum)) return false;
        l[row][row] = std::sqrt(sum);
      } else {
        l[row][column] = sum / l[column][column];
      }
    }
  }
  return true;
}

inline std::optional<Matrix> cholesky(const Matrix& m, int d) {
  Matrix l{};
  return factor(m, d, l) ? std::optional(l) : std::nullopt;
}

/// L^-1 b
HOLOTONE_HOST_DEVICE inline Vector forward_solve(const Matrix& l, Vector b, int d) {
  HOLOTONE_UNROLL for (int row = 0; row < d; ++row) {
    HOLOTONE_UNROLL for (int k = 0; k < row; ++k) b[row] -= l[row][k] * b[k];
    b[row] /= l[row][row];
  }
  return b;
}

/// L^-T b
HOLOTONE_HOST_DEVICE inline Vector backward_solve(const Matrix& l, Vector b, int d) {
  HOLOTONE_UNROLL for (int row = d - 1; row >= 0; --row) {
    HOLOTONE_UNROLL for (int k = row + 1; k < d; ++k) b[row] -= l[k][row] * b[k];
    b[row] /= l[row][row];
  }
  return b;
}

/// Pointers to a model's numbers in memory of its device (shapes as in SmoeModel).
struct ModelNumbers {
  const float* log_weight;
  const float* centre;
  const float* covariance;
  const float* colour;
  const float* slope;
  int channels;
};
inline ModelNumbers count_numbers(const SmoeModel& model) {
  return {model.log_weight.data(), model.centre.data(), model.covariance.data(),
          model.colour.data(),     model.slope.data(),  model.channels};
}

/// One component with the last coordinates fixed (see slice).
struct Slice {
  double log_weight = 0;
  Vector centre{};
  Matrix covariance{};
  double colour[max_smoe_channels] = {};
};

/// Slices component j of d coordinates at the last b, which are `fixed`. A covariance at the limits of float64 gives
/// NaN, which callers reject.
HOLOTONE_HOST_DEVICE inline Slice slice_component(const ModelNumbers& model, int d, std::int64_t j, const double* fixed,
                                                  int b) {
  const int a = d - b;
  const Matrix r = symmetric(model.covariance + j * triangle_size(d), d);
  const float* const centre = model.centre + j * d;
  Slice slice;
  Matrix inner{};
  Vector away{};
  HOLOTONE_UNROLL for (int row = 0; row < b; ++row) {
    away[row] = fixed[row] - static_cast<double>(centre[a + row]);
    HOLOTONE_UNROLL for (int column = 0; column < b; ++column) inner[row][column] = r[a + row][a + column];
  }
  slice.log_weight = static_cast<double>(model.log_weight[j]);
  Matrix l{};
  if (!factor(inner, b, l)) l = {};
  const Vector scaled = forward_solve(l, away, b);
  HOLOTONE_UNROLL for (int k = 0; k < b; ++k) {
    constexpr double half_log_2_pi = 0.91893853320467274178;
    slice.log_weight -= 0.5 * scaled[k] * scaled[k] + std::log(l[k][k]) + half_log_2_pi;
  }
  Matrix half{};  // rows: L^-1 R_BA, one for each coordinate of A
  Vector shift{};
  HOLOTONE_UNROLL for (int row = 0; row < a; ++row) {
    Vector across{};
    HOLOTONE_UNROLL for (int k = 0; k < b; ++k) across[k] = r[row][a + k];
    half[row] = forward_solve(l, across, b);
    HOLOTONE_UNROLL for (int k = 0; k < b; ++k) shift[row] += half[row][k] * scaled[k];
    slice.centre[row] = static_cast<double>(centre[row]) + shift[row];
    HOLOTONE_UNROLL for (int column = 0; column <= row; ++column) {
      double sum = r[row][column];
      HOLOTONE_UNROLL for (int k = 0; k < b; ++k) sum -= half[row][k] * half[column][k];
      slice.covariance[row][column] = slice.covariance[column][row] = sum;
    }
  }
  HOLOTONE_UNROLL for (int c = 0; c < max_smoe_channels; ++c) {
    if (c >= model.channels) break;
    const float* const slope = model.slope + (j * model.channels + c) * d;
    slice.colour[c] = static_cast<double>(model.colour[j * model.channels + c]);
    HOLOTONE_UNROLL for (int axis = 0; axis < a; ++axis) slice.colour[c] +=
        static_cast<double>(slope[axis]) * shift[axis];
    HOLOTONE_UNROLL for (int k = 0; k < b; ++k) slice.colour[c] += static_cast<double>(slope[a + k]) * away[k];
  }
  return slice;
}

/// Log2 density of a component in a plane, up to a summand that all components share:
///   log2(pi N) = peak - u^2 - v^2,   u = across dx,   v = skew dx + down dy
struct PlaneShape {
  double across = 0;
  double skew = 0;
  double down = 0;
  double peak = 0;
};

/// Computes the shape in units of `step_x` and `step_y`; false for a covariance that is not positive definite.
HOLOTONE_HOST_DEVICE inline bool plane_shape(const Slice& slice, double step_x, double step_y, PlaneShape& shape) {
  constexpr double scale = 0.84932180028801904272;  // sqrt(log2(e) / 2)
  constexpr double log2_e = 1.44269504088896340736;
  Matrix l{};
  if (!factor(slice.covariance, 2, l) || !std::isfinite(slice.log_weight)) return false;
  const double a = l[0][0] / step_x;
  const double b = l[1][0] / step_y;
  const double c = l[1][1] / step_y;
  shape = {scale / a, -scale * b / (a * c), scale / c, slice.log_weight * log2_e - std::log2(a * c)};
  return true;
}

}  // namespace holotone::smoe
