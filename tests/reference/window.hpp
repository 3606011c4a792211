#pragma once
// Light in a window of the spectrum as signal and noise, in float64 and written out. Includes nothing of the library.
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <tests/reference/dft.hpp>
#include <utility>
#include <vector>

namespace reference {

/// Pixels {ny, nx} of a field and of the codes' light, and their window: centre and sides in cycles a pixel, to the
/// right and downwards.
struct Windowed {
  std::vector<std::complex<double>> field;
  std::vector<std::complex<double>> light;
  std::int64_t ny = 0;
  std::int64_t nx = 0;
  double xi = 0;
  double eta = 0;
  double width = 0;
  double height = 0;
};

/// Phase of the waves from a pixel at (x, y) to a place at (to_x, to_y, z), less its value and slope at (0, 0).
inline std::complex<double> curvature(double x, double y, double to_x, double to_y, double z, double wavelength) {
  const double r = std::sqrt(std::pow(to_x - x, 2) + std::pow(to_y - y, 2) + z * z);
  const double r0 = std::sqrt(to_x * to_x + to_y * to_y + z * z);
  const double path = r - r0 + (to_x * x + to_y * y) / r0;
  return std::polar(1.0, 2 * 3.14159265358979323846 * path / wavelength);
}

/// Pairs of amplitudes (H, Q) at the frequencies of the window, over the number of pixels.
inline std::vector<std::pair<std::complex<double>, std::complex<double>>> amplitudes(const Windowed& part) {
  const auto field = dft(part.field, part.ny, part.nx, -1);
  const auto light = dft(part.light, part.ny, part.nx, -1);
  const auto pixels = static_cast<double>(part.ny * part.nx);
  std::vector<std::pair<std::complex<double>, std::complex<double>>> all;
  for (std::int64_t v = -(part.ny / 2); v < part.ny - part.ny / 2; ++v) {
    for (std::int64_t u = -(part.nx / 2); u < part.nx - part.nx / 2; ++u) {
      if (std::abs(static_cast<double>(u) / static_cast<double>(part.nx) - part.xi) > part.width / 2) continue;
      if (std::abs(static_cast<double>(v) / static_cast<double>(part.ny) - part.eta) > part.height / 2) continue;
      const auto at = [&](std::int64_t y, std::int64_t x) {
        return static_cast<std::size_t>((y + part.ny) % part.ny * part.nx + (x + part.nx) % part.nx);
      };
      all.emplace_back(field[at(v, u)] / pixels, light[at(v, u)] / pixels);
    }
  }
  return all;
}

struct Seen {
  double signal = 0;
  double noise = 0;
};

/// The gain of least squares of all parts together, then the light of signal and noise with it.
inline Seen seen(const std::vector<Windowed>& parts) {
  std::complex<double> product = 0;
  double norm = 0;
  for (const auto& part : parts) {
    for (const auto& [h, q] : amplitudes(part)) {
      product += std::conj(h) * q;
      norm += std::norm(h);
    }
  }
  const auto gain = product / norm;
  Seen sums;
  for (const auto& part : parts) {
    for (const auto& [h, q] : amplitudes(part)) {
      sums.signal += std::norm(gain * h);
      sums.noise += std::norm(q - gain * h);
    }
  }
  return sums;
}

}  // namespace reference
