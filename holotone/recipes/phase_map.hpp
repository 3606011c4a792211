#pragma once
#include <functional>
#include <holotone/core/array.hpp>
#include <string>

// Reads maps of a panel's pixels from files.
namespace holotone {

/// Reads a real array {ny, nx} from an .npy file (floats or integers, either byte order, C or Fortran order) as float32
/// into host memory. Throws io naming the file for complex numbers, another number of dimensions and a damaged file.
Array<float, 2> read_npy_map(const std::string& path);

/// Reads a wavefront correction map in radians into host memory, for EncodeOptions::correction_rad. The file is a
/// picture of codes whose full range is one wave (code 2^bits: 2 pi), or radians in a float32 TIFF or a real .npy
/// array, or the unit behind the last '_' of its name (corr_waves.npy). Channels of a picture are averaged. `shape`:
/// the panel's {ny, nx}, and that of the map. `note` is called with what the file leaves open, such as phases of a
/// span above 6 pi, a line each. Throws io naming the file if it is not readable, has another shape or a value that is
/// not finite, is compressed by JPEG, is an array of integers, or has a name that ends in a unit of length.
Array<float, 2> read_correction(const std::string& path, Shape<2> shape,
                                const std::function<void(const std::string&)>& note = {});

}  // namespace holotone
