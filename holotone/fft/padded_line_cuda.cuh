#pragma once
// For _cuda.cu files only: transforms of zero-padded lines by the threads of a block. Not for users.
//
// A padded line has L = 2 M values, of which only the first M are not zero before the forward transform or wanted after
// the inverse one. Both are two transforms of M values, of the even (h = 0) and odd frequencies:
//   X[2 k + h] = sum_n (x[n] w^(n h)) exp(-2 pi i n k / M),  w = exp(-2 pi i / L),
// and back likewise. M = A B C values take three steps in registers (Gentleman and Sande 1966, see Van Loan,
// "Computational Frameworks for the Fast Fourier Transform", 1992, decimation in frequency):
//   n = j + B C a,  j = i + C b,  k = a + A (b + B c);
//   A: values a of each j; B: values b of each (a, i); C: values i of each (a, b).
// Values change places in shared memory between the steps. The transform of B C values of one a belongs to `Group`
// threads of a warp, so that only the exchange around step A waits for the block. Frequencies stay in the order that
// step C leaves; the way back runs the steps backwards. A thread writes only places that it alone has read since the
// last barrier, so that an exchange needs one barrier.
//
// A block takes two lines, so that passes over rows and over columns both move whole sectors of 32 bytes. Of long lines
// it takes one half; two blocks of a cluster add their halves.
#include <algorithm>
#include <cuda_pipeline.h>
#include <holotone/fft/butterflies_cuda.cuh>

namespace holotone::fft::lines {

constexpr int quotient_up(int a, int b) { return (a + b - 1) / b; }

/// A plan of lines: radices, threads of a transform (half a line) and of a group, halves of a line in a block.
template <int RadixA, int RadixB, int RadixC, int Threads, int Group, int Halves>
struct Plan {
  static constexpr int a = RadixA;
  static constexpr int b = RadixB;
  static constexpr int c = RadixC;
  static constexpr int threads = Threads;
  static constexpr int group = Group;
  static constexpr int lines = 2;
  static constexpr int halves = Halves;
  static constexpr int tail = RadixB * RadixC;
  static constexpr int length = RadixA * tail;
  static constexpr int block_threads = halves * Threads * lines;
  static constexpr int blocks = std::max(1, 1024 / block_threads);  ///< of a multiprocessor: 64 registers a thread
  static constexpr int rounds_a = quotient_up(tail, Threads);
  static constexpr int rounds_b = quotient_up(RadixC, Group);
  static constexpr int rounds_c = quotient_up(RadixB, Group);
  static constexpr int values = std::max({RadixA * rounds_a, RadixB* rounds_b, RadixC* rounds_c});
  static_assert(values <= 16 && RadixA * Group <= Threads && block_threads <= 1024);
  static_assert(32 % (Group * lines) == 0 && Threads % Group == 0, "a group shares a warp");

  // Half a warp reads 16 banks of eight bytes: values of step C in different ones, and the values of the lines beside
  // each other.
  static constexpr int pitch_b = RadixC | 1;
  static constexpr int pitch_a = RadixB * pitch_b;
  static constexpr int pitch_line = quotient_up(RadixA * pitch_a - 16 / lines, 16) * 16 + 16 / lines;
  static constexpr int shared_bytes = halves * lines * pitch_line * static_cast<int>(sizeof(float2));

  /// Frequencies whose transfer factors are stored, of each half: those of c below (C + 1) / 2, and M / 2.
  static constexpr int stored = (RadixC + 1) / 2 * RadixA * RadixB;
};

/// threadIdx.x, read anew: addresses made of it for the way there are not kept for the way back.
__device__ __forceinline__ int thread_index() {
  int index;
  asm volatile("mov.u32 %0, %%tid.x;" : "=r"(index));
  return index;
}

/// Waits until the kernels before this one have ended and their writes are there: a kernel may begin before that, so
/// that its launch takes no time of its own.
__device__ __forceinline__ void wait_for_earlier_kernels() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/// The same place in the shared memory of a block of the cluster.
__device__ __forceinline__ float2* memory_of_block(float2* block, int rank) {
#if __CUDA_ARCH__ >= 900
  asm("mapa.u64 %0, %0, %1;" : "+l"(block) : "r"(rank));
#endif
  return block;
}

/// Waits for the threads of the cluster and their writes.
__device__ __forceinline__ void synchronize_cluster() {
#if __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
#endif
}

/// A thread's place.
template <class P>
struct Seat {
  int line;        ///< of the block
  int half;        ///< 0: even frequencies, 1: odd ones
  int thread;      ///< of the transform
  float2* memory;  ///< of the transform

  __device__ __forceinline__ explicit Seat(float2* shared) {
    const int index = thread_index();
    line = index % P::lines;
    const int half_of_block = P::halves == 2 ? index / (P::lines * P::threads) : 0;
    half = P::halves == 2 ? half_of_block : static_cast<int>(blockIdx.x % 2);
    thread = index / P::lines % P::threads;
    memory = shared + (line + P::lines * half_of_block) * P::pitch_line;
  }

  [[nodiscard]] __device__ __forceinline__ float2* memory_of_other() const {
    if constexpr (P::halves == 2) return memory + (half == 0 ? P::lines : -P::lines) * P::pitch_line;
    return memory_of_block(memory, 1 - half);
  }
};

/// blockIdx.x without the half of a line.
template <class P>
__device__ __forceinline__ int block_index() {
  return static_cast<int>(P::halves == 2 ? blockIdx.x : blockIdx.x / 2);
}

/// Calls body(first register, j, place) for the transforms of step A of a thread.
template <class P, class Body>
__device__ __forceinline__ void for_step_a(const Seat<P>& seat, const Body& body) {
#pragma unroll
  for (int round = 0; round < P::rounds_a; ++round) {
    const int j = seat.thread + round * P::threads;
    if (P::tail % P::threads == 0 || j < P::tail) body(round * P::a, j, j / P::c * P::pitch_b + j % P::c);
  }
}

/// Calls body(first register, i, place) for the transforms of step B of a thread.
template <class P, class Body>
__device__ __forceinline__ void for_step_b(const Seat<P>& seat, const Body& body) {
  const int a = seat.thread / P::group;
#pragma unroll
  for (int round = 0; round < P::rounds_b; ++round) {
    const int i = seat.thread % P::group + round * P::group;
    const bool whole = P::c % P::group == 0 && P::threads == P::a * P::group;
    if (whole || (i < P::c && a < P::a)) body(round * P::b, i, a * P::pitch_a + i);
  }
}

/// Calls body(first register, b + B a, place) for the transforms of step C of a thread.
template <class P, class Body>
__device__ __forceinline__ void for_step_c(const Seat<P>& seat, const Body& body) {
  const int a = seat.thread / P::group;
#pragma unroll
  for (int round = 0; round < P::rounds_c; ++round) {
    const int b = seat.thread % P::group + round * P::group;
    const bool whole = P::b % P::group == 0 && P::threads == P::a * P::group;
    if (whole || (b < P::b && a < P::a)) body(round * P::c, b + P::b * a, a * P::pitch_a + b * P::pitch_b);
  }
}

template <int Count, int Pitch>
__device__ __forceinline__ void put(const float2* v, float2* memory) {
#pragma unroll
  for (int r = 0; r < Count; ++r) memory[r * Pitch] = v[r];
}
template <int Count, int Pitch>
__device__ __forceinline__ void get(float2* v, const float2* memory) {
#pragma unroll
  for (int r = 0; r < Count; ++r) v[r] = memory[r * Pitch];
}

/// Loads that the compiler leaves where they stand. Values moved across a transform, or kept from the way there for the
/// way back, would take registers from it.
__device__ __forceinline__ float2 load_here(const float2* address) {
  float2 value;
  asm volatile("ld.global.v2.f32 {%0, %1}, [%2];" : "=f"(value.x), "=f"(value.y) : "l"(address));
  return value;
}
__device__ __forceinline__ float4 load_here(const float4* address) {
  float4 value;
  asm volatile("ld.global.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(value.x), "=f"(value.y), "=f"(value.z), "=f"(value.w)
               : "l"(address));
  return value;
}

/// Fetches the rows beside it into the second-level cache too: blocks that run at the same time read them.
__device__ __forceinline__ float2 load_with_neighbours(const float2* address) {
#if __CUDA_ARCH__ >= 800
  float2 value;
  asm volatile("ld.global.L2::256B.v2.f32 {%0, %1}, [%2];" : "=f"(value.x), "=f"(value.y) : "l"(address));
  return value;
#else
  return *address;
#endif
}

/// Factors of lines: w^(2 j) and w^(8 j) of each j of step A; the same of A i, of each i of step B; w^j.
template <class P>
struct Twiddles {
  const float4* memory;
  static constexpr int count = P::tail + P::c;  ///< of pairs
  [[nodiscard]] __device__ __forceinline__ float4 after_a(int j) const { return load_here(memory + j); }
  [[nodiscard]] __device__ __forceinline__ float4 after_b(int i) const { return load_here(memory + P::tail + i); }
  [[nodiscard]] __device__ __forceinline__ float2 first(int half, int j) const {
    return half != 0 ? load_here(reinterpret_cast<const float2*>(memory + count) + j) : float2{1, 0};
  }
};

/// From values n = j + B C a in the registers of step A to frequencies in those of step C. `Fetched`: what the block
/// has begun to copy into shared memory is there afterwards.
template <class P, bool Fetched = false>
__device__ __forceinline__ void transform_line(float2* v, const Seat<P>& seat, Twiddles<P> twiddles) {
  for_step_a(seat, [&](int first, int j, int place) {
    if (seat.half != 0) multiply_half_steps<P::a>(v + first);
    transform<P::a>(v + first);
    multiply_powers<P::a, false>(v + first, twiddles.after_a(j), twiddles.first(seat.half, j));
    put<P::a, P::pitch_a>(v + first, seat.memory + place);
  });
  if constexpr (Fetched) __pipeline_wait_prior(0);
  __syncthreads();
  for_step_b(seat, [&](int first, int i, int place) {
    get<P::b, P::pitch_b>(v + first, seat.memory + place);
    transform<P::b>(v + first);
    multiply_powers<P::b, true>(v + first, twiddles.after_b(i));
    put<P::b, P::pitch_b>(v + first, seat.memory + place);
  });
  __syncwarp();
  for_step_c(seat, [&](int first, int, int place) {
    get<P::c, 1>(v + first, seat.memory + place);
    transform<P::c>(v + first);
  });
}

/// The transpose of transform_line: on swapped values the inverse, times M.
template <class P>
__device__ __forceinline__ void transform_line_back(float2* v, const Seat<P>& seat, Twiddles<P> twiddles) {
  for_step_c(seat, [&](int first, int, int place) {
    transform<P::c>(v + first);
    put<P::c, 1>(v + first, seat.memory + place);
  });
  __syncwarp();
  for_step_b(seat, [&](int first, int i, int place) {
    get<P::b, P::pitch_b>(v + first, seat.memory + place);
    multiply_powers<P::b, true>(v + first, twiddles.after_b(i));
    transform<P::b>(v + first);
    put<P::b, P::pitch_b>(v + first, seat.memory + place);
  });
  __syncthreads();
  for_step_a(seat, [&](int first, int j, int place) {
    get<P::a, P::pitch_a>(v + first, seat.memory + place);
    multiply_powers<P::a, false>(v + first, twiddles.after_a(j), twiddles.first(seat.half, j));
    transform<P::a>(v + first);
    if (seat.half != 0) multiply_half_steps<P::a>(v + first);
  });
}

/// Adds both halves' values after transform_line_back and calls store(j, a, sum) for n = j + B C a, each by one thread.
template <class P, class Store>
__device__ __forceinline__ void add_halves(const float2* v, const Seat<P>& seat, const Store& store) {
  // The even half's threads keep the first values, the odd half's the others.
  constexpr int middle = P::a / 2;
  for_step_a(seat, [&](int first, int, int place) {
    if (seat.half == 0) {
      put<P::a - middle, P::pitch_a>(v + first + middle, seat.memory + place + middle * P::pitch_a);
    } else {
      put<middle, P::pitch_a>(v + first, seat.memory + place);
    }
  });
  if constexpr (P::halves == 2) {
    __syncthreads();
  } else {
    synchronize_cluster();
  }
  for_step_a(seat, [&](int first, int j, int place) {
    const float2* const other = seat.memory_of_other() + place;
    if (seat.half == 0) {
#pragma unroll
      for (int a = 0; a < middle; ++a) store(j, a, sum(v[first + a], other[a * P::pitch_a]));
    } else {
#pragma unroll
      for (int a = middle; a < P::a; ++a) store(j, a, sum(v[first + a], other[a * P::pitch_a]));
    }
  });
  if constexpr (P::halves == 1) synchronize_cluster();  // the other block has read this one's memory
}

}  // namespace holotone::fft::lines
