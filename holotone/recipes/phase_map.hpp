#pragma once
#include <holotone/core/array.hpp>
#include <string>

// Maps of a panel from files.
namespace holotone {

/// A real array {ny, nx} of an .npy file (floats or integers, either byte order, C or Fortran order) as float32 in
/// host memory. Throws io naming the file for complex numbers, another number of dimensions and a damaged file.
Array<float, 2> read_npy_map(const std::string& path);

/// A wavefront correction map {ny, nx} in radians, in host memory: what EncodeOptions::correction_rad takes. A
/// picture of codes whose full range is one wave, code 2^bits standing for 2 pi; or radians in a float32 TIFF or a
/// real .npy array. Several channels of a picture are averaged. Throws io naming the file if it cannot be read, has
/// another shape than the panel's or a value that is not finite.
Array<float, 2> read_correction(const std::string& path, Shape<2> shape);

}  // namespace holotone
