#pragma once
#include <map>
#include <string>

namespace holotone {

/// Metadata of a hologram or field file: keys such as "wavelength_m", "pitch_m", "distance_m", "encoding", "software";
/// values as text (numbers with 17 significant digits). PNG and TIFF store it as text, HDF5 as attributes. Key list:
/// docs/files.md.
using Metadata = std::map<std::string, std::string>;

}  // namespace holotone
