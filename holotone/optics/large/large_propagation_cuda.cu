#include <holotone/core/kernel_parts_cuda.cuh>
#include <holotone/optics/large/large_propagation_engine.hpp>
#include <holotone/optics/transfer_cuda.cuh>

namespace holotone::large_propagation {
namespace {

using cuda::as_float2;
using cuda::grid_over;
using cuda::product;
using cuda::thread_index;
using cuda::threads;
using propagation::Transfer;

/// Writes whole lines: the kept samples at their places, zeros between.
__global__ void spread_rows_kernel(const float2* __restrict__ samples, float2* __restrict__ lines, Kept kept,
                                   std::int64_t count) {
  const std::int64_t place = thread_index();
  if (place >= kept.length) return;
  const std::int64_t from = kept_index(kept, place);
  for (std::int64_t line = blockIdx.y; line < count; line += gridDim.y) {
    lines[line * kept.length + place] = from >= 0 ? samples[line * kept_count(kept) + from] : float2{0, 0};
  }
}

__global__ void gather_rows_kernel(const float2* __restrict__ lines, float2* __restrict__ samples, Kept kept,
                                   std::int64_t count) {
  const std::int64_t i = thread_index();
  if (i >= kept_count(kept)) return;
  const std::int64_t place = kept_place(kept, i);
  for (std::int64_t line = blockIdx.y; line < count; line += gridDim.y) {
    samples[line * kept_count(kept) + i] = lines[line * kept.length + place];
  }
}

/// Squares that change rows for columns in shared memory, so that both sides are read and written along their rows.
constexpr int tile = 32;
constexpr int tile_rows = 8;

/// A block for each tile of places (x) and, in a loop, of columns (y).
dim3 tiles_over(std::int64_t places, std::int64_t columns) {
  return {cuda::blocks_for(places, tile), std::min(cuda::blocks_for(columns, tile), 65535u), 1};
}

/// Columns {ny, .} of a strip, `step` apart, to zero-padded lines.
__global__ void spread_columns_kernel(const float2* __restrict__ columns, std::int64_t step, float2* __restrict__ lines,
                                      std::int64_t ny, std::int64_t length, std::int64_t count) {
  __shared__ float2 block[tile][tile + 1];
  const std::int64_t first_place = static_cast<std::int64_t>(blockIdx.x) * tile;
  for (std::int64_t first = static_cast<std::int64_t>(blockIdx.y) * tile; first < count; first += gridDim.y * tile) {
    const std::int64_t column = first + threadIdx.x;
    for (int i = threadIdx.y; i < tile; i += tile_rows) {
      const std::int64_t place = first_place + i;
      block[i][threadIdx.x] = place < ny && column < count ? columns[place * step + column] : float2{0, 0};
    }
    __syncthreads();
    const std::int64_t place = first_place + threadIdx.x;
    for (int i = threadIdx.y; i < tile; i += tile_rows) {
      if (place < length && first + i < count) lines[(first + i) * length + place] = block[threadIdx.x][i];
    }
    __syncthreads();
  }
}

/// The way back of spread_columns_kernel: the first ny values of each line.
__global__ void gather_columns_kernel(const float2* __restrict__ lines, float2* __restrict__ columns, std::int64_t step,
                                      std::int64_t ny, std::int64_t length, std::int64_t count) {
  __shared__ float2 block[tile][tile + 1];
  const std::int64_t first_place = static_cast<std::int64_t>(blockIdx.x) * tile;
  for (std::int64_t first = static_cast<std::int64_t>(blockIdx.y) * tile; first < count; first += gridDim.y * tile) {
    const std::int64_t place = first_place + threadIdx.x;
    for (int i = threadIdx.y; i < tile; i += tile_rows) {
      if (place < ny && first + i < count) block[i][threadIdx.x] = lines[(first + i) * length + place];
    }
    __syncthreads();
    const std::int64_t column = first + threadIdx.x;
    for (int i = threadIdx.y; i < tile; i += tile_rows) {
      if (first_place + i < ny && column < count) columns[(first_place + i) * step + column] = block[threadIdx.x][i];
    }
    __syncthreads();
  }
}

/// Multiplies lines along y by H. It is even: a thread computes it once, in float64, for two samples.
__global__ void multiply_kernel(float2* __restrict__ lines, Kept spectrum, std::int64_t first, std::int64_t count,
                                std::int64_t length, Transfer t) {
  const std::int64_t y = thread_index();
  if (y > length / 2) return;
  const std::int64_t mirror = length - y;
  for (std::int64_t line = blockIdx.y; line < count; line += gridDim.y) {
    const float2 h = propagation::transfer_at(t, y, kept_frequency(spectrum, first + line));
    float2* const line_values = lines + line * length;
    line_values[y] = product(line_values[y], h);
    if (y > 0 && mirror > y) line_values[mirror] = product(line_values[mirror], h);
  }
}

class CudaEngine final : public Engine {
 public:
  CudaEngine(const Job& job, const Queue& queue) : job_(job), queue_(queue), lines_(job, queue) {}

  void transform_rows(const Complex* from, Complex* to, std::int64_t count, FftDirection direction) override {
    const cuda::DeviceScope scope(queue_.device());
    const bool forward = direction == FftDirection::forward;
    const Kept& before = forward ? job_.row : job_.spectrum;
    const Kept& after = forward ? job_.spectrum : job_.row;
    spread_rows_kernel<<<grid_over(before.length, count), threads, 0, stream()>>>(as_float2(from), data(), before,
                                                                                  count);
    cuda::check_launch("large propagation spread rows");
    lines_.rows(direction);
    gather_rows_kernel<<<grid_over(kept_count(after), count), threads, 0, stream()>>>(data(), as_float2(to), after,
                                                                                      count);
    cuda::check_launch("large propagation gather rows");
  }

  void propagate_columns(Complex* columns, std::int64_t step, std::int64_t first, std::int64_t count) override {
    const cuda::DeviceScope scope(queue_.device());
    const std::int64_t ny = job_.column.head;
    const std::int64_t length = job_.column.length;
    const dim3 square(tile, tile_rows);
    spread_columns_kernel<<<tiles_over(length, count), square, 0, stream()>>>(as_float2(columns), step, data(), ny,
                                                                              length, count);
    cuda::check_launch("large propagation spread columns");
    lines_.columns(FftDirection::forward);
    multiply_kernel<<<grid_over(length / 2 + 1, count), threads, 0, stream()>>>(data(), job_.spectrum, first, count,
                                                                                length, job_.transfer);
    cuda::check_launch("large propagation multiply");
    lines_.columns(FftDirection::inverse);
    gather_columns_kernel<<<tiles_over(ny, count), square, 0, stream()>>>(data(), as_float2(columns), step, ny, length,
                                                                          count);
    cuda::check_launch("large propagation gather columns");
  }

  [[nodiscard]] std::size_t workspace_bytes() const override { return lines_.bytes(); }

 private:
  [[nodiscard]] cudaStream_t stream() const { return cuda::stream_of(queue_); }
  [[nodiscard]] float2* data() { return as_float2(lines_.values.data()); }

  Job job_;
  Queue queue_;
  Lines lines_;
};

}  // namespace

EnginePointer engine_cuda(const Job& job, const Queue& queue) { return std::make_unique<CudaEngine>(job, queue); }

}  // namespace holotone::large_propagation
