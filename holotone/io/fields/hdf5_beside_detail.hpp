#pragma once
// What datasets beside a chosen one say of it. Empty if HOLOTONE_HDF5 is off. Not for users.
#if HOLOTONE_HDF5
#include <holotone/io/fields/hdf5_datasets_detail.hpp>
#include <optional>
#include <string>
#include <vector>

namespace holotone::io {

/// Names of the hard links of a group, at most 1000.
std::vector<std::string> list_hdf5_members(hid_t group);

/// Extents of a dataset of numbers in the group, {} of one number; none of a group, a text or another file's dataset.
std::optional<std::vector<std::uint64_t>> find_member_extents(hid_t group, const std::string& name);

/// The number of a dataset of one value in the group; none without one. Throws io for one that is not finite.
std::optional<double> read_member_number(hid_t group, const std::string& name, const std::string& path);

/// The text of a dataset of one string in the group; empty without one.
std::string read_member_text(hid_t group, const std::string& name);

/// Throws io for a picture whose quadrants are exchanged (is_fft_shifted), or that is not in real space (data_space).
/// Source: CXI file format 1.6, class Image.
void check_cxi_image(const Hdf5Choice& choice, const std::string& path);

}  // namespace holotone::io
#endif
