#pragma once
#include <array>
#include <cli/common/hologram_job.hpp>
#include <cli/hologram/points/points_record.hpp>
#include <holotone/core/geometry.hpp>
#include <string>
#include <vector>

namespace holotone::cli {

/// The width and height of a cloud, in metres.
std::array<double, 2> find_extent(const PointCloud& cloud);

/// Remedy such as "; --size 4mm fits" (fit_to_panel), with a note if the object crosses the panel; empty if neither
/// applies.
std::string remedy_of(const HologramJob& job, const PointCloud& cloud);

/// Warning if points of any hologram light no pixel: their share, the size of the object and of the zone that the panel
/// lights, and the --size that fits. At most one, for the hologram with the largest share.
std::vector<std::string> lit_zone_warnings(const HologramJob& job, const std::vector<PointsRecord>& rows);

}  // namespace holotone::cli
