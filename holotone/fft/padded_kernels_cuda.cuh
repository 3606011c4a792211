#pragma once
// For padded_filter_cuda.cu only: kernels of zero-padded fields (padded_line_cuda.cuh). Not for users.
//
// Between the passes the spectra of the rows lie in strips of four columns: two rows after two rows, and of those the
// two values of each row in two columns, then in the next two. So two rows write 64 bytes in one piece, and two columns
// read whole sectors of 32 bytes. The columns stand in the order of the threads that make them: column p + M h has the
// frequency 2 k + h, where p = b + B (a + A c) and k = a + A (b + B c).
#include <holotone/fft/padded_line_cuda.cuh>

namespace holotone::fft::lines {

extern __shared__ float2 shared_memory[];

constexpr int strip_columns = 4;

/// Rows of a strip.
__host__ __device__ constexpr int strip_rows(int ny) { return (ny + 1) / 2 * 2; }

/// Rows of fields and strips. A block takes `lines` rows; blocks of y take fields.
struct RowShape {
  int ny = 0;
  int nx = 0;
};

template <class P>
__device__ __forceinline__ int seat_row(const Seat<P>& seat) {
  return block_index<P>() * P::lines + seat.line;
}

/// Place in the strips of the first of a thread's columns, b + B a + M h; the next lies A B columns further.
template <class P>
__device__ __forceinline__ std::int64_t place_in_strips(const RowShape& shape, int row, int half, int first) {
  static_assert(P::a * P::b % strip_columns == 0);
  const int column = first + P::length * half;
  return static_cast<std::int64_t>(column / strip_columns) * strip_columns * strip_rows(shape.ny) +
         (row / 2 * strip_columns + column % strip_columns / 2 * 2 + row % 2) * 2 + column % 2;
}

template <class P>
__device__ __forceinline__ std::int64_t strips_of_frame(int ny) {
  return static_cast<std::int64_t>(blockIdx.y) * 2 * P::length * strip_rows(ny);
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
  wait_for_earlier_kernels();
  const Seat<P> seat(shared_memory);
  const int row = seat_row(seat);
  const bool there = row < shape.ny;
  const float2* const begin = input + (static_cast<std::int64_t>(blockIdx.y) * shape.ny + row) * shape.nx;
  float2 v[P::values];
  for_step_a(seat, [&](int first, int j, int) { load_line<P, 1>(v + first, begin + j, there ? shape.nx - j : 0); });
  transform_line(v, seat, Twiddles<P>{twiddles});
  for_step_c(seat, [&](int first, int column, int) {
    if (!there) return;
    float2* const target = strips + strips_of_frame<P>(shape.ny) + place_in_strips<P>(shape, row, seat.half, column);
#pragma unroll
    for (int c = 0; c < P::c; ++c) target[c * P::a * P::b * strip_rows(shape.ny)] = v[first + c];
  });
}

/// Rows from their spectra: the field, or its squared modulus where there is no field.
template <class P>
__global__ void __launch_bounds__(P::block_threads, P::blocks)
    rows_back(const float2* __restrict__ strips, float2* __restrict__ field, float* __restrict__ intensity,
              const float4* __restrict__ twiddles, RowShape shape) {
  wait_for_earlier_kernels();
  const Seat<P> seat(shared_memory);
  const int row = seat_row(seat);
  const bool there = row < shape.ny;
  float2 v[P::values];
  for_step_c(seat, [&](int first, int column, int) {
    const float2* const source =
        strips + strips_of_frame<P>(shape.ny) + place_in_strips<P>(shape, row, seat.half, column);
#pragma unroll
    for (int c = 0; c < P::c; ++c) {
      v[first + c] =
          there ? swapped(load_with_neighbours(source + c * P::a * P::b * strip_rows(shape.ny))) : float2{0, 0};
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

/// Values of H, and the frequency 0 to lx - 1 of each column.
struct Factors {
  const float2* values = nullptr;
  const int* frequencies = nullptr;
};

/// Columns of the values of H for each half of the frequencies along y.
template <class P>
constexpr int stored_pitch = P::stored + 4;

/// Values of H for a column and a half of the frequencies along y.
template <class P>
__device__ __forceinline__ const float2* transfer_values(const Factors& factors, int column, int half, int lx) {
  const int kx = factors.frequencies[column];
  return factors.values + (2 * static_cast<std::int64_t>(min(kx, lx - kx)) + half) * stored_pitch<P>;
}

/// Values of H for a block's columns lie in shared memory behind that of the transforms, each column's in other banks.
template <class P>
constexpr int transfer_pitch = quotient_up(P::halves* stored_pitch<P> - 8, 16) * 16 + 8;

template <class P>
constexpr int transfer_bytes = P::lines* transfer_pitch<P>* static_cast<int>(sizeof(float2));

template <class P>
__device__ __forceinline__ float2* transfer_memory(int line) {
  return shared_memory + P::shared_bytes / static_cast<int>(sizeof(float2)) + line * transfer_pitch<P>;
}

/// Begins to copy values of H into shared memory.
template <class P>
__device__ __forceinline__ void fetch_transfer(const Factors& factors, int first_column, int lx) {
  const int half = P::halves == 2 ? 0 : static_cast<int>(blockIdx.x % 2);
#pragma unroll
  for (int line = 0; line < P::lines; ++line) {
    const float2* const source = transfer_values<P>(factors, first_column + line, half, lx);
    for (int i = 2 * thread_index(); i < P::halves * stored_pitch<P>; i += 2 * P::block_threads) {
      __pipeline_memcpy_async(transfer_memory<P>(line) + i, source + i, 2 * sizeof(float2));
    }
  }
  __pipeline_commit();
}

/// Multiplies by H, or by conj(H), whose values are in shared memory or not.
template <class P, bool Conjugate, bool Shared>
__device__ __forceinline__ void multiply_transfer(float2* v, const Seat<P>& seat, const float2* values) {
  constexpr int step = P::a * P::b;
  for_step_c(seat, [&](int first, int start, int) {
    // The frequency of the opposite sign has the place (C - 1 - c) A B + mirror.
    const int a = start / P::b;
    const int b = start % P::b;
    const int even = a == 0 ? P::b - b : (P::a - a) * P::b + P::b - 1 - b;
    const int mirror = seat.half != 0 ? step - 1 - start : start == 0 ? step : even;
    const float2* const line = values + start;
    const float2* const opposite = values + mirror;
#pragma unroll
    for (int c = 0; c < P::c; ++c) {
      const float2* const address = 2 * c < P::c ? line + c * step : opposite + (P::c - 1 - c) * step;
      float2 h = Shared ? *address : load_here(address);
      if constexpr (Conjugate) h.y = -h.y;
      v[first + c] = product(v[first + c], h);
    }
  });
}

/// Columns of a block.
template <class P>
struct ColumnPlace {
  int first;           ///< of the columns, in the order of the strips
  std::int64_t begin;  ///< of its values in the strips

  __device__ __forceinline__ explicit ColumnPlace(const ColumnShape& shape) {
    // Strips of opposite frequencies follow each other, for they read the same rows of the transfer function.
    constexpr int blocks_of_strip = strip_columns / P::lines;
    const int strips = shape.lx / 2 / strip_columns;
    const int place = static_cast<int>(blockIdx.y) / blocks_of_strip;
    const int turn = place % strips;
    const int strip = place / strips * strips + (turn % 2 != 0 ? strips - 1 - turn / 2 : turn / 2);
    const int within = static_cast<int>(blockIdx.y) % blocks_of_strip * P::lines;
    first = strip * strip_columns + within;
    begin = (static_cast<std::int64_t>(block_index<P>()) * shape.lx + strip * strip_columns) * strip_rows(shape.ny) +
            2 * within;
  }
};

/// Place of a row after the begin of a block's columns. Rows that lie `tail` apart have places tail * strip_columns
/// apart.
template <class P>
__device__ __forceinline__ int place_in_columns(const Seat<P>& seat, int row) {
  static_assert(P::tail % 2 == 0);
  return row / 2 * 2 * strip_columns + row % 2 * 2 + seat.line;
}

template <class P>
__device__ __forceinline__ void load_column(float2* v, const Seat<P>& seat, const float2* begin, int ny) {
  for_step_a(seat, [&](int first, int j, int) {
    load_line<P, strip_columns>(v + first, begin + place_in_columns(seat, j), ny - j);
  });
}

/// Writes the sum of both halves' values after transform_line_back.
template <class P>
__device__ __forceinline__ void store_column(const float2* v, float2* begin, int ny) {
  const Seat<P> seat(shared_memory);
  add_halves(v, seat, [&](int j, int a, float2 value) {
    if (P::tail * a < ny - j) (begin + place_in_columns(seat, j))[P::tail * a * strip_columns] = swapped(value);
  });
}

/// Columns there, times the transfer function or its conjugate, and back; source and target may be the same.
template <class P, bool Conjugate>
__global__ void __launch_bounds__(P::block_threads, P::blocks)
    columns(const float2* source, float2* target, const float4* __restrict__ twiddles, ColumnShape shape,
            Factors factors) {
  wait_for_earlier_kernels();
  const Seat<P> seat(shared_memory);
  const ColumnPlace<P> place(shape);
  float2 v[P::values];
  load_column(v, seat, source + place.begin, shape.ny);
  fetch_transfer<P>(factors, place.first, shape.lx);
  transform_line<P, true>(v, seat, Twiddles<P>{twiddles});
  multiply_transfer<P, Conjugate, true>(
      v, seat, transfer_memory<P>(seat.line) + (P::halves == 2 ? seat.half * stored_pitch<P> : 0));
#pragma unroll
  for (int i = 0; i < P::values; ++i) v[i] = swapped(v[i]);
  transform_line_back(v, Seat<P>(shared_memory), Twiddles<P>{twiddles});
  store_column<P>(v, target + place.begin, shape.ny);
}

// Two filters that differ by factors along one axis share the transforms before them; the adjoint adds before the
// transforms that it shares. Between both, a thread keeps its values behind the shared memory of the transforms.

template <class P>
constexpr int kept_bytes = P::values* P::block_threads* static_cast<int>(sizeof(float2));

/// Value i of a thread lies at i * block_threads.
template <class P>
__device__ __forceinline__ float2* kept_values() {
  return shared_memory + P::shared_bytes / static_cast<int>(sizeof(float2)) + thread_index();
}

/// Multiplies by factors in the order of the places.
template <class P>
__device__ __forceinline__ void multiply_places(float2* v, const Seat<P>& seat, const float2* factors) {
  for_step_c(seat, [&](int first, int start, int) {
    const float2* const line = factors + P::length * seat.half + start;
#pragma unroll
    for (int c = 0; c < P::c; ++c) v[first + c] = product(v[first + c], load_here(line + c * P::a * P::b));
  });
}

/// Two pictures of each spectrum of a row: without and with conjugated factors along x. blockIdx.y: one of two spectra.
template <class P>
__global__ void __launch_bounds__(P::block_threads, P::blocks)
    rows_back_pair(const float2* __restrict__ strips, float2* __restrict__ fields, const float4* __restrict__ twiddles,
                   const float2* __restrict__ along_x, RowShape shape) {
  wait_for_earlier_kernels();
  float2* const kept = kept_values<P>();
  {
    const Seat<P> seat(shared_memory);
    const int row = seat_row(seat);
    for_step_c(seat, [&](int first, int column, int) {
      const float2* const source =
          strips + strips_of_frame<P>(shape.ny) + place_in_strips<P>(shape, row, seat.half, column);
#pragma unroll
      for (int c = 0; c < P::c; ++c) {
        kept[(first + c) * P::block_threads] =
            row < shape.ny ? swapped(load_with_neighbours(source + c * P::a * P::b * strip_rows(shape.ny)))
                           : float2{0, 0};
      }
    });
  }
#pragma unroll 1
  for (int right = 0; right < 2; ++right) {
    const Seat<P> seat(shared_memory);
    float2 v[P::values];
#pragma unroll
    for (int i = 0; i < P::values; ++i) v[i] = kept[i * P::block_threads];
    if (right != 0) multiply_places(v, seat, along_x);
    transform_line_back(v, seat, Twiddles<P>{twiddles});
    const int row = seat_row(seat);
    const int count = row < shape.ny ? shape.nx : 0;
    float2* const begin = fields + ((2 * static_cast<std::int64_t>(blockIdx.y) + right) * shape.ny + row) * shape.nx;
    add_halves(v, seat, [&](int j, int a, float2 value) {
      if (P::tail * a < count - j) (begin + j)[P::tail * a] = swapped(value);
    });
    __syncthreads();
  }
}

/// The adjoint of rows_back_pair, but for the inverse transform's scale.
template <class P>
__global__ void __launch_bounds__(P::block_threads, P::blocks)
    rows_join(const float2* __restrict__ fields, float2* __restrict__ strips, const float4* __restrict__ twiddles,
              const float2* __restrict__ along_x, RowShape shape) {
  wait_for_earlier_kernels();
  float2* const kept = kept_values<P>();
#pragma unroll 1
  for (int right = 1; right >= 0; --right) {
    const Seat<P> seat(shared_memory);
    const int row = seat_row(seat);
    const bool there = row < shape.ny;
    const float2* const begin =
        fields + ((2 * static_cast<std::int64_t>(blockIdx.y) + right) * shape.ny + row) * shape.nx;
    float2 v[P::values];
    for_step_a(seat, [&](int first, int j, int) { load_line<P, 1>(v + first, begin + j, there ? shape.nx - j : 0); });
    transform_line(v, seat, Twiddles<P>{twiddles});
    if (right != 0) {
      multiply_places(v, seat, along_x);
#pragma unroll
      for (int i = 0; i < P::values; ++i) kept[i * P::block_threads] = v[i];
      __syncthreads();
      continue;
    }
    for_step_c(seat, [&](int first, int column, int) {
      if (!there) return;
      float2* const target = strips + strips_of_frame<P>(shape.ny) + place_in_strips<P>(shape, row, seat.half, column);
#pragma unroll
      for (int c = 0; c < P::c; ++c) {
        target[c * P::a * P::b * strip_rows(shape.ny)] = sum(v[first + c], kept[(first + c) * P::block_threads]);
      }
    });
  }
}

/// Columns there, times the transfer function, and back twice: without and with conjugated factors along y. The targets
/// lie one after the other.
template <class P>
__global__ void __launch_bounds__(P::block_threads, P::blocks)
    columns_split(const float2* __restrict__ source, float2* __restrict__ target, const float4* __restrict__ twiddles,
                  const float2* __restrict__ along_y, ColumnShape shape, Factors factors) {
  wait_for_earlier_kernels();
  const ColumnPlace<P> place(shape);
  float2* const kept = kept_values<P>();
  {
    const Seat<P> seat(shared_memory);
    float2 v[P::values];
    load_column(v, seat, source + place.begin, shape.ny);
    transform_line(v, seat, Twiddles<P>{twiddles});
    multiply_transfer<P, false, false>(v, seat,
                                       transfer_values<P>(factors, place.first + seat.line, seat.half, shape.lx));
#pragma unroll
    for (int i = 0; i < P::values; ++i) kept[i * P::block_threads] = swapped(v[i]);
  }
#pragma unroll 1
  for (int down = 0; down < 2; ++down) {
    const Seat<P> seat(shared_memory);
    float2 v[P::values];
#pragma unroll
    for (int i = 0; i < P::values; ++i) v[i] = kept[i * P::block_threads];
    if (down != 0) multiply_places(v, seat, along_y);
    transform_line_back(v, seat, Twiddles<P>{twiddles});
    store_column<P>(v, target + down * static_cast<std::int64_t>(shape.lx) * strip_rows(shape.ny) + place.begin,
                    shape.ny);
    __syncthreads();
  }
}

/// The adjoint of columns_split.
template <class P>
__global__ void __launch_bounds__(P::block_threads, P::blocks)
    columns_join(const float2* __restrict__ source, float2* __restrict__ target, const float4* __restrict__ twiddles,
                 const float2* __restrict__ along_y, ColumnShape shape, Factors factors) {
  wait_for_earlier_kernels();
  const ColumnPlace<P> place(shape);
  float2* const kept = kept_values<P>();
  float2 v[P::values];
#pragma unroll 1
  for (int down = 1; down >= 0; --down) {
    const Seat<P> seat(shared_memory);
    load_column(v, seat, source + down * static_cast<std::int64_t>(shape.lx) * strip_rows(shape.ny) + place.begin,
                shape.ny);
    transform_line(v, seat, Twiddles<P>{twiddles});
    if (down != 0) {
      multiply_places(v, seat, along_y);
#pragma unroll
      for (int i = 0; i < P::values; ++i) kept[i * P::block_threads] = v[i];
      __syncthreads();
    }
  }
#pragma unroll
  for (int i = 0; i < P::values; ++i) v[i] = sum(v[i], kept[i * P::block_threads]);
  const Seat<P> seat(shared_memory);
  multiply_transfer<P, true, false>(v, seat, transfer_values<P>(factors, place.first + seat.line, seat.half, shape.lx));
#pragma unroll
  for (int i = 0; i < P::values; ++i) v[i] = swapped(v[i]);
  transform_line_back(v, Seat<P>(shared_memory), Twiddles<P>{twiddles});
  store_column<P>(v, target + place.begin, shape.ny);
}

}  // namespace holotone::fft::lines
