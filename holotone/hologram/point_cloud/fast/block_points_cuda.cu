#include <algorithm>
#include <cub/device/device_select.cuh>
#include <holotone/core/sorting/sorting_cuda.hpp>
#include <holotone/hologram/point_cloud/choice/fast_grid.hpp>
#include <holotone/hologram/point_cloud/engine_cuda.cuh>
#include <holotone/hologram/point_cloud/fast/block_points_cuda.cuh>
#include <thrust/iterator/counting_iterator.h>

namespace holotone::point_cloud {
namespace {

constexpr int threads = 256;

/// True for points that light a pixel of a block; place_point classifies them with the same sums.
struct LightsBlock {
  const float* position;
  double inverse_pitch;
  double center_x;  ///< column of x = 0 in the block
  double center_y;
  double reach_per_metre;
  double blur;
  double last_column;
  double last_row;

  __device__ bool operator()(int j) const {
    const std::int64_t at = std::int64_t{3} * j;
    const double x = position[at] * inverse_pitch + center_x;
    const double y = center_y - position[at + 1] * inverse_pitch;
    const double reach = reach_per_metre * fabs(static_cast<double>(position[at + 2])) + blur;
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

/// The bits of a number of 16 bits, each followed by a zero.
__device__ __forceinline__ unsigned spread_bits(unsigned value) {
  value = (value | value << 8) & 0x00ff00ffU;
  value = (value | value << 4) & 0x0f0f0f0fU;
  value = (value | value << 2) & 0x33333333U;
  return (value | value << 1) & 0x55555555U;
}

/// Places along the curve in a square of `cells` steps a metre, and the points' numbers.
__global__ void curve_kernel(const float* position, int count, float left, float bottom, float cells, unsigned* keys,
                             unsigned* numbers) {
  const std::int64_t j = blockIdx.x * threads + threadIdx.x;
  if (j >= count) return;
  const auto step = [cells](float place) { return static_cast<unsigned>(fminf(fmaxf(place * cells, 0.0F), 65535.0F)); };
  keys[j] = spread_bits(step(position[3 * j] - left)) | spread_bits(step(position[3 * j + 1] - bottom)) << 1;
  numbers[j] = static_cast<unsigned>(j);
}

}  // namespace

PointSources BlockPoints::keep(const PointSources& all, const PointSummary& summary) {
  const auto stream = cuda::stream_of(queue_);
  const auto count = static_cast<int>(all.amplitude.size());
  reserve(index_, std::int64_t{2} * count + 1, queue_);
  reserve(keys_, std::int64_t{2} * count, queue_);
  cuda::SortedArray keys{keys_.data(), keys_.data() + count};
  auto* const index = reinterpret_cast<unsigned*>(index_.data());
  cuda::SortedArray numbers{index, index + count};
  const float extent = std::max({summary.high[0] - summary.low[0], summary.high[1] - summary.low[1], 1e-30F});
  curve_kernel<<<cuda::blocks_for(count, threads), threads, 0, stream>>>(
      all.position_m.data(), count, summary.low[0], summary.low[1], 65536 / extent, keys.current, numbers.current);
  cuda::check_launch("curve_kernel");
  const std::size_t bytes = cuda::sort_pairs_bytes(count, {});
  reserve(scratch_, static_cast<std::int64_t>(bytes), queue_);
  cuda::sort_pairs(scratch_.data(), bytes, keys, numbers, count, {}, stream);
  return copy_to(kept_, all, reinterpret_cast<const int*>(numbers.current), count);
}

PointSources BlockPoints::select(const PointSources& all, const PanelBlock& block) {
  const FastCloud cloud = fast_cloud(options_, block, all.amplitude.size(), {});
  if (cloud.reach_per_metre <= 0) return all;
  const auto stream = cuda::stream_of(queue_);
  const LightsBlock lights{all.position_m.data(),
                           cloud.inverse_pitch,
                           cloud.center_x,
                           cloud.center_y,
                           cloud.reach_per_metre,
                           light_blur(options_),
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
  return copy_to(of_block_, all, index_.data(), count);
}

PointSources BlockPoints::copy_to(Points& points, const PointSources& all, const int* index, int count) {
  const std::int64_t room = std::max(count, 1);
  reserve(points.position_m, 3 * room, queue_);
  reserve(points.amplitude, room, queue_);
  const bool phased = !all.phase_rad.empty();
  if (phased) reserve(points.phase_rad, room, queue_);
  if (count > 0) {
    copy_points<<<cuda::blocks_for(count, threads), threads, 0, cuda::stream_of(queue_)>>>(
        index, count, all.position_m.data(), all.amplitude.data(), all.phase_rad.data(), points.position_m.data(),
        points.amplitude.data(), points.phase_rad.data());
    cuda::check_launch("copy_points");
  }
  PointSources copies{
      {points.position_m.data(), {count, 3}, queue_.device()}, {points.amplitude.data(), {count}, queue_.device()}, {}};
  if (phased) copies.phase_rad = {points.phase_rad.data(), {count}, queue_.device()};
  return copies;
}

std::size_t BlockPoints::bytes() const {
  return index_.bytes() + keys_.bytes() + scratch_.bytes() + kept_.bytes() + of_block_.bytes();
}

}  // namespace holotone::point_cloud
