#pragma once
#include "halftone_job.hpp"
#include "hologram_job.hpp"
#include <string_view>

namespace holotone::cli {

/// Throws out_of_memory, "who: expected 3 GiB of memory for what, got 2 GiB free", where the host has less: before the
/// system ends the program for trying.
void require_memory(std::string_view who, double bytes, std::string_view what);

/// Bytes of host memory that making and writing the job's holograms takes at its fullest, the points apart.
double host_bytes_for(const HologramJob& job);

/// require_memory for all of the job's holograms.
void require_memory_for(const HologramJob& job);

/// require_memory for so many dots by the job's method, the picture apart; `option` is what asked for them.
void require_memory_for_dots(const HalftoneJob& job, std::int64_t count, std::string_view option);

}  // namespace holotone::cli
