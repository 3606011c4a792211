#pragma once
#include <cli/common/hologram_job.hpp>
#include <holotone/core/geometry.hpp>
#include <string>
#include <vector>

namespace holotone::cli {

/// Reason why a channel's hologram holds no light: every amplitude is zero, or no point reaches a pixel within the band
/// limit. Empty if some point lights some pixel. Cost: O(points up to the first such point).
std::string why_dark(const HologramJob& job, const Channel& channel, const PointCloud& cloud);

/// Throws io naming `input` if all its channels are dark (`dark`: reason of each) and the output is modulator codes.
/// One dark colour of --rgb or a dark field can be intended: they cause a warning only.
void require_light(const HologramJob& job, const std::string& input, const std::vector<std::string>& dark);

}  // namespace holotone::cli
