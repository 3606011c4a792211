#pragma once
#include "halftone_job.hpp"
#include "hologram_job.hpp"
#include <string_view>

namespace holotone::cli {

/// Bytes of host memory that making and writing the job's holograms takes at its fullest, the points apart.
double host_bytes_for(const HologramJob& job);

/// Throws out_of_memory for a panel whose holograms need more than is free, before the system ends the program for
/// trying.
void require_memory_for(const HologramJob& job);

/// The same for so many dots by the job's method, the picture apart; `option` is what asked for them.
void require_memory_for_dots(const HalftoneJob& job, std::int64_t count, std::string_view option);

}  // namespace holotone::cli
