#include <holotone/core/error.hpp>
#include <holotone/optics/field.hpp>

namespace holotone {

void require_grid(std::string_view where, const FieldGrid& grid) {
  if (grid.nx < 1 || grid.ny < 1 || grid.nx > largest_grid_side || grid.ny > largest_grid_side) {
    throw_argument(where, "grid", "nx and ny from 1 to " + std::to_string(largest_grid_side),
                   "nx " + std::to_string(grid.nx) + ", ny " + std::to_string(grid.ny));
  }
  require_positive(where, "pitch_m", grid.pitch_m);
  require_positive(where, "wavelength_m", grid.wavelength_m);
}

}  // namespace holotone
