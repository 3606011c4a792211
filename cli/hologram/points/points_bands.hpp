#pragma once
#include <cli/hologram/points/points_frames.hpp>
#include <string>
#include <vector>

namespace holotone::cli {

/// Rows of the panel that are summed and written at once: as --rows-at-once says, or some where the field is written to
/// .h5 or .npy and the whole would take much of the memory. 0: the whole panel. Throws invalid_argument naming the
/// option.
std::int64_t rows_at_once_for(const HologramJob& job, const std::string& typed);

/// make_holograms of one frame, by bands of job.rows_at_once rows. Rows that a run that failed or was cancelled wrote
/// are kept, and the next of the same points and options goes on from there.
std::vector<PointsRow> make_bands(const HologramJob& job, FrameSource& source, const BeforeSum& before);

}  // namespace holotone::cli
