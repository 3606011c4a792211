#pragma once
#include <cli/hologram/points/points_frames.hpp>
#include <vector>

namespace holotone::cli {

/// Prepares, computes and writes many frames concurrently: several threads prepare frames, the calling thread computes
/// them in turn, several others write. The files are those of frames made one by one. Of several frames that fail, the
/// error of the first is thrown.
std::vector<PointsRecord> make_frames(const HologramJob& job, FrameSource& source);

}  // namespace holotone::cli
