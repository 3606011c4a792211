// C = A B^T on the tensor cores: blocks of 128 x 128, eight warps of 64 x 32, operands through three stages of shared
// memory. Rows of A and B are read as bytes: 32 bytes are one step of the tensor cores for either element.
#include <algorithm>
#include <cstdint>
#include <cuda_fp16.h>
#include <holotone/core/cuda_check.hpp>
#include <holotone/core/matrix_product/matrix_product_kernel_cuda.hpp>

namespace holotone::cuda {
namespace {

constexpr int tile = 128;  // rows of A and of B of a block
constexpr int stages = 3;
constexpr int step_bytes = 64;  // of each row in a stage
constexpr int threads = 256;
constexpr int stage_bytes = 2 * tile * step_bytes;

struct Operands {
  const char* a;
  const char* b;
  void* c;
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t row_bytes;    // that are multiplied
  std::int64_t pitch_bytes;  // from row to row
  std::int64_t a_batch_bytes;
  std::int64_t b_batch_bytes;
  std::int64_t batch;
};

/// Place of 16 bytes in a stage's operand: pairs of rows share 128 bytes, and the order of the pieces changes with the
/// pair, so that eight rows of one piece lie in different banks.
__device__ inline int place(int row, int piece) { return row * step_bytes + ((piece ^ ((row >> 1) & 3)) << 4); }

__device__ inline void copy_async(std::uint32_t to, const void* from, bool inside) {
  const int bytes = inside ? 16 : 0;  // the rest of 16 becomes zero
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;\n" ::"r"(to), "l"(from), "r"(bytes));
}

__device__ inline void load_matrices(std::uint32_t (&r)[4], std::uint32_t from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];\n"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(from));
}

__device__ inline void multiply(float (&c)[4], const std::uint32_t (&a)[4], std::uint32_t b0, std::uint32_t b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};\n"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
__device__ inline void multiply(std::int32_t (&c)[4], const std::uint32_t (&a)[4], std::uint32_t b0, std::uint32_t b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};\n"
      : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/// Stores two neighbours of a row, or adds them to it.
template <class Sum, class Out>
__device__ inline void put(Out* to, Sum first, Sum second, bool accumulate) {
  if (accumulate) {
    to[0] = static_cast<Out>(static_cast<Sum>(to[0]) + first);
    to[1] = static_cast<Out>(static_cast<Sum>(to[1]) + second);
  } else {
    to[0] = static_cast<Out>(first);
    to[1] = static_cast<Out>(second);
  }
}

template <class Sum, class Out, bool accumulate>
__global__ void __launch_bounds__(threads) product_kernel(Operands operands) {
  __shared__ __align__(128) char stage_memory[stages * stage_bytes];
  const auto shared = static_cast<std::uint32_t>(__cvta_generic_to_shared(stage_memory));
  const auto row_tiles = static_cast<unsigned>((operands.rows + tile - 1) / tile);
  const std::int64_t first_row = static_cast<std::int64_t>(blockIdx.x % row_tiles) * tile;
  const std::int64_t first_column = static_cast<std::int64_t>(blockIdx.x / row_tiles) * tile;
  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;
  const int warp_row = warp / 4 * 64;
  const int warp_column = warp % 4 * 32;
  const auto steps = static_cast<int>((operands.row_bytes + step_bytes - 1) / step_bytes);

  for (std::int64_t item = blockIdx.y; item < operands.batch; item += gridDim.y) {
    const char* const a = operands.a + item * operands.a_batch_bytes;
    const char* const b = operands.b + item * operands.b_batch_bytes;

    // 256 rows of four pieces: four pieces a thread.
    const auto fetch = [&](int step) {
      if (step < steps) {
        const std::uint32_t to = shared + step % stages * stage_bytes;
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const int number = i * threads + static_cast<int>(threadIdx.x);
          const int row = number / 4;  // of A, then of B
          const int piece = number % 4;
          const bool of_a = row < tile;
          const std::int64_t line = of_a ? first_row + row : first_column + row - tile;
          const std::int64_t at = static_cast<std::int64_t>(step) * step_bytes + piece * 16;
          const bool inside = line < (of_a ? operands.rows : operands.columns) && at < operands.row_bytes;
          const char* const from = (of_a ? a : b) + (inside ? line * operands.pitch_bytes + at : 0);
          copy_async(to + (of_a ? 0 : tile * step_bytes) + place(of_a ? row : row - tile, piece), from, inside);
        }
      }
      asm volatile("cp.async.commit_group;\n" ::);
    };

    Sum sums[4][4][4] = {};
    fetch(0);
    fetch(1);
    for (int step = 0; step < steps; ++step) {
      asm volatile("cp.async.wait_group 1;\n" ::);
      __syncthreads();
      fetch(step + 2);
      const std::uint32_t a_stage = shared + step % stages * stage_bytes;
      const std::uint32_t b_stage = a_stage + tile * step_bytes;
#pragma unroll
      for (int half = 0; half < 2; ++half) {  // 32 bytes of each row
        std::uint32_t af[4][4];
        std::uint32_t bf[2][4];
#pragma unroll
        for (int m = 0; m < 4; ++m) {
          load_matrices(af[m], a_stage + place(warp_row + m * 16 + lane % 16, 2 * half + lane / 16));
        }
#pragma unroll
        for (int n = 0; n < 2; ++n) {
          const int row = warp_column + n * 16 + lane % 8 + lane / 16 * 8;
          load_matrices(bf[n], b_stage + place(row, 2 * half + lane / 8 % 2));
        }
#pragma unroll
        for (int m = 0; m < 4; ++m) {
#pragma unroll
          for (int n = 0; n < 4; ++n) multiply(sums[m][n], af[m], bf[n / 2][n % 2 * 2], bf[n / 2][n % 2 * 2 + 1]);
        }
      }
    }
    asm volatile("cp.async.wait_group 0;\n" ::);
    __syncthreads();

    Out* const c = static_cast<Out*>(operands.c) + item * operands.rows * operands.columns;
#pragma unroll
    for (int m = 0; m < 4; ++m) {
#pragma unroll
      for (int n = 0; n < 4; ++n) {
        const std::int64_t column = first_column + warp_column + n * 8 + lane % 4 * 2;
        const std::int64_t row = first_row + warp_row + m * 16 + lane / 4;
        if (column >= operands.columns) continue;
        const auto& s = sums[m][n];
        if (row < operands.rows) put(c + row * operands.columns + column, s[0], s[1], accumulate);
        if (row + 8 < operands.rows) put(c + (row + 8) * operands.columns + column, s[2], s[3], accumulate);
      }
    }
  }
}

template <class Sum, class Out>
void launch(const Operands& operands, bool accumulate, cudaStream_t stream) {
  constexpr std::int64_t max_blocks = 65535;  // along y
  const auto tiles = [](std::int64_t count) { return static_cast<unsigned>((count + tile - 1) / tile); };
  const dim3 grid(tiles(operands.rows) * tiles(operands.columns),
                  static_cast<unsigned>(std::min(operands.batch, max_blocks)));
  if (accumulate) {
    product_kernel<Sum, Out, true><<<grid, threads, 0, stream>>>(operands);
  } else {
    product_kernel<Sum, Out, false><<<grid, threads, 0, stream>>>(operands);
  }
  check_launch("matrix product");
}

}  // namespace

void enqueue_matrix_product(const MatrixProductShape& shape, const void* a, const void* b, void* c, bool accumulate,
                            cudaStream_t stream) {
  if (enqueue_hopper_product(shape, a, b, c, accumulate, stream)) return;
  const std::int64_t element = shape.element == MatrixElement::float16 ? 2 : 1;
  const std::int64_t pitch = element * (shape.row_elements > 0 ? shape.row_elements : shape.depth);
  const Operands operands{static_cast<const char*>(a),
                          static_cast<const char*>(b),
                          c,
                          shape.rows,
                          shape.columns,
                          element * shape.depth,
                          pitch,
                          shape.share_a ? 0 : pitch * shape.rows,
                          pitch * shape.columns,
                          shape.batch};
  if (shape.element == MatrixElement::int8) {
    launch<std::int32_t, std::int32_t>(operands, accumulate, stream);
  } else if (shape.half_output) {
    launch<float, __half>(operands, accumulate, stream);
  } else {
    launch<float, float>(operands, accumulate, stream);
  }
}

}  // namespace holotone::cuda
