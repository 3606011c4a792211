#include <algorithm>
#include <bit>
#include <climits>
#include <cstddef>
#include <cstring>
#include <holotone/hologram/point_cloud/engine_cuda.cuh>

namespace holotone::point_cloud {
namespace {

constexpr int block_threads = 256;

struct PrepareInput {
  const float* position;
  const float* amplitude;
  const float* phase_rad;  ///< null: zero
  std::int64_t count;
  std::int64_t padded;
  double inverse_pitch;
  double center_x;         ///< (nx - 1) / 2
  double center_y;         ///< (ny - 1) / 2
  double turns_metre;      ///< pitch^2 / (2 lambda): divided by d it is `a`
  double reach_per_metre;  ///< times |d| it is the lit half width in pixels; 0: no band limit
  double blur;             ///< pixels beyond it
  bool falloff;
};

__global__ void prepare_points(PrepareInput in, float4* position, float4* wave, float4* lit, unsigned* largest) {
  const std::int64_t j = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x;
  float magnitude = 0;
  if (j < in.padded) {
    if (j >= in.count) {
      position[j] = wave[j] = make_float4(0, 0, 0, 0);
      lit[j] = make_float4(0, -1, 0, -1);
    } else {
      const double x = in.position[3 * j] * in.inverse_pitch + in.center_x;
      const double y = in.center_y - in.position[3 * j + 1] * in.inverse_pitch;
      const double distance = -static_cast<double>(in.position[3 * j + 2]);
      const double turns = in.phase_rad != nullptr ? in.phase_rad[j] * 0.15915494309189535 : 0.0;
      const float amplitude = in.falloff ? static_cast<float>(in.amplitude[j] / fabs(distance)) : in.amplitude[j];
      const double reach = in.reach_per_metre > 0 ? in.reach_per_metre * fabs(distance) + in.blur : 1e30;
      const PointRecord record = record_of(x, y, in.turns_metre / distance, reach, amplitude, turns);
      position[j] = record.position;
      wave[j] = record.wave;
      lit[j] = record.lit;
      magnitude = fabsf(amplitude);
    }
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    magnitude = fmaxf(magnitude, __shfl_xor_sync(0xffffffffU, magnitude, offset));
  }
  if (threadIdx.x % 32 == 0 && magnitude > 0) {
    atomicMax(largest, __float_as_uint(magnitude));  // positive floats order like their bits
  }
}

constexpr unsigned summary_blocks = 528;

/// Maps floats to unsigned integers of the same order, for atomics.
__device__ __forceinline__ unsigned ordered(float value) {
  const unsigned bits = __float_as_uint(value);
  return (bits & 0x80000000U) != 0 ? ~bits : bits | 0x80000000U;
}
float unordered(unsigned bits) { return std::bit_cast<float>((bits & 0x80000000U) != 0 ? bits ^ 0x80000000U : ~bits); }

constexpr int summary_axes = 4;

struct DeviceSummary {
  unsigned long long first_bad;  // initially all ones, like low
  unsigned low[summary_axes];    // ordered
  unsigned high[summary_axes];   // initially zero, like all that follows
  unsigned largest;
  unsigned crowd;
  float squares[summary_blocks];  // of each block, so that the host adds them in order
  float sample[PointSummary::sample_count][3];
};

constexpr int place_bits = 14;
constexpr std::size_t places = 1 << place_bits;

/// Number of the place of a point: places are cubes of 15 nm, by a hash.
__device__ __forceinline__ unsigned place_number(const float* position) {
  constexpr float cubes_per_metre = 67108864;  // 2^26
  unsigned hash = 0;
  for (int axis = 0; axis < 3; ++axis) {
    const auto place = static_cast<unsigned>(static_cast<long long>(floorf(position[axis] * cubes_per_metre)));
    hash = (hash ^ place) * 0x9e3779b1U;
    hash ^= hash >> 15;
  }
  return hash >> (32 - place_bits);
}

__global__ void __launch_bounds__(block_threads)
    summarise(const float* position, const float* amplitude, const float* phase, std::int64_t count, DeviceSummary* all,
              unsigned* points_in) {
  if (blockIdx.x == 0 && threadIdx.x < PointSummary::sample_count) {
    const std::int64_t j = threadIdx.x * count / PointSummary::sample_count;
    for (int axis = 0; axis < 3; ++axis) all->sample[threadIdx.x][axis] = position[3 * j + axis];
  }
  __shared__ unsigned lows[summary_axes];
  __shared__ unsigned highs[summary_axes];
  __shared__ unsigned block_largest;
  __shared__ float warp_squares[block_threads / 32];
  __shared__ unsigned block_crowd;
  if (threadIdx.x < summary_axes) {
    lows[threadIdx.x] = ~0U;
    highs[threadIdx.x] = 0;
  } else if (threadIdx.x == summary_axes) {
    block_largest = 0;
    block_crowd = 0;
  }
  __syncthreads();
  float low[summary_axes] = {INFINITY, INFINITY, INFINITY, INFINITY};
  float high[summary_axes] = {-INFINITY, -INFINITY, -INFINITY, -INFINITY};
  float largest = 0;
  float squares = 0;
  unsigned crowd = 0;
  for (std::int64_t j = blockIdx.x * static_cast<std::int64_t>(block_threads) + threadIdx.x; j < count;
       j += static_cast<std::int64_t>(gridDim.x) * block_threads) {
    const float z = position[3 * j + 2];
    const float value[summary_axes] = {position[3 * j], position[3 * j + 1], -1.0F / z, -z};
    const float size = amplitude[j];
    const bool good = isfinite(value[0]) && isfinite(value[1]) && isfinite(z) && z != 0 && isfinite(size) &&
                      (phase == nullptr || isfinite(phase[j]));
    if (!good) atomicMin(&all->first_bad, static_cast<unsigned long long>(j));
#pragma unroll
    for (int axis = 0; axis < summary_axes; ++axis) {
      low[axis] = fminf(low[axis], value[axis]);
      high[axis] = fmaxf(high[axis], value[axis]);
    }
    largest = fmaxf(largest, fabsf(size));
    squares = fmaf(size, size, squares);
    if (count <= PointSummary::counted_points) {
      crowd = max(crowd, atomicAdd(&points_in[place_number(position + 3 * j)], 1U) + 1);
    }
  }
  for (int offset = 16; offset > 0; offset /= 2) {
#pragma unroll
    for (int axis = 0; axis < summary_axes; ++axis) {
      low[axis] = fminf(low[axis], __shfl_xor_sync(0xffffffffU, low[axis], offset));
      high[axis] = fmaxf(high[axis], __shfl_xor_sync(0xffffffffU, high[axis], offset));
    }
    largest = fmaxf(largest, __shfl_xor_sync(0xffffffffU, largest, offset));
    squares += __shfl_xor_sync(0xffffffffU, squares, offset);
    crowd = max(crowd, __shfl_xor_sync(0xffffffffU, crowd, offset));
  }
  if (threadIdx.x % 32 == 0) {
    for (int axis = 0; axis < summary_axes; ++axis) {
      atomicMin(&lows[axis], ordered(low[axis]));
      atomicMax(&highs[axis], ordered(high[axis]));
    }
    atomicMax(&block_largest, __float_as_uint(largest));  // positive floats order like their bits
    warp_squares[threadIdx.x / 32] = squares;
    atomicMax(&block_crowd, crowd);
  }
  __syncthreads();
  if (threadIdx.x < summary_axes) {
    atomicMin(&all->low[threadIdx.x], lows[threadIdx.x]);
    atomicMax(&all->high[threadIdx.x], highs[threadIdx.x]);
  } else if (threadIdx.x == summary_axes) {
    atomicMax(&all->largest, block_largest);
    float block_squares = 0;
    for (const float warp_square : warp_squares) block_squares += warp_square;
    all->squares[blockIdx.x] = block_squares;
    atomicMax(&all->crowd, block_crowd);
  }
}

}  // namespace

PointSummary summarise_points_cuda(const PointSources& points, const Queue& queue) {
  const std::int64_t count = points.amplitude.size();
  const cuda::DeviceScope scope(queue.device());
  const auto stream = cuda::stream_of(queue);
  Array<std::byte, 1> memory({sizeof(DeviceSummary) + places * sizeof(unsigned)}, queue);
  auto* const device = reinterpret_cast<DeviceSummary*>(memory.data());
  constexpr std::size_t minima = offsetof(DeviceSummary, high);
  cuda::check(cudaMemsetAsync(device, 0xff, minima, stream), "cudaMemsetAsync");
  cuda::check(cudaMemsetAsync(memory.data() + minima, 0, memory.bytes() - minima, stream), "cudaMemsetAsync");
  summarise<<<std::min(summary_blocks, cuda::blocks_for(count, block_threads)), block_threads, 0, stream>>>(
      points.position_m.data(), points.amplitude.data(), points.phase_rad.data(), count, device,
      reinterpret_cast<unsigned*>(device + 1));
  cuda::check_launch("summarise");
  DeviceSummary host{};
  copy_bytes(&host, Device{}, device, queue.device(), sizeof host, queue);
  queue.synchronize();
  PointSummary summary;
  if (host.first_bad != ULLONG_MAX) summary.first_bad = static_cast<std::int64_t>(host.first_bad);
  for (std::size_t axis = 0; axis < summary.low.size(); ++axis) {
    summary.low[axis] = unordered(host.low[axis]);
    summary.high[axis] = unordered(host.high[axis]);
  }
  summary.largest = std::bit_cast<float>(host.largest);
  double squares = 0;
  for (const float block : host.squares) squares += static_cast<double>(block);
  summary.squares = static_cast<float>(squares);
  summary.crowd = count <= PointSummary::counted_points ? host.crowd : count;
  std::memcpy(summary.sample.data(), host.sample, sizeof host.sample);
  return summary;
}

PreparedPoints::PreparedPoints(const PointCloudOptions& options, Queue queue, std::int64_t padding)
    : options_(options), queue_(std::move(queue)), padding_(padding), largest_({1}, queue_) {}

std::int64_t PreparedPoints::padded_count() const { return (count_ + padding_ - 1) / padding_ * padding_; }

PointRecords PreparedPoints::records() const {
  const float4* base = storage_.data();
  return {base, base + capacity_, base + 2 * capacity_, largest_.data()};
}

void PreparedPoints::set(const PointSources& points) {
  const cuda::DeviceScope scope(queue_.device());
  const auto stream = cuda::stream_of(queue_);
  count_ = points.amplitude.size();
  const std::int64_t padded = padded_count();
  if (padded > capacity_) {
    storage_ = Array<float4, 1>();  // freed before the larger allocation
    storage_ = Array<float4, 1>({3 * padded}, queue_);
    capacity_ = padded;
  }
  cuda::check(cudaMemsetAsync(largest_.data(), 0, sizeof(unsigned), stream), "cudaMemsetAsync");
  if (count_ == 0) return;
  const double pitch = options_.pitch_m;
  PrepareInput in{};
  in.position = points.position_m.data();
  in.amplitude = points.amplitude.data();
  in.phase_rad = points.phase_rad.data();
  in.count = count_;
  in.padded = padded;
  in.inverse_pitch = 1 / pitch;
  in.center_x = 0.5 * static_cast<double>(options_.shape[1] - 1);
  in.center_y = 0.5 * static_cast<double>(options_.shape[0] - 1);
  in.turns_metre = pitch * pitch / (2 * options_.wavelength_m);
  in.reach_per_metre = reach_per_metre(options_);
  in.blur = light_blur(options_);
  in.falloff = options_.falloff;
  float4* base = storage_.data();
  prepare_points<<<cuda::blocks_for(padded, block_threads), block_threads, 0, stream>>>(
      in, base, base + capacity_, base + 2 * capacity_, largest_.data());
  cuda::check_launch("prepare_points");
}

}  // namespace holotone::point_cloud
