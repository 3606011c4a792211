#pragma once
// Small matrices as section 5 of Avramelos et al. 2020 has them, on the CPU and on CUDA: inverses in closed form,
// Cholesky's factors, QR.
#include <array>
#include <cmath>
#include <cstddef>
#include <holotone/core/random.hpp>  // HOLOTONE_HOST_DEVICE

namespace bench {

template <class Real, int D>
using SmallVector = std::array<Real, D>;
template <class Real, int D>
using SmallMatrix = std::array<SmallVector<Real, D>, D>;

// On CUDA the fast approximations that the paper's OpenCL decoder uses (native_sqrt, native_log, native_exp).
HOLOTONE_HOST_DEVICE inline double native_root(double x) { return std::sqrt(x); }
HOLOTONE_HOST_DEVICE inline double native_log(double x) { return std::log(x); }
HOLOTONE_HOST_DEVICE inline double native_exp(double x) { return std::exp(x); }
#if defined(__CUDA_ARCH__)
HOLOTONE_HOST_DEVICE inline float native_root(float x) { return x * rsqrtf(x); }
HOLOTONE_HOST_DEVICE inline float native_log(float x) { return __logf(x); }
HOLOTONE_HOST_DEVICE inline float native_exp(float x) { return __expf(x); }
#else
HOLOTONE_HOST_DEVICE inline float native_root(float x) { return std::sqrt(x); }
HOLOTONE_HOST_DEVICE inline float native_log(float x) { return std::log(x); }
HOLOTONE_HOST_DEVICE inline float native_exp(float x) { return std::exp(x); }
#endif

/// Cofactor of a matrix of two or four rows, by the minors without a row and a column.
template <class Real, int D>
HOLOTONE_HOST_DEVICE Real cofactor(const SmallMatrix<Real, D>& r, int without_row, int without_column) {
  const auto at = [&](int row, int column) {
    return r[row + (row >= without_row ? 1 : 0)][column + (column >= without_column ? 1 : 0)];
  };
  const Real sign = (without_row + without_column) % 2 == 0 ? Real(1) : Real(-1);
  if constexpr (D == 2) {
    return sign * at(0, 0);
  } else {
    static_assert(D == 4);
    const auto minor = [&](int a, int b) { return at(1, a) * at(2, b) - at(1, b) * at(2, a); };
    return sign * (at(0, 0) * minor(1, 2) - at(0, 1) * minor(0, 2) + at(0, 2) * minor(0, 1));
  }
}

/// Inverse of a symmetric matrix of two or four rows in closed form, and its determinant.
template <class Real, int D>
HOLOTONE_HOST_DEVICE SmallMatrix<Real, D> inverse_of(const SmallMatrix<Real, D>& r, Real& determinant) {
  SmallMatrix<Real, D> inverse{};
  determinant = 0;
  for (int row = 0; row < D; ++row) {
    for (int column = 0; column < D; ++column) inverse[row][column] = cofactor<Real, D>(r, row, column);
    determinant += r[row][0] * inverse[row][0];
  }
  for (int row = 0; row < D; ++row) {
    for (int column = 0; column < D; ++column) inverse[row][column] /= determinant;
  }
  return inverse;
}

template <class Real, int D>
HOLOTONE_HOST_DEVICE SmallVector<Real, D> product(const SmallMatrix<Real, D>& m, const SmallVector<Real, D>& x) {
  SmallVector<Real, D> y{};
  for (int row = 0; row < D; ++row) {
    for (int column = 0; column < D; ++column) y[row] += m[row][column] * x[column];
  }
  return y;
}

/// Lower triangle L of r = L L^T.
template <class Real, int D>
HOLOTONE_HOST_DEVICE SmallMatrix<Real, D> cholesky_of(const SmallMatrix<Real, D>& r) {
  SmallMatrix<Real, D> l{};
  for (int row = 0; row < D; ++row) {
    for (int column = 0; column <= row; ++column) {
      Real rest = r[row][column];
      for (int k = 0; k < column; ++k) rest -= l[row][k] * l[column][k];
      l[row][column] = row == column ? native_root(rest) : rest / l[column][column];
    }
  }
  return l;
}

/// A square matrix as Q R P^T by Householder's reflections; P is the identity without `Pivots`.
template <class Real, int D, bool Pivots>
class Qr {
 public:
  using Vector = SmallVector<Real, D>;
  using Matrix = SmallMatrix<Real, D>;

  HOLOTONE_HOST_DEVICE explicit Qr(const Matrix& m) : r_(m) {
    for (int k = 0; k < D; ++k) column_[k] = k;
    for (int k = 0; k + 1 < D; ++k) {
      if constexpr (Pivots) bring_longest(k);
      reflect(k);
    }
  }

  /// Solves m x = b.
  HOLOTONE_HOST_DEVICE [[nodiscard]] Vector solve(Vector b) const {
    for (int k = 0; k + 1 < D; ++k) {
      Real along = 0;
      for (int row = k; row < D; ++row) along += mirror_[k][row] * b[row];
      for (int row = k; row < D; ++row) b[row] -= 2 * along * mirror_[k][row];
    }
    Vector x{};
    for (int row = D - 1; row >= 0; --row) {
      for (int k = row + 1; k < D; ++k) b[row] -= r_[row][k] * b[k];
      b[row] /= r_[row][row];
      x[Pivots ? column_[row] : row] = b[row];
    }
    return x;
  }

 private:
  HOLOTONE_HOST_DEVICE void bring_longest(int k) {
    int longest = k;
    Real most = -1;
    for (int column = k; column < D; ++column) {
      Real length = 0;
      for (int row = k; row < D; ++row) length += r_[row][column] * r_[row][column];
      if (length > most) {
        longest = column;
        most = length;
      }
    }
    const auto exchange = [](auto& a, auto& b) {
      const auto before = a;
      a = b;
      b = before;
    };
    for (int row = 0; row < D; ++row) exchange(r_[row][k], r_[row][longest]);
    exchange(column_[k], column_[longest]);
  }
  HOLOTONE_HOST_DEVICE void reflect(int k) {
    Real square = 0;
    for (int row = k; row < D; ++row) square += r_[row][k] * r_[row][k];
    Vector& v = mirror_[k];
    for (int row = k; row < D; ++row) v[row] = r_[row][k];
    v[k] += r_[k][k] < 0 ? -native_root(square) : native_root(square);
    Real exponent = 0;
    for (int row = k; row < D; ++row) exponent += v[row] * v[row];
    const Real length = native_root(exponent);
    for (int row = k; row < D; ++row) v[row] /= length;
    for (int column = k; column < D; ++column) {
      Real along = 0;
      for (int row = k; row < D; ++row) along += v[row] * r_[row][column];
      for (int row = k; row < D; ++row) r_[row][column] -= 2 * along * v[row];
    }
  }

  Matrix r_;
  std::array<Vector, D> mirror_{};
  std::array<int, D> column_{};
};

}  // namespace bench
