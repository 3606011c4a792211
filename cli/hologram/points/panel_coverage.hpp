#pragma once
#include <array>
#include <cli/hologram/common/hologram_job.hpp>
#include <cli/hologram/points/points_row.hpp>
#include <holotone/core/geometry.hpp>
#include <string>
#include <vector>

namespace holotone::cli {

/// The width and height of a cloud, in metres.
std::array<double, 2> extent_of(const PointCloud& cloud);

/// "; --size 4mm fits", with whether the object crosses the panel; empty where no size would help. Size scales about
/// the object's centre: a point at s (x, y) and distance D + s (d - D) is lit within half the panel and
/// lambda |distance| / (2 pitch).
std::string remedy_of(const HologramJob& job, const PointCloud& cloud);

/// A line if points of any hologram light no pixel: how many, how wide the object and the zone that the panel lights
/// are, and the --size that would fit. One line, for the hologram that loses most.
std::vector<std::string> lit_zone_warnings(const HologramJob& job, const std::vector<PointsRow>& rows);

}  // namespace holotone::cli
