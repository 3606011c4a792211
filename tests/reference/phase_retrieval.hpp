#pragma once
// Loss of phase retrieval in float64, in the plainest form. Includes nothing of the library.
#include <algorithm>
#include <array>
#include <tests/reference/propagation.hpp>

namespace reference {

struct RetrievalCase {
  Plane plane;
  double wavelength_m = 0;
  double distance_m = 0;
  std::int64_t row = 0, column = 0, rows = 0, columns = 0;  ///< signal region
  std::vector<std::array<double, 2>> positions;             ///< in pixels, down and to the right
};

/// A picture between its samples, by its cosine series along both axes; 0 where that is negative.
inline std::vector<double> moved_picture(const std::vector<double>& picture, const Plane& plane, double down,
                                         double right) {
  const auto along = [](std::int64_t n, double move) {
    std::vector<double> matrix(static_cast<std::size_t>(n * n));  // moved sample, sample
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = 0; j < n; ++j) {
        double sum = 0;
        for (std::int64_t k = 0; k < n; ++k) {
          const double step = pi * static_cast<double>(k) / static_cast<double>(n);
          sum += (k == 0 ? 1.0 : 2.0) / static_cast<double>(n) * std::cos(step * (static_cast<double>(j) + 0.5)) *
                 std::cos(step * (static_cast<double>(i) + move + 0.5));
        }
        matrix[static_cast<std::size_t>(i * n + j)] = sum;
      }
    }
    return matrix;
  };
  const auto y = along(plane.ny, down);
  const auto x = along(plane.nx, right);
  std::vector<double> moved(plane.size());
  for (std::int64_t row = 0; row < plane.ny; ++row) {
    for (std::int64_t col = 0; col < plane.nx; ++col) {
      double sum = 0;
      for (std::int64_t r = 0; r < plane.ny; ++r) {
        for (std::int64_t c = 0; c < plane.nx; ++c) {
          sum += y[static_cast<std::size_t>(row * plane.ny + r)] * x[static_cast<std::size_t>(col * plane.nx + c)] *
                 picture[plane.at(r, c)];
        }
      }
      moved[plane.at(row, col)] = std::max(0.0, sum);
    }
  }
  return moved;
}

/// The light of a field at a distance, sampled beside the pixels: the angular spectrum with a shift of its spectrum.
inline std::vector<Complex> moved_light(const std::vector<Complex>& field, const RetrievalCase& c, double down,
                                        double right) {
  const std::int64_t ly = padded_size(2 * c.plane.ny);
  const std::int64_t lx = padded_size(2 * c.plane.nx);
  Plane whole{ly, lx, c.plane.pitch_m};
  std::vector<Complex> padded(whole.size());
  for (std::int64_t row = 0; row < c.plane.ny; ++row) {
    for (std::int64_t col = 0; col < c.plane.nx; ++col) padded[whole.at(row, col)] = field[c.plane.at(row, col)];
  }
  auto spectrum = dft(padded, ly, lx, -1);
  const double df_x = 1 / (static_cast<double>(lx) * c.plane.pitch_m);
  const double df_y = 1 / (static_cast<double>(ly) * c.plane.pitch_m);
  for (std::int64_t ky = 0; ky < ly; ++ky) {
    for (std::int64_t kx = 0; kx < lx; ++kx) {
      const auto signed_x = static_cast<double>(2 * kx <= lx ? kx : kx - lx);
      const auto signed_y = static_cast<double>(2 * ky <= ly ? ky : ky - ly);
      const double fx = df_x * signed_x;
      const double fy = df_y * signed_y;
      const double squared = 1 / (c.wavelength_m * c.wavelength_m) - fx * fx - fy * fy;
      Complex h = 0;
      if (squared > 0) {
        const double w = std::sqrt(squared);
        const double d = std::abs(c.distance_m);
        if (d * std::abs(fx) / w <= 1 / (2 * df_x) && d * std::abs(fy) / w <= 1 / (2 * df_y)) {
          h = turn(c.distance_m * w);
        }
      }
      // The highest frequency has both signs.
      const Complex shift_x =
          2 * kx == lx ? Complex(std::cos(pi * right)) : turn(signed_x * right / static_cast<double>(lx));
      const Complex shift_y =
          2 * ky == ly ? Complex(std::cos(pi * down)) : turn(signed_y * down / static_cast<double>(ly));
      spectrum[whole.at(ky, kx)] *= h * shift_x * shift_y / static_cast<double>(lx * ly);
    }
  }
  const auto propagated = dft(spectrum, ly, lx, +1);
  std::vector<Complex> result(c.plane.size());
  for (std::int64_t row = 0; row < c.plane.ny; ++row) {
    for (std::int64_t col = 0; col < c.plane.nx; ++col) result[c.plane.at(row, col)] = propagated[whole.at(row, col)];
  }
  return result;
}

/// 1/2 sum (s a - T)^2 over region and positions, with the best s.
inline double retrieval_loss(const std::vector<double>& phase, const std::vector<std::vector<double>>& targets,
                             const RetrievalCase& c) {
  std::vector<Complex> wave(phase.size());
  for (std::size_t i = 0; i < phase.size(); ++i) wave[i] = std::polar(1.0, phase[i]);
  double light = 0;
  double agreement = 0;
  double wanted = 0;
  for (std::size_t p = 0; p < c.positions.size(); ++p) {
    const auto own = moved_light(wave, c, c.positions[p][0], c.positions[p][1]);
    for (std::int64_t row = c.row; row < c.row + c.rows; ++row) {
      for (std::int64_t col = c.column; col < c.column + c.columns; ++col) {
        const double amplitude = std::abs(own[c.plane.at(row, col)]);
        const double target = targets[p][c.plane.at(row, col)];
        light += amplitude * amplitude;
        agreement += amplitude * target;
        wanted += target * target;
      }
    }
  }
  return 0.5 * (wanted - agreement * agreement / light);
}

}  // namespace reference
