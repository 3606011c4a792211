// Sums over the rows of a panel, the update of spots and their waves for the next step, in one kernel: 32 spots to a
// cluster of eight blocks, an eighth of the rows each, whose partial sums meet in shared memory. On cards before Hopper
// one block has all rows.
#include <algorithm>
#include <cooperative_groups.h>
#include <cuda_pipeline_primitives.h>
#include <holotone/core/kernel_parts_cuda.cuh>
#include <holotone/retrieval/spots/spot_kernels_cuda.hpp>
#include <holotone/retrieval/spots/spot_wave_cuda.cuh>

namespace holotone::spots {
namespace {

constexpr int block_spots = 32;
constexpr int pairs = block_spots / 2;
constexpr int lanes = 16;  ///< threads that share the rows of a pair
constexpr int block_threads = pairs * lanes;
constexpr int warps = block_threads / 32;
constexpr int cluster_blocks = 8;

/// Products of two spots in a row as two complex numbers.
struct TwoSums {
  float2 first;
  float2 second;
};
template <ProductForm Form>
struct Raw {
  __half2 part[Form == ProductForm::plane ? 2 : 3];

  /// `apart`: distance of the parts.
  __device__ __forceinline__ void load(const __half* at, std::int64_t apart) {
    part[0] = *reinterpret_cast<const __half2*>(at);
    part[1] = *reinterpret_cast<const __half2*>(at + apart);
    if constexpr (Form == ProductForm::space) part[2] = *reinterpret_cast<const __half2*>(at + 2 * apart);
  }
  __device__ __forceinline__ TwoSums sums() const {
    const float2 a = __half22float2(part[0]);
    const float2 b = __half22float2(part[1]);
    if constexpr (Form == ProductForm::plane) {
      return {{a.x, b.x}, {a.y, b.y}};
    } else {
      const float2 c = __half22float2(part[2]);
      return {{a.x + b.x, c.x - a.x + b.x}, {a.y + b.y, c.y - a.y + b.y}};
    }
  }
};

/// V of two spots in a row.
template <ProductForm Form, class T>
__device__ __forceinline__ void store_waves(T* at, std::int64_t apart, float2 a, float2 b) {
  store_pair(at, a.x, b.x);
  store_pair(at + apart, a.y, b.y);
  if constexpr (Form == ProductForm::space) store_pair(at + 2 * apart, a.x - a.y, b.x - b.y);
}

/// Blocks on a multiprocessor, which limit the registers of a thread.
constexpr int blocks_at_once(int rows) { return rows > 4 ? 4 : 5; }

/// `Rows` rows a thread at a time; with IsWhole they are all that it has, and its spots' waves stay in registers.
template <ProductForm Form, int Rows, bool IsWhole, bool IsCluster, class T>
__global__ void __launch_bounds__(block_threads, blocks_at_once(Rows))
    update_kernel(Panel panel, SpotArrays spots, int count, const __half* __restrict__ products, SpotUpdate update,
                  T* __restrict__ waves) {
  constexpr int blocks = IsCluster ? cluster_blocks : 1;
  __shared__ float2 partial[warps][block_spots];
  __shared__ float2 next[block_spots];
  // Registers have no room for these.
  __shared__ float scale[block_spots];
  __shared__ alignas(SpotPace) char pace_bytes[block_spots * sizeof(SpotPace)];
  auto* const pace = reinterpret_cast<SpotPace*>(pace_bytes);
  const int rank = static_cast<int>(blockIdx.x) % blocks;
  const int first = static_cast<int>(blockIdx.x) / blocks * block_spots;
  const int thread = static_cast<int>(threadIdx.x);
  const int pair = thread % pairs;
  const int m = first + 2 * pair;
  const int block_rows = (panel.ny + blocks - 1) / blocks;
  const int end = min(panel.ny, (rank + 1) * block_rows);
  const int begin = rank * block_rows + thread / pairs;
  const float4 a = spots.place[m];
  const float4 b = spots.place[m + 1];
  const float top = 0.5F * static_cast<float>(panel.ny - 1);
  // Before the blocks meet: the first of them writes the new one.
  SpotState state;
  if (thread < block_spots) {
    state = SpotState(spots, update, first + thread);
    scale[thread] = wave_scale(spots, update, first + thread);
    __pipeline_memcpy_async(pace + thread, spots.pace + first + thread, sizeof(SpotPace));
    __pipeline_commit();
  }
  float2 wave_a[Rows];
  float2 wave_b[Rows];
  const auto fill_waves = [&](int row) {
#pragma unroll
    for (int i = 0; i < Rows; ++i) {
      const float y = top - static_cast<float>(row) - static_cast<float>(lanes * i);
      wave_a[i] = unit_wave(a.y * y + a.z * y * y);
      wave_b[i] = unit_wave(b.y * y + b.z * y * y);
    }
  };
  // Numbers of V and of the products: a row's parts follow each other in the plane form, planes in the space form.
  const std::int64_t row_numbers = Form == ProductForm::plane ? 2 * count : count;
  const std::int64_t apart = Form == ProductForm::plane ? count : static_cast<std::int64_t>(panel.ny) * count;
  constexpr int stride = lanes * Rows;
  const std::int64_t step = lanes * row_numbers;
  float2 sum_a{};
  float2 sum_b{};
  if (update.taken != Taken::start) {
    for (int row = begin; row < end; row += stride) {
      Raw<Form> raw[Rows];
      const __half* const from = products + m + row * row_numbers;
#pragma unroll
      for (int i = 0; i < Rows; ++i) {
        raw[i] = {};
        if (row + lanes * i < end) raw[i].load(from + i * step, apart);
      }
      fill_waves(row);
#pragma unroll
      for (int i = 0; i < Rows; ++i) {
        const TwoSums p = raw[i].sums();
        sum_a.x += p.first.x * wave_a[i].x + p.first.y * wave_a[i].y;
        sum_a.y += p.first.y * wave_a[i].x - p.first.x * wave_a[i].y;
        sum_b.x += p.second.x * wave_b[i].x + p.second.y * wave_b[i].y;
        sum_b.y += p.second.y * wave_b[i].x - p.second.x * wave_b[i].y;
      }
      if (IsWhole) break;
    }
    __pipeline_wait_prior(0);
    sum_a.x += __shfl_xor_sync(~0U, sum_a.x, 16);
    sum_a.y += __shfl_xor_sync(~0U, sum_a.y, 16);
    sum_b.x += __shfl_xor_sync(~0U, sum_b.x, 16);
    sum_b.y += __shfl_xor_sync(~0U, sum_b.y, 16);
    if (thread % 32 < pairs) {
      partial[thread / 32][2 * pair] = sum_a;
      partial[thread / 32][2 * pair + 1] = sum_b;
    }
    __syncthreads();
#if __CUDA_ARCH__ >= 900
    if constexpr (IsCluster) {
      __shared__ float2 block_sum[block_spots];
      const auto cluster = cooperative_groups::this_cluster();
      if (thread < block_spots) {
        float2 whole = partial[0][thread];
        for (int k = 1; k < warps; ++k) whole = cuda::sum(whole, partial[k][thread]);
        block_sum[thread] = whole;
      }
      cluster.sync();
      partial[thread / 32][thread % 32] = *cluster.map_shared_rank(&block_sum[thread % 32], thread / 32);
      __syncthreads();
    }
#endif
  } else if (IsWhole) {
    fill_waves(begin);
  }
  if (thread < block_spots) {
    const int spot = first + thread;
    float2 u{};
    float power = 0;
    if (update.taken == Taken::start) {
      if (state.target > 0) u = spots.value[spot];
    } else {
      for (int k = 0; k < warps; ++k) u = cuda::sum(u, partial[k][thread]);
      const float share = update.pixel_share * (spots.shade != nullptr ? spots.shade[spot] : 1.0F);
      u = {share * u.x, share * u.y};
      if (spots.unmodulated != nullptr) u = cuda::sum(u, spots.unmodulated[spot]);
      power = state.target > 0 ? u.x * u.x + u.y * u.y : 0;
      float ratio = state.target > 0 ? power / (state.target * state.target) : 0;
      for (int step = 16; step > 0; step /= 2) {
        ratio += __shfl_xor_sync(~0U, ratio, step);
        power += __shfl_xor_sync(~0U, power, step);
      }
      if (rank == 0 && thread == 0) {
        atomicAdd(&update.sums_out->x, ratio);
        atomicAdd(&update.sums_out->y, power);
      }
    }
    float2 v{};
    if (state.target > 0) v = update_spot(spots, update, spot, u, state, pace[thread], rank == 0);
    next[thread] = {scale[thread] * v.x, scale[thread] * v.y};
  }
  __syncthreads();
  if (update.next != NextWaves::none) {
    const float2 va = next[2 * pair];
    const float2 vb = next[2 * pair + 1];
    for (int row = begin; row < end; row += stride) {
      if (!IsWhole) fill_waves(row);
      T* const to = waves + m + row * row_numbers;
#pragma unroll
      for (int i = 0; i < Rows; ++i) {
        if (row + lanes * i >= end) continue;
        store_waves<Form>(to + i * step, apart, cuda::product(va, wave_a[i]), cuda::product(vb, wave_b[i]));
      }
      if (IsWhole) break;
    }
  }
#if __CUDA_ARCH__ >= 900
  // Shared memory of a block that others may still read.
  if (IsCluster && update.taken != Taken::start) cooperative_groups::this_cluster().sync();
#endif
}

struct Launch {
  const Panel& panel;
  const SpotArrays& spots;
  int count;
  const __half* products;
  const SpotUpdate& update;
  void* waves;
  cudaStream_t stream;
  int multiprocessors;  ///< 0: without clusters
};

template <ProductForm Form, int Rows, bool IsWhole, bool IsCluster, class T>
void launch(const Launch& job) {
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(job.count / block_spots * (IsCluster ? cluster_blocks : 1)));
  config.blockDim = dim3(block_threads);
  config.stream = job.stream;
  cudaLaunchAttribute cluster{};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim.x = cluster_blocks;
  cluster.val.clusterDim.y = 1;
  cluster.val.clusterDim.z = 1;
  config.attrs = &cluster;
  config.numAttrs = IsCluster ? 1 : 0;
  cuda::check(cudaLaunchKernelEx(&config, update_kernel<Form, Rows, IsWhole, IsCluster, T>, job.panel, job.spots,
                                 job.count, job.products, job.update, static_cast<T*>(job.waves)),
              "spots update");
}

template <ProductForm Form, class T>
void launch_form(const Launch& job) {
  if (job.multiprocessors == 0) return launch<Form, 8, false, false, T>(job);
  const int block_rows = (job.panel.ny + cluster_blocks - 1) / cluster_blocks;
  const int rows = (block_rows + lanes - 1) / lanes;
  // Rows that a thread keeps are faster while all clusters are at work at once, four blocks on a multiprocessor (62
  // clusters on an H200); else five blocks are.
  const bool is_once = job.count / block_spots * 100 <= 47 * job.multiprocessors;
  if (rows <= 4) {
    launch<Form, 4, true, true, T>(job);
  } else if (rows <= 8 && is_once) {
    launch<Form, 8, true, true, T>(job);
  } else {
    launch<Form, 4, false, true, T>(job);
  }
}

template <class T>
void launch_type(const Launch& job) {
  if (job.panel.form == ProductForm::plane) {
    launch_form<ProductForm::plane, T>(job);
  } else {
    launch_form<ProductForm::space, T>(job);
  }
}

}  // namespace

void update_spots(const Panel& panel, const SpotArrays& spots, int count, const __half* products,
                  const SpotUpdate& update, WaveType type, void* waves, int multiprocessors, cudaStream_t stream) {
  const Launch job{panel, spots, count, products, update, waves, stream, multiprocessors};
  if (type == WaveType::half) {
    launch_type<__half>(job);
  } else {
    launch_type<Fp8>(job);
  }
}

}  // namespace holotone::spots
