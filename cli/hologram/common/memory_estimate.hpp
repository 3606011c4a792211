#pragma once
#include <cli/hologram/common/hologram_job.hpp>

namespace holotone::cli {

/// Bytes that making and writing the job's holograms at once takes at its fullest, the points apart, on host and
/// device together.
double bytes_for_whole(const HologramJob& job);

/// Bytes of host memory that one finished hologram and its writing take.
double written_bytes_for(const HologramJob& job);

/// require_memory for all of the job's holograms, or of their bands.
void require_memory_for(const HologramJob& job);

}  // namespace holotone::cli
