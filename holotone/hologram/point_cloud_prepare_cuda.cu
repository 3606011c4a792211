#include <climits>
#include <holotone/hologram/point_cloud_cuda.cuh>

namespace holotone::point_cloud {
namespace {

constexpr int block_threads = 256;

struct PrepareArguments {
  const float* position;
  const float* amplitude;
  const float* phase_rad;  ///< null: zero
  std::int64_t count;
  std::int64_t padded;
  double inverse_pitch;
  double center_x;  ///< (nx - 1) / 2
  double center_y;
  double turns_metre;      ///< pitch^2 / (2 lambda): divided by d it is `a`
  double reach_per_metre;  ///< lambda / (2 pitch^2): times |d| it is the lit half width in pixels; 0: no band
                           ///< limit
};

__global__ void prepare_points(PrepareArguments in, float4* position, float4* wave, float4* lit, unsigned* statistics) {
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
      const double a = in.turns_metre / distance;
      const double x_whole = rint(x);
      const double y_whole = rint(y);
      const auto a_high = static_cast<float>(a);
      const double turns = in.phase_rad != nullptr ? in.phase_rad[j] * 0.15915494309189535 : 0.0;
      const float amplitude = in.amplitude[j];
      position[j] = make_float4(static_cast<float>(x_whole), static_cast<float>(x - x_whole),
                                static_cast<float>(y_whole), static_cast<float>(y - y_whole));
      wave[j] = make_float4(a_high, static_cast<float>(a - a_high), amplitude, static_cast<float>(turns - rint(turns)));
      const double reach = in.reach_per_metre > 0 ? in.reach_per_metre * fabs(distance) : 1e30;
      lit[j] = make_float4(static_cast<float>(ceil(x - reach)), static_cast<float>(floor(x + reach)),
                           static_cast<float>(ceil(y - reach)), static_cast<float>(floor(y + reach)));
      magnitude = fabsf(amplitude);
    }
  }
  float square = magnitude * magnitude;
  for (int offset = 16; offset > 0; offset /= 2) {
    magnitude = fmaxf(magnitude, __shfl_xor_sync(0xffffffffU, magnitude, offset));
    square += __shfl_xor_sync(0xffffffffU, square, offset);
  }
  if (threadIdx.x % 32 == 0 && magnitude > 0) {
    atomicMax(statistics, __float_as_uint(magnitude));  // positive floats order like their bits
    atomicAdd(reinterpret_cast<float*>(statistics) + 1, square);
  }
}

__global__ void find_bad_point(const float* position, const float* amplitude, const float* phase, std::int64_t count,
                               unsigned long long* first_bad) {
  const std::int64_t j = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x;
  if (j >= count) return;
  const bool good = isfinite(position[3 * j]) && isfinite(position[3 * j + 1]) && isfinite(position[3 * j + 2]) &&
                    position[3 * j + 2] != 0 && isfinite(amplitude[j]) && (phase == nullptr || isfinite(phase[j]));
  if (!good) atomicMin(first_bad, static_cast<unsigned long long>(j));
}

}  // namespace

std::int64_t first_bad_point_cuda(const PointSources& points, const Queue& queue) {
  const std::int64_t count = points.amplitude.size();
  if (count == 0) return -1;
  const cuda::DeviceScope scope(queue.device());
  const auto stream = cuda::stream_of(queue);
  Array<unsigned long long, 1> first({1}, queue);
  cuda::check(cudaMemsetAsync(first.data(), 0xff, sizeof(unsigned long long), stream), "cudaMemsetAsync");
  find_bad_point<<<cuda::blocks_for(count, block_threads), block_threads, 0, stream>>>(
      points.position_m.data(), points.amplitude.data(), points.phase_rad.data(), count, first.data());
  cuda::check_launch("find_bad_point");
  unsigned long long result = 0;
  copy_bytes(&result, Device{}, first.data(), queue.device(), sizeof result, queue);
  queue.synchronize();
  return result == ULLONG_MAX ? -1 : static_cast<std::int64_t>(result);
}

PreparedPoints::PreparedPoints(const PointCloudOptions& options, Queue queue, std::int64_t padding)
    : options_(options), queue_(std::move(queue)), padding_(padding), statistics_({2}, queue_) {}

std::int64_t PreparedPoints::padded_count() const { return (count_ + padding_ - 1) / padding_ * padding_; }

PointRecords PreparedPoints::records() const {
  const float4* base = storage_.data();
  return {base, base + capacity_, base + 2 * capacity_, reinterpret_cast<const unsigned*>(statistics_.data())};
}

void PreparedPoints::set(const PointSources& points) {
  const cuda::DeviceScope scope(queue_.device());
  const auto stream = cuda::stream_of(queue_);
  count_ = points.amplitude.size();
  const std::int64_t padded = padded_count();
  if (padded > capacity_) {
    storage_ = Array<float4, 1>();  // give back before taking more
    storage_ = Array<float4, 1>({3 * padded}, queue_);
    capacity_ = padded;
  }
  cuda::check(cudaMemsetAsync(statistics_.data(), 0, 2 * sizeof(float), stream), "cudaMemsetAsync");
  if (count_ == 0) return;
  const double pitch = options_.pitch_m;
  PrepareArguments in{};
  in.position = points.position_m.data();
  in.amplitude = points.amplitude.data();
  in.phase_rad = points.phase_rad.data();
  in.count = count_;
  in.padded = padded;
  in.inverse_pitch = 1 / pitch;
  in.center_x = 0.5 * static_cast<double>(options_.shape[1] - 1);
  in.center_y = 0.5 * static_cast<double>(options_.shape[0] - 1);
  in.turns_metre = pitch * pitch / (2 * options_.wavelength_m);
  in.reach_per_metre = options_.band_limit ? options_.wavelength_m / (2 * pitch * pitch) : 0;
  float4* base = storage_.data();
  prepare_points<<<cuda::blocks_for(padded, block_threads), block_threads, 0, stream>>>(
      in, base, base + capacity_, base + 2 * capacity_, reinterpret_cast<unsigned*>(statistics_.data()));
  cuda::check_launch("prepare_points");
}

float2 PreparedPoints::amplitude_statistics() const {
  float values[2] = {};
  copy_bytes(values, Device{}, statistics_.data(), queue_.device(), sizeof values, queue_);
  queue_.synchronize();
  const auto n = static_cast<float>(count_ > 0 ? count_ : 1);
  return {values[0], sqrtf(values[1] / n)};
}

}  // namespace holotone::point_cloud
