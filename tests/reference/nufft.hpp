#pragma once
// Non-uniform Fourier sums in float64, in the plainest form. Includes nothing of the library.
#include <array>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace reference {

/// The modes k of a row-major shape (fastest axis first in each entry), k = -floor(n / 2) .. on every axis.
template <std::size_t Rank>
std::vector<std::array<std::int64_t, Rank>> nufft_modes(const std::array<std::int64_t, Rank>& shape) {
  std::int64_t count = 1;
  for (const auto extent : shape) count *= extent;
  std::vector<std::array<std::int64_t, Rank>> modes(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t rest = i;
    for (std::size_t axis = 0; axis < Rank; ++axis) {
      const std::int64_t extent = shape[Rank - 1 - axis];
      modes[static_cast<std::size_t>(i)][axis] = rest % extent - extent / 2;
      rest /= extent;
    }
  }
  return modes;
}

/// 2 pi k.x with the whole turns of each product removed first.
template <std::size_t Rank, class Real>
double nufft_angle(const std::array<std::int64_t, Rank>& mode, const Real* point) {
  double turns = 0;
  for (std::size_t axis = 0; axis < Rank; ++axis) {
    const double product = static_cast<double>(mode[axis]) * static_cast<double>(point[axis]);
    turns += product - std::round(product);
  }
  return 2 * 3.14159265358979323846 * turns;
}

/// F[k] = sum_j c_j exp(-2 pi i k.x_j).
template <std::size_t Rank, class Real>
std::vector<std::complex<double>> nufft_type1(const std::array<std::int64_t, Rank>& shape,
                                              const std::vector<Real>& points,
                                              const std::vector<std::complex<Real>>& strengths) {
  const auto modes = nufft_modes<Rank>(shape);
  std::vector<std::complex<double>> result(modes.size());
  for (std::size_t i = 0; i < modes.size(); ++i) {
    for (std::size_t j = 0; j < strengths.size(); ++j) {
      result[i] +=
          std::complex<double>(strengths[j]) * std::polar(1.0, -nufft_angle<Rank>(modes[i], &points[j * Rank]));
    }
  }
  return result;
}

/// c_j = sum_k F[k] exp(2 pi i k.x_j) and, Rank after Rank, its gradient by x_j.
template <std::size_t Rank, class Real>
void nufft_type2(const std::array<std::int64_t, Rank>& shape, const std::vector<Real>& points,
                 const std::vector<std::complex<Real>>& modes_values, std::vector<std::complex<double>>& values,
                 std::vector<std::complex<double>>& gradient) {
  const auto modes = nufft_modes<Rank>(shape);
  values.assign(points.size() / Rank, 0);
  gradient.assign(points.size(), 0);
  for (std::size_t j = 0; j < values.size(); ++j) {
    for (std::size_t i = 0; i < modes.size(); ++i) {
      const auto term =
          std::complex<double>(modes_values[i]) * std::polar(1.0, nufft_angle<Rank>(modes[i], &points[j * Rank]));
      values[j] += term;
      for (std::size_t axis = 0; axis < Rank; ++axis) {
        gradient[j * Rank + axis] +=
            term * std::complex<double>(0, 2 * 3.14159265358979323846 * static_cast<double>(modes[i][axis]));
      }
    }
  }
}

}  // namespace reference
