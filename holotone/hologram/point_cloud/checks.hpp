#pragma once
// What a plan of points refuses. Not for users.
#include <holotone/hologram/point_cloud/engine.hpp>

namespace holotone::point_cloud {

inline constexpr const char* where_made = "PointCloudPlan";
inline constexpr const char* where_points = "PointCloudPlan::set_points";

void validate(const PointCloudOptions& options);
/// Checks shapes and devices and returns the number of points.
std::int64_t checked_count(const PointSources& points, Device plan_device);
[[noreturn]] void throw_bad_point(const PointSources& points, std::int64_t index);
/// Refuses amplitudes whose |A / d| a field with falloff cannot hold. The summary: that of points on a device; OpenCL's
/// are not looked at.
void require_falling(const PointSources& points, const PointSummary& summary);

}  // namespace holotone::point_cloud
