#include <cmath>
#include <holotone/optics/half_pixel.hpp>
#include <holotone/retrieval/light_factors.hpp>
#include <numbers>

namespace holotone::retrieval {
namespace {

/// exp(2 pi i (turns x^2 - m j / n)) for pixel j at x pixels from the middle. m, the picture's first pixel, is moved so
/// that the middle of the picture is on the axis.
std::vector<Complex> panel_factors(std::int64_t n, double turns, double move, double scale) {
  std::vector<Complex> factors(static_cast<std::size_t>(n));
  const double first = move - 0.5 * static_cast<double>(n - 1);
  for (std::int64_t j = 0; j < n; ++j) {
    const double x = static_cast<double>(j) - 0.5 * static_cast<double>(n - 1);
    const double turn_count = turns * x * x - first * static_cast<double>(j) / static_cast<double>(n);
    const double angle = 2 * std::numbers::pi * (turn_count - std::rint(turn_count));
    factors[static_cast<std::size_t>(j)] = {static_cast<float>(scale * std::cos(angle)),
                                            static_cast<float>(scale * std::sin(angle))};
  }
  return factors;
}

std::vector<float> picture_gains(const PanelResponse& response, std::int64_t first, std::int64_t count, std::int64_t n,
                                 double move) {
  std::vector<float> gains;
  for (std::int64_t m = first; m < first + count; ++m) {
    const double from_axis = static_cast<double>(m) + move - 0.5 * static_cast<double>(n - 1);
    gains.push_back(static_cast<float>(aperture_gain(response, from_axis / static_cast<double>(n))));
  }
  return gains;
}

}  // namespace

double aperture_gain(const PanelResponse& response, double cycles) {
  const double x = std::numbers::pi * std::sqrt(response.fill_factor) * cycles;
  return x == 0 ? 1 : std::sin(x) / x;
}

std::vector<float> aperture_gains(const PanelResponse& response, std::int64_t length) {
  std::vector<float> gains;
  for (std::int64_t k = 0; k <= length / 2; ++k) {
    gains.push_back(static_cast<float>(aperture_gain(response, static_cast<double>(k) / static_cast<double>(length))));
  }
  return gains;
}

PropagationOptions propagation_options(const PhaseRetrievalOptions& options) {
  return {.grid = options.grid, .method = PropagationMethod::angular_spectrum};
}

LensFactors lens_factors(const PhaseRetrievalOptions& options, double distance_m, std::size_t position) {
  const auto& [grid, region, response] = std::tie(options.grid, options.region, options.response);
  const auto [ny, nx] = grid.shape();
  const double turns = -grid.pitch_m * grid.pitch_m * distance_m /
                       (2 * grid.wavelength_m * options.focal_length_m * options.focal_length_m);
  const double scale = 1 / std::sqrt(static_cast<double>(ny) * static_cast<double>(nx));
  const double move_down = 0.5 * half_pixels[position][0];
  const double move_right = 0.5 * half_pixels[position][1];
  return {panel_factors(ny, turns, move_down, scale), panel_factors(nx, turns, move_right, 1),
          picture_gains(response, region.row, region.rows, ny, move_down),
          picture_gains(response, region.column, region.columns, nx, move_right)};
}

}  // namespace holotone::retrieval
