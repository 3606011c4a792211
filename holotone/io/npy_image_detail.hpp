#pragma once
// Pixels as NumPy arrays. Not for users.
#include <cstdint>
#include <holotone/core/array.hpp>
#include <string>

namespace holotone::io {

/// Writes float32 pixels as a NumPy array of shape {ny, nx}, or {ny, nx, channels} if there are several. Throws io.
void write_npy(const std::string& path, const Array<float, 3>& pixels);
/// Writes codes as a uint8 array of the same shape.
void write_npy(const std::string& path, const Array<std::uint8_t, 3>& pixels);

}  // namespace holotone::io
