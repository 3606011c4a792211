#pragma once
#include <cstdint>
#include <holotone/core/array.hpp>
#include <holotone/optics/field.hpp>
#include <vector>

namespace holotone {

/// Plane wave that lights a panel, R = exp(2 pi i (x sin ax + y sin ay) / lambda). A panel that shows U conj(R) then
/// emits U; its own frequencies are those of U less those of R.
struct ReferenceBeam {
  double angle_x_rad = 0;  ///< direction toward +x
  double angle_y_rad = 0;  ///< the same toward +y

  bool operator==(const ReferenceBeam&) const = default;
};

/// Returns the phases of a plane wave at `count` pixels along an axis, in turns: pitch sin(angle) / lambda times the
/// pixels from the middle times `direction` (-1 for y, which falls as rows rise), integer part removed.
std::vector<double> plane_wave_turns(std::int64_t count, double angle_rad, const FieldGrid& grid, double direction);

/// Multiplies some rows {n, nx} of a panel's field, in host memory, by the beam R. `first_row`: of the panel. Throws
/// invalid_argument for rows beyond the panel. Cost O(n nx).
void add_beam(const ReferenceBeam& beam, const FieldGrid& grid, std::int64_t first_row, View<Complex, 2> rows);
/// The same by conj(R).
void remove_beam(const ReferenceBeam& beam, const FieldGrid& grid, std::int64_t first_row, View<Complex, 2> rows);

}  // namespace holotone
