#pragma once
#include <cstdint>
#include <holotone/core/array.hpp>
#include <span>
#include <string_view>

namespace holotone {

/// Packs up to 24 binary frames {ny, nx} into one picture {ny, nx, 3}, as binary modulators take them: frame i is bit
/// i mod 8 of channel order[i / 8]; `order` is a permutation of "rgb". A pixel other than 0 is on. Throws
/// invalid_argument for no frames, more than 24, unequal shapes or another order.
Array<std::uint8_t, 3> pack_bit_planes(std::span<const View<const std::uint8_t, 2>> frames,
                                       std::string_view order = "grb");

}  // namespace holotone
