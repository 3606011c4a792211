#pragma once
#include <complex>
#include <holotone/core/array.hpp>
#include <holotone/core/metadata.hpp>
#include <string>

namespace holotone {

/// A complex field {ny, nx} with its metadata ("wavelength_m", "pitch_m", "distance_m", ...).
struct FieldFile {
  Array<std::complex<float>, 2> values;
  Metadata metadata;
};

/// HDF5 (compound {r, i} of float32 in dataset "field", metadata as attributes), NPY (complex64; no metadata) or OHC
/// (OpenHolo; wavelength and pitch) by extension. Throws io.
FieldFile read_field(const std::string& path);
void write_field(const std::string& path, const FieldFile& field);

}  // namespace holotone
