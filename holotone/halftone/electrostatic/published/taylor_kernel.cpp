// The paper's regularised kernel and its spectrum in float64 (Gwosdek et al., Eq. (5) to (9)).
#include <cmath>
#include <holotone/halftone/electrostatic/settings.hpp>
#include <holotone/halftone/electrostatic/transform_cpu.hpp>

namespace holotone::electrostatic {
namespace {

using Complex = std::complex<double>;

}  // namespace

double regularised_kernel(const Setup& setup, double r) {
  const int degree = setup.options.taylor_degree;
  const double begin = (1 - setup.border) / 2;
  if (r < setup.inner) {
    // In t = r^2 the kernel is 1 / t: its Taylor polynomial at t = inner^2 meets all `degree` derivatives at +-inner.
    const double t0 = setup.inner * setup.inner;
    double sum = 0;
    for (int k = degree - 1; k >= 0; --k) sum = sum * (1 - r * r / t0) + 1;
    return sum / t0;
  }
  if (r < begin) return 1 / (r * r);
  if (r >= 0.5) return 4;
  // Two-point Taylor interpolation between `begin` (derivatives of 1 / r^2) and 1/2 (value 4, derivatives 0), with y
  // from 1 to 0:
  //   P = y^p sum_j c_j (1 - y)^j-form of the difference to 4, c_j from the derivatives at `begin`.
  const double length = 0.5 - begin;
  const double z = (r - begin) / length;  // 0 at begin, 1 at the border
  // Taylor coefficients of (1 / r^2 - 4) in z at 0, divided by those of (1 - z)^p.
  double result = 0;
  double power = 1;
  std::vector<double> quotient(static_cast<std::size_t>(degree));
  for (int j = 0; j < degree; ++j) {
    double value = (j % 2 == 0 ? 1 : -1) * (j + 1) * std::pow(length / begin, j) / (begin * begin) - (j == 0 ? 4 : 0);
    double binomial = 1;  // of (1 - z)^p: (-1)^i (p over i)
    for (int i = 1; i <= j; ++i) {
      binomial *= -static_cast<double>(degree - i + 1) / i;
      value -= binomial * quotient[static_cast<std::size_t>(j - i)];
    }
    quotient[static_cast<std::size_t>(j)] = value;
    result += value * power;
    power *= z;
  }
  return 4 + result * std::pow(1 - z, degree);
}

std::vector<double> regularised_spectrum(const Setup& setup) {
  const std::int64_t n = setup.modes;
  std::vector<Complex> kernel(static_cast<std::size_t>(n * n));
  parallel_for(0, n, [&](std::int64_t y) {
    const double dy = static_cast<double>(signed_frequency(y, n)) / static_cast<double>(n);
    for (std::int64_t x = 0; x < n; ++x) {
      const double dx = static_cast<double>(signed_frequency(x, n)) / static_cast<double>(n);
      kernel[static_cast<std::size_t>(y * n + x)] = regularised_kernel(setup, std::hypot(dx, dy));
    }
  });
  transform_2d(kernel.data(), n, n, FftDirection::forward);
  std::vector<double> table(kernel.size());
  for (std::int64_t y = 0; y < n; ++y) {
    for (std::int64_t x = 0; x < n; ++x) {
      const auto from = static_cast<std::size_t>((y + n / 2) % n * n + (x + n / 2) % n);
      table[static_cast<std::size_t>(y * n + x)] = kernel[from].real() / static_cast<double>(n * n);
    }
  }
  return table;
}

}  // namespace holotone::electrostatic
