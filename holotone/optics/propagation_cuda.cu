#include <cmath>
#include <holotone/core/kernel_parts_cuda.cuh>
#include <holotone/fft/padded_filter_cuda.hpp>
#include <holotone/optics/propagation_workspace.hpp>
#include <holotone/optics/transfer_cuda.cuh>
#include <limits>

namespace holotone::propagation {
namespace {

using cuda::grid_over;
using cuda::product;
using cuda::thread_index;
using cuda::threads;

/// Output of a kernel: one of the two pointers is null.
struct Output {
  float2* field = nullptr;
  float* intensity = nullptr;
};

__device__ __forceinline__ void store(const Output& out, std::int64_t index, float2 value) {
  if (out.field != nullptr) {
    out.field[index] = value;
  } else {
    out.intensity[index] = value.x * value.x + value.y * value.y;
  }
}

/// Writes the whole padded array: the field at its offset, zeros around it.
__global__ void pad_kernel(const float2* __restrict__ input, float2* __restrict__ padded, Frame frame) {
  const std::int64_t x = thread_index();
  if (x >= frame.lx) return;
  const std::int64_t from_x = x - frame.col;
  for (std::int64_t y = blockIdx.y; y < frame.ly; y += gridDim.y) {
    const std::int64_t from_y = y - frame.row;
    const bool inside = from_x >= 0 && from_x < frame.nx && from_y >= 0 && from_y < frame.ny;
    padded[y * frame.lx + x] = inside ? input[from_y * frame.nx + from_x] : float2{0, 0};
  }
}

/// Writes the padded array with the chirp of the Fresnel transform and the compensation of its taps.
__global__ void pad_chirp_kernel(const float2* __restrict__ input, float2* __restrict__ padded, Frame frame,
                                 FresnelAxis vertical, FresnelAxis horizontal, const float* __restrict__ compensation_y,
                                 const float* __restrict__ compensation_x) {
  const std::int64_t x = thread_index();
  if (x >= frame.lx) return;
  const std::int64_t from_x = x - frame.col;
  const bool inside_x = from_x >= 0 && from_x < frame.nx;
  float2 across{0, 0};
  if (inside_x) {
    sincos_turns(input_chirp_turns(horizontal, from_x), across.y, across.x);
    across.x *= compensation_x[from_x];
    across.y *= compensation_x[from_x];
  }
  for (std::int64_t y = blockIdx.y; y < frame.ly; y += gridDim.y) {
    const std::int64_t from_y = y - frame.row;
    float2 value{0, 0};
    if (inside_x && from_y >= 0 && from_y < frame.ny) {
      float2 down;
      sincos_turns(input_chirp_turns(vertical, from_y), down.y, down.x);
      down.x *= compensation_y[from_y];
      down.y *= compensation_y[from_y];
      value = product(product(input[from_y * frame.nx + from_x], across), down);
    }
    padded[y * frame.lx + x] = value;
  }
}

/// Frequencies along x whose H a thread computes from one square root.
constexpr int series_rows = 8;

/// Longest step e of TransferSeries: the term left out, 5 / 128 d w e^4, stays below 2^-26 turns.
double longest_series_step(const Transfer& t) {
  const double turns = std::abs(t.distance_m) * std::sqrt(t.inverse_wavelength_squared);
  return std::min(0.5, std::pow(std::ldexp(128.0 / 5, -26) / turns, 0.25));
}

/// d w in turns near one square root: d w0 sqrt(1 - e) by its series.
struct TransferSeries {
  double rest;     ///< w0^2
  double inverse;  ///< 1 / w0^2
  double turns;    ///< d w0

  __device__ __forceinline__ TransferSeries(const Transfer& t, double at)
      : rest(at), inverse(1 / at), turns(t.distance_m * sqrt(at > 0 ? at : 0)) {}

  [[nodiscard]] __device__ __forceinline__ float at(const Transfer& t, double other, double longest_step) const {
    const double e = (rest - other) * inverse;
    if (!(fabs(e) <= longest_step)) return transfer_turns(t, other);
    return reduce_turns(turns - turns * e * (0.5 + e * (0.125 + 0.0625 * e)));
  }
};

/// Table of H for a CudaPaddedFilter: a row for each frequency along x, `frequencies` along y.
__global__ void fill_transfer_kernel(float2* __restrict__ table, const int* __restrict__ frequencies, int rows,
                                     int columns, Transfer t, double longest_step) {
  const std::int64_t column = thread_index();
  if (column >= columns) return;
  const double fy = frequencies[column] * t.step_y;
  const auto rest_of = [&](int row) {
    const double fx = row * t.step_x;
    return transfer_rest(t, fx * fx, fy * fy);
  };
  for (int first = series_rows * static_cast<int>(blockIdx.y); first < rows; first += series_rows * gridDim.y) {
    const TransferSeries series(t, rest_of(first + series_rows / 2));
#pragma unroll
    for (int i = 0; i < series_rows; ++i) {
      const int row = first + i;
      if (row >= rows) return;
      const double fx = row * t.step_x;
      const double rest = rest_of(row);
      float2 h;
      sincos_turns(series.at(t, rest, longest_step), h.y, h.x);
      const float gain = transfer_kept(t, rest, fx * fx, fy * fy) ? t.gain : 0.0f;
      table[static_cast<std::int64_t>(row) * columns + column] = {gain * h.x, gain * h.y};
    }
  }
}

/// Multiplies by H. It is even in both frequencies: a thread computes it once, in float64, for four samples.
__global__ void transfer_kernel(float2* __restrict__ spectrum, int ly, int lx, Transfer t) {
  const std::int64_t x = thread_index();
  if (x > lx / 2) return;
  const std::int64_t mirror_x = lx - x;
  const bool has_mirror_x = x > 0 && mirror_x > x;
  for (std::int64_t y = blockIdx.y; y <= ly / 2; y += gridDim.y) {
    const float2 h = transfer_at(t, y, x);
    float2* const upper = spectrum + y * lx;
    upper[x] = product(upper[x], h);
    if (has_mirror_x) upper[mirror_x] = product(upper[mirror_x], h);
    const std::int64_t mirror_y = ly - y;
    if (y > 0 && mirror_y > y) {
      float2* const lower = spectrum + mirror_y * lx;
      lower[x] = product(lower[x], h);
      if (has_mirror_x) lower[mirror_x] = product(lower[mirror_x], h);
    }
  }
}

__global__ void crop_kernel(const float2* __restrict__ padded, Output out, Frame frame) {
  const std::int64_t x = thread_index();
  if (x >= frame.nx) return;
  for (std::int64_t y = blockIdx.y; y < frame.ny; y += gridDim.y) {
    store(out, y * frame.nx + x, padded[(y + frame.row) * frame.lx + x + frame.col]);
  }
}

/// Positions and taps of one axis; one thread per pixel.
__global__ void axis_kernel(FresnelAxis axis, FresnelSample* __restrict__ samples, float* __restrict__ taps) {
  const std::int64_t m = thread_index();
  if (m >= axis.count) return;
  float tap_values[tap_count];
  samples[m] = fresnel_sample(axis, m, tap_values);
  for (int j = 0; j < tap_count; ++j) taps[m * tap_count + j] = tap_values[j];
}

/// Interpolates the transform at the output's pixels with eight by eight taps.
__global__ void resample_kernel(const float2* __restrict__ spectrum, Output out, Frame frame,
                                const FresnelSample* __restrict__ rows, const float* __restrict__ row_taps,
                                const FresnelSample* __restrict__ columns, const float* __restrict__ column_taps) {
  const std::int64_t x = thread_index();
  if (x >= frame.nx) return;
  const FresnelSample across = columns[x];
  float weight_x[tap_count];
  int place_x[tap_count];
#pragma unroll
  for (int j = 0; j < tap_count; ++j) {
    weight_x[j] = column_taps[x * tap_count + j];
    const int place = across.first + j;
    place_x[j] = place < frame.lx ? place : place - frame.lx;
  }
  for (std::int64_t y = blockIdx.y; y < frame.ny; y += gridDim.y) {
    const FresnelSample down = rows[y];
    float2 sum{0, 0};
#pragma unroll
    for (int i = 0; i < tap_count; ++i) {
      const int place = down.first + i;
      const float2* const line =
          spectrum + static_cast<std::int64_t>(place < frame.ly ? place : place - frame.ly) * frame.lx;
      float2 part{0, 0};
#pragma unroll
      for (int j = 0; j < tap_count; ++j) {
        const float2 value = line[place_x[j]];
        part.x += weight_x[j] * value.x;
        part.y += weight_x[j] * value.y;
      }
      const float weight_y = row_taps[y * tap_count + i];
      sum.x += weight_y * part.x;
      sum.y += weight_y * part.y;
    }
    store(out, y * frame.nx + x, product(product(sum, {across.cosine, across.sine}), {down.cosine, down.sine}));
  }
}

/// One axis of a Fresnel transform, on the device.
struct AxisTable {
  AxisTable(std::int64_t count, std::int64_t length, const Queue& queue)
      : samples({count}, queue), taps({count * tap_count}, queue), compensation({count}, queue) {
    const std::vector<float> host = tap_compensation(count, length);
    copy_bytes(compensation.data(), queue.device(), host.data(), Device{}, compensation.bytes(), queue);
    queue.synchronize();
  }

  void fill(const FresnelAxis& axis, cudaStream_t stream) {
    axis_kernel<<<cuda::blocks_for(axis.count, threads), threads, 0, stream>>>(axis, samples.data(), taps.data());
    cuda::check_launch("propagation axis");
  }
  [[nodiscard]] std::size_t bytes() const { return samples.bytes() + taps.bytes() + compensation.bytes(); }

  Array<FresnelSample, 1> samples;
  Array<float, 1> taps;
  Array<float, 1> compensation;
};

float2* data_of(Workspace& work) { return reinterpret_cast<float2*>(work.values.data()); }
const float2* as_float2(View<const Complex, 2> view) { return reinterpret_cast<const float2*>(view.data()); }

Output as_output(const Target& target) {
  return {reinterpret_cast<float2*>(target.field.data()), target.intensity.data()};
}

/// Angular spectrum of a padded field in three passes.
struct Filter {
  std::unique_ptr<fft::CudaPaddedFilter> filter;
  Array<Complex, 2> transfer;
  double distance_m = std::numeric_limits<double>::quiet_NaN();  ///< of the table

  /// None where there is no CudaPaddedFilter of the shape.
  static std::unique_ptr<Filter> make(Shape<2> field, Shape<2> padded, const Queue& queue) {
    auto filter = fft::CudaPaddedFilter::make(field, padded, queue);
    if (!filter) return nullptr;
    const Shape<2> shape = filter->transfer_shape();
    return std::make_unique<Filter>(Filter{std::move(filter), Array<Complex, 2>(shape, queue)});
  }
  [[nodiscard]] std::size_t bytes() const { return filter->workspace_bytes() + transfer.bytes(); }
};

class CudaEngine final : public Engine {
 public:
  CudaEngine(const PropagationOptions& options, const Queue& queue)
      : options_(options), queue_(queue), memory_(options, queue) {}

  void copy(View<const Complex, 2> input, const Target& target) override {
    const cuda::DeviceScope scope(queue_.device());
    const auto [ny, nx] = input.shape();
    const Frame frame{static_cast<int>(ny), static_cast<int>(nx), static_cast<int>(ny), static_cast<int>(nx), 0, 0};
    if (target.field.data() == input.data()) return;
    crop_kernel<<<grid_over(nx, ny), threads, 0, stream()>>>(as_float2(input), as_output(target), frame);
    cuda::check_launch("propagation copy");
  }

  void angular_spectrum(View<const Complex, 2> input, const Target& target, double distance_m,
                        Spectrum spectrum) override {
    const cuda::DeviceScope scope(queue_.device());
    if (memory_.filter) return filter(input, target, distance_m, spectrum);
    Workspace& work = *memory_.spectrum;
    const Frame& frame = work.frame;
    memory_.transform(spectrum, queue_, [&] {
      pad_kernel<<<grid_over(frame.lx, frame.ly), threads, 0, stream()>>>(as_float2(input), data_of(work), frame);
      cuda::check_launch("propagation pad");
    });
    transfer_kernel<<<grid_over(frame.lx / 2 + 1, frame.ly / 2 + 1), threads, 0, stream()>>>(
        data_of(work), frame.ly, frame.lx, make_transfer(options_, distance_m));
    cuda::check_launch("propagation transfer");
    work.fft.execute(work.values.view(), FftDirection::inverse);
    crop_kernel<<<grid_over(frame.nx, frame.ny), threads, 0, stream()>>>(data_of(work), as_output(target), frame);
    cuda::check_launch("propagation crop");
  }

  void fresnel(View<const Complex, 2> input, const Target& target, double distance_m) override {
    const cuda::DeviceScope scope(queue_.device());
    Workspace& work = *memory_.fresnel;
    const Frame& frame = work.frame;
    const FresnelAxis vertical = make_fresnel_axis(options_, distance_m, 0);
    const FresnelAxis horizontal = make_fresnel_axis(options_, distance_m, 1);
    pad_chirp_kernel<<<grid_over(frame.lx, frame.ly), threads, 0, stream()>>>(
        as_float2(input), data_of(work), frame, vertical, horizontal, memory_.rows->compensation.data(),
        memory_.columns->compensation.data());
    cuda::check_launch("propagation pad chirp");
    work.fft.execute(work.values.view(), FftDirection::forward);
    memory_.rows->fill(vertical, stream());
    memory_.columns->fill(horizontal, stream());
    resample_kernel<<<grid_over(frame.nx, frame.ny), threads, 0, stream()>>>(
        data_of(work), as_output(target), frame, memory_.rows->samples.data(), memory_.rows->taps.data(),
        memory_.columns->samples.data(), memory_.columns->taps.data());
    cuda::check_launch("propagation resample");
  }

  [[nodiscard]] std::size_t workspace_bytes() const override { return memory_.bytes(); }

 private:
  [[nodiscard]] cudaStream_t stream() const { return cuda::stream_of(queue_); }

  void filter(View<const Complex, 2> input, const Target& target, double distance_m, Spectrum spectrum) {
    auto& [filter, transfer, distance_of_table_m] = *memory_.filter;
    if (distance_of_table_m != distance_m) {
      const auto [rows, columns] = transfer.shape();
      const Transfer function = make_transfer(options_, distance_m);
      fill_transfer_kernel<<<grid_over(columns, cuda::blocks_for(rows, series_rows)), threads, 0, stream()>>>(
          reinterpret_cast<float2*>(transfer.data()), filter->transfer_frequencies().data(), static_cast<int>(rows),
          static_cast<int>(columns), function, longest_series_step(function));
      cuda::check_launch("propagation transfer table");
      distance_of_table_m = distance_m;
    }
    if (spectrum != Spectrum::kept) filter->forward(input.data());
    filter->apply(transfer.data(), target.field.data(), target.intensity.data(), spectrum != Spectrum::none);
  }

  PropagationOptions options_;
  Queue queue_;
  Workspaces<Filter, AxisTable> memory_;
};

}  // namespace

EnginePointer engine_cuda(const PropagationOptions& options, const Queue& queue) {
  return std::make_unique<CudaEngine>(options, queue);
}

}  // namespace holotone::propagation
