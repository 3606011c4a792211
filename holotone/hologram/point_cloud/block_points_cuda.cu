#include <algorithm>
#include <cub/device/device_select.cuh>
#include <holotone/hologram/point_cloud/block_points_cuda.cuh>
#include <holotone/hologram/point_cloud/engine_cuda.cuh>
#include <holotone/hologram/point_cloud/fast_grid.hpp>
#include <thrust/iterator/counting_iterator.h>

namespace holotone::point_cloud {
namespace {

constexpr int threads = 256;

/// True for points that light a pixel of a block; place_of classifies them with the same sums.
struct LightsBlock {
  const float* position;
  double inverse_pitch;
  double center_x;  ///< column of x = 0 in the block
  double center_y;
  double reach_per_metre;
  double last_column;
  double last_row;

  __device__ bool operator()(int j) const {
    const std::int64_t at = std::int64_t{3} * j;
    const double x = position[at] * inverse_pitch + center_x;
    const double y = center_y - position[at + 1] * inverse_pitch;
    const double reach = reach_per_metre * fabs(static_cast<double>(position[at + 2]));
    return x + reach >= 0 && x - reach <= last_column && y + reach >= 0 && y - reach <= last_row;
  }
};

__global__ void copy_points(const int* index, int count, const float* position, const float* amplitude,
                            const float* phase, float* own_position, float* own_amplitude, float* own_phase) {
  const int i = blockIdx.x * threads + threadIdx.x;
  if (i >= count) return;
  const std::int64_t from = index[i];
  const std::int64_t to = i;
#pragma unroll
  for (int axis = 0; axis < 3; ++axis) own_position[3 * to + axis] = position[3 * from + axis];
  own_amplitude[to] = amplitude[from];
  if (phase != nullptr) own_phase[to] = phase[from];
}

}  // namespace

PointSources BlockPoints::select(const PointSources& all, const PanelBlock& block) {
  const FastCloud cloud = fast_cloud(options_, block, all.amplitude.size(), {});
  if (cloud.reach_per_metre <= 0) return all;
  const auto stream = cuda::stream_of(queue_);
  const LightsBlock lights{all.position_m.data(),
                           cloud.inverse_pitch,
                           cloud.center_x,
                           cloud.center_y,
                           cloud.reach_per_metre,
                           static_cast<double>(block.shape[1] - 1),
                           static_cast<double>(block.shape[0] - 1)};
  reserve(index_, cloud.count + 1, queue_);
  int* const found = index_.data() + cloud.count;
  const thrust::counting_iterator<int> numbers(0);
  std::size_t bytes = 0;
  const auto select = [&](void* scratch) {
    cuda::check(cub::DeviceSelect::If(scratch, bytes, numbers, index_.data(), found, static_cast<int>(cloud.count),
                                      lights, stream),
                "cub::DeviceSelect");
  };
  select(nullptr);
  reserve(scratch_, static_cast<std::int64_t>(bytes), queue_);
  select(scratch_.data());
  int count = 0;
  copy_bytes(&count, Device{}, found, queue_.device(), sizeof count, queue_);
  queue_.synchronize();
  const std::int64_t room = std::max(count, 1);
  reserve(position_m_, 3 * room, queue_);
  reserve(amplitude_, room, queue_);
  const bool phased = !all.phase_rad.empty();
  if (phased) reserve(phase_rad_, room, queue_);
  if (count > 0) {
    copy_points<<<cuda::blocks_for(count, threads), threads, 0, stream>>>(
        index_.data(), count, all.position_m.data(), all.amplitude.data(), all.phase_rad.data(), position_m_.data(),
        amplitude_.data(), phase_rad_.data());
    cuda::check_launch("copy_points");
  }
  PointSources own{
      {position_m_.data(), {count, 3}, queue_.device()}, {amplitude_.data(), {count}, queue_.device()}, {}};
  if (phased) own.phase_rad = {phase_rad_.data(), {count}, queue_.device()};
  return own;
}

std::size_t BlockPoints::bytes() const {
  return index_.bytes() + scratch_.bytes() + position_m_.bytes() + amplitude_.bytes() + phase_rad_.bytes();
}

}  // namespace holotone::point_cloud
