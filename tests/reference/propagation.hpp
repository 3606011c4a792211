#pragma once
// Propagation in float64, in the plainest form. Includes nothing of the library.
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <tests/reference/dft.hpp>
#include <vector>

namespace reference {

using Complex = std::complex<double>;

/// Pixel (row, col) has its centre at x = (col - (nx-1)/2) pitch, y = ((ny-1)/2 - row) pitch.
struct Plane {
  std::int64_t ny = 0;
  std::int64_t nx = 0;
  double pitch_m = 0;
  [[nodiscard]] double x(std::int64_t col) const {
    return (static_cast<double>(col) - static_cast<double>(nx - 1) / 2) * pitch_m;
  }
  [[nodiscard]] double y(std::int64_t row) const {
    return (static_cast<double>(ny - 1) / 2 - static_cast<double>(row)) * pitch_m;
  }
  [[nodiscard]] std::size_t at(std::int64_t row, std::int64_t col) const {
    return static_cast<std::size_t>(row * nx + col);
  }
  [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(ny * nx); }
};

inline constexpr double pi = 3.14159265358979323846;

/// exp(2 pi i turns) with the integer part removed first.
inline Complex turn(double turns) { return std::polar(1.0, 2 * pi * (turns - std::floor(turns))); }

/// The smallest even number >= minimum whose prime factors are 2, 3, 5 and 7.
inline std::int64_t padded_size(std::int64_t minimum) {
  std::int64_t size = minimum + minimum % 2;
  for (;; size += 2) {
    std::int64_t rest = size;
    for (const std::int64_t prime : {2, 3, 5, 7}) {
      while (rest % prime == 0) rest /= prime;
    }
    if (rest == 1) return size;
  }
}

/// Angular spectrum on an ly x lx window, with the limits |d| f / w <= 1 / (2 df) of Matsushima and Shimobaba 2009.
inline std::vector<Complex> angular_spectrum(const std::vector<Complex>& field, const Plane& plane, double wavelength_m,
                                             double distance_m, std::int64_t ly, std::int64_t lx, bool band_limit) {
  std::vector<Complex> window(static_cast<std::size_t>(ly * lx));
  for (std::int64_t row = 0; row < plane.ny; ++row) {
    for (std::int64_t col = 0; col < plane.nx; ++col) {
      window[static_cast<std::size_t>(row * lx + col)] = field[plane.at(row, col)];
    }
  }
  auto spectrum = dft(window, ly, lx, -1);
  const double df_x = 1 / (static_cast<double>(lx) * plane.pitch_m);
  const double df_y = 1 / (static_cast<double>(ly) * plane.pitch_m);
  for (std::int64_t ky = 0; ky < ly; ++ky) {
    for (std::int64_t kx = 0; kx < lx; ++kx) {
      const double fx = df_x * static_cast<double>(2 * kx <= lx ? kx : kx - lx);
      const double fy = df_y * static_cast<double>(2 * ky <= ly ? ky : ky - ly);
      const double squared = 1 / (wavelength_m * wavelength_m) - fx * fx - fy * fy;
      Complex h = 0;
      if (squared > 0) {
        const double w = std::sqrt(squared);
        const double d = std::abs(distance_m);
        const bool kept = d * std::abs(fx) / w <= 1 / (2 * df_x) && d * std::abs(fy) / w <= 1 / (2 * df_y);
        if (kept || !band_limit) h = turn(distance_m * w);
      }
      spectrum[static_cast<std::size_t>(ky * lx + kx)] *= h / static_cast<double>(lx * ly);
    }
  }
  const auto propagated = dft(spectrum, ly, lx, +1);
  std::vector<Complex> result(plane.size());
  for (std::int64_t row = 0; row < plane.ny; ++row) {
    for (std::int64_t col = 0; col < plane.nx; ++col) {
      result[plane.at(row, col)] = propagated[static_cast<std::size_t>(row * lx + col)];
    }
  }
  return result;
}

/// The Fresnel integral as a sum over every pixel, for every output pixel. The output has its own pitch.
///   exp(ikd) / (i lambda d) sum pitch^2 U(x, y) exp(i pi ((x' - x)^2 + (y' - y)^2) / (lambda d))
inline std::vector<Complex> fresnel_sum(const std::vector<Complex>& field, const Plane& plane, double output_pitch_m,
                                        double wavelength_m, double distance_m) {
  const Plane output{plane.ny, plane.nx, output_pitch_m};
  const double rate = 1 / (2 * wavelength_m * distance_m);
  // The kernel is a product: first over x for every row, then over y.
  std::vector<Complex> partial(plane.size());
  for (std::int64_t row = 0; row < plane.ny; ++row) {
    for (std::int64_t to = 0; to < plane.nx; ++to) {
      Complex sum = 0;
      for (std::int64_t col = 0; col < plane.nx; ++col) {
        sum += field[plane.at(row, col)] * turn(rate * std::pow(output.x(to) - plane.x(col), 2));
      }
      partial[plane.at(row, to)] = sum;
    }
  }
  const Complex factor =
      turn(distance_m / wavelength_m) * plane.pitch_m * plane.pitch_m / (Complex(0, 1) * wavelength_m * distance_m);
  std::vector<Complex> result(plane.size());
  for (std::int64_t to = 0; to < plane.ny; ++to) {
    for (std::int64_t row = 0; row < plane.ny; ++row) {
      const Complex weight = factor * turn(rate * std::pow(output.y(to) - plane.y(row), 2));
      for (std::int64_t col = 0; col < plane.nx; ++col)
        result[plane.at(to, col)] += weight * partial[plane.at(row, col)];
    }
  }
  return result;
}

/// The first Rayleigh-Sommerfeld integral as a sum over every pixel, at one point of the plane at distance_m > 0:
///   sum pitch^2 U exp(ikr)/(2 pi r) d/r (1/r - ik)
inline Complex rayleigh_sommerfeld(const std::vector<Complex>& field, const Plane& plane, double wavelength_m,
                                   double distance_m, double x, double y) {
  Complex sum = 0;
  for (std::int64_t row = 0; row < plane.ny; ++row) {
    for (std::int64_t col = 0; col < plane.nx; ++col) {
      const double r = std::hypot(x - plane.x(col), y - plane.y(row), distance_m);
      sum += field[plane.at(row, col)] * turn(r / wavelength_m) * (distance_m / (2 * pi * r * r)) *
             Complex(1 / r, -2 * pi / wavelength_m);
    }
  }
  return sum * plane.pitch_m * plane.pitch_m;
}

/// A Gaussian beam of waist radius w0 (1/e^2 of intensity) at z = 0, with amplitude 1 there, by the paraxial formula
/// at z (Saleh and Teich, Fundamentals of Photonics, Eq. (3.1-7), with phasor exp(-i omega t)).
inline Complex gaussian_beam(double w0, double wavelength_m, double x, double y, double z) {
  const double rayleigh = pi * w0 * w0 / wavelength_m;
  const Complex q(1, z / rayleigh);  // 1 + i z / zR
  const double r2 = x * x + y * y;
  return turn(z / wavelength_m) / q * std::exp(-r2 / (w0 * w0) / q);
}

}  // namespace reference
