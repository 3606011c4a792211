#pragma once
#include <map>
#include <string>

namespace holotone {

/// What a hologram or field file says of itself besides its pixels: keys such as "wavelength_m", "pitch_m",
/// "distance_m", "encoding", "software"; values as text (numbers with 17 significant digits).
/// PNG and TIFF carry it as text, HDF5 as attributes. Key list: docs/files.md.
using Metadata = std::map<std::string, std::string>;

}  // namespace holotone
