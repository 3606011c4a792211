#pragma once
#include <cli/hologram/common/hologram_job.hpp>
#include <holotone/core/geometry.hpp>
#include <string>
#include <vector>

namespace holotone::cli {

/// Why a channel's hologram holds no light at all: every amplitude is zero, or no point reaches a pixel within the band
/// limit. Empty if some point lights some pixel. Cost: up to the first such point.
std::string why_dark(const HologramJob& job, const Channel& channel, const PointCloud& cloud);

/// Throws io naming `input` if all its channels are dark (`dark`: why, for each) and modulator codes are asked for. One
/// dark colour of --rgb can be meant, and so can a dark field; those are worth a warning.
void require_light(const HologramJob& job, const std::string& input, const std::vector<std::string>& dark);

}  // namespace holotone::cli
