#pragma once
// Which way the dimensions of an HDF5 dataset run. Empty if HOLOTONE_HDF5 is off. Not for users.
#if HOLOTONE_HDF5
#include <holotone/io/fields/hdf5_datasets_detail.hpp>
#include <string>

namespace holotone::io {

struct Hdf5Axes {
  bool columns_first = false;  ///< of the last two dimensions the first is x
  bool rows_up = false;        ///< the first row stored is the lowest
  bool columns_left = false;   ///< the first column stored is the rightmost
  std::string cause;           ///< of columns_first, for a note
  std::string origin;          ///< "lower left" and so on; empty: upper left
  [[nodiscard]] bool is_mirrored() const { return rows_up || columns_left; }
};

/// By the program that wrote the file (MATLAB, Octave), or the names of the dimensions: DIMENSION_LABELS, or those of
/// attached dimension scales (HDF5 Dimension Scale Specification); and by DISPLAY_ORIGIN (HDF5 Image Specification).
/// Throws io for another origin, and for three dimensions of which the first is x or y.
Hdf5Axes read_hdf5_axes(const Hdf5Choice& choice, const std::string& path);

}  // namespace holotone::io
#endif
