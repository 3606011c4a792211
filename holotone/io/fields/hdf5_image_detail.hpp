#pragma once
// What the HDF5 Image and Palette Specification 1.2 says of a dataset's numbers. Empty if HOLOTONE_HDF5 is off.
// Not for users.
#if HOLOTONE_HDF5
#include <holotone/io/fields/hdf5_datasets_detail.hpp>
#include <string>

namespace holotone::io {

/// Throws io for numbers that are not brighter the larger they are: of IMAGE_WHITE_IS_ZERO, indices of a PALETTE,
/// colour models but RGB, pixels of three colours in rows, and a transparent number. Returns a note of a palette that
/// is not applied, or nothing.
std::string check_hdf5_image(const Hdf5Choice& choice, const std::string& path);

}  // namespace holotone::io
#endif
