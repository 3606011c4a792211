#pragma once
// Places along the dimensions of an HDF5 dataset. Empty if HOLOTONE_HDF5 is off. Not for users.
#if HOLOTONE_HDF5
#include <holotone/io/fields/hdf5_datasets_detail.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holotone::io {

enum class Hdf5Axis : std::uint8_t { other, x, y };

/// By a name such as "x", "x [mm]", "nx", "Columns", "R_x", "longitude".
Hdf5Axis hdf5_axis_named(std::string_view label);

/// Which way y of a file points.
enum class Hdf5Upright : std::uint8_t {
  unstated,
  up,    ///< of CF: larger y lies higher
  down,  ///< of pictures: larger y lies lower
};

/// What a file says of the places along one dimension.
struct Hdf5Coordinate {
  std::string name;              ///< of the scale or axis; empty: none
  std::string unit = {};         ///< as stated
  std::optional<double> step{};  ///< from one place to the next in `unit`; negative: they fall
  Hdf5Axis axis = Hdf5Axis::other;
  Hdf5Upright upright = Hdf5Upright::unstated;
};

/// One for each dimension, by attached scales (HDF5 Dimension Scale Specification, coordinates of netCDF and CF), axes
/// of a NeXus group or of CXI, axis-0 and so on of HyperSpy, dim1 and so on of EMD. Throws io for places of the last
/// two dimensions that are not evenly spaced: one lies more than a twentieth of a step off.
std::vector<Hdf5Coordinate> read_hdf5_coordinates(const Hdf5Choice& choice, const std::string& path);

/// Metres in the unit of a coordinate: "um", "[n_m]" of EMD; none for another.
std::optional<double> hdf5_length_m(std::string_view unit);

}  // namespace holotone::io
#endif
