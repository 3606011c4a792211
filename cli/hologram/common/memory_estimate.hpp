#pragma once
#include <cli/common/hologram_job.hpp>

namespace holotone::cli {

/// Peak bytes of computing and writing the job's holograms at once, without the points, on host and device together.
double bytes_for_whole(const HologramJob& job);

/// Bytes of host memory of one finished hologram and of its writing.
double written_bytes_for(const HologramJob& job);

/// require_memory for all of the job's holograms, or of their bands.
void require_memory_for(const HologramJob& job);

}  // namespace holotone::cli
