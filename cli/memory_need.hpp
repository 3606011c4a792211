#pragma once
#include "hologram_job.hpp"

namespace holotone::cli {

/// Bytes of host memory that making and writing the job's holograms takes at its fullest, the points apart.
double host_bytes_for(const HologramJob& job);

/// Throws out_of_memory for a panel whose holograms need more than is free, before the system ends the program for
/// trying.
void require_memory_for(const HologramJob& job);

}  // namespace holotone::cli
