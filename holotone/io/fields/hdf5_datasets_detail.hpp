#pragma once
// Datasets of an HDF5 file and the choice of one. Empty if HOLOTONE_HDF5 is off. Not for users.
#if HOLOTONE_HDF5
#include <holotone/io/fields/field_numbers_detail.hpp>
#include <holotone/io/fields/hdf5_handle_detail.hpp>
#include <optional>
#include <string>
#include <vector>

namespace holotone::io {

/// A dataset of a field, opened.
struct Hdf5Choice {
  Hdf5Handle dataset;
  std::string name;                    ///< "/group/name"
  std::vector<std::uint64_t> extents;  ///< as stored
  std::optional<std::int64_t> slice;   ///< of the first of three extents
  bool complex = false;
  std::string type;      ///< of real numbers
  bool whole = false;    ///< real numbers of an integer type
  std::string reversed;  ///< "MATLAB", "Octave" or "Julia", which store the extents reversed; empty: as stored
  std::string also{};    ///< ChosenArray::also
};

/// Opens the dataset that the part names, or the only one of its kind (choose_array). Soft and external links are not
/// followed. Throws io.
Hdf5Choice open_hdf5_dataset(hid_t file, std::string_view part, const std::string& path);

/// Extents of a dataset as stored.
std::vector<std::uint64_t> read_hdf5_extents(hid_t dataset);

/// The group that holds a chosen dataset; not valid if it cannot be opened.
Hdf5Handle open_hdf5_group(const Hdf5Choice& choice);

/// All groups above a chosen dataset, from its own to the root.
std::vector<Hdf5Handle> open_hdf5_groups(const Hdf5Choice& choice);

/// Type for reading a complex compound into memory; empty if the dataset contains no complex numbers.
std::optional<Hdf5Handle> complex_memory_type(hid_t dataset);

}  // namespace holotone::io
#endif
