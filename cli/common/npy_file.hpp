#pragma once
#include <cstdint>
#include <holotone/core/array.hpp>
#include <string>

namespace holotone::cli {

/// Float32 pixels as a NumPy array of shape {ny, nx}, or {ny, nx, channels} if there are several. Throws io.
void write_npy(const std::string& path, const Array<float, 3>& pixels);
/// Codes alike, as uint8.
void write_npy(const std::string& path, const Array<std::uint8_t, 3>& pixels);

/// A real array {ny, nx} of an .npy file, in C's or Fortran's order, as float32. Throws io.
Array<float, 2> read_npy_map(const std::string& path);

}  // namespace holotone::cli
