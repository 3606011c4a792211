#include <algorithm>
#include <climits>
#include <holotone/core/two_floats_opencl.hpp>
#include <holotone/hologram/point_cloud/points_opencl.hpp>

namespace holotone::point_cloud {
namespace {

constexpr auto source = "holotone/hologram/point_cloud/points_opencl.cl";
constexpr opencl::Range group{64, 1, 1};

/// PanelUnits of points_opencl.cl.
struct PanelUnits {
  cl_float2 inverse_pitch;
  cl_float2 turns_metre;
  cl_float2 reach_per_metre;
  float blur;
  float falloff;
  float center_x;
  float center_y;
};

PanelUnits units_of(const PointCloudOptions& options) {
  const double pitch = options.pitch_m;
  return {opencl::two_floats(1 / pitch),
          opencl::two_floats(pitch * pitch / (2 * options.wavelength_m)),
          opencl::two_floats(reach_per_metre(options)),
          static_cast<float>(light_blur(options)),
          options.falloff ? 1.0F : 0.0F,
          0.5F * static_cast<float>(options.shape[1] - 1),
          0.5F * static_cast<float>(options.shape[0] - 1)};
}

}  // namespace

OpenclPoints::OpenclPoints(const PointCloudOptions& options, Queue queue, std::int64_t padding)
    : options_(options), queue_(std::move(queue)), padding_(padding), prepare_(queue_, source, "prepare_points") {}

void OpenclPoints::set(const PointSources& points) {
  count_ = points.amplitude.size();
  const std::int64_t padded = padded_count();
  if (padded > capacity_) {
    storage_ = {};  // freed before the larger allocation
    storage_ = Array<cl_float4, 1>({3 * padded}, queue_);
    capacity_ = padded;
  }
  const cl_float4* const begin = storage_.data();
  prepare_({static_cast<std::size_t>(padded), 1, 1}, group, units_of(options_), cl_long{count_}, cl_long{padded},
           points.position_m.data(), points.amplitude.data(), points.phase_rad.data(), begin, begin + capacity_,
           begin + 2 * capacity_);
}

PointSummary summarise_points_opencl(const PointSources& points, const Queue& queue) {
  constexpr std::int64_t most = INT_MAX / 2;
  PointSummary summary;
  opencl::Kernel find(queue, source, "find_bad_point");
  Array<cl_int, 1> bad({1}, queue);
  const std::int64_t all = points.amplitude.size();
  for (std::int64_t first = 0; first < all && summary.first_bad < 0; first += most) {
    const auto count = static_cast<cl_int>(std::min(all - first, most));
    cl_int found = count;
    copy_bytes(bad.data(), queue.device(), &found, Device{}, sizeof found, queue);
    find({static_cast<std::size_t>(count), 1, 1}, group, cl_long{first}, count, points.position_m.data(),
         points.amplitude.data(), points.phase_rad.data(), bad.data());
    copy_bytes(&found, Device{}, bad.data(), queue.device(), sizeof found, queue);
    if (found < count) summary.first_bad = first + found;
  }
  return summary;
}

}  // namespace holotone::point_cloud
