#include <holotone/core/kernel_parts_cuda.cuh>
#include <holotone/fft/fft.hpp>
#include <holotone/optics/window/window_propagation.hpp>
#include <vector>

namespace holotone::window {
namespace {

using cuda::grid_over;
using cuda::product;
using cuda::thread_index;
using cuda::threads;

__device__ __forceinline__ float2 turned(double turns) {
  float2 factor;
  sincos_turns(reduce_turns(turns), factor.y, factor.x);
  return factor;
}

/// Writes the whole array of a tile's transform: the tile times its chirps, zeros around it.
__global__ void load_kernel(const float2* __restrict__ tile, std::int64_t stride, float2* __restrict__ work, int ly,
                            int lx, TileAxis down, TileAxis right) {
  const std::int64_t x = thread_index();
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

__device__ __forceinline__ float2 conjugate(float2 a) { return {a.x, -a.y}; }

template <bool Conjugate>
__global__ void convolve_kernel(float2* __restrict__ work, int ly, int lx, const float2* __restrict__ down,
                                const float2* __restrict__ right) {
  const std::int64_t x = thread_index();
  if (x >= lx) return;
  const float2 across = right[x];
  for (std::int64_t y = blockIdx.y; y < ly; y += gridDim.y) {
    const float2 kernel = product(across, down[y]);
    work[y * lx + x] = product(work[y * lx + x], Conjugate ? conjugate(kernel) : kernel);
  }
}

/// What the bins of a column share.
struct BinColumn {
  double fx;
  double across;        ///< turns, in [-1/2, 1/2]
  std::int64_t column;  ///< of the window's spectrum
};

__device__ __forceinline__ BinColumn find_column(const TileWay& way, std::int64_t x) {
  const TileAxis& right = way.axis[1];
  const double fx = frequency(right, x);
  const double shift = output_turns(right, x) + fx * right.shift;
  return {fx, shift - round_nearest(shift), place(right, x)};
}

/// Factor of a bin on its route to the window; 0 if its light misses the window.
__device__ __forceinline__ float2 route_factor(const TileWay& way, const BinColumn& bins, std::int64_t y) {
  const TileAxis& down = way.axis[0];
  const double fy = frequency(down, y);
  const double rest = way.inverse_wavelength_squared - bins.fx * bins.fx - fy * fy;
  if (!(rest > 0)) return {0, 0};
  const double w = std::sqrt(rest);
  const double out_down = beyond(way, down, fy / w);
  const double out_right = beyond(way, way.axis[1], bins.fx / w);
  const double farthest = out_down > out_right ? out_down : out_right;
  if (farthest >= edge_middle + edge_tail) return {0, 0};
  float gain = way.gain;
  if (farthest > edge_middle - edge_tail) gain *= static_cast<float>(edge(out_down) * edge(out_right));
  const double along = output_turns(down, y) + fy * down.shift;
  const double flight = way.distance_m * w;
  float2 factor = turned(bins.across + (along - round_nearest(along)) + (flight - round_nearest(flight)));
  factor.x *= gain;
  factor.y *= gain;
  return factor;
}

/// Propagates a tile's bins to the window and adds them to its spectrum. Bins of one tile map to distinct samples.
__global__ void transfer_kernel(const float2* __restrict__ work, int lx, float2* __restrict__ spectrum, TileWay way) {
  const TileAxis& down = way.axis[0];
  const TileAxis& right = way.axis[1];
  const std::int64_t x = thread_index();
  if (x >= right.bins) return;
  const BinColumn bins = find_column(way, x);
  for (std::int64_t y = blockIdx.y; y < down.bins; y += gridDim.y) {
    const float2 factor = route_factor(way, bins, y);
    if (factor.x == 0 && factor.y == 0) continue;
    const float2 value = product(work[y * lx + x], factor);
    float2& target = spectrum[place(down, y) * right.period + bins.column];
    target.x += value.x;
    target.y += value.y;
  }
}

/// Adjoint of transfer_kernel: writes the whole array of a tile's transform, zeros around its bins.
__global__ void gather_kernel(const float2* __restrict__ spectrum, float2* __restrict__ work, int ly, int lx,
                              TileWay way) {
  const TileAxis& down = way.axis[0];
  const TileAxis& right = way.axis[1];
  const std::int64_t x = thread_index();
  if (x >= lx) return;
  const bool inside_x = x < right.bins;
  const BinColumn bins = find_column(way, inside_x ? x : 0);
  for (std::int64_t y = blockIdx.y; y < ly; y += gridDim.y) {
    float2 value{0, 0};
    if (inside_x && y < down.bins) {
      const float2 factor = route_factor(way, bins, y);
      value = product(spectrum[place(down, y) * right.period + bins.column], conjugate(factor));
    }
    work[y * lx + x] = value;
  }
}

/// Adjoint of load_kernel: writes the tile's samples.
__global__ void store_kernel(const float2* __restrict__ work, int lx, float2* __restrict__ tile, std::int64_t stride,
                             TileAxis down, TileAxis right) {
  const std::int64_t x = thread_index();
  if (x >= right.count) return;
  const double across = input_turns(right, x);
  for (std::int64_t y = blockIdx.y; y < down.count; y += gridDim.y) {
    const double along = input_turns(down, y);
    const float2 factor = turned((across - round_nearest(across)) + (along - round_nearest(along)));
    tile[y * stride + x] = product(work[y * lx + x], conjugate(factor));
  }
}

/// Writes the whole window: samples times a pupil at its first places, zeros elsewhere.
__global__ void window_kernel(const float2* __restrict__ samples, std::int64_t rows, std::int64_t columns, Mask mask,
                              float2* __restrict__ field, std::int64_t height, std::int64_t width) {
  const std::int64_t x = thread_index();
  if (x >= width) return;
  for (std::int64_t y = blockIdx.y; y < height; y += gridDim.y) {
    float2 value{0, 0};
    if (x < columns && y < rows) {
      const float part = mask_value(mask, y, x);
      value = samples[y * columns + x];
      value.x *= part;
      value.y *= part;
    }
    field[y * width + x] = value;
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
  const std::int64_t x = thread_index();
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

class CudaEngine final : public AdjointEngine {
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
    const auto [ly, lx] = work_size();
    load_kernel<<<grid_over(lx, ly), threads, 0, stream()>>>(reinterpret_cast<const float2*>(tile.data), tile.stride,
                                                             work(), ly, lx, way.axis[0], way.axis[1]);
    cuda::check_launch("window load");
    forward_.execute(work_.view(), FftDirection::forward);
    convolve_kernel<false><<<grid_over(lx, ly), threads, 0, stream()>>>(work(), ly, lx, chirps(down_), chirps(right_));
    cuda::check_launch("window convolve");
    inverse_.execute(work_.view(), FftDirection::inverse);
    transfer_kernel<<<grid_over(way.axis[1].bins, way.axis[0].bins), threads, 0, stream()>>>(work(), lx, field(), way);
    cuda::check_launch("window transfer");
  }

  void take(const TargetSamples& tile, const TileWay& way) override {
    const cuda::DeviceScope scope(queue_.device());
    const TileAxis& down = way.axis[0];
    const TileAxis& right = way.axis[1];
    if (down.bins == 0 || right.bins == 0) {
      cuda::check(cudaMemset2DAsync(tile.data, count_bytes(tile.stride), 0, count_bytes(right.count),
                                    static_cast<std::size_t>(down.count), stream()),
                  "cudaMemset2DAsync");
      return;
    }
    const auto [ly, lx] = work_size();
    gather_kernel<<<grid_over(lx, ly), threads, 0, stream()>>>(field(), work(), ly, lx, way);
    cuda::check_launch("window gather");
    // Adjoints of the unscaled inverse and forward transform, with the same rows in use.
    inverse_.execute(work_.view(), FftDirection::forward);
    convolve_kernel<true><<<grid_over(lx, ly), threads, 0, stream()>>>(work(), ly, lx, chirps(down_), chirps(right_));
    cuda::check_launch("window convolve");
    forward_.execute(work_.view(), FftDirection::inverse);
    store_kernel<<<grid_over(right.count, down.count), threads, 0, stream()>>>(
        work(), lx, reinterpret_cast<float2*>(tile.data), tile.stride, down, right);
    cuda::check_launch("window store");
  }

  void get_samples(View<Complex, 2> samples) const override {
    const cuda::DeviceScope scope(queue_.device());
    const auto [rows, columns] = samples.shape();
    cuda::check(
        cudaMemcpy2DAsync(samples.data(), count_bytes(columns), field_.data(), count_bytes(field_.shape()[1]),
                          count_bytes(columns), static_cast<std::size_t>(rows), cudaMemcpyDeviceToDevice, stream()),
        "cudaMemcpy2DAsync");
  }

  void set_samples(View<const Complex, 2> samples, const Mask& mask) override {
    const cuda::DeviceScope scope(queue_.device());
    const auto [rows, columns] = samples.shape();
    const auto [height, width] = field_.shape();
    window_kernel<<<grid_over(width, height), threads, 0, stream()>>>(reinterpret_cast<const float2*>(samples.data()),
                                                                      rows, columns, mask, field(), height, width);
    cuda::check_launch("window samples");
    const FftPlan fft(field_.shape(), queue_, {.scale_inverse = false, .rows = rows});
    fft.execute(field_.view(), FftDirection::forward);
    queue_.synchronize();  // before the plan's memory is freed
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
  [[nodiscard]] float2* work() { return reinterpret_cast<float2*>(work_.data()); }
  /// Rows and columns of the tile's transform.
  [[nodiscard]] std::array<int, 2> work_size() const {
    return {static_cast<int>(work_.shape()[0]), static_cast<int>(work_.shape()[1])};
  }
  static const float2* chirps(const Array<Complex, 1>& axis) { return reinterpret_cast<const float2*>(axis.data()); }
  static std::size_t count_bytes(std::int64_t numbers) { return static_cast<std::size_t>(numbers) * sizeof(Complex); }

  Queue queue_;
  Array<Complex, 2> field_;  ///< the window's spectrum, then its samples
  Array<Complex, 2> work_;   ///< a tile's transform
  Array<Complex, 1> down_;   ///< spectra of the chirps
  Array<Complex, 1> right_;
  FftPlan forward_;
  FftPlan inverse_;
};

}  // namespace

AdjointEnginePointer engine_cuda(const Route& route, const Queue& queue) {
  return std::make_unique<CudaEngine>(route, queue);
}

}  // namespace holotone::window
