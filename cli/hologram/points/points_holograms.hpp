#pragma once
#include <cli/hologram/points/points_frames.hpp>
#include <vector>

namespace holotone::cli {

/// Reads, computes and writes every frame; several frames in a pipeline. A run that fails or is cancelled leaves no new
/// file. The rows are in the order of frames, then channels. `before`: called for a single frame only, with its rows
/// before the sum.
std::vector<PointsRecord> make_holograms(const HologramJob& job, FrameSource& source, const BeforeSum& before);

}  // namespace holotone::cli
