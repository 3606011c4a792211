#pragma once
// Loss of phase retrieval in float64, in the plainest form. Includes nothing of the library.
#include <algorithm>
#include <array>
#include <tests/reference/propagation.hpp>
#include <tuple>

namespace reference {

struct RetrievalTarget {
  double distance_m = 0;  ///< along the light; with a lens beyond the focal plane
  double weight = 1;
  double pupil_m = 0;  ///< diameter; 0: no pupil
  double pupil_x_m = 0;
  double pupil_y_m = 0;
  double viewer_m = 0;  ///< from the panel to the pupil
};

struct RetrievalCase {
  Plane plane;
  double wavelength_m = 0;
  std::vector<RetrievalTarget> targets;
  std::int64_t row = 0, column = 0, rows = 0, columns = 0;  ///< signal region
  std::vector<std::array<double, 2>> positions;             ///< in pixels, down and to the right
  double focal_length_m = 0;                                ///< 0: no lens
  std::int64_t frames = 1;
  bool intensity = false;
  double fill_factor = 0;
  double zero_order = 0;
  std::vector<Complex> source = {};  ///< empty: 1
};

/// sin(pi w f) / (pi w f) of a pixel's square opening, in cycles a pixel.
inline double opening(const RetrievalCase& c, double cycles) {
  const double x = pi * std::sqrt(c.fill_factor) * cycles;
  return x == 0 ? 1 : std::sin(x) / x;
}

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
inline std::vector<Complex> moved_light(const std::vector<Complex>& field, const RetrievalCase& c, double distance_m,
                                        double down, double right) {
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
        const double d = std::abs(distance_m);
        if (d * std::abs(fx) / w <= 1 / (2 * df_x) && d * std::abs(fy) / w <= 1 / (2 * df_y)) h = turn(distance_m * w);
      }
      h *= opening(c, fx * c.plane.pitch_m) * opening(c, fy * c.plane.pitch_m);
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

/// The panel's light that passes a pupil, back on the panel: by Fresnel's transform to the pupil and its inverse.
inline std::vector<Complex> through_pupil(const std::vector<Complex>& field, const RetrievalCase& c,
                                          const RetrievalTarget& target) {
  const std::int64_t ly = padded_size(2 * c.plane.ny);
  const std::int64_t lx = padded_size(2 * c.plane.nx);
  const Plane whole{ly, lx, c.plane.pitch_m};
  const double lambda_v = c.wavelength_m * target.viewer_m;
  const auto chirp = [&](std::int64_t row, std::int64_t col) {
    const double x = c.plane.x(col);
    const double y = c.plane.y(row);
    return turn((x * x + y * y) / (2 * lambda_v));
  };
  std::vector<Complex> padded(whole.size());
  for (std::int64_t row = 0; row < c.plane.ny; ++row) {
    for (std::int64_t col = 0; col < c.plane.nx; ++col) {
      padded[whole.at(row, col)] = field[c.plane.at(row, col)] * chirp(row, col);
    }
  }
  auto spectrum = dft(padded, ly, lx, -1);
  const double period = lambda_v / c.plane.pitch_m;
  for (std::int64_t ky = 0; ky < ly; ++ky) {
    for (std::int64_t kx = 0; kx < lx; ++kx) {
      const double x =
          std::remainder(period * static_cast<double>(kx) / static_cast<double>(lx) - target.pupil_x_m, period);
      const double y =
          std::remainder(period * static_cast<double>(ky) / static_cast<double>(ly) + target.pupil_y_m, period);
      if (x * x + y * y > target.pupil_m * target.pupil_m / 4) spectrum[whole.at(ky, kx)] = 0;
    }
  }
  const auto back = dft(spectrum, ly, lx, +1);
  std::vector<Complex> result(c.plane.size());
  for (std::int64_t row = 0; row < c.plane.ny; ++row) {
    for (std::int64_t col = 0; col < c.plane.nx; ++col) {
      result[c.plane.at(row, col)] =
          back[whole.at(row, col)] * std::conj(chirp(row, col)) / static_cast<double>(lx * ly);
    }
  }
  return result;
}

/// The light behind a lens, by Fraunhofer's integral in metres: Goodman, Introduction to Fourier Optics, Eq. (5-19).
inline std::vector<Complex> light_behind_lens(const std::vector<Complex>& field, const RetrievalCase& c,
                                              double beyond_m, double down, double right) {
  const auto [ny, nx, pitch_m] = std::tuple(c.plane.ny, c.plane.nx, c.plane.pitch_m);
  const double lambda_f = c.wavelength_m * c.focal_length_m;
  const auto middle = [](std::int64_t n) { return 0.5 * static_cast<double>(n - 1); };
  std::vector<Complex> result(c.plane.size());
  for (std::int64_t row = 0; row < ny; ++row) {
    for (std::int64_t col = 0; col < nx; ++col) {
      const double seen_y =
          (static_cast<double>(row) + down - middle(ny)) * lambda_f / (static_cast<double>(ny) * pitch_m);
      const double seen_x =
          (static_cast<double>(col) + right - middle(nx)) * lambda_f / (static_cast<double>(nx) * pitch_m);
      Complex sum = 0;
      for (std::int64_t j = 0; j < ny; ++j) {
        for (std::int64_t i = 0; i < nx; ++i) {
          const double y = (static_cast<double>(j) - middle(ny)) * pitch_m;
          const double x = (static_cast<double>(i) - middle(nx)) * pitch_m;
          sum += field[c.plane.at(j, i)] * turn(-(x * seen_x + y * seen_y) / lambda_f -
                                                beyond_m * (x * x + y * y) / (2 * lambda_f * c.focal_length_m));
        }
      }
      result[c.plane.at(row, col)] = sum / std::sqrt(static_cast<double>(ny * nx)) *
                                     opening(c, seen_x * pitch_m / lambda_f) * opening(c, seen_y * pitch_m / lambda_f);
    }
  }
  return result;
}

/// 1/2 sum w (s a - T)^2 over planes, positions and the region, with the best s. Phases of all frames, one after the
/// other; targets plane by plane, position by position.
inline double retrieval_loss(const std::vector<double>& phase, const std::vector<std::vector<double>>& targets,
                             const RetrievalCase& c) {
  double light = 0;
  double agreement = 0;
  double wanted = 0;
  std::vector<std::vector<Complex>> waves;
  for (std::int64_t t = 0; t < c.frames; ++t) {
    auto& wave = waves.emplace_back(c.plane.size());
    for (std::size_t i = 0; i < wave.size(); ++i) {
      wave[i] = std::polar(1.0, phase[static_cast<std::size_t>(t) * wave.size() + i]) + c.zero_order;
      if (!c.source.empty()) wave[i] *= c.source[i];
    }
  }
  std::size_t picture = 0;
  for (const auto& target : c.targets) {
    for (const auto& [down, right] : c.positions) {
      std::vector<double> sum(c.plane.size());
      for (const auto& panel : waves) {
        const auto wave = target.pupil_m > 0 ? through_pupil(panel, c, target) : panel;
        const auto shown = c.focal_length_m > 0 ? light_behind_lens(wave, c, target.distance_m, down, right)
                                                : moved_light(wave, c, target.distance_m, down, right);
        for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += std::norm(shown[i]) / static_cast<double>(c.frames);
      }
      for (std::int64_t row = c.row; row < c.row + c.rows; ++row) {
        for (std::int64_t col = c.column; col < c.column + c.columns; ++col) {
          const double seen = c.intensity ? sum[c.plane.at(row, col)] : std::sqrt(sum[c.plane.at(row, col)]);
          const double asked = targets[picture][c.plane.at(row, col)];
          const double wanted_light = c.intensity ? asked * asked : asked;
          light += target.weight * seen * seen;
          agreement += target.weight * seen * wanted_light;
          wanted += target.weight * wanted_light * wanted_light;
        }
      }
      ++picture;
    }
  }
  return 0.5 * (wanted - agreement * agreement / light);
}

}  // namespace reference
