#pragma once
#include <holotone/optics/field.hpp>
#include <tests/reference/propagation.hpp>

namespace support {

/// The plane of the reference that has a grid's samples.
inline reference::Plane reference_plane(const holotone::FieldGrid& grid) { return {grid.ny, grid.nx, grid.pitch_m}; }

}  // namespace support
