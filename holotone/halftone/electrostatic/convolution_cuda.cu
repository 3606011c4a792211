// The far force on the grid: Fourier transforms of rows and columns, times the influence.
#include <algorithm>
#include <cmath>
#include <holotone/core/cuda_check.hpp>
#include <holotone/fft/cuda_handle.hpp>
#include <holotone/halftone/electrostatic/convolution_cuda.hpp>
#include <holotone/halftone/electrostatic/fft_cuda.cuh>
#include <numbers>
#include <string>

namespace holotone::electrostatic {

struct Convolution::Path {
  Path() = default;
  virtual ~Path() = default;
  Path(const Path&) = delete;
  Path& operator=(const Path&) = delete;
  virtual void run(const float* charge, float2* force, cudaStream_t stream) = 0;
  [[nodiscard]] virtual std::size_t bytes() const = 0;
};

namespace {

using block_fft::product;

/// Sizes of the grid, for the kernels of both paths: nodes {ny, nx}, padded lengths {ly, lx}.
struct Grid {
  int ny = 0;
  int nx = 0;
  int ly = 0;
  int lx = 0;
  [[nodiscard]] __host__ __device__ int half() const { return lx / 2; }
};

__device__ __forceinline__ float2 conjugate(float2 a) { return {a.x, -a.y}; }

/// charge (g_y - i g_x).
__device__ __forceinline__ float2 force_at(float2 charge, float2 g) {
  return {fmaf(charge.x, g.y, charge.y * g.x), fmaf(charge.y, g.y, -charge.x * g.x)};
}

/// Transforms rows of charge to the lower half of their spectra, two rows at a time as one complex transform. The
/// factor 1/2 of separating the two spectra is omitted.
template <int Rest, int Transforms>
__global__ void __launch_bounds__(16 * Rest * Transforms)
    rows_forward_kernel(const float* __restrict__ charge, float2* __restrict__ spectrum, Grid grid,
                        const float2* __restrict__ roots) {
  constexpr int threads = 16 * Rest;
  constexpr int length = 256 * Rest;
  extern __shared__ float2 scratch_all[];
  const int thread = threadIdx.x % threads;
  const int place = threadIdx.x / threads;
  float2* const scratch = scratch_all + place * block_fft::scratch_size(Rest);
  const int row = 2 * (blockIdx.x * Transforms + place);
  const bool first = row < grid.ny;
  const bool second = row + 1 < grid.ny;
  const float* const upper = charge + static_cast<std::int64_t>(row) * grid.nx;
  float2 v[16];
#pragma unroll
  for (int k = 0; k < 16; ++k) {
    v[k] = {0, 0};
    if (k < 8) {
      const int x = thread + threads * k;
      if (first && x < grid.nx) v[k].x = upper[x];
      if (second && x < grid.nx) v[k].y = upper[grid.nx + x];
    }
  }
  block_fft::transform<Rest, false>(v, scratch, thread, roots);
  __syncthreads();
#pragma unroll
  for (int k = 0; k < 16; ++k) scratch[thread + threads * k] = v[k];
  __syncthreads();
  float2* const out = spectrum + static_cast<std::int64_t>(row) * grid.half();
#pragma unroll
  for (int k = 0; k < 8; ++k) {
    const int x = thread + threads * k;
    const float2 a = v[k];
    const float2 b = scratch[(length - x) % length];
    if (first) out[x] = {a.x + b.x, a.y - b.y};
    if (second) out[grid.half() + x] = {a.y + b.y, b.x - a.x};
  }
}

/// Transforms columns forward, multiplies by the influence and transforms back. A column of frequency x also gives that
/// of -x.
template <int Rest, int Columns>
__global__ void __launch_bounds__(16 * Rest * Columns)
    columns_kernel(const float2* __restrict__ spectrum, const float2* __restrict__ influence,
                   float2* __restrict__ product_spectrum, Grid grid, const float2* __restrict__ roots) {
  constexpr int threads = 16 * Rest;
  constexpr int length = 256 * Rest;
  // Columns lie side by side in a row: neighbouring threads have neighbouring columns, whose banks must differ.
  constexpr int pitch = block_fft::scratch_size(Rest) + 16 / Columns % 16;
  extern __shared__ float2 scratch_all[];
  const int thread = threadIdx.x / Columns;
  const int place = threadIdx.x % Columns;
  float2* const scratch = scratch_all + place * pitch;
  const int x = blockIdx.x * Columns + place;
  float2 charge[16];
#pragma unroll
  for (int k = 0; k < 16; ++k) {
    charge[k] = {0, 0};
    const int y = thread + threads * k;
    if (k < 8 && y < grid.ny) charge[k] = spectrum[static_cast<std::int64_t>(y) * grid.half() + x];
  }
  block_fft::transform<Rest, false>(charge, scratch, thread, roots);
  float2 v[16];
#pragma unroll
  for (int k = 0; k < 16; ++k) {
    const int y = thread + threads * k;
    const bool mirrored = y > length / 2;
    float2 g = influence[static_cast<std::int64_t>(mirrored ? length - y : y) * (grid.half() + 1) + x];
    if (mirrored) g.y = -g.y;
    if (y == length / 2) g = {0, 0};
    v[k] = force_at(charge[k], g);
    charge[k] = force_at(conjugate(charge[k]), {-g.x, -g.y});
  }
  block_fft::transform<Rest, true>(v, scratch, thread, roots);
#pragma unroll
  for (int k = 0; k < 8; ++k) {
    const int y = thread + threads * k;
    if (y < grid.ny) product_spectrum[static_cast<std::int64_t>(y) * grid.lx + x] = v[k];
  }
  // Values at (-x, -y), with y in reverse order: a forward transform of them is the inverse one.
  block_fft::transform<Rest, false>(charge, scratch, thread, roots);
  if (x == 0) return;
#pragma unroll
  for (int k = 0; k < 8; ++k) {
    const int y = thread + threads * k;
    if (y < grid.ny) product_spectrum[static_cast<std::int64_t>(y) * grid.lx + grid.lx - x] = charge[k];
  }
}

template <int Rest, int Transforms>
__global__ void __launch_bounds__(16 * Rest * Transforms)
    rows_inverse_kernel(const float2* __restrict__ product_spectrum, float2* __restrict__ force, Grid grid,
                        const float2* __restrict__ roots) {
  constexpr int threads = 16 * Rest;
  extern __shared__ float2 scratch_all[];
  const int thread = threadIdx.x % threads;
  const int place = threadIdx.x / threads;
  const int row = blockIdx.x * Transforms + place;
  const bool inside = row < grid.ny;
  const float2* const in = product_spectrum + static_cast<std::int64_t>(row) * grid.lx;
  float2 v[16];
#pragma unroll
  for (int k = 0; k < 16; ++k) {
    const int x = thread + threads * k;
    v[k] = inside && x != grid.half() ? in[x] : float2{0, 0};
  }
  block_fft::transform<Rest, true>(v, scratch_all + place * block_fft::scratch_size(Rest), thread, roots);
  if (!inside) return;
  float2* const out = force + static_cast<std::int64_t>(row) * grid.nx;
#pragma unroll
  for (int k = 0; k < 8; ++k) {
    const int x = thread + threads * k;
    if (x < grid.nx) out[x] = v[k];
  }
}

bool fits_a_block(std::int64_t length) { return length >= 256 && length <= 4096 && (length & (length - 1)) == 0; }

/// Calls body(std::integral_constant<int, length / 256>{}).
template <class Body>
void with_rest(int length, const Body& body) {
  switch (length / 256) {
    case 1: return body(std::integral_constant<int, 1>{});
    case 2: return body(std::integral_constant<int, 2>{});
    case 4: return body(std::integral_constant<int, 4>{});
    case 8: return body(std::integral_constant<int, 8>{});
    default: return body(std::integral_constant<int, 16>{});
  }
}

template <class Kernel>
void allow_shared(Kernel kernel, std::size_t bytes) {
  cuda::check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
              "cudaFuncSetAttribute");
}

/// exp(-2 pi i k / length).
Array<float2, 1> upload_roots(int length, const Queue& queue) {
  std::vector<float2> host(static_cast<std::size_t>(length));
  for (int k = 0; k < length; ++k) {
    const double angle = 2 * std::numbers::pi * k / length;
    host[static_cast<std::size_t>(k)] = {static_cast<float>(std::cos(angle)), static_cast<float>(-std::sin(angle))};
  }
  Array<float2, 1> roots({length}, queue);
  copy_bytes(roots.data(), queue.device(), host.data(), Device{}, roots.bytes(), queue);
  queue.synchronize();
  return roots;
}

Array<float2, 1> upload_influence(const std::vector<Pair>& influence, float factor, const Queue& queue) {
  std::vector<float2> host(influence.size());
  for (std::size_t i = 0; i < host.size(); ++i) host[i] = {factor * influence[i].x, factor * influence[i].y};
  Array<float2, 1> table({static_cast<std::int64_t>(host.size())}, queue);
  copy_bytes(table.data(), queue.device(), host.data(), Device{}, table.bytes(), queue);
  queue.synchronize();
  return table;
}

/// Row transforms per block, so that a block has at least 128 threads.
constexpr int rows_together(int rest) { return rest >= 8 ? 1 : 8 / rest; }
/// Columns per block: 4 (32 bytes side by side) where that leaves a block for every multiprocessor and fits, else 2.
constexpr int columns_together(int rest) { return rest == 4 || rest == 8 ? 4 : 2; }
/// Distance between the columns' scratch memories, in float2.
constexpr int column_pitch(int rest, int columns) { return block_fft::scratch_size(rest) + 16 / columns % 16; }
constexpr std::size_t row_bytes(int rest) {
  return static_cast<std::size_t>(rows_together(rest) * block_fft::scratch_size(rest)) * sizeof(float2);
}
constexpr std::size_t column_bytes(int rest) {
  return static_cast<std::size_t>(columns_together(rest) * column_pitch(rest, columns_together(rest))) * sizeof(float2);
}

/// Path for powers of two: whole transforms in shared memory.
class BlockPath final : public Convolution::Path {
 public:
  BlockPath(const Grid& grid, const std::vector<Pair>& influence, const Queue& queue)
      : grid_(grid),
        queue_(queue),
        influence_(upload_influence(influence, 0.5F, queue)),
        row_roots_(upload_roots(grid.lx, queue)),
        column_roots_(upload_roots(grid.ly, queue)),
        spectrum_({grid.ny, grid.half()}, queue),
        product_({grid.ny, grid.lx}, queue) {
    with_rest(grid.lx, [](auto rest) {
      allow_shared(rows_forward_kernel<rest.value, rows_together(rest.value)>, row_bytes(rest.value));
      allow_shared(rows_inverse_kernel<rest.value, rows_together(rest.value)>, row_bytes(rest.value));
    });
    with_rest(grid.ly, [](auto rest) {
      allow_shared(columns_kernel<rest.value, columns_together(rest.value)>, column_bytes(rest.value));
    });
  }

  void run(const float* charge, float2* force, cudaStream_t stream) override {
    with_rest(grid_.lx, [&](auto rest) {
      constexpr int together = rows_together(rest.value);
      rows_forward_kernel<rest.value, together>
          <<<cuda::blocks_for((grid_.ny + 1) / 2, together), 16 * rest.value * together, row_bytes(rest.value),
             stream>>>(charge, spectrum_.data(), grid_, row_roots_.data());
    });
    with_rest(grid_.ly, [&](auto rest) {
      constexpr int together = columns_together(rest.value);
      columns_kernel<rest.value, together>
          <<<static_cast<unsigned>(grid_.half() / together), 16 * rest.value * together, column_bytes(rest.value),
             stream>>>(spectrum_.data(), influence_.data(), product_.data(), grid_, column_roots_.data());
    });
    with_rest(grid_.lx, [&](auto rest) {
      constexpr int together = rows_together(rest.value);
      rows_inverse_kernel<rest.value, together>
          <<<cuda::blocks_for(grid_.ny, together), 16 * rest.value * together, row_bytes(rest.value), stream>>>(
              product_.data(), force, grid_, row_roots_.data());
    });
    cuda::check_launch("electrostatic convolution");
  }

  [[nodiscard]] std::size_t bytes() const override {
    return influence_.bytes() + row_roots_.bytes() + column_roots_.bytes() + spectrum_.bytes() + product_.bytes();
  }

 private:
  Grid grid_;
  Queue queue_;
  Array<float2, 1> influence_;
  Array<float2, 1> row_roots_;
  Array<float2, 1> column_roots_;
  Array<float2, 2> spectrum_;
  Array<float2, 2> product_;
};

__global__ void pad_kernel(const float* __restrict__ charge, float* __restrict__ padded, Grid grid) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const std::int64_t y = blockIdx.y;
  if (x < grid.lx) padded[y * grid.lx + x] = x < grid.nx ? charge[y * grid.nx + x] : 0.0F;
}

/// Multiplies frequencies x and -x of a row by the influence; `spectrum` has lx / 2 + 1 columns.
__global__ void multiply_kernel(const float2* __restrict__ spectrum, const float2* __restrict__ influence,
                                float2* __restrict__ result, Grid grid) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y;
  if (x > grid.half()) return;
  const int columns = grid.half() + 1;
  const bool mirrored = y > grid.ly / 2;
  const int opposite = y == 0 ? 0 : grid.ly - y;
  float2 g = influence[static_cast<std::int64_t>(mirrored ? opposite : y) * columns + x];
  if (mirrored) g.y = -g.y;
  if (x == grid.half() || y == grid.ly / 2) g = {0, 0};
  const float2 charge = spectrum[static_cast<std::int64_t>(y) * columns + x];
  result[static_cast<std::int64_t>(y) * grid.lx + x] = force_at(charge, g);
  if (x > 0 && x < grid.half()) {
    result[static_cast<std::int64_t>(opposite) * grid.lx + grid.lx - x] = force_at(conjugate(charge), {-g.x, -g.y});
  }
}

__global__ void crop_kernel(const float2* __restrict__ padded, float2* __restrict__ force, Grid grid) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const std::int64_t y = blockIdx.y;
  if (x < grid.nx) force[y * grid.nx + x] = padded[y * grid.lx + x];
}

/// Batched one-dimensional cuFFT transforms without the rows that are known to be zero or not needed.
class BatchedTransform {
 public:
  BatchedTransform(cufftType type, long long length, long long stride, long long distance, long long out_distance,
                   long long batch, const Queue& queue) {
    const std::size_t bytes =
        handle_.plan(1, &length, {&length, stride, distance}, {&length, stride, out_distance}, type, batch);
    area_ = Buffer(std::max<std::size_t>(bytes, 1), queue);
    handle_.set_work_area(area_.data());
  }
  [[nodiscard]] const fft::Handle& get() const { return handle_; }
  [[nodiscard]] std::size_t bytes() const { return area_.bytes(); }

 private:
  fft::Handle handle_;
  Buffer area_;
};

/// Path for any length, by cuFFT.
class LibraryPath final : public Convolution::Path {
 public:
  LibraryPath(const Grid& grid, const std::vector<Pair>& influence, const Queue& queue)
      : grid_(grid),
        queue_(queue),
        influence_(upload_influence(influence, 1.0F, queue)),
        padded_({grid.ny, grid.lx}, queue),
        spectrum_({grid.ly, grid.half() + 1}, queue),
        result_({grid.ly, grid.lx}, queue),
        rows_forward_(CUFFT_R2C, grid.lx, 1, grid.lx, grid.half() + 1, grid.ny, queue),
        columns_forward_(CUFFT_C2C, grid.ly, grid.half() + 1, 1, 1, grid.half() + 1, queue),
        columns_inverse_(CUFFT_C2C, grid.ly, grid.lx, 1, 1, grid.lx, queue),
        rows_inverse_(CUFFT_C2C, grid.lx, 1, grid.lx, grid.lx, grid.ny, queue) {}

  void run(const float* charge, float2* force, cudaStream_t stream) override {
    for (const auto* transform : {&rows_forward_, &columns_forward_, &columns_inverse_, &rows_inverse_}) {
      transform->get().set_stream(stream);
    }
    const auto over = [](int columns, int rows) {
      return dim3(cuda::blocks_for(columns, 256), static_cast<unsigned>(rows));
    };
    pad_kernel<<<over(grid_.lx, grid_.ny), 256, 0, stream>>>(charge, padded_.data(), grid_);
    rows_forward_.get().execute(padded_.data(), spectrum_.data());
    const std::int64_t known = static_cast<std::int64_t>(grid_.ny) * (grid_.half() + 1);
    cuda::check(cudaMemsetAsync(spectrum_.data() + known, 0,
                                static_cast<std::size_t>(spectrum_.size() - known) * sizeof(float2), stream),
                "cudaMemsetAsync");
    columns_forward_.get().execute(spectrum_.data(), spectrum_.data(), CUFFT_FORWARD);
    multiply_kernel<<<over(grid_.half() + 1, grid_.ly), 256, 0, stream>>>(spectrum_.data(), influence_.data(),
                                                                          result_.data(), grid_);
    columns_inverse_.get().execute(result_.data(), result_.data(), CUFFT_INVERSE);
    rows_inverse_.get().execute(result_.data(), result_.data(), CUFFT_INVERSE);
    crop_kernel<<<over(grid_.nx, grid_.ny), 256, 0, stream>>>(result_.data(), force, grid_);
    cuda::check_launch("electrostatic convolution");
  }

  [[nodiscard]] std::size_t bytes() const override {
    return influence_.bytes() + padded_.bytes() + spectrum_.bytes() + result_.bytes() + rows_forward_.bytes() +
           columns_forward_.bytes() + columns_inverse_.bytes() + rows_inverse_.bytes();
  }

 private:
  Grid grid_;
  Queue queue_;
  Array<float2, 1> influence_;
  Array<float, 2> padded_;
  Array<float2, 2> spectrum_;
  Array<float2, 2> result_;
  BatchedTransform rows_forward_;
  BatchedTransform columns_forward_;
  BatchedTransform columns_inverse_;
  BatchedTransform rows_inverse_;
};

}  // namespace

Convolution::Convolution(Shape<2> nodes, Shape<2> lengths, const std::vector<Pair>& influence, const Queue& queue) {
  const cuda::DeviceScope scope(queue.device());
  const Grid grid{static_cast<int>(nodes[0]), static_cast<int>(nodes[1]), static_cast<int>(lengths[0]),
                  static_cast<int>(lengths[1])};
  if (fits_a_block(lengths[0]) && fits_a_block(lengths[1])) {
    path_ = std::make_unique<BlockPath>(grid, influence, queue);
  } else {
    path_ = std::make_unique<LibraryPath>(grid, influence, queue);
  }
}

Convolution::~Convolution() = default;

void Convolution::run(const float* charge, Pair* force, void* stream) {
  path_->run(charge, reinterpret_cast<float2*>(force), static_cast<cudaStream_t>(stream));
}

std::size_t Convolution::bytes() const { return path_->bytes(); }

}  // namespace holotone::electrostatic
