#pragma once
// Which way the dimensions of an HDF5 dataset run. Empty if HOLOTONE_HDF5 is off. Not for users.
#if HOLOTONE_HDF5
#include <array>
#include <holotone/io/fields/hdf5_datasets_detail.hpp>
#include <string>
#include <vector>

namespace holotone::io {

struct Hdf5Axes {
  bool columns_first = false;       ///< of the last two dimensions the first is x
  bool rows_up = false;             ///< the first row stored is the lowest
  bool columns_left = false;        ///< the first column stored is the rightmost
  std::string cause;                ///< of columns_first, for a note
  std::string origin_cause;         ///< of rows_up and columns_left
  std::array<double, 2> sides_m{};  ///< height and width of a pixel; zeros: not stated
  std::vector<std::string> notes;   ///< of coordinates and sides
  [[nodiscard]] bool is_mirrored() const { return rows_up || columns_left; }
  /// "lower left" and so on, of the first value stored.
  [[nodiscard]] std::string origin() const;
  [[nodiscard]] bool has_square_pixels() const;
};

/// By the program that wrote the file (MATLAB, Octave), or the names of the dimensions: DIMENSION_LABELS, or those of
/// their coordinates (read_hdf5_coordinates); by DISPLAY_ORIGIN (HDF5 Image Specification), or without it coordinates x
/// that fall and coordinates y of CF that rise. Throws io for another origin, for coordinates that are not evenly
/// spaced, and for three dimensions of which the first is x or y.
Hdf5Axes read_hdf5_axes(const Hdf5Choice& choice, const std::string& path);

}  // namespace holotone::io
#endif
