#include <algorithm>
#include <holotone/core/cuda_check.hpp>
#include <holotone/fft/fft.hpp>
#include <holotone/hologram/encode_engine.hpp>
#include <holotone/hologram/encode_math.h>
#include <optional>

namespace holotone::encoding {
namespace {

constexpr int threads = 256;
constexpr int batch = 4;  // neighbouring pixels of a thread: two 16-byte loads, one 8-byte store
constexpr std::int64_t band_limit_pixels = 1 << 22;  // of burckhardt's rows at a time: 32 MiB
constexpr std::int64_t most_rows = 65535;            // of remove_bins_kernel's grid

/// Kernel parameters besides the field; pointers are device memory.
struct Parameters {
  std::int64_t count, nx;
  std::int64_t odd;  ///< 1 if the first row is an odd row of the panel, for the checkerboard
  PhaseLevels phase;
  PhaseShift shift;
  const Complex32* beam_column;
  const Complex32* beam_row;
  float levels, low, high;
  const unsigned* peak;  ///< bits of the largest magnitude, or null if low and high are given
  bool symmetric;
};

struct Range {
  float low, high;
};

__device__ Range range_of(const Parameters& p) {
  if (p.peak == nullptr) return {p.low, p.high};
  const float peak = __uint_as_float(*p.peak);
  const float high = peak > 0 ? peak : 1.0f;
  return {p.symmetric ? -high : 0.0f, high};
}

template <class Code>
struct alignas(batch * sizeof(Code)) CodeBatch {
  Code code[batch];
};

/// Loads four neighbouring pixels from `first` on. Kernels are launched with aligned = true only if the addresses of
/// all views permit wide loads.
template <bool aligned>
__device__ void load(const Complex32* __restrict__ field, std::int64_t first, std::int64_t count,
                     Complex32 (&u)[batch]) {
  if (aligned && first + batch <= count) {
    const float4* wide = reinterpret_cast<const float4*>(field + first);
    const float4 a = wide[0];
    const float4 b = wide[1];
    u[0] = {a.x, a.y};
    u[1] = {a.z, a.w};
    u[2] = {b.x, b.y};
    u[3] = {b.z, b.w};
    return;
  }
  for (int k = 0; k < batch; ++k) u[k] = first + k < count ? field[first + k] : Complex32{0, 0};
}

template <bool aligned, class Code>
__device__ void store(Code* __restrict__ codes, std::int64_t first, std::int64_t count, const CodeBatch<Code>& values) {
  if (aligned && first + batch <= count) {
    *reinterpret_cast<CodeBatch<Code>*>(codes + first) = values;
    return;
  }
  for (int k = 0; k < batch; ++k) {
    if (first + k < count) codes[first + k] = values.code[k];
  }
}

/// Row and column of neighbouring pixels: one division per thread.
struct Place {
  std::int64_t row, column;
  __device__ Place(std::int64_t index, std::int64_t nx) : row(index / nx), column(index - row * nx) {}
  __device__ void next(std::int64_t nx) {
    if (++column == nx) {
      column = 0;
      ++row;
    }
  }
};

enum class Shift { none, separable, map };

template <Shift shift>
__device__ float shifted(float t, const Parameters& p, const Place& at, std::int64_t index) {
  if constexpr (shift == Shift::separable) {
    return add_turns(t, add_turns(p.shift.column[at.column], p.shift.row[at.row]));
  }
  if constexpr (shift == Shift::map) return add_turns(t, p.shift.map[index]);
  return t;
}

template <bool doubled, bool table, Shift shift, bool aligned, class Code>
__global__ void __launch_bounds__(threads)
    phase_kernel(const Complex32* __restrict__ field, Code* __restrict__ codes, Parameters p) {
  const std::int64_t first = (static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x) * batch;
  if (first >= p.count) return;
  Complex32 u[batch];
  load<aligned>(field, first, p.count, u);
  constexpr bool placed = doubled || shift == Shift::separable;
  Place at(placed ? first : 0, p.nx);
  const float peak = doubled ? range_of(p).high : 0;
  CodeBatch<Code> result;
#pragma unroll
  for (int k = 0; k < batch; ++k) {
    const bool inside = first + k < p.count;
    float t = 0;
    if constexpr (doubled) {
      t = double_phase_turns(u[k], peak, checkerboard(static_cast<std::int32_t>((at.row ^ at.column ^ p.odd) & 1)));
    } else {
      t = turns_of(u[k]);
    }
    if (inside) t = shifted<shift>(t, p, at, first + k);
    result.code[k] = static_cast<Code>(table ? table_code(t, p.phase) : equal_step_code(t, p.phase));
    if constexpr (placed) at.next(p.nx);
  }
  store<aligned>(codes, first, p.count, result);
}

/// The value that the range maps to codes.
template <bool cells>
__device__ float amplitude_of(Complex32 u, const Place& at, const Parameters& p) {
  if constexpr (cells) return burckhardt_amplitude(u, static_cast<std::int32_t>(at.column));
  return beam_real_part(u, p.beam_column[at.column], p.beam_row[at.row]);
}

template <bool cells, bool aligned, class Code>
__global__ void __launch_bounds__(threads)
    amplitude_kernel(const Complex32* __restrict__ field, Code* __restrict__ codes, Parameters p) {
  const std::int64_t first = (static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x) * batch;
  if (first >= p.count) return;
  Complex32 u[batch];
  load<aligned>(field, first, p.count, u);
  Place at(first, p.nx);
  const Range range = range_of(p);
  const AmplitudeRange map = amplitude_range(range.low, range.high, p.levels);
  CodeBatch<Code> result;
#pragma unroll
  for (int k = 0; k < batch; ++k) {
    float v = 0;
    if (first + k < p.count) v = amplitude_of<cells>(u[k], at, p);
    result.code[k] = static_cast<Code>(amplitude_code(v, map));
    at.next(p.nx);
  }
  store<aligned>(codes, first, p.count, result);
}

/// Computes the largest of the magnitudes that determine the range. Floats >= 0 have the order of their bits, so the
/// order of the atomics does not matter; NaN never wins a comparison.
template <Encoding encoding>
__global__ void __launch_bounds__(threads)
    peak_kernel(const Complex32* __restrict__ field, unsigned* peak, Parameters p) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * threads;
  float best = 0;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x; i < p.count; i += stride) {
    if constexpr (encoding == Encoding::double_phase) {
      const float a = absolute(octant_of(field[i]));
      best = a > best ? a : best;
    } else {
      const float a = magnitude(amplitude_of<encoding == Encoding::burckhardt>(field[i], Place(i, p.nx), p));
      best = a > best ? a : best;
    }
  }
  const unsigned largest = __reduce_max_sync(0xffffffffu, __float_as_uint(best));
  if (threadIdx.x % 32 == 0 && largest != 0) atomicMax(peak, largest);
}

/// Clears the removed bins of every row's spectrum; blockIdx.y is the row.
__global__ void __launch_bounds__(threads) remove_bins_kernel(Complex32* spectrum, std::int64_t nx, RemovedBins bins) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x;
  if (i < bins.count) spectrum[blockIdx.y * nx + bins.first + i] = {0, 0};
}

template <class T>
Array<T, 1> uploaded(const std::vector<T>& values, const Queue& queue) {
  if (values.empty()) return {};
  Array<T, 1> target({static_cast<std::int64_t>(values.size())}, queue);
  copy_bytes(target.data(), queue.device(), values.data(), Device{}, values.size() * sizeof(T), queue);
  return target;
}

template <class T>
const T* pointer(const Array<T, 1>& array) {
  return array.empty() ? nullptr : array.data();
}

const Complex32* plain(const Complex* values) { return reinterpret_cast<const Complex32*>(values); }

bool multiple_of(const void* address, std::size_t bytes) {
  return reinterpret_cast<std::uintptr_t>(address) % bytes == 0;
}

class CudaEngine final : public Engine {
 public:
  CudaEngine(const Tables& tables, const Queue& queue)
      : encoding_(tables.encoding),
        shape_(tables.shape),
        queue_(queue),
        boundary_(uploaded(tables.boundary, queue)),
        code_(uploaded(tables.code, queue)),
        bucket_(uploaded(tables.bucket, queue)),
        shift_column_(uploaded(tables.shift_column, queue)),
        shift_row_(uploaded(tables.shift_row, queue)),
        shift_map_(uploaded(tables.shift_map, queue)),
        beam_column_(uploaded(tables.beam_column, queue)),
        beam_row_(uploaded(tables.beam_row, queue)) {
    parameters_.count = element_count(shape_);
    parameters_.nx = shape_[1];
    parameters_.phase = {tables.scale,
                         tables.last,
                         tables.threshold,
                         pointer(boundary_),
                         pointer(code_),
                         pointer(bucket_),
                         static_cast<float>(tables.bucket.size()) - 1};
    parameters_.shift = {pointer(shift_column_), pointer(shift_row_), pointer(shift_map_)};
    parameters_.beam_column = plain(pointer(beam_column_));
    parameters_.beam_row = plain(pointer(beam_row_));
    parameters_.levels = tables.levels;
    parameters_.low = tables.low;
    parameters_.high = tables.high;
    parameters_.symmetric = tables.symmetric_range;
    if (tables.measured_range) {
      peak_ = Array<unsigned, 1>({1}, queue);
      parameters_.peak = peak_.data();
      const cuda::DeviceScope scope(queue.device());
      cuda::check(cudaMemsetAsync(peak_.data(), 0, sizeof(unsigned), cuda::stream_of(queue)), "cudaMemsetAsync");
    }
    if (encoding_ == Encoding::single_sideband) {
      spectrum_ = Array<Complex, 2>(shape_, queue);
      fft_.emplace(shape_, queue);
    }
    if (encoding_ == Encoding::burckhardt) {
      const std::int64_t rows =
          std::clamp(band_limit_pixels / shape_[1], std::int64_t{1}, std::min(shape_[0], most_rows));
      spectrum_ = Array<Complex, 2>({rows, shape_[1]}, queue);
      fft_.emplace(Shape<2>{1, shape_[1]}, queue, FftOptions{.batch = rows});
    }
    queue.synchronize();  // the caller owns the tables
  }

  void execute(std::int64_t first_row, View<const Complex, 2> field, View<std::uint16_t, 2> codes) override {
    run({first_row, field.shape()[0]}, field.data(), codes.data());
  }
  void execute(std::int64_t first_row, View<const Complex, 2> field, View<std::uint8_t, 2> codes) override {
    run({first_row, field.shape()[0]}, field.data(), codes.data());
  }

  [[nodiscard]] EncodeReport report() const override {
    if (peak_.empty()) return {parameters_.low, parameters_.high};
    float peak = 0;
    copy_bytes(&peak, Device{}, peak_.data(), queue_.device(), sizeof(peak), queue_);
    queue_.synchronize();
    if (!ran_) return {};
    const float high = peak > 0 ? peak : 1.0f;
    return {parameters_.symmetric ? -high : 0.0f, high};
  }

  [[nodiscard]] std::size_t workspace_bytes() const override {
    return shift_map_.bytes() + spectrum_.bytes() + (fft_ ? fft_->workspace_bytes() : 0);
  }

 private:
  /// Returns the parameters with their row tables starting at row part.first_row of the panel.
  [[nodiscard]] Parameters parameters_of(const RowRange& part) const {
    Parameters p = parameters_;
    p.count = part.rows * p.nx;
    p.odd = part.first_row % 2;
    if (p.shift.row != nullptr) p.shift.row += part.first_row;
    if (p.shift.map != nullptr) p.shift.map += part.first_row * p.nx;
    if (p.beam_row != nullptr) p.beam_row += part.first_row;
    return p;
  }

  template <class Code>
  void run(const RowRange& part, const Complex* field, Code* codes) {
    const cuda::DeviceScope scope(queue_.device());
    if (encoding_ == Encoding::single_sideband) field = upper_sideband(field);
    if (!peak_.empty()) {
      cuda::check(cudaMemsetAsync(peak_.data(), 0, sizeof(unsigned), stream()), "cudaMemsetAsync");
      for_blocks(part, field, [&](const RowRange& block, const Complex* values) { measure(block, plain(values)); });
    }
    ran_ = true;
    for_blocks(part, field, [&](const RowRange& block, const Complex* values) {
      const Parameters p = parameters_of(block);
      Code* const first = codes + (block.first_row - part.first_row) * shape_[1];
      if (multiple_of(values, 16) && multiple_of(first, batch * sizeof(Code))) {
        launch<true>(p, plain(values), first);
      } else {
        launch<false>(p, plain(values), first);
      }
    });
  }

  /// Calls body(rows, their values): once with all rows, or block by block with the band-limited rows of burckhardt.
  template <class Body>
  void for_blocks(const RowRange& part, const Complex* field, const Body& body) {
    if (encoding_ != Encoding::burckhardt) return body(part, field);
    for (std::int64_t done = 0; done < part.rows; done += spectrum_.shape()[0]) {
      const std::int64_t rows = std::min(spectrum_.shape()[0], part.rows - done);
      body({part.first_row + done, rows}, band_limited(field + done * shape_[1], rows));
    }
  }

  [[nodiscard]] cudaStream_t stream() const { return cuda::stream_of(queue_); }
  static unsigned blocks(const Parameters& p) { return cuda::blocks_for(p.count, threads * batch); }

  const Complex* upper_sideband(const Complex* field) {
    copy_bytes(spectrum_.data(), queue_.device(), field, queue_.device(), spectrum_.bytes(), queue_);
    fft_->execute(spectrum_.view(), FftDirection::forward);
    const auto removed = static_cast<std::size_t>(removed_rows(shape_[0]) * shape_[1]) * sizeof(Complex);
    cuda::check(cudaMemsetAsync(spectrum_.data(), 0, removed, stream()), "cudaMemsetAsync");
    fft_->execute(spectrum_.view(), FftDirection::inverse);
    return spectrum_.data();
  }

  /// The transform takes a whole block; rows beyond `rows` are ignored.
  const Complex* band_limited(const Complex* field, std::int64_t rows) {
    const std::int64_t nx = shape_[1];
    copy_bytes(spectrum_.data(), queue_.device(), field, queue_.device(),
               static_cast<std::size_t>(rows * nx) * sizeof(Complex), queue_);
    fft_->execute(spectrum_.view(), FftDirection::forward);
    const RemovedBins bins = removed_bins(nx);
    const dim3 grid(cuda::blocks_for(bins.count, threads), static_cast<unsigned>(rows));
    remove_bins_kernel<<<grid, threads, 0, stream()>>>(reinterpret_cast<Complex32*>(spectrum_.data()), nx, bins);
    cuda::check_launch("remove_bins_kernel");
    fft_->execute(spectrum_.view(), FftDirection::inverse);
    return spectrum_.data();
  }

  void measure(const RowRange& part, const Complex32* field) {
    const Parameters p = parameters_of(part);
    const unsigned grid = std::min(cuda::blocks_for(p.count, threads), 2048u);
    switch (encoding_) {
      case Encoding::double_phase: {
        peak_kernel<Encoding::double_phase><<<grid, threads, 0, stream()>>>(field, peak_.data(), p);
        break;
      }
      case Encoding::burckhardt: {
        peak_kernel<Encoding::burckhardt><<<grid, threads, 0, stream()>>>(field, peak_.data(), p);
        break;
      }
      default: {
        peak_kernel<Encoding::amplitude><<<grid, threads, 0, stream()>>>(field, peak_.data(), p);
        break;
      }
    }
    cuda::check_launch("peak_kernel");
  }

  template <bool aligned, class Code>
  void launch(const Parameters& p, const Complex32* field, Code* codes) {
    const bool table = p.phase.boundary != nullptr;
    switch (encoding_) {
      case Encoding::phase:
        return table ? launch_phase<false, true, aligned>(p, field, codes)
                     : launch_phase<false, false, aligned>(p, field, codes);
      case Encoding::double_phase:
        return table ? launch_phase<true, true, aligned>(p, field, codes)
                     : launch_phase<true, false, aligned>(p, field, codes);
      case Encoding::burckhardt:
        amplitude_kernel<true, aligned><<<blocks(p), threads, 0, stream()>>>(field, codes, p);
        break;
      case Encoding::amplitude:
      case Encoding::single_sideband:
        amplitude_kernel<false, aligned><<<blocks(p), threads, 0, stream()>>>(field, codes, p);
        break;
    }
    cuda::check_launch("amplitude_kernel");
  }

  template <bool doubled, bool table, bool aligned, class Code>
  void launch_phase(const Parameters& p, const Complex32* field, Code* codes) {
    auto* kernel = phase_kernel<doubled, table, Shift::none, aligned, Code>;
    if (p.shift.map != nullptr) {
      kernel = phase_kernel<doubled, table, Shift::map, aligned, Code>;
    } else if (p.shift.column != nullptr) {
      kernel = phase_kernel<doubled, table, Shift::separable, aligned, Code>;
    }
    kernel<<<blocks(p), threads, 0, stream()>>>(field, codes, p);
    cuda::check_launch("phase_kernel");
  }

  Encoding encoding_;
  Shape<2> shape_;
  Queue queue_;
  Array<float, 1> boundary_;
  Array<std::uint16_t, 1> code_;
  Array<std::int32_t, 1> bucket_;
  Array<float, 1> shift_column_;
  Array<float, 1> shift_row_;
  Array<float, 1> shift_map_;
  Array<Complex, 1> beam_column_;
  Array<Complex, 1> beam_row_;
  Array<unsigned, 1> peak_;
  Array<Complex, 2> spectrum_;
  std::optional<FftPlan> fft_;
  Parameters parameters_{};
  bool ran_ = false;
};

}  // namespace

std::unique_ptr<Engine> cuda_engine(const Tables& tables, const Queue& queue) {
  return std::make_unique<CudaEngine>(tables, queue);
}

}  // namespace holotone::encoding
