#pragma once
#include <cli/hologram/points/points_frames.hpp>
#include <string>
#include <vector>

namespace holotone::cli {

/// Sets the rows of a band, which are summed and written at once, to the value of --rows-at-once. Without it, bands of
/// about 2^24 pixels if the field is written to .h5 or .npy and the whole takes more than 2 GiB or a quarter of the
/// free memory, if there are several devices, or for a part of the field; else 0: the whole panel. Sets the rows of
/// this run to those of --block. Throws invalid_argument naming the option.
void set_bands(HologramJob& job);

/// make_holograms of one frame, by bands of job.rows_at_once rows. Rows of a failed or cancelled run are kept; the next
/// run of the same points and options resumes from them.
std::vector<PointsRecord> make_bands(const HologramJob& job, FrameSource& source, const BeforeSum& before);

}  // namespace holotone::cli
