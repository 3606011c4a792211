#pragma once
#include <complex>
#include <holotone/core/array.hpp>
#include <holotone/core/metadata.hpp>
#include <string>
#include <string_view>

namespace holotone {

/// A complex field {ny, nx} in host memory, row 0 at the top, with its metadata ("wavelength_m", "pitch_m",
/// "distance_m", ...).
struct FieldFile {
  Array<std::complex<float>, 2> values;
  Metadata metadata;
};

/// Largest field in bytes that is read, independent of the file's header.
inline constexpr std::int64_t maximum_field_bytes = std::int64_t{1} << 33;

/// Reads HDF5 (.h5 .hdf5 .mat: dataset "field", or the only 2-D complex one of the root group; compound {r, i} or
/// {real, imag} of float32 or float64; attributes of the dataset and of the root group become metadata), NPY
/// (complex64 or complex128, either byte order, C or Fortran order; no metadata) or OHC (OpenHolo; wavelength and
/// pitch become metadata). HDF5 and NPY are recognised by content, OHC by its first two bytes.
///
/// Counts are checked against the file's size and maximum_field_bytes before memory is allocated. HDF5 is read by
/// libhdf5, which is not safe on hostile files: read_field_guarded (guarded.hpp) runs it in a child process. Throws
/// io with file, expected and got; unsupported for HDF5 in a build without it.
FieldFile read_field(const std::string& path);

/// True if the file has HDF5's signature or extension.
bool is_hdf5(const std::string& path);

/// True if write_field supports the extension (.h5 .hdf5 .npy .ohc).
bool is_field_name(std::string_view path);

/// Writes by extension, atomically: .h5/.hdf5 (metadata as attributes: float64 if the text is a number, else UTF-8
/// strings), .npy (complex64, version 1.0; without metadata) or .ohc (float32 real and imaginary part; requires
/// "wavelength_m" and "pitch_m", drops the rest). Throws io, unsupported for another extension or missing library,
/// invalid_argument for an empty field.
void write_field(const std::string& path, const FieldFile& field);

}  // namespace holotone
