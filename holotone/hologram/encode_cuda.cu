#include <algorithm>
#include <holotone/core/cuda_check.hpp>
#include <holotone/hologram/encode_device.hpp>

namespace holotone::encoding {
namespace {

constexpr int threads = 256;
constexpr int batch = 4;  // neighbouring pixels of a thread: two 16-byte loads, one 8-byte store

struct Range {
  float low, high;
};

__device__ Range read_range(const Parameters& p) {
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
  const float peak = doubled ? read_range(p).high : 0;
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

/// The value that the range maps to codes. single_sideband: as amplitude.
template <Encoding encoding>
__device__ float to_amplitude(Complex32 u, const Place& at, const Parameters& p) {
  if constexpr (encoding == Encoding::burckhardt) {
    return burckhardt_amplitude(u, static_cast<std::int32_t>(at.column));
  } else {
    static_assert(encoding == Encoding::amplitude);
    return beam_real_part(u, p.beam_column[at.column], p.beam_row[at.row]);
  }
}

template <Encoding encoding, bool aligned, class Code>
__global__ void __launch_bounds__(threads)
    amplitude_kernel(const Complex32* __restrict__ field, Code* __restrict__ codes, Parameters p) {
  const std::int64_t first = (static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x) * batch;
  if (first >= p.count) return;
  Complex32 u[batch];
  load<aligned>(field, first, p.count, u);
  Place at(first, p.nx);
  const Range range = read_range(p);
  const AmplitudeRange map = amplitude_range(range.low, range.high, p.levels);
  CodeBatch<Code> result;
#pragma unroll
  for (int k = 0; k < batch; ++k) {
    float v = 0;
    if (first + k < p.count) v = to_amplitude<encoding>(u[k], at, p);
    result.code[k] = static_cast<Code>(amplitude_code(v, map));
    at.next(p.nx);
  }
  store<aligned>(codes, first, p.count, result);
}

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
      const float a = magnitude(to_amplitude<encoding>(field[i], Place(i, p.nx), p));
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

bool multiple_of(const void* address, std::size_t bytes) {
  return reinterpret_cast<std::uintptr_t>(address) % bytes == 0;
}

class CudaEngine final : public DeviceEngine {
 public:
  using DeviceEngine::DeviceEngine;

 private:
  void clear(void* data, std::size_t bytes) override {
    const cuda::DeviceScope scope(queue().device());
    cuda::check(cudaMemsetAsync(data, 0, bytes, stream()), "cudaMemsetAsync");
  }

  void remove_bins(Complex* spectrum, std::int64_t rows, std::int64_t nx, const RemovedBins& bins) override {
    const cuda::DeviceScope scope(queue().device());
    const dim3 grid(cuda::blocks_for(bins.count, threads), static_cast<unsigned>(rows));
    remove_bins_kernel<<<grid, threads, 0, stream()>>>(reinterpret_cast<Complex32*>(spectrum), nx, bins);
    cuda::check_launch("remove_bins_kernel");
  }

  void encode(const Parameters& p, const Complex32* field, std::uint16_t* codes) override { run(p, field, codes); }
  void encode(const Parameters& p, const Complex32* field, std::uint8_t* codes) override { run(p, field, codes); }

  template <class Code>
  void run(const Parameters& p, const Complex32* field, Code* codes) {
    const cuda::DeviceScope scope(queue().device());
    if (multiple_of(field, 16) && multiple_of(codes, batch * sizeof(Code))) return launch<true>(p, field, codes);
    launch<false>(p, field, codes);
  }

  [[nodiscard]] cudaStream_t stream() const { return cuda::stream_of(queue()); }
  static unsigned blocks(const Parameters& p) { return cuda::blocks_for(p.count, threads * batch); }

  void measure(const Parameters& p, const Complex32* field, std::uint32_t* peak) override {
    const cuda::DeviceScope scope(queue().device());
    const unsigned grid = std::min(cuda::blocks_for(p.count, threads), 2048u);
    switch (encoding()) {
      case Encoding::phase: return;
      case Encoding::double_phase:
        peak_kernel<Encoding::double_phase><<<grid, threads, 0, stream()>>>(field, peak, p);
        break;
      case Encoding::burckhardt:
        peak_kernel<Encoding::burckhardt><<<grid, threads, 0, stream()>>>(field, peak, p);
        break;
      case Encoding::amplitude:
      case Encoding::single_sideband:
        peak_kernel<Encoding::amplitude><<<grid, threads, 0, stream()>>>(field, peak, p);
        break;
    }
    cuda::check_launch("peak_kernel");
  }

  template <bool aligned, class Code>
  void launch(const Parameters& p, const Complex32* field, Code* codes) {
    const bool table = p.phase.boundary != nullptr;
    switch (encoding()) {
      case Encoding::phase:
        return table ? launch_phase<false, true, aligned>(p, field, codes)
                     : launch_phase<false, false, aligned>(p, field, codes);
      case Encoding::double_phase:
        return table ? launch_phase<true, true, aligned>(p, field, codes)
                     : launch_phase<true, false, aligned>(p, field, codes);
      case Encoding::burckhardt:
        amplitude_kernel<Encoding::burckhardt, aligned><<<blocks(p), threads, 0, stream()>>>(field, codes, p);
        break;
      case Encoding::amplitude:
      case Encoding::single_sideband:
        amplitude_kernel<Encoding::amplitude, aligned><<<blocks(p), threads, 0, stream()>>>(field, codes, p);
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
};

}  // namespace

std::unique_ptr<Engine> cuda_engine(const Tables& tables, const Queue& queue) {
  return std::make_unique<CudaEngine>(tables, queue);
}

}  // namespace holotone::encoding
