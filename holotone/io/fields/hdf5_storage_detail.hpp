#pragma once
// Whether the values that an HDF5 dataset declares can be stored in its file. Empty if HOLOTONE_HDF5 is off.
// Not for users.
#if HOLOTONE_HDF5
#include <cstdint>
#include <holotone/io/fields/hdf5_handle_detail.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace holotone::io {

/// Throws io unless the extents agree with the stored bytes, before memory is allocated for them, and for filters and
/// layouts that are not read.
void check_hdf5_storage(hid_t dataset, const std::vector<std::uint64_t>& extents, const std::string& path);

/// A line on chunks of a dataset that were never written, which are read as its fill value; empty without them.
std::string note_hdf5_gaps(hid_t dataset, const std::vector<std::uint64_t>& extents, const std::string& path,
                           std::string_view name);

}  // namespace holotone::io
#endif
