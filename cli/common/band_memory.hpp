#pragma once
#include <holotone/bands/band_memory.hpp>

namespace holotone::cli {

/// The host memory of this program's bands.
struct BandMemory : holotone::BandMemory {
  static BandMemory& all();
};

}  // namespace holotone::cli
