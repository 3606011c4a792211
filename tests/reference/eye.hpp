#pragma once
// Numerical reconstruction for an eye, in float64 and by spherical waves from point to point. Includes nothing of the
// library.
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <tests/reference/propagation.hpp>
#include <vector>

namespace reference {

/// A pupil's centre, its widths (diameters of an ellipse) and its distance in front of the panel.
struct Eye {
  double x_m = 0;
  double y_m = 0;
  double width_m = 0;
  double height_m = 0;
  double distance_m = 0;
  bool ellipse = false;
};

/// Samples at the centres of nx x ny equal parts of a pupil, row 0 at the top.
struct PupilField {
  std::int64_t nx = 0;
  std::int64_t ny = 0;
  Eye eye;
  std::vector<Complex> values;
  [[nodiscard]] double x(std::int64_t col) const {
    return eye.x_m + eye.width_m * ((static_cast<double>(col) + 0.5) / static_cast<double>(nx) - 0.5);
  }
  [[nodiscard]] double y(std::int64_t row) const {
    return eye.y_m - eye.height_m * ((static_cast<double>(row) + 0.5) / static_cast<double>(ny) - 0.5);
  }
  [[nodiscard]] double area() const { return eye.width_m * eye.height_m / static_cast<double>(nx * ny); }
  /// Weight of a sample in an ellipse with an edge softened by one sample; 1 in a rectangle.
  [[nodiscard]] double weight(std::int64_t row, std::int64_t col) const {
    if (!eye.ellipse) return 1;
    const double u = 2 * (x(col) - eye.x_m) / eye.width_m;
    const double v = 2 * (y(row) - eye.y_m) / eye.height_m;
    const double slope = 4 * std::hypot(u / static_cast<double>(nx), v / static_cast<double>(ny));
    return std::min(1.0, std::max(0.0, 0.5 + (1 - u * u - v * v) / std::max(slope, 1e-300)));
  }
};

/// The field in the pupil: Rayleigh and Sommerfeld's first integral over the panel's pixels.
inline PupilField pupil_field(const std::vector<Complex>& panel, const Plane& plane, double wavelength_m,
                              const Eye& eye, std::int64_t ny, std::int64_t nx) {
  PupilField field{nx, ny, eye, std::vector<Complex>(static_cast<std::size_t>(ny * nx))};
#pragma omp parallel for
  for (std::int64_t row = 0; row < ny; ++row) {
    for (std::int64_t col = 0; col < nx; ++col) {
      field.values[static_cast<std::size_t>(row * nx + col)] =
          field.weight(row, col) *
          rayleigh_sommerfeld(panel, plane, wavelength_m, eye.distance_m, field.x(col), field.y(row));
    }
  }
  return field;
}

inline double power(const PupilField& field) {
  double sum = 0;
  for (const Complex value : field.values) sum += std::norm(value);
  return sum * field.area();
}

/// The pupil's field propagated back by distance_m to a point: the conjugate wave of each sample.
inline Complex seen_field(const PupilField& field, double wavelength_m, double distance_m, double x, double y) {
  Complex sum = 0;
  for (std::int64_t row = 0; row < field.ny; ++row) {
    for (std::int64_t col = 0; col < field.nx; ++col) {
      const double r = std::hypot(x - field.x(col), y - field.y(row), distance_m);
      sum += field.values[static_cast<std::size_t>(row * field.nx + col)] * turn(-r / wavelength_m) *
             (distance_m / (2 * pi * r * r)) * Complex(1 / r, 2 * pi / wavelength_m);
    }
  }
  return sum * field.area();
}

/// The squared modulus of seen_field.
inline double seen(const PupilField& field, double wavelength_m, double distance_m, double x, double y) {
  return std::norm(seen_field(field, wavelength_m, distance_m, x, y));
}

/// The mean of `seen` over a pixel of a picture, at `every` x `every` points.
inline double seen_by_pixel(const PupilField& field, double wavelength_m, double distance_m, const Plane& picture,
                            std::int64_t row, std::int64_t col, int every) {
  double sum = 0;
  for (int i = 0; i < every * every; ++i) {
    const auto offset = [&](int k) { return ((k + 0.5) / every - 0.5) * picture.pitch_m; };
    sum +=
        seen(field, wavelength_m, distance_m, picture.x(col) + offset(i % every), picture.y(row) + offset(i / every));
  }
  return sum / (every * every);
}

}  // namespace reference
