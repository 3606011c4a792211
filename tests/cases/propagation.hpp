#pragma once
// A propagation case with a closed form, shared by the tests and the benchmarks.
#include <cmath>
#include <complex>
#include <cstdint>
#include <holotone/core/random.hpp>
#include <holotone/optics/field.hpp>
#include <vector>

namespace cases {

/// Gaussian beams with parallel axes and their waists at z = 0, with a closed form at any distance:
///   U = sum A w0 / w exp(-r^2 / w^2) exp(i (k z + k r^2 / (2 R) - atan(z / z_R))),
///   z_R = pi w0^2 / lambda, w = w0 sqrt(1 + (z / z_R)^2), R = z (1 + (z_R / z)^2)
/// Paraxial: the error is about k z (lambda / (pi w0))^4 / 8 rad, 3e-6 for the defaults at 0.2 m. Siegman, Lasers,
/// 16.3.
struct GaussianBeams {
  holotone::FieldGrid grid{4096, 4096, 8e-6, 532e-9};
  double waist_m = 100e-6;
  double distance_m = 0.2;
  int count = 24;
  double spread = 0.6;  ///< extent of the axes, as a share of the panel's width and height
  std::uint64_t seed = 3;

  struct Beam {
    double x_m;
    double y_m;
    double amplitude;
  };
  [[nodiscard]] std::vector<Beam> beams() const {
    std::vector<Beam> all;
    for (int i = 0; i < count; ++i) {
      const auto uniform = [&](int k) {
        return holotone::random_uniform64(seed, static_cast<std::uint64_t>(3 * i + k));
      };
      all.push_back({(uniform(0) - 0.5) * spread * grid.pitch_m * static_cast<double>(grid.nx),
                     (uniform(1) - 0.5) * spread * grid.pitch_m * static_cast<double>(grid.ny), 2 * uniform(2) - 1});
    }
    return all;
  }

  [[nodiscard]] std::complex<double> value(const std::vector<Beam>& beams, double z, std::int64_t row,
                                           std::int64_t col) const {
    constexpr double pi = 3.14159265358979323846;
    const double x = (static_cast<double>(col) - static_cast<double>(grid.nx - 1) / 2) * grid.pitch_m;
    const double y = (static_cast<double>(grid.ny - 1) / 2 - static_cast<double>(row)) * grid.pitch_m;
    const double range = pi * waist_m * waist_m / grid.wavelength_m;
    const double width = waist_m * std::sqrt(1 + z * z / (range * range));
    const double wavenumber = 2 * pi / grid.wavelength_m;
    std::complex<double> sum = 0;
    for (const auto& beam : beams) {
      const double squared = (x - beam.x_m) * (x - beam.x_m) + (y - beam.y_m) * (y - beam.y_m);
      if (squared > 36 * width * width) continue;  // 2e-16 of the beam
      const double phase =
          wavenumber * z + wavenumber * squared * z / (2 * (z * z + range * range)) - std::atan(z / range);
      sum += std::polar(waist_m / width * std::exp(-squared / (width * width)), phase) * beam.amplitude;
    }
    return sum;
  }

  /// The field at z = 0, row-major.
  [[nodiscard]] std::vector<std::complex<float>> input() const {
    const auto all = beams();
    std::vector<std::complex<float>> field(static_cast<std::size_t>(grid.nx * grid.ny));
#pragma omp parallel for
    for (std::int64_t i = 0; i < grid.nx * grid.ny; ++i) {
      field[static_cast<std::size_t>(i)] = std::complex<float>(value(all, 0, i / grid.nx, i % grid.nx));
    }
    return field;
  }

  /// ||got - expected|| / ||expected|| over `samples` pixels around the axes, where the beams are.
  [[nodiscard]] double relative_error(const std::complex<float>* output, int samples) const {
    const auto all = beams();
    double error = 0;
    double norm = 0;
    for (int i = 0; i < samples; ++i) {
      const auto& beam = all[static_cast<std::size_t>(i % count)];
      const auto near = [&](double centre, std::int64_t extent, int k) {
        const double reach = 3 * waist_m / grid.pitch_m;
        const double offset =
            (2 * holotone::random_uniform64(seed + 1, static_cast<std::uint64_t>(2 * i + k)) - 1) * reach;
        const double index = std::round(centre / grid.pitch_m + static_cast<double>(extent - 1) / 2 + offset);
        return static_cast<std::int64_t>(std::min(std::max(index, 0.0), static_cast<double>(extent - 1)));
      };
      const auto col = near(beam.x_m, grid.nx, 0);
      const auto row = near(-beam.y_m, grid.ny, 1);
      const auto expected = value(all, distance_m, row, col);
      error += std::norm(std::complex<double>(output[row * grid.nx + col]) - expected);
      norm += std::norm(expected);
    }
    return std::sqrt(error / norm);
  }
};

}  // namespace cases
