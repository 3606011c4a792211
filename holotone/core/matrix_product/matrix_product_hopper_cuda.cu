// C = A B^T in fp16 on Hopper: persistent blocks of 128 x 128 or 128 x 256. One warpgroup copies boxes of A and B into
// stages of shared memory, two multiply 64 rows each.
#include <algorithm>
#include <cuda.h>
#include <cuda_fp16.h>
#include <holotone/core/cuda_check.hpp>
#include <holotone/core/matrix_product/matrix_product_kernel_cuda.hpp>
#include <holotone/core/matrix_product/wgmma_cuda.cuh>
#include <map>
#include <mutex>
#include <type_traits>

namespace holotone::cuda {
namespace {

constexpr int block_rows = 2 * wgmma_rows;
constexpr int threads = 3 * warpgroup_threads;
constexpr int shared_alignment = 1024;

template <int Columns>
struct Stages {
  static constexpr int count = Columns == 256 ? 4 : 6;
  static constexpr int a_bytes = block_rows * wgmma_row_bytes;
  static constexpr int bytes = a_bytes + Columns * wgmma_row_bytes;
  static constexpr int shared_bytes = count * bytes + shared_alignment;
};

struct Problem {
  void* c;
  std::int64_t rows;
  std::int64_t columns;
  int steps;  ///< of the depth
  int row_tiles;
  int column_tiles;
  std::int64_t tiles;
  bool share_a;
  bool accumulate;
};

#if HOLOTONE_WGMMA_CODE

constexpr int consumer_warps = 8;
constexpr int copy_registers = 40;
constexpr int product_registers = 232;

struct TilePlace {
  int row;
  int column;
  int item;
};
__device__ __forceinline__ TilePlace find_place(const Problem& problem, std::int64_t tile, int columns) {
  const auto of_item = static_cast<std::int64_t>(problem.row_tiles) * problem.column_tiles;
  const auto within = static_cast<int>(tile % of_item);
  return {within % problem.row_tiles * block_rows, within / problem.row_tiles * columns,
          static_cast<int>(tile / of_item)};
}

__device__ __forceinline__ void store(float* to, float first, float second, bool accumulate) {
  auto& pair = *reinterpret_cast<float2*>(to);
  const float2 before = accumulate ? pair : make_float2(0, 0);
  pair = make_float2(before.x + first, before.y + second);
}
__device__ __forceinline__ void store(__half* to, float first, float second, bool accumulate) {
  auto& pair = *reinterpret_cast<__half2*>(to);
  const float2 before = accumulate ? __half22float2(pair) : make_float2(0, 0);
  pair = __floats2half2_rn(before.x + first, before.y + second);
}

#endif

template <int Columns, class Out>
__global__ void __launch_bounds__(HOLOTONE_WGMMA_CODE ? threads : 32, 1)
    hopper_product_kernel(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                          Problem problem) {
#if HOLOTONE_WGMMA_CODE
  using S = Stages<Columns>;
  extern __shared__ char shared_memory[];
  __shared__ std::uint64_t full[S::count];
  __shared__ std::uint64_t empty[S::count];
  char* const stages = shared_memory + (shared_alignment - shared_address(shared_memory) % shared_alignment);
  if (threadIdx.x == 0) {
    for (int i = 0; i < S::count; ++i) {
      init_barrier(full + i, 1);
      init_barrier(empty + i, consumer_warps);
    }
    fence_barriers();
  }
  __syncthreads();
  int stage = 0;
  unsigned phase = 0;
  const auto next_stage = [&] {
    if (++stage == S::count) {
      stage = 0;
      phase ^= 1;
    }
  };
  if (threadIdx.x < warpgroup_threads) {
    give_registers<copy_registers>();
    if (threadIdx.x == 0) {
      for (std::int64_t tile = blockIdx.x; tile < problem.tiles; tile += gridDim.x) {
        const TilePlace place = find_place(problem, tile, Columns);
        for (int step = 0; step < problem.steps; ++step) {
          wait_barrier(empty + stage, phase ^ 1);
          char* const to = stages + stage * S::bytes;
          arrive_with_bytes(full + stage, S::bytes);
          copy_box(to, &a, step * wgmma_depth, place.row, problem.share_a ? 0 : place.item, full + stage);
          copy_box(to + S::a_bytes, &b, step * wgmma_depth, place.column, place.item, full + stage);
          next_stage();
        }
      }
    }
  } else {
    take_registers<product_registers>();
    const int lane = threadIdx.x % 32;
    const int group = threadIdx.x / warpgroup_threads - 1;
    const int warp = threadIdx.x % warpgroup_threads / 32;
    for (std::int64_t tile = blockIdx.x; tile < problem.tiles; tile += gridDim.x) {
      float sums[Columns / 2];
      int before = -1;
      for (int step = 0; step < problem.steps; ++step) {
        wait_barrier(full + stage, phase);
        const std::uint32_t at = shared_address(stages + stage * S::bytes);
        begin_products();
#pragma unroll
        for (int k = 0; k < wgmma_depth / 16; ++k) {
          multiply(sums, operand_of(at + group * wgmma_rows * wgmma_row_bytes + k * 32),
                   operand_of(at + S::a_bytes + k * 32), step > 0 || k > 0);
        }
        commit_products();
        wait_products<1>();
        if (before >= 0 && lane == 0) arrive(empty + before);
        before = stage;
        next_stage();
      }
      wait_products<0>();
      finish(sums);
      if (lane == 0) arrive(empty + before);
      const TilePlace place = find_place(problem, tile, Columns);
      const std::int64_t row = place.row + group * wgmma_rows + warp * 16 + lane / 4;
      const std::int64_t first = place.column + lane % 4 * 2;
      Out* const c = static_cast<Out*>(problem.c) + (place.item * problem.rows + row) * problem.columns;
#pragma unroll
      for (int i = 0; i < Columns / 8; ++i) {
        const std::int64_t column = first + 8 * i;
        if (column >= problem.columns) break;
        if (row < problem.rows) store(c + column, sums[4 * i], sums[4 * i + 1], problem.accumulate);
        if (row + 8 < problem.rows) {
          store(c + 8 * problem.columns + column, sums[4 * i + 2], sums[4 * i + 3], problem.accumulate);
        }
      }
    }
  }
#endif
}

/// A row-major tensor {items, rows, depth} of halves, copied in boxes of box_rows x wgmma_depth.
CUtensorMap tensor_map(const void* data, std::int64_t depth, std::int64_t pitch, std::int64_t rows, std::int64_t items,
                       int box_rows) {
  static const auto encode = [] {
    void* entry = nullptr;
    cudaDriverEntryPointQueryResult found{};
    check(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry, 12000, cudaEnableDefault, &found),
          "cudaGetDriverEntryPointByVersion");
    if (entry == nullptr || found != cudaDriverEntryPointSuccess) {
      throw Error(ErrorCode::device, "cuTensorMapEncodeTiled: this driver has none");
    }
    return reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(entry);
  }();
  const auto size = [](std::int64_t value) { return static_cast<cuuint64_t>(value); };
  const cuuint64_t sizes[] = {size(depth), size(rows), size(items)};
  const cuuint64_t strides[] = {size(2 * pitch), size(2 * pitch * rows)};  // bytes
  const cuuint32_t box[] = {wgmma_depth, static_cast<cuuint32_t>(box_rows), 1};
  const cuuint32_t steps[] = {1, 1, 1};
  CUtensorMap map{};
  const CUresult result = encode(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 3, const_cast<void*>(data), sizes, strides, box,
                                 steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                                 CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS) {
    throw Error(ErrorCode::device, "cuTensorMapEncodeTiled: error " + std::to_string(static_cast<int>(result)));
  }
  return map;
}

template <int Columns, class Out>
void launch(const MatrixProductShape& shape, const void* a, const void* b, void* c, bool accumulate, int processors,
            cudaStream_t stream) {
  const auto kernel = hopper_product_kernel<Columns, Out>;
  constexpr int bytes = Stages<Columns>::shared_bytes;
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes), "cudaFuncSetAttribute");
  const std::int64_t pitch = shape.row_elements > 0 ? shape.row_elements : shape.depth;
  Problem problem{};
  problem.c = c;
  problem.rows = shape.rows;
  problem.columns = shape.columns;
  problem.steps = static_cast<int>((shape.depth + wgmma_depth - 1) / wgmma_depth);
  problem.row_tiles = static_cast<int>((shape.rows + block_rows - 1) / block_rows);
  problem.column_tiles = static_cast<int>((shape.columns + Columns - 1) / Columns);
  problem.tiles = shape.batch * problem.row_tiles * problem.column_tiles;
  problem.share_a = shape.share_a;
  problem.accumulate = accumulate;
  const auto blocks = static_cast<unsigned>(std::min<std::int64_t>(problem.tiles, processors));
  kernel<<<blocks, threads, bytes, stream>>>(
      tensor_map(a, shape.depth, pitch, shape.rows, shape.share_a ? 1 : shape.batch, block_rows),
      tensor_map(b, shape.depth, pitch, shape.columns, shape.batch, Columns), problem);
  check_launch("matrix product");
}

/// Code without the instructions, such as PTX for any card, has a kernel of fewer threads.
int ask_processors(int device) {
  int major = 0;
  check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device), "cudaDeviceGetAttribute");
  if (major != 9) return 0;
  cudaFuncAttributes attributes{};
  check(cudaFuncGetAttributes(&attributes, hopper_product_kernel<256, float>), "cudaFuncGetAttributes");
  if (attributes.maxThreadsPerBlock < threads) return 0;
  int count = 0;
  check(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device), "cudaDeviceGetAttribute");
  return count;
}

}  // namespace

int hopper_processors() {
  static std::mutex mutex;
  static std::map<int, int> known;
  int device = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  const std::lock_guard lock(mutex);
  const auto found = known.find(device);
  return found != known.end() ? found->second : known[device] = ask_processors(device);
}

bool enqueue_hopper_product(const MatrixProductShape& shape, const void* a, const void* b, void* c, bool accumulate,
                            cudaStream_t stream) {
  if (shape.element != MatrixElement::float16) return false;
  const int processors = hopper_processors();
  if (processors == 0) return false;
  const auto with = [&](auto columns) {
    if (shape.half_output) {
      launch<columns.value, __half>(shape, a, b, c, accumulate, processors, stream);
    } else {
      launch<columns.value, float>(shape, a, b, c, accumulate, processors, stream);
    }
  };
  // The wider block multiplies faster, unless much of the last one is empty.
  const std::int64_t wide_columns = (shape.columns + 255) / 256 * 256;
  if ((shape.columns - 1) % 256 >= 128 || wide_columns >= 1280) {
    with(std::integral_constant<int, 256>{});
  } else {
    with(std::integral_constant<int, 128>{});
  }
  return true;
}

}  // namespace holotone::cuda
