#include <holotone/core/error.hpp>
#include <holotone/optics/field.hpp>

namespace holotone {

void require_units(std::string_view where, double pitch_m, double wavelength_m) {
  require_positive(where, "pitch_m", pitch_m);
  require_positive(where, "wavelength_m", wavelength_m);
  require_range(where, "pitch_m", pitch_m, min_pitch_m, max_pitch_m);
  require_range(where, "wavelength_m", wavelength_m, min_wavelength_m, max_wavelength_m);
}

void require_grid(std::string_view where, const FieldGrid& grid) {
  if (grid.nx < 1 || grid.ny < 1 || grid.nx > largest_grid_side || grid.ny > largest_grid_side) {
    throw_argument(where, "grid", "nx and ny from 1 to " + std::to_string(largest_grid_side),
                   "nx " + std::to_string(grid.nx) + ", ny " + std::to_string(grid.ny));
  }
  require_units(where, grid.pitch_m, grid.wavelength_m);
}

}  // namespace holotone
