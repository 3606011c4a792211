// Zero-padded fields: FFT, product with a transfer function, FFT back (padded_line_cuda.cuh).
//
// The padded field never exists: rows are transformed out of the field, columns are transformed, multiplied and
// transformed back without a visit to memory, rows return into the field. Memory is the floor: each of three passes
// reads and writes once.
//
// Between the passes the spectra of the rows lie in strips of a few columns: row after row, the strip's values of each.
// The columns stand in the order of the threads that make them: column p + M h has the frequency 2 k + h, where
// p = b + B (a + A c) and k = a + A (b + B c).
//
// Kernels are compiled for the lengths below, in 17 s. One kernel for all lengths would divide by radices while it
// runs; one compiled when a plan is made would cost its first run a second.
#include <algorithm>
#include <cmath>
#include <holotone/core/cuda_check.hpp>
#include <holotone/fft/padded_filter_cuda.hpp>
#include <holotone/fft/padded_line_cuda.cuh>
#include <numbers>
#include <vector>

namespace holotone::fft {
namespace {

using lines::add_halves;
using lines::for_step_a;
using lines::for_step_c;
using lines::load_here;
using lines::Plan;
using lines::product;
using lines::Seat;
using lines::swapped;
using lines::transform_line;
using lines::transform_line_back;
using lines::Twiddles;

extern __shared__ float2 shared_memory[];

/// Rows of fields and strips. A block takes `lines` rows; blocks of y take fields.
struct RowShape {
  int ny = 0;
  int nx = 0;
  int strip = 0;  ///< columns of a strip
};

/// Place in the strips of the first of a thread's columns, b + B a + M h; the next lies A B columns further.
template <class P>
__device__ __forceinline__ std::int64_t place_in_strips(const RowShape& shape, int row, int half, int first) {
  const int column = first + P::length * half;
  return (static_cast<std::int64_t>(column / shape.strip) * shape.ny + row) * shape.strip + column % shape.strip;
}

template <class P>
__device__ __forceinline__ std::int64_t strips_of_frame(int ny) {
  return static_cast<std::int64_t>(blockIdx.y) * 2 * P::length * ny;
}

/// Values at `begin` of step A, zeros from `count` on.
template <class P, int Pitch>
__device__ __forceinline__ void load_line(float2* v, const float2* begin, int count) {
#pragma unroll
  for (int a = 0; a < P::a; ++a) v[a] = P::tail * a < count ? begin[P::tail * a * Pitch] : float2{0, 0};
}

/// Spectra of rows, into strips.
template <class P>
__global__ void __launch_bounds__(P::block_threads, P::blocks)
    rows_forward(const float2* __restrict__ input, float2* __restrict__ strips, const float4* __restrict__ twiddles,
                 RowShape shape) {
  const Seat<P> seat(shared_memory);
  const int row = static_cast<int>(blockIdx.x) * P::lines + seat.line;
  const bool there = row < shape.ny;
  const float2* const begin = input + (static_cast<std::int64_t>(blockIdx.y) * shape.ny + row) * shape.nx;
  float2 v[P::values];
  for_step_a(seat, [&](int first, int j, int) { load_line<P, 1>(v + first, begin + j, there ? shape.nx - j : 0); });
  transform_line(v, seat, Twiddles<P>{twiddles});
  for_step_c(seat, [&](int first, int column, int) {
    if (!there) return;
    float2* const target = strips + strips_of_frame<P>(shape.ny) + place_in_strips<P>(shape, row, seat.half, column);
#pragma unroll
    for (int c = 0; c < P::c; ++c) target[c * P::a * P::b * shape.ny] = v[first + c];
  });
}

/// Rows from their spectra: the field, or its squared modulus where there is no field.
template <class P>
__global__ void __launch_bounds__(P::block_threads, P::blocks)
    rows_back(const float2* __restrict__ strips, float2* __restrict__ field, float* __restrict__ intensity,
              const float4* __restrict__ twiddles, RowShape shape) {
  const Seat<P> seat(shared_memory);
  const int row = static_cast<int>(blockIdx.x) * P::lines + seat.line;
  const bool there = row < shape.ny;
  float2 v[P::values];
  for_step_c(seat, [&](int first, int column, int) {
    const float2* const source =
        strips + strips_of_frame<P>(shape.ny) + place_in_strips<P>(shape, row, seat.half, column);
#pragma unroll
    for (int c = 0; c < P::c; ++c) {
      v[first + c] = there ? swapped(source[c * P::a * P::b * shape.ny]) : float2{0, 0};
    }
  });
  transform_line_back(v, seat, Twiddles<P>{twiddles});
  const std::int64_t begin = (static_cast<std::int64_t>(blockIdx.y) * shape.ny + row) * shape.nx;
  const int count = there ? shape.nx : 0;
  if (field != nullptr) {
    add_halves(v, seat, [&](int j, int a, float2 value) {
      if (P::tail * a < count - j) (field + begin + j)[P::tail * a] = swapped(value);
    });
  } else {
    add_halves(v, seat, [&](int j, int a, float2 value) {
      if (P::tail * a < count - j) (intensity + begin + j)[P::tail * a] = value.x * value.x + value.y * value.y;
    });
  }
}

/// Columns in strips. Blocks of x take fields, which share the transfer function; those of y take `lines` columns.
struct ColumnShape {
  int ny = 0;
  int lx = 0;
};

/// CudaPaddedFilter::Transfer, and the frequency 0 to lx - 1 of each column.
struct Factors {
  const float2* values = nullptr;
  const float2* along_y = nullptr;
  const float2* along_x = nullptr;
  const int* frequencies = nullptr;
};

/// Columns of the values of H for each half of the frequencies along y.
template <class P>
constexpr int stored_pitch = P::stored + 4;

template <class P>
__device__ __forceinline__ void multiply_transfer(float2* v, const Seat<P>& seat, const Factors& factors, int column,
                                                  int lx) {
  constexpr int step = P::a * P::b;
  const int kx = factors.frequencies[column];
  const float2* const values =
      factors.values + (2 * static_cast<std::int64_t>(min(kx, lx - kx)) + seat.half) * stored_pitch<P>;
  for_step_c(seat, [&](int first, int start, int) {
    // The frequency of the opposite sign has the place (C - 1 - c) A B + mirror.
    const int a = start / P::b;
    const int b = start % P::b;
    const int even = a == 0 ? P::b - b : (P::a - a) * P::b + P::b - 1 - b;
    const int mirror = seat.half != 0 ? step - 1 - start : start == 0 ? step : even;
    const float2* const own = values + start;
    const float2* const opposite = values + mirror;
#pragma unroll
    for (int c = 0; c < P::c; ++c) {
      v[first + c] = product(v[first + c], load_here(2 * c < P::c ? own + c * step : opposite + (P::c - 1 - c) * step));
    }
    if (factors.along_y == nullptr) return;
    const float2 along_x = factors.along_x[kx];
    const float2* const along_y = factors.along_y + 2 * (a + P::a * b) + seat.half;
#pragma unroll
    for (int c = 0; c < P::c; ++c) {
      v[first + c] = product(v[first + c], product(along_x, load_here(along_y + 2 * c * step)));
    }
  });
}

/// Columns there, times the transfer function, and back; source and target may be the same.
template <class P>
__global__ void __launch_bounds__(P::block_threads, P::blocks)
    columns(const float2* source, float2* target, const float4* __restrict__ twiddles, ColumnShape shape,
            Factors factors) {
  const Seat<P> seat(shared_memory);
  // Strips of opposite frequencies follow each other, for they read the same rows of the transfer function.
  constexpr int blocks_of_strip = P::strip / P::lines;
  const int strips = shape.lx / 2 / P::strip;
  const int place = static_cast<int>(blockIdx.y) / blocks_of_strip;
  const int turn = place % strips;
  const int strip = place / strips * strips + (turn % 2 != 0 ? strips - 1 - turn / 2 : turn / 2);
  const int within = static_cast<int>(blockIdx.y) % blocks_of_strip * P::lines;
  const std::int64_t begin =
      (static_cast<std::int64_t>(blockIdx.x) * shape.lx + static_cast<std::int64_t>(strip) * P::strip) * shape.ny +
      within;

  float2 v[P::values];
  for_step_a(seat, [&](int first, int j, int) {
    load_line<P, P::strip>(v + first, source + begin + (seat.line + j * P::strip), shape.ny - j);
  });
  transform_line(v, seat, Twiddles<P>{twiddles});
  multiply_transfer(v, seat, factors, strip * P::strip + within + seat.line, shape.lx);
#pragma unroll
  for (int i = 0; i < P::values; ++i) v[i] = swapped(v[i]);
  const Seat<P> back(shared_memory);
  transform_line_back(v, back, Twiddles<P>{twiddles});
  const Seat<P> last(shared_memory);
  add_halves(v, last, [&](int j, int a, float2 value) {
    if (P::tail * a < shape.ny - j)
      (target + begin + (last.line + j * P::strip))[P::tail * a * P::strip] = swapped(value);
  });
}

/// Kernels of one length.
struct Kernels {
  void (*rows_forward)(const float2*, float2*, const float4*, RowShape);
  void (*rows_back)(const float2*, float2*, float*, const float4*, RowShape);
  void (*columns)(const float2*, float2*, const float4*, ColumnShape, Factors);
  int length, a, b, c;
  int stored;  ///< columns of the values of H, of each half
  int row_lines, row_threads, row_shared_bytes;
  int column_lines, column_threads, column_shared_bytes, strip;
};

/// Blocks of 512 threads share a multiprocessor by two: 64 registers a thread.
template <int A, int B, int C, int Threads, int Group, int RowLines, int ColumnLines>
Kernels kernels_of() {
  using Row = Plan<A, B, C, Threads, Group, RowLines, std::max(1, 512 / (Threads * RowLines))>;
  using Column = Plan<A, B, C, Threads, Group, ColumnLines, std::max(1, 512 / (Threads * ColumnLines))>;
  return {&rows_forward<Row>,
          &rows_back<Row>,
          &columns<Column>,
          Row::length,
          A,
          B,
          C,
          stored_pitch<Column>,
          RowLines,
          Row::block_threads,
          Row::shared_bytes,
          ColumnLines,
          Column::block_threads,
          Column::shared_bytes,
          Column::strip};
}

/// Halves of padded lines that have kernels: the sides of panels and displays, and one short line.
const std::vector<Kernels>& all_kernels() {
  static const std::vector<Kernels> all = {
      kernels_of<4, 4, 4, 16, 4, 4, 4>(),       // 64
      kernels_of<8, 8, 8, 32, 4, 4, 4>(),       // 512
      kernels_of<10, 4, 15, 64, 4, 4, 4>(),     // 600
      kernels_of<9, 16, 5, 80, 8, 2, 2>(),      // 720
      kernels_of<12, 8, 8, 64, 4, 4, 4>(),      // 768
      kernels_of<10, 16, 5, 80, 8, 2, 2>(),     // 800
      kernels_of<16, 8, 8, 64, 4, 4, 4>(),      // 1024
      kernels_of<9, 8, 15, 120, 8, 2, 2>(),     // 1080
      kernels_of<9, 16, 8, 128, 8, 2, 2>(),     // 1152
      kernels_of<10, 8, 15, 120, 8, 2, 2>(),    // 1200
      kernels_of<10, 16, 8, 128, 8, 2, 2>(),    // 1280
      kernels_of<10, 16, 10, 160, 16, 1, 1>(),  // 1600
      kernels_of<15, 16, 8, 128, 8, 2, 2>(),    // 1920
      kernels_of<16, 16, 8, 128, 8, 2, 2>(),    // 2048
      kernels_of<9, 16, 15, 240, 16, 1, 1>(),   // 2160
      kernels_of<15, 16, 10, 240, 16, 1, 1>(),  // 2400
      kernels_of<10, 16, 16, 256, 16, 1, 1>(),  // 2560
      kernels_of<15, 16, 16, 256, 16, 1, 1>(),  // 3840
      kernels_of<16, 16, 16, 256, 16, 1, 1>(),  // 4096
  };
  return all;
}

const Kernels* kernels_for(std::int64_t padded) {
  for (const Kernels& kernels : all_kernels()) {
    if (2 * kernels.length == padded) return &kernels;
  }
  return nullptr;
}

/// Twiddles of a length, in float64.
std::vector<std::complex<float>> twiddles_of(const Kernels& kernels) {
  std::vector<std::complex<float>> all;
  const auto push_root = [&](int n) {
    const double angle = -std::numbers::pi * n / kernels.length;
    all.emplace_back(static_cast<float>(std::cos(angle)), static_cast<float>(std::sin(angle)));
  };
  const int tail = kernels.b * kernels.c;
  for (int j = 0; j < tail; ++j) {
    push_root(2 * j);
    push_root(8 * j);
  }
  for (int i = 0; i < kernels.c; ++i) {
    push_root(2 * kernels.a * i);
    push_root(8 * kernels.a * i);
  }
  for (int j = 0; j < tail; ++j) push_root(j);
  return all;
}

Array<std::complex<float>, 1> device_twiddles(const Kernels& kernels, const Queue& queue) {
  const auto host = twiddles_of(kernels);
  return copy_of(View<const std::complex<float>, 1>(host.data(), {std::ssize(host)}), queue.device());
}

/// Frequency 2 k + h of place p of a half.
int frequency_at(const Kernels& kernels, int place, int half) {
  const int b = place % kernels.b;
  const int a = place / kernels.b % kernels.a;
  const int c = place / (kernels.a * kernels.b);
  return 2 * (a + kernels.a * (b + kernels.b * c)) + half;
}

Array<int, 1> to_device(const std::vector<int>& host, const Queue& queue) {
  return copy_of(View<const int, 1>(host.data(), {std::ssize(host)}), queue.device());
}

Array<int, 1> column_frequencies(const Kernels& kernels, const Queue& queue) {
  std::vector<int> host;
  for (int half = 0; half < 2; ++half) {
    for (int place = 0; place < kernels.length; ++place) host.push_back(frequency_at(kernels, place, half));
  }
  return to_device(host, queue);
}

Array<int, 1> stored_frequencies(const Kernels& kernels, const Queue& queue) {
  std::vector<int> host;
  const int own = (kernels.c + 1) / 2 * kernels.a * kernels.b;
  for (int half = 0; half < 2; ++half) {
    for (int place = 0; place < kernels.stored; ++place) {
      // Behind the even frequencies stands L / 2 = M.
      const int frequency = place < own ? frequency_at(kernels, place, half) : kernels.length;
      host.push_back(std::min(frequency, 2 * kernels.length - frequency));
    }
  }
  return to_device(host, queue);
}

const float2* as_float2(const CudaPaddedFilter::Complex* values) { return reinterpret_cast<const float2*>(values); }

class Filter final : public CudaPaddedFilter {
 public:
  Filter(Shape<2> field, const Kernels& rows, const Kernels& columns, const Queue& queue, Options options)
      : field_(field),
        rows_(rows),
        columns_(columns),
        queue_(queue),
        batch_(options.batch),
        twiddles_x_(device_twiddles(rows, queue)),
        twiddles_y_(device_twiddles(columns, queue)),
        column_frequencies_(column_frequencies(rows, queue)),
        stored_frequencies_(stored_frequencies(columns, queue)),
        spectrum_({options.batch * 2 * rows.length * field[0]}, queue) {
    if (options.several) product_ = Array<Complex, 1>(spectrum_.shape(), queue);
  }

  [[nodiscard]] Shape<2> transfer_shape() const override { return {rows_.length + 1, 2 * columns_.stored}; }
  [[nodiscard]] View<const int, 1> transfer_frequencies() const override { return stored_frequencies_.view(); }

  void forward(const Complex* input) override {
    const cuda::DeviceScope scope(queue_.device());
    rows_.rows_forward<<<row_blocks(), rows_.row_threads, rows_.row_shared_bytes, stream()>>>(
        as_float2(input), strips(spectrum_), twiddles(twiddles_x_), row_shape());
    cuda::check_launch("padded filter rows");
  }

  void apply(const Transfer& transfer, Complex* field, float* intensity) override {
    const cuda::DeviceScope scope(queue_.device());
    Array<Complex, 1>& target = product_.empty() ? spectrum_ : product_;
    const auto batch = static_cast<unsigned>(batch_);
    const dim3 blocks{batch, static_cast<unsigned>(2 * rows_.length / columns_.column_lines), 1};
    columns_.columns<<<blocks, columns_.column_threads, columns_.column_shared_bytes, stream()>>>(
        strips(spectrum_), strips(target), twiddles(twiddles_y_), {row_shape().ny, 2 * rows_.length},
        {as_float2(transfer.values), as_float2(transfer.along_y), as_float2(transfer.along_x),
         column_frequencies_.data()});
    cuda::check_launch("padded filter columns");
    rows_.rows_back<<<row_blocks(), rows_.row_threads, rows_.row_shared_bytes, stream()>>>(
        strips(target), reinterpret_cast<float2*>(field), intensity, twiddles(twiddles_x_), row_shape());
    cuda::check_launch("padded filter rows back");
  }

  [[nodiscard]] std::size_t workspace_bytes() const override {
    return twiddles_x_.bytes() + twiddles_y_.bytes() + column_frequencies_.bytes() + stored_frequencies_.bytes() +
           spectrum_.bytes() + product_.bytes();
  }

 private:
  [[nodiscard]] cudaStream_t stream() const { return cuda::stream_of(queue_); }
  [[nodiscard]] RowShape row_shape() const {
    return {static_cast<int>(field_[0]), static_cast<int>(field_[1]), columns_.strip};
  }
  [[nodiscard]] dim3 row_blocks() const {
    return {cuda::blocks_for(field_[0], rows_.row_lines), static_cast<unsigned>(batch_), 1};
  }
  static float2* strips(Array<Complex, 1>& values) { return reinterpret_cast<float2*>(values.data()); }
  static const float4* twiddles(const Array<Complex, 1>& values) {
    return reinterpret_cast<const float4*>(values.data());
  }

  Shape<2> field_;
  Kernels rows_;
  Kernels columns_;
  Queue queue_;
  std::int64_t batch_;
  Array<Complex, 1> twiddles_x_;
  Array<Complex, 1> twiddles_y_;
  Array<int, 1> column_frequencies_;
  Array<int, 1> stored_frequencies_;
  Array<Complex, 1> spectrum_;
  Array<Complex, 1> product_;  ///< of the spectrum and a transfer function, where the spectrum is kept
};

/// Lets a kernel use its shared memory, of which a device gives a block more than 48 KB on request only.
template <class Kernel>
void allow_shared(Kernel kernel, int bytes) {
  cuda::check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes), "cudaFuncSetAttribute");
}

}  // namespace

std::unique_ptr<CudaPaddedFilter> CudaPaddedFilter::make(Shape<2> field, Shape<2> padded, const Queue& queue,
                                                         Options options) {
  if (padded[0] < 2 * field[0] || padded[1] < 2 * field[1]) return nullptr;
  const Kernels* const rows = kernels_for(padded[1]);
  const Kernels* const columns = kernels_for(padded[0]);
  if (rows == nullptr || columns == nullptr) return nullptr;
  const cuda::DeviceScope scope(queue.device());
  int room = 0;
  cuda::check(cudaDeviceGetAttribute(&room, cudaDevAttrMaxSharedMemoryPerBlockOptin, queue.device().index),
              "cudaDeviceGetAttribute");
  if (std::max(rows->row_shared_bytes, columns->column_shared_bytes) > room) return nullptr;
  allow_shared(rows->rows_forward, rows->row_shared_bytes);
  allow_shared(rows->rows_back, rows->row_shared_bytes);
  allow_shared(columns->columns, columns->column_shared_bytes);
  return std::make_unique<Filter>(field, *rows, *columns, queue, options);
}

}  // namespace holotone::fft
