#pragma once
// The discrete Fourier transform in float64, in the plainest form. Includes nothing of the library.
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace reference {

/// sum_n x[n] exp(sign 2 pi i k n / N) along rows, then along columns, of a row-major {ny, nx} array; O(N (nx + ny)).
inline std::vector<std::complex<double>> dft(const std::vector<std::complex<double>>& values, std::int64_t ny,
                                             std::int64_t nx, int sign) {
  constexpr double pi = 3.14159265358979323846;
  // exp(sign 2 pi i k n / N) only depends on k n modulo N.
  const auto roots = [&](std::int64_t count) {
    std::vector<std::complex<double>> all(static_cast<std::size_t>(count));
    for (std::int64_t j = 0; j < count; ++j) {
      all[static_cast<std::size_t>(j)] =
          std::polar(1.0, sign * 2 * pi * static_cast<double>(j) / static_cast<double>(count));
    }
    return all;
  };
  const auto at = [&](std::int64_t y, std::int64_t x) { return static_cast<std::size_t>(y * nx + x); };
  const auto root_x = roots(nx);
  const auto root_y = roots(ny);
  std::vector<std::complex<double>> rows(values.size());
  for (std::int64_t y = 0; y < ny; ++y) {
    for (std::int64_t k = 0; k < nx; ++k) {
      std::complex<double> sum = 0;
      for (std::int64_t x = 0; x < nx; ++x) sum += values[at(y, x)] * root_x[static_cast<std::size_t>(k * x % nx)];
      rows[at(y, k)] = sum;
    }
  }
  std::vector<std::complex<double>> result(values.size());
  for (std::int64_t k = 0; k < ny; ++k) {
    for (std::int64_t y = 0; y < ny; ++y) {
      const auto root = root_y[static_cast<std::size_t>(k * y % ny)];
      for (std::int64_t x = 0; x < nx; ++x) result[at(k, x)] += rows[at(y, x)] * root;
    }
  }
  return result;
}

}  // namespace reference
