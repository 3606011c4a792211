#pragma once
#include <complex>
#include <holotone/core/array.hpp>
#include <holotone/core/enum_names.hpp>
#include <holotone/core/metadata.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holotone {

/// A complex field {ny, nx} in host memory, row 0 at the top, with its metadata ("wavelength_m", "pitch_m",
/// "distance_m", ...).
struct FieldFile {
  Array<std::complex<float>, 2> values;
  Metadata metadata;
  std::vector<std::string> notes = {};  ///< what the file leaves open and how it was read, a line each with its name
};

/// What real numbers of a file are.
enum class FieldContent {
  field,      ///< the field u, or its real part
  phase,      ///< phi in radians: u = exp(i phi)
  amplitude,  ///< A >= 0: u = A exp(i phi), phi = 0 without a phase_file
  intensity   ///< I >= 0: u = sqrt(I) exp(i phi)
};
template <>
inline constexpr auto enum_names<FieldContent> =
    std::array{EnumName{FieldContent::field, "field"}, EnumName{FieldContent::phase, "phase"},
               EnumName{FieldContent::amplitude, "amplitude"}, EnumName{FieldContent::intensity, "intensity"}};

/// How the numbers of files become a field.
struct FieldReadOptions {
  std::optional<FieldContent> read{};  ///< what real numbers are; none: only complex ones are read
  std::string phase_file{};            ///< phase in radians, of the same shape, with read = amplitude or intensity
  std::string imaginary_file{};        ///< imaginary part, of the same shape, of real numbers that are the real part
};

/// Largest field in bytes that is read, independent of the file's header.
inline constexpr std::int64_t maximum_field_bytes = std::int64_t{1} << 33;

/// Reads HDF5 (.h5 .hdf5, and .mat of MATLAB -v7.3), MATLAB 5 (.mat of -v6 and -v7, by matio), NPY (complex64 or
/// complex128, either byte order, C or Fortran order; no metadata) or OHC (OpenHolo; wavelength and pitch become
/// metadata). With `read` or `imaginary_file` also real numbers of all these but OHC, and pictures of one channel
/// (float TIFF as stored, codes from 0 to 1).
///
/// HDF5: "f.h5:/group/name" is a dataset {ny, nx}, "f.h5:/name:3" the third of {n, ny, nx}; "v.mat:name" a variable of
/// MATLAB 5. Without a part: dataset "field", or the only complex one, or the only real one. Complex numbers are
/// compounds {r, i}, {re, im} or {real, imag} of floats. Dimensions of MATLAB's and Octave's datasets, which lie
/// reversed in HDF5, and those named x before y are put right with a note; those of others stay. DISPLAY_ORIGIN or
/// coordinates (attached scales, axes of NeXus, HyperSpy and EMD), and of real numbers scale_factor, add_offset and the
/// units of phases, are followed with a note; equal steps in a unit of length are the pitch. Other attributes of the
/// dataset and of the root group become metadata.
///
/// Counts are checked against the file's size and maximum_field_bytes before memory is allocated. libhdf5 and matio
/// are not safe on hostile files: read_field_guarded (guarded.hpp) runs them in a child process. Throws io with file,
/// expected and got, also for real numbers without `read`, a negative amplitude or intensity, missing values
/// (_FillValue, missing_value, valid_range), phases of an integer type without a unit or in another unit, numbers in dB
/// or a logarithm, uneven coordinates, IMAGE_WHITE_IS_ZERO and indices of a palette;
/// invalid_argument for options that exclude each other; unsupported for a format not in this build.
FieldFile read_field(const std::string& path, const FieldReadOptions& options = {});

/// True if the file has HDF5's signature (also behind a user block) or extension, or MATLAB's.
bool is_hdf5(const std::string& path);

/// True if write_field supports the extension (.h5 .hdf5 .npy .ohc).
bool is_field_name(std::string_view path);

/// Writes by extension, atomically: .h5/.hdf5 (metadata as attributes: float64 if the text is a number, else UTF-8
/// strings), .npy (complex64, version 1.0; without metadata) or .ohc (float32 real and imaginary part; requires
/// "wavelength_m" and "pitch_m", drops the rest). Throws io, unsupported for another extension or missing library,
/// invalid_argument for an empty field.
void write_field(const std::string& path, const FieldFile& field);

}  // namespace holotone
