#pragma once
// The test of an adjoint by dot products, in float64.
#include <cmath>
#include <complex>
#include <cstddef>
#include <iterator>

namespace support {

/// |<A x, y> - <x, A* y>| / |<A x, y>| with <a, b> = sum conj(a) b.
template <class There, class Y, class X, class Back>
double adjoint_error(const There& there, const Y& y, const X& x, const Back& back) {
  const auto product = [](const auto& a, const auto& b) {
    std::complex<double> sum = 0;
    for (std::size_t i = 0; i < std::size(a); ++i)
      sum += std::conj(std::complex<double>(a[i])) * std::complex<double>(b[i]);
    return sum;
  };
  const auto left = product(there, y);
  const double error = std::abs(left - product(x, back)) / std::abs(left);
  return std::isnan(error) ? INFINITY : error;
}

}  // namespace support
