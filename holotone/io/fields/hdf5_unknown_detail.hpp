#pragma once
// What an HDF5 file states about the numbers of a dataset and the reader does not know. Empty if HOLOTONE_HDF5 is off.
// Not for users.
#if HOLOTONE_HDF5
#include <holotone/io/fields/hdf5_datasets_detail.hpp>
#include <string>

namespace holotone::io {

/// A line on attributes of the dataset and its group whose names say a scale, an offset or a unit, and on datasets
/// beside it by its name, such as NAME_errors or NAME_mask; empty without them.
std::string note_hdf5_unknown(const Hdf5Choice& choice, const std::string& path);

}  // namespace holotone::io
#endif
