#pragma once
#include <cli/halftone/halftone_job.hpp>
#include <cli/hologram/common/hologram_job.hpp>
#include <string_view>

namespace holotone::cli {

/// Bytes of host memory that this process can still have.
double free_memory();

/// Throws out_of_memory, "who: expected 3 GiB of memory for what, got 2 GiB free", where the host has less: before the
/// system ends the program for trying. `remedy` follows after a semicolon.
void require_memory(std::string_view who, double bytes, std::string_view what, std::string_view remedy = {});

/// Bytes that making and writing the job's holograms at once takes at its fullest, the points apart, on host and device together.
double bytes_for_whole(const HologramJob& job);

/// Bytes of host memory that one finished hologram and its writing take.
double written_bytes_for(const HologramJob& job);

/// require_memory for all of the job's holograms, or of their bands.
void require_memory_for(const HologramJob& job);

/// require_memory for so many dots by the job's method, the picture apart; `option` is what asked for them.
void require_memory_for_dots(const HalftoneJob& job, std::int64_t count, std::string_view option);

}  // namespace holotone::cli
