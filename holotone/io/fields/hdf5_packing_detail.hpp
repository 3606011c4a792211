#pragma once
// What attributes say of the numbers of an HDF5 dataset. Empty if HOLOTONE_HDF5 is off. Not for users.
#if HOLOTONE_HDF5
#include <array>
#include <holotone/io/fields/hdf5_datasets_detail.hpp>
#include <string>
#include <vector>

namespace holotone::io {

/// value = scale * stored + offset, of stored numbers that are not missing.
struct Hdf5Packing {
  double scale = 1;    ///< such as scale_factor
  double offset = 0;   ///< such as add_offset
  std::string source;  ///< the names of both
  double min = 0;      ///< valid_min, valid_max, valid_range: of stored numbers; none if min > max
  double max = -1;
  std::vector<double> missing;  ///< _FillValue, missing_value

  [[nodiscard]] bool is_plain() const { return scale == 1 && offset == 0; }
  /// Throws io if numbers are missing.
  void unpack(Array<double, 2>& numbers, const std::string& path) const;
};

/// Sources: CF conventions 1.11, sections 2.5.1 and 8.1; NetCDF Users Guide, "Attribute conventions"; conversion and
/// offset of Neurodata Without Borders 2 (TimeSeries); FIELDNAME_scaling_factor and FIELDNAME_offset of NeXus (NXdata).
/// Throws io for a scale or offset that is no number, for those of complex numbers or of two conventions, and for
/// _Unsigned of signed numbers.
Hdf5Packing read_hdf5_packing(const Hdf5Choice& choice, const std::string& path);

/// Height and width of a pixel in metres: openPMD's gridSpacing and gridUnitSI, of the dataset or its group, or
/// element_size_um of ilastik and Fiji; zeros without.
std::array<double, 2> read_hdf5_sides(const Hdf5Choice& choice);

/// Removes the attributes that the numbers and axes already follow.
void erase_honoured(Metadata& metadata);

}  // namespace holotone::io
#endif
