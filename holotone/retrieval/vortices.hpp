#pragma once
// Counts optical vortices of light known at four half-pixel positions. Not for users.
#include <holotone/retrieval/retrieval_engine.hpp>

namespace holotone::retrieval {

/// 1 where the amplitude {ny, nx} is above 1 % of the intensity of `peak`: {rows, columns} of the region.
Array<std::uint8_t, 2> lit_pixels(View<const float, 2> amplitude, const SignalRegion& region, double peak);

/// Squares of four neighbours, half a pixel wide, around which the phase turns, with their upper left corner in a lit
/// pixel.
std::int64_t count_vortices(const PositionWaves& waves, View<const std::uint8_t, 2> lit);

}  // namespace holotone::retrieval
