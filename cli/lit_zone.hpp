#pragma once
#include "hologram_frames.hpp"
#include <string>
#include <vector>

namespace holotone::cli {

/// The width and height of a cloud, in metres.
std::array<double, 2> extent_of(const PointCloud& cloud);

/// A line if points of any hologram light no pixel: how many, how wide the object and the zone that the panel lights are,
/// and the --size that would fit. One line, for the hologram that loses most.
std::vector<std::string> lit_zone_warnings(const HologramJob& job, const std::vector<HologramRow>& rows);

}  // namespace holotone::cli
