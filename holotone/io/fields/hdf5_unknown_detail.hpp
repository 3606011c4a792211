#pragma once
// What an HDF5 file states about the numbers of a dataset and the reader does not know. Empty if HOLOTONE_HDF5 is off.
// Not for users.
#if HOLOTONE_HDF5
#include <holotone/io/fields/hdf5_datasets_detail.hpp>
#include <string>

namespace holotone::io {

/// A line on attributes of the dataset and the groups above it that are numbers and not followed, whose names say a
/// unit, or whose text (JSON, XML, lines) states scales, offsets or units, and on datasets beside it by its name, such
/// as NAME_errors or NAME_mask, or of few numbers, such as Spacing; empty without them.
std::string note_hdf5_unknown(const Hdf5Choice& choice, const std::string& path);

/// A line on a picture that is smaller than its dataset, or lies behind its last plane, by the attributes of Imaris
/// (ImageSizeX, ImageSizeY, ImageSizeZ, each a text or an array of characters); empty for others.
std::string note_hdf5_padding(const Hdf5Choice& choice, const std::string& path);

}  // namespace holotone::io
#endif
