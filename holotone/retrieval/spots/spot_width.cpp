#include <algorithm>
#include <cmath>
#include <holotone/retrieval/spots/spot_plan.hpp>

namespace holotone {

std::array<double, 3> spot_width_m(const SpotOptions& options, View<const Complex, 2> light) {
  const auto& grid = options.grid;
  std::array<double, 2> side_px{static_cast<double>(grid.nx), static_cast<double>(grid.ny)};
  if (light.data() != nullptr) {
    if (light.shape() != grid.shape()) {
      throw_argument("spot_width_m", "light", to_string<2>(grid.shape()), to_string<2>(light.shape()));
    }
    require_device("spot_width_m", "light", Device{}, light.device());
    double sum = 0;
    std::array<double, 2> first{};
    std::array<double, 2> second{};
    for (std::int64_t row = 0; row < grid.ny; ++row) {
      for (std::int64_t column = 0; column < grid.nx; ++column) {
        const double amplitude = std::abs(std::complex<double>(light(row, column)));
        const std::array<double, 2> at{static_cast<double>(column), static_cast<double>(row)};
        sum += amplitude;
        for (std::size_t axis = 0; axis < 2; ++axis) {
          first[axis] += amplitude * at[axis];
          second[axis] += amplitude * at[axis] * at[axis];
        }
      }
    }
    if (!(sum > 0 && std::isfinite(sum))) throw_argument("spot_width_m", "light", "finite light in some pixel", "none");
    for (std::size_t axis = 0; axis < 2; ++axis) {
      const double mean = first[axis] / sum;
      // n pixels of even light have the variance (n^2 - 1) / 12.
      side_px[axis] = std::sqrt(12 * std::max(second[axis] / sum - mean * mean, 0.0) + 1);
    }
  }
  const double x_m = side_px[0] * grid.pitch_m;
  const double y_m = side_px[1] * grid.pitch_m;
  const double f = options.focal_length_m;
  const double share = f / std::max(x_m, y_m);
  return {grid.wavelength_m * f / x_m, grid.wavelength_m * f / y_m,
          8 * options.refractive_index * grid.wavelength_m * share * share};
}

}  // namespace holotone
