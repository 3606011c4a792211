#include <holotone/fft/fft.hpp>
#include <holotone/optics/kernels_cuda.cuh>
#include <holotone/optics/window_propagation.hpp>
#include <vector>

namespace holotone::window {
namespace {

using optics_kernels::grid_over;
using optics_kernels::product;
using optics_kernels::thread_column;
using optics_kernels::threads;

__device__ __forceinline__ float2 turned(double turns) {
  float2 factor;
  sincos_turns(reduce_turns(turns), factor.y, factor.x);
  return factor;
}

/// Writes the whole array of a tile's transform: the tile times its chirps, zeros around it.
__global__ void load_kernel(const float2* __restrict__ tile, std::int64_t stride, float2* __restrict__ work, int ly,
                            int lx, TileAxis down, TileAxis right) {
  const std::int64_t x = thread_column();
  if (x >= lx) return;
  const bool inside_x = x < right.count;
  const double across = inside_x ? input_turns(right, x) : 0.0;
  for (std::int64_t y = blockIdx.y; y < ly; y += gridDim.y) {
    float2 value{0, 0};
    if (inside_x && y < down.count) {
      // Whole turns are removed before the sum, which would round the smaller term.
      const double along = input_turns(down, y);
      value = product(tile[y * stride + x], turned((across - round_nearest(across)) + (along - round_nearest(along))));
    }
    work[y * lx + x] = value;
  }
}

__global__ void convolve_kernel(float2* __restrict__ work, int ly, int lx, const float2* __restrict__ down,
                                const float2* __restrict__ right) {
  const std::int64_t x = thread_column();
  if (x >= lx) return;
  const float2 across = right[x];
  for (std::int64_t y = blockIdx.y; y < ly; y += gridDim.y) {
    work[y * lx + x] = product(work[y * lx + x], product(across, down[y]));
  }
}

/// Propagates a tile's bins to the window and adds them to its spectrum. Bins of one tile map to distinct samples.
__global__ void transfer_kernel(const float2* __restrict__ work, int lx, float2* __restrict__ spectrum, TileWay way) {
  const TileAxis& down = way.axis[0];
  const TileAxis& right = way.axis[1];
  const std::int64_t x = thread_column();
  if (x >= right.bins) return;
  const double fx = frequency(right, x);
  const double own = output_turns(right, x) + fx * right.shift;
  const double across = own - round_nearest(own);
  const std::int64_t column = place(right, x);
  for (std::int64_t y = blockIdx.y; y < down.bins; y += gridDim.y) {
    const double fy = frequency(down, y);
    const double rest = way.inverse_wavelength_squared - fx * fx - fy * fy;
    if (!(rest > 0)) continue;
    const double w = std::sqrt(rest);
    const double out_down = beyond(way, down, fy / w);
    const double out_right = beyond(way, right, fx / w);
    const double farthest = out_down > out_right ? out_down : out_right;
    if (farthest >= edge_middle + edge_tail) continue;
    float gain = way.gain;
    if (farthest > edge_middle - edge_tail) gain *= static_cast<float>(edge(out_down) * edge(out_right));
    const double along = output_turns(down, y) + fy * down.shift;
    const double flight = way.distance_m * w;
    float2 factor = turned(across + (along - round_nearest(along)) + (flight - round_nearest(flight)));
    factor.x *= gain;
    factor.y *= gain;
    const float2 value = product(work[y * lx + x], factor);
    float2& target = spectrum[place(down, y) * right.period + column];
    target.x += value.x;
    target.y += value.y;
  }
}

/// One block per row: applies the row's part of the pupil and sums the remaining power.
__global__ void crop_kernel(float2* __restrict__ field, std::int64_t width, Mask mask, double* __restrict__ sums) {
  __shared__ double shared[threads];
  const std::int64_t row = blockIdx.x;
  double sum = 0;
  for (std::int64_t col = threadIdx.x; col < mask.count[1]; col += threads) {
    float2& value = field[row * width + col];
    const float part = mask_value(mask, row, col);
    value.x *= part;
    value.y *= part;
    sum += static_cast<double>(value.x * value.x + value.y * value.y);
  }
  shared[threadIdx.x] = sum;
  __syncthreads();
  for (int half = threads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) shared[threadIdx.x] += shared[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) sums[row] = shared[0];
}

__global__ void intensity_kernel(const float2* __restrict__ field, std::int64_t width, float* __restrict__ output,
                                 std::int64_t ny, std::int64_t nx, std::int64_t every_down, std::int64_t every_right) {
  const std::int64_t x = thread_column();
  if (x >= nx) return;
  const float part = 1 / static_cast<float>(every_down * every_right);
  for (std::int64_t y = blockIdx.y; y < ny; y += gridDim.y) {
    float sum = 0;
    for (std::int64_t i = 0; i < every_down; ++i) {
      const float2* const from = field + (y * every_down + i) * width + x * every_right;
      for (std::int64_t j = 0; j < every_right; ++j) sum += from[j].x * from[j].x + from[j].y * from[j].y;
    }
    output[y * nx + x] = sum * part;
  }
}

class CudaEngine final : public Engine {
 public:
  CudaEngine(const Route& route, const Queue& queue)
      : queue_(queue),
        field_({route.axis[0].period, route.axis[1].period}, queue),
        work_({route.axis[0].length, route.axis[1].length}, queue),
        down_({route.axis[0].length}, queue),
        right_({route.axis[1].length}, queue),
        forward_(work_.shape(), queue, {.scale_inverse = false, .rows = route.axis[0].tile}),
        inverse_(work_.shape(), queue, {.scale_inverse = false, .rows = route.axis[0].bins}) {
    const auto down = chirp_spectrum(route.axis[0]);
    const auto right = chirp_spectrum(route.axis[1]);
    copy<Complex, 1>(down_.view(), down.view(), queue_);
    copy<Complex, 1>(right_.view(), right.view(), queue_);
    queue_.synchronize();
    clear();
  }

  void clear() override {
    const cuda::DeviceScope scope(queue_.device());
    cuda::check(cudaMemsetAsync(field_.data(), 0, field_.bytes(), stream()), "cudaMemsetAsync");
  }

  void add(const Samples& tile, const TileWay& way) override {
    const cuda::DeviceScope scope(queue_.device());
    const int ly = static_cast<int>(work_.shape()[0]);
    const int lx = static_cast<int>(work_.shape()[1]);
    auto* const work = reinterpret_cast<float2*>(work_.data());
    load_kernel<<<grid_over(lx, ly), threads, 0, stream()>>>(reinterpret_cast<const float2*>(tile.data), tile.stride,
                                                             work, ly, lx, way.axis[0], way.axis[1]);
    cuda::check_launch("window load");
    forward_.execute(work_.view(), FftDirection::forward);
    convolve_kernel<<<grid_over(lx, ly), threads, 0, stream()>>>(
        work, ly, lx, reinterpret_cast<const float2*>(down_.data()), reinterpret_cast<const float2*>(right_.data()));
    cuda::check_launch("window convolve");
    inverse_.execute(work_.view(), FftDirection::inverse);
    transfer_kernel<<<grid_over(way.axis[1].bins, way.axis[0].bins), threads, 0, stream()>>>(work, lx, field(), way);
    cuda::check_launch("window transfer");
  }

  void transform(std::int64_t rows) override {
    const FftPlan fft(field_.shape(), queue_, {.scale_inverse = false, .rows = rows});
    fft.execute(field_.view(), FftDirection::inverse);
    queue_.synchronize();  // before the plan's memory is freed
  }

  double crop(const Mask& mask) override {
    const cuda::DeviceScope scope(queue_.device());
    Array<double, 1> sums({mask.count[0]}, queue_);
    crop_kernel<<<static_cast<unsigned>(mask.count[0]), threads, 0, stream()>>>(field(), field_.shape()[1], mask,
                                                                                sums.data());
    cuda::check_launch("window crop");
    Array<double, 1> host({mask.count[0]});
    copy<double, 1>(host.view(), sums.view(), queue_);
    queue_.synchronize();
    double sum = 0;
    for (const double one : host.host()) sum += one;
    return sum;
  }

  void intensity(View<float, 2> output, std::array<std::int64_t, 2> every) override {
    const cuda::DeviceScope scope(queue_.device());
    const auto [ny, nx] = output.shape();
    intensity_kernel<<<grid_over(nx, ny), threads, 0, stream()>>>(field(), field_.shape()[1], output.data(), ny, nx,
                                                                  every[0], every[1]);
    cuda::check_launch("window intensity");
  }

  [[nodiscard]] const Complex* samples() const override { return field_.data(); }

 private:
  [[nodiscard]] cudaStream_t stream() const { return cuda::stream_of(queue_); }
  [[nodiscard]] float2* field() { return reinterpret_cast<float2*>(field_.data()); }

  Queue queue_;
  Array<Complex, 2> field_;  ///< the window's spectrum, then its samples
  Array<Complex, 2> work_;   ///< a tile's transform
  Array<Complex, 1> down_;   ///< spectra of the chirps
  Array<Complex, 1> right_;
  FftPlan forward_;
  FftPlan inverse_;
};

}  // namespace

EnginePointer engine_cuda(const Route& route, const Queue& queue) { return std::make_unique<CudaEngine>(route, queue); }

}  // namespace holotone::window
