#pragma once
// Light of a panel's phase in spots behind an aplanatic lens, summed in float64 (SpotPlan has the formula).
#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <numbers>
#include <span>
#include <vector>

namespace reference {

struct SpotPanel {
  std::int64_t nx = 0;
  std::int64_t ny = 0;
  double pitch_m = 0;
  double wavelength_m = 0;
  double focal_length_m = 0;
  double refractive_index = 1;
};

/// Field u of each spot. `amplitude`: of the light on the panel, empty: 1. `zero_order`: complex amplitude.
inline std::vector<std::complex<double>> spot_fields(const SpotPanel& panel,
                                                     std::span<const std::array<float, 3>> spots,
                                                     std::span<const float> phase_rad,
                                                     std::span<const double> amplitude = {},
                                                     std::complex<double> zero_order = 0) {
  constexpr double two_pi = 2 * std::numbers::pi;
  double light = 0;
  for (const double a : amplitude) light += a * a;
  const auto pixels = static_cast<double>(panel.nx * panel.ny);
  const double scale = amplitude.empty() ? 1 : 1 / std::sqrt(light / pixels);
  std::vector<std::complex<double>> fields;
  for (const auto& spot : spots) {
    std::complex<double> sum;
    for (std::int64_t row = 0; row < panel.ny; ++row) {
      const double y = panel.pitch_m * (0.5 * static_cast<double>(panel.ny - 1) - static_cast<double>(row));
      for (std::int64_t column = 0; column < panel.nx; ++column) {
        const double x = panel.pitch_m * (static_cast<double>(column) - 0.5 * static_cast<double>(panel.nx - 1));
        const double sine_squared = (x * x + y * y) / std::pow(panel.refractive_index * panel.focal_length_m, 2);
        const double across = (x * static_cast<double>(spot[0]) + y * static_cast<double>(spot[1])) /
                              (panel.wavelength_m * panel.focal_length_m);
        const double along = panel.refractive_index * static_cast<double>(spot[2]) / panel.wavelength_m *
                             (1 - std::sqrt(1 - sine_squared));
        const auto at = static_cast<std::size_t>(row * panel.nx + column);
        const double a = amplitude.empty() ? 1 : scale * amplitude[at];
        sum += a * (std::polar(1.0, static_cast<double>(phase_rad[at])) + zero_order) *
               std::polar(1.0, -two_pi * (across + along));
      }
    }
    fields.push_back(sum / pixels);
  }
  return fields;
}

/// Intensity |u|^2 of each spot.
inline std::vector<double> spot_intensities(const SpotPanel& panel, std::span<const std::array<float, 3>> spots,
                                            std::span<const float> phase_rad, std::span<const double> amplitude = {},
                                            std::complex<double> zero_order = 0) {
  std::vector<double> intensity;
  for (const auto& u : spot_fields(panel, spots, phase_rad, amplitude, zero_order)) intensity.push_back(std::norm(u));
  return intensity;
}

}  // namespace reference
