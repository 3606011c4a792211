#pragma once
#include <cli/hologram/points/points_frames.hpp>

namespace holotone::cli {

/// Shows the frames on the job's panel: while one is shown, the next is computed and the one after it is read. Codes
/// stay on the device. Returns the exit code.
int show_points(const HologramJob& job, FrameSource& source);

}  // namespace holotone::cli
