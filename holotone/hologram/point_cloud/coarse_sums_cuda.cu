// In a subtile of at most 128 x 128 pixels, the wave of a point that lights all of it is exp(2 pi i (a u^2 + a v^2)).
// Points are sorted into 8 x 8 bins of the local frequency f in its middle. With p the distance from the middle, f_b
// the middle of a bin, and a0 the mean curvature, the waves of a bin times exp(-2 pi i (f_b p + a0 p^2)) change by less
// than 1/16 + 2 |a - a0| |p| cycles a pixel along each axis: 32 x 32 nodes, five pixels apart, hold them. A warp sums a
// bin's points on its nodes, C_b, as a product of factors that it makes in registers. The pixels are then
//     S = sum_b P_by C_b P_bx^T,   P_b[p, k] = W[p, k] exp(2 pi i (f_b p + a0 p^2)),
// W the least-squares interpolation from nodes to pixels for such frequencies.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <cuda_fp16.h>
#include <holotone/core/wgmma_cuda.cuh>
#include <holotone/hologram/point_cloud/coarse_sums_cuda.cuh>
#include <numbers>
#include <vector>

namespace holotone::point_cloud {
namespace {

constexpr int nodes = 32;
constexpr int spacing = 5;                                                ///< pixels
constexpr int margin = (spacing * (nodes - 1) - (subtile_side - 1)) / 2;  ///< nodes beyond the subtile, in pixels
constexpr double middle = 0.5 * (subtile_side - 1);
constexpr double first_place = -margin - middle;  ///< of a node, from the middle
constexpr int threads = 256;
constexpr int warps = threads / 32;
static_assert(warps == coarse_bins);
constexpr unsigned index_mask = (1U << coarse_index_bits) - 1;
constexpr float y_scale = 1024;  ///< keeps the parts of dim points normal numbers in fp16

// Matrices in shared memory: rows of 512 halves, bins by nodes by parts, and 8 more against conflicts of banks.
constexpr int depth = coarse_bins * nodes * 2;
constexpr int row_halves = depth + 8;
constexpr int depth_steps = depth / 16;
constexpr int row_tiles = 2 * subtile_side / 16;  ///< of a matrix from nodes to pixels, real and imaginary parts
constexpr int nodes_bytes = nodes * row_halves * 2;
constexpr int lines_bytes = subtile_side * row_halves * 2;
constexpr int staged_words = 8;
constexpr int shared_bytes = nodes_bytes + lines_bytes;
constexpr int most_tiles = 1024;  ///< of a launch: 256 MiB of sums on nodes

/// W[p][k]: minimises the mean square of sum_k W[p, k] exp(2 pi i f x_k) - exp(2 pi i f p) over |f| <= widest, and
/// ridge^2 times the sum of W^2: fp16 sums on nodes are that uncertain.
std::vector<double> interpolation() {
  constexpr double widest = 0.5 / coarse_bins + 2 * static_cast<double>(most_coarse_curvature) * -first_place;
  constexpr double ridge = 3e-4;
  const auto mean = [](double distance) {
    const double angle = 2 * std::numbers::pi * widest * distance;
    return std::abs(angle) < 1e-9 ? 1.0 : std::sin(angle) / angle;
  };
  const auto node = [](int k) { return first_place + spacing * k; };
  // Cholesky's factors of the normal matrix.
  std::vector<double> lower(nodes * nodes);
  for (int i = 0; i < nodes; ++i) {
    for (int j = 0; j <= i; ++j) {
      double sum = mean(node(i) - node(j)) + (i == j ? ridge * ridge : 0);
      for (int k = 0; k < j; ++k) sum -= lower[i * nodes + k] * lower[j * nodes + k];
      lower[i * nodes + j] = i == j ? std::sqrt(sum) : sum / lower[j * nodes + j];
    }
  }
  std::vector<double> weights(subtile_side * nodes);
  for (int p = 0; p < subtile_side; ++p) {
    double* const own = &weights[static_cast<std::size_t>(p) * nodes];
    for (int i = 0; i < nodes; ++i) {
      double sum = mean(node(i) - (p - middle));
      for (int k = 0; k < i; ++k) sum -= lower[i * nodes + k] * own[k];
      own[i] = sum / lower[i * nodes + i];
    }
    for (int i = nodes - 1; i >= 0; --i) {
      double sum = own[i];
      for (int k = i + 1; k < nodes; ++k) sum -= lower[k * nodes + i] * own[k];
      own[i] = sum / lower[i * nodes + i];
    }
  }
  return weights;
}

__host__ __device__ constexpr double bin_frequency(int bin) { return (bin + 0.5) / coarse_bins - 0.5; }

unsigned halves_of(double left, double right) {
  const __half2 both = __floats2half2_rn(static_cast<float>(left), static_cast<float>(right));
  unsigned bits = 0;
  std::memcpy(&bits, &both, sizeof bits);
  return bits;
}

/// P as the first operand of mma.m16n8k16: of 16 rows, g holds the real and g + 8 the imaginary part of pixel 8 i + g;
/// along the depth, bins by nodes by parts.
std::vector<unsigned> operand(double curvature) {
  static const std::vector<double> weights = interpolation();
  std::vector<unsigned> packed(static_cast<std::size_t>(row_tiles) * depth_steps * 32 * 4);
  for (int i = 0; i < row_tiles; ++i) {
    for (int s = 0; s < depth_steps; ++s) {
      for (int lane = 0; lane < 32; ++lane) {
        const int pixel = 8 * i + lane / 4;
        const double place = pixel - middle;
        unsigned* const own = &packed[static_cast<std::size_t>(((i * depth_steps + s) * 32 + lane) * 4)];
        for (int half = 0; half < 2; ++half) {
          const int at = 16 * s + 2 * (lane % 4) + 8 * half;
          const int bin = at / (2 * nodes);
          const int k = at % (2 * nodes) / 2;
          const auto value =
              weights[static_cast<std::size_t>(pixel * nodes + k)] *
              std::polar(1.0, 2 * std::numbers::pi * (bin_frequency(bin) * place + curvature * place * place));
          own[2 * half] = halves_of(value.real(), -value.imag());
          own[2 * half + 1] = halves_of(value.imag(), value.real());
        }
      }
    }
  }
  return packed;
}

constexpr int sort_threads = 1024;
constexpr int sort_warps = sort_threads / 32;

/// Sorts each tile's points by bins, in their order: sorted, and begins[tile][bin] with the end.
__global__ void __launch_bounds__(sort_threads)
    sort_kernel(const CoarseTile* tiles, const unsigned* list, unsigned* sorted, int* begins) {
  __shared__ int places[coarse_classes * sort_warps];
  const CoarseTile tile = tiles[blockIdx.x];
  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  for (int i = threadIdx.x; i < coarse_classes * sort_warps; i += sort_threads) places[i] = 0;
  __syncthreads();
  const int count = tile.end - tile.begin;
  const int share = ((count + sort_warps - 1) / sort_warps + 31) / 32 * 32;
  const int first = min(warp * share, count);
  const int last = min(first + share, count);
  for (int k = first + lane; k < last; k += 32) {
    atomicAdd(&places[(list[tile.begin + k] >> coarse_index_bits) * sort_warps + warp], 1);
  }
  __syncthreads();
  if (warp == 0) {
    int before = tile.begin;
    for (int base = 0; base < coarse_classes * sort_warps; base += 32) {
      const int own = places[base + lane];
      int sum = own;
#pragma unroll
      for (int step = 1; step < 32; step *= 2) {
        const int other = __shfl_up_sync(0xffffffffU, sum, step);
        if (lane >= step) sum += other;
      }
      places[base + lane] = before + sum - own;
      before += __shfl_sync(0xffffffffU, sum, 31);
    }
  }
  __syncthreads();
  int* const own_begins = begins + static_cast<std::int64_t>(blockIdx.x) * (coarse_classes + 1);
  for (int bin = threadIdx.x; bin <= coarse_classes; bin += sort_threads) {
    own_begins[bin] = bin < coarse_classes ? places[bin * sort_warps] : tile.end;
  }
  __syncthreads();
  for (int base = first; base < last; base += 32) {
    const bool present = base + lane < last;
    const unsigned entry = present ? list[tile.begin + base + lane] : 0xffffffffU;
    const unsigned bin = entry >> coarse_index_bits;
    const unsigned alike = __match_any_sync(0xffffffffU, bin);
    const int before = __popc(alike & ((1U << lane) - 1));
    int place = 0;
    if (present) place = places[bin * sort_warps + warp];
    __syncwarp();
    if (present) {
      sorted[place + before] = entry & index_mask;
      if (before == 0) places[bin * sort_warps + warp] = place + __popc(alike);
    }
    __syncwarp();
  }
}

__device__ __forceinline__ void multiply(float (&sum)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, "
      "%3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

__device__ __forceinline__ unsigned pair_of(float left, float right) {
  const __half2 both = __floats2half2_rn(left, right);
  return *reinterpret_cast<const unsigned*>(&both);
}

/// Phases of a point on nodes: gamma + n delta + n (n - 1) / 2 second, in fixed point.
struct NodePhases {
  unsigned gamma;
  unsigned delta;
  unsigned second;
};
__device__ __forceinline__ NodePhases phases_of(const float4& place, double a, double turns, int first,
                                                double frequency, double curvature) {
  const double u = (static_cast<double>(first - margin) - static_cast<double>(place.x)) - static_cast<double>(place.y);
  constexpr double p = first_place;
  constexpr double s = spacing;
  // Half a turn more: unit_at subtracts it.
  return {fixed_turns(a * u * u - frequency * p - curvature * p * p + turns + 0.5),
          fixed_turns(a * (2 * s * u + s * s) - frequency * s - curvature * (2 * s * p + s * s)),
          fixed_turns(2 * s * s * (a - curvature))};
}

/// exp(2 pi i (gamma / 2^32 - 1/2)) at node n.
__device__ __forceinline__ float2 unit_at(unsigned gamma, unsigned delta, unsigned second, unsigned n) {
  const unsigned turns = gamma + n * delta + (n * (n - 1) / 2) * second;
  const float angle = fmaf(__uint_as_float((turns >> 9) | 0x3f800000U), 6.28318531F, -9.42477796F);
  float2 value;
  __sincosf(angle, &value.y, &value.x);
  return value;
}

/// Sums points on the nodes of their bin: sum[i][2 j + part of x], rows g: real, g + 8: imaginary part of y.
__device__ __forceinline__ void sum_on_nodes(const CoarsePoints& points, const unsigned* sorted, int begin, int end,
                                             const CoarseTile& tile, double frequency_y, double frequency_x,
                                             double curvature, float scale, uint4* staged, float (&sum)[4][8][4]) {
  const int lane = threadIdx.x % 32;
  const unsigned g = lane / 4;
  const int t = lane % 4;
  const auto index_at = [&](int place) { return place + lane < end ? sorted[place + lane] : index_mask; };
  unsigned next = index_at(begin);
  for (int base = begin; base < end; base += 32) {
    const bool present = next != index_mask;
    const unsigned index = present ? next : 0;
    next = index_at(base + 32);
    const float4 wave = points.waves[index];
    const double a = static_cast<double>(wave.x) + static_cast<double>(wave.y);
    const NodePhases y =
        phases_of(points.rows[index], a, static_cast<double>(wave.w), tile.first_row, frequency_y, curvature);
    const NodePhases x = phases_of(points.columns[index], a, 0, tile.first_column, frequency_x, curvature);
    __syncwarp();
    staged[2 * lane] = make_uint4(y.gamma, y.delta, y.second, __float_as_uint(present ? wave.z * scale : 0.0F));
    staged[2 * lane + 1] = make_uint4(x.gamma, x.delta, x.second, 0);
    __syncwarp();
#pragma unroll 1
    for (int half = 0; half < 2; ++half) {
      uint4 own[4];
      unsigned factor[4][4];
#pragma unroll
      for (int k = 0; k < 4; ++k) own[k] = staged[2 * (16 * half + 2 * t + k % 2 + k / 2 * 8)];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        float2 value[4];
#pragma unroll
        for (int k = 0; k < 4; ++k) {
          value[k] = unit_at(own[k].x, own[k].y, own[k].z, 8 * i + g);
          const float weight = __uint_as_float(own[k].w);
          value[k].x *= weight;
          value[k].y *= weight;
        }
        factor[i][0] = pair_of(value[0].x, value[1].x);
        factor[i][1] = pair_of(value[0].y, value[1].y);
        factor[i][2] = pair_of(value[2].x, value[3].x);
        factor[i][3] = pair_of(value[2].y, value[3].y);
      }
#pragma unroll
      for (int k = 0; k < 4; ++k) own[k] = staged[2 * (16 * half + 2 * t + k % 2 + k / 2 * 8) + 1];
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        float2 value[4];
#pragma unroll
        for (int k = 0; k < 4; ++k) value[k] = unit_at(own[k].x, own[k].y, own[k].z, 8 * j + g);
        const unsigned re[2] = {pair_of(value[0].x, value[1].x), pair_of(value[2].x, value[3].x)};
        const unsigned im[2] = {pair_of(value[0].y, value[1].y), pair_of(value[2].y, value[3].y)};
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          multiply(sum[i][2 * j], factor[i], re[0], re[1]);
          multiply(sum[i][2 * j + 1], factor[i], im[0], im[1]);
        }
      }
    }
  }
}

/// Multiplies `Rows` tiles of 16 rows of the operand, from `row_tile` on, by `Columns` tiles of 8 rows of a matrix in
/// shared memory.
template <int Rows, int Columns>
__device__ __forceinline__ void interpolate(const uint4* operand, int row_tile, const unsigned* matrix,
                                            float (&sum)[Rows][Columns][4]) {
  const int lane = threadIdx.x % 32;
  const unsigned* const own = matrix + lane / 4 * (row_halves / 2) + lane % 4;
  for (int s = 0; s < depth_steps; ++s) {
    unsigned a[Rows][4];
#pragma unroll
    for (int i = 0; i < Rows; ++i) {
      const uint4 all = __ldg(operand + ((row_tile + i) * depth_steps + s) * 32 + lane);
      a[i][0] = all.x;
      a[i][1] = all.y;
      a[i][2] = all.z;
      a[i][3] = all.w;
    }
#pragma unroll
    for (int j = 0; j < Columns; ++j) {
      const unsigned* const b = own + j * 8 * (row_halves / 2) + s * 8;
#pragma unroll
      for (int i = 0; i < Rows; ++i) multiply(sum[i][j], a[i], b[0], b[4]);
    }
  }
}

/// No coherent sum of a tile's points in fp16 is beyond its range: they are divided by 2 to this power.
__device__ __forceinline__ int exponent_of(const CoarseTile& tile) { return 10 + 32 - __clz(tile.end - tile.begin); }

/// Sums every bin of every tile on its nodes: a warp for each, whichever is free. on_nodes[tile][row of bins][node of
/// rows][column of bins][node of columns].
__global__ void __launch_bounds__(threads, 1)
    node_kernel(CoarsePoints points, const CoarseTile* tiles, int tile_count, const unsigned* sorted, const int* begins,
                double curvature, float largest, int* next, unsigned* on_nodes) {
  __shared__ uint4 shared_memory[threads * (staged_words / 4)];
  const int lane = threadIdx.x % 32;
  const int g = lane / 4;
  const int t = lane % 4;
  uint4* const staged = shared_memory + threadIdx.x / 32 * 32 * (staged_words / 4);
  const float scale = largest > 0 ? y_scale / largest : 0.0F;
  for (;;) {
    int number = 0;
    if (lane == 0) number = atomicAdd(next, 1);
    number = __shfl_sync(0xffffffffU, number, 0);
    if (number >= tile_count * coarse_classes) return;
    const int bin = number % coarse_classes;
    const CoarseTile tile = tiles[number / coarse_classes];
    const int* const own_begins = begins + static_cast<std::int64_t>(number / coarse_classes) * (coarse_classes + 1);
    float sum[4][8][4] = {};
    sum_on_nodes(points, sorted, own_begins[bin], own_begins[bin + 1], tile, bin_frequency(bin / coarse_bins),
                 bin_frequency(bin % coarse_bins), curvature, scale, staged, sum);
    const float shrink = scalbnf(1.0F, -exponent_of(tile));
    unsigned* const own = on_nodes + static_cast<std::int64_t>(number / coarse_bins) * nodes * (depth / 2) +
                          g * (depth / 2) + bin % coarse_bins * nodes + 2 * t;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const float(&re)[4] = sum[i][2 * j];
        const float(&im)[4] = sum[i][2 * j + 1];
        *reinterpret_cast<uint2*>(own + 8 * i * (depth / 2) + 8 * j) =
            make_uint2(pair_of((re[0] - im[2]) * shrink, (im[0] + re[2]) * shrink),
                       pair_of((re[1] - im[3]) * shrink, (im[1] + re[3]) * shrink));
      }
    }
  }
}

/// Interpolates the nodes of a tile to its pixels, along rows and then along columns, and adds them to the panel.
__global__ void __launch_bounds__(threads, 1)
    pixel_kernel(const CoarseTile* tiles, int tile_count, const uint4* nodes_of_tiles, const uint4* operand,
                 float largest, float2* panel, int panel_width) {
  extern __shared__ uint4 shared_memory[];
  unsigned* const on_nodes = reinterpret_cast<unsigned*>(shared_memory);
  unsigned* const on_lines = on_nodes + nodes_bytes / 4;
  const int warp = threadIdx.x / 32;
  const int g = threadIdx.x % 32 / 4;
  const int t = threadIdx.x % 4;
  for (int number = blockIdx.x; number < tile_count; number += gridDim.x) {
    const CoarseTile tile = tiles[number];
    for (int by = 0; by < coarse_bins; ++by) {
      constexpr int row_pieces = depth / 8;
      const uint4* const own =
          nodes_of_tiles + (static_cast<std::int64_t>(number) * coarse_bins + by) * nodes * row_pieces;
      __syncthreads();  // the row of bins before is read
      for (int i = threadIdx.x; i < nodes * row_pieces; i += threads) {
        shared_memory[i / row_pieces * (row_halves / 8) + i % row_pieces] = own[i];
      }
      __syncthreads();
      float lines[2][4][4] = {};
      interpolate<2, 4>(operand, 2 * warp, on_nodes, lines);
#pragma unroll
      for (int i = 0; i < 2; ++i) {
#pragma unroll
        for (int j = 0; j < 4; ++j) {
          unsigned* const to = on_lines + (8 * (2 * warp + i) + g) * (row_halves / 2) + by * nodes + 8 * j + 2 * t;
          to[0] = pair_of(lines[i][j][0], lines[i][j][2]);
          to[1] = pair_of(lines[i][j][1], lines[i][j][3]);
        }
      }
    }
    __syncthreads();
    float pixels[2][16][4] = {};
    interpolate<2, 16>(operand, 2 * warp, on_lines, pixels);
    const float grow = scalbnf(largest / y_scale, exponent_of(tile));
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int row = 8 * (2 * warp + i) + g;
      if (row >= tile.rows) continue;
      float2* const own = panel + static_cast<std::int64_t>(tile.first_row + row) * panel_width + tile.first_column;
#pragma unroll
      for (int j = 0; j < 16; ++j) {
#pragma unroll
        for (int c = 0; c < 2; ++c) {
          const int column = 8 * j + 2 * t + c;
          if (column >= tile.columns) continue;
          float2 value = own[column];
          value.x += grow * pixels[i][j][c];
          value.y += grow * pixels[i][j][2 + c];
          own[column] = value;
        }
      }
    }
    __syncthreads();  // the lines are read
  }
}

}  // namespace

void CoarseSums::set(double curvature) {
  if (!matrix_.empty() && curvature_ == curvature) return;
  curvature_ = curvature;
  const auto packed = operand(curvature);
  reserve(matrix_, static_cast<std::int64_t>(packed.size()), queue_);
  copy_bytes(matrix_.data(), queue_.device(), packed.data(), Device{}, packed.size() * sizeof packed[0], queue_);
  queue_.synchronize();
}

void CoarseSums::add(const CoarsePoints& points, const CoarseTile* tiles, int tile_count, const unsigned* list,
                     std::int64_t listed, float largest_amplitude, float2* panel, int panel_width) {
  const auto stream = cuda::stream_of(queue_);
  reserve(sorted_, listed, queue_);
  reserve(begins_, std::int64_t{tile_count} * (coarse_classes + 1), queue_);
  sort_kernel<<<static_cast<unsigned>(tile_count), sort_threads, 0, stream>>>(tiles, list, sorted_.data(),
                                                                              begins_.data());
  cuda::check_launch("coarse sort");
  cuda::check(cudaFuncSetAttribute(pixel_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes),
              "cudaFuncSetAttribute");
  reserve(on_nodes_, std::int64_t{std::min(tile_count, most_tiles)} * coarse_bins * nodes * (depth / 2), queue_);
  reserve(next_, 1, queue_);
  for (int first = 0; first < tile_count; first += most_tiles) {
    const int count = std::min(most_tiles, tile_count - first);
    cuda::check(cudaMemsetAsync(next_.data(), 0, sizeof(int), stream), "cudaMemsetAsync");
    const auto processors = static_cast<unsigned>(cuda::hopper_processors());
    node_kernel<<<processors, threads, 0, stream>>>(points, tiles + first, count, sorted_.data(),
                                                    begins_.data() + std::int64_t{first} * (coarse_classes + 1),
                                                    curvature_, largest_amplitude, next_.data(), on_nodes_.data());
    cuda::check_launch("coarse nodes");
    pixel_kernel<<<std::min(static_cast<unsigned>(count), processors), threads, shared_bytes, stream>>>(
        tiles + first, count, reinterpret_cast<const uint4*>(on_nodes_.data()),
        reinterpret_cast<const uint4*>(matrix_.data()), largest_amplitude, panel, panel_width);
    cuda::check_launch("coarse pixels");
  }
}

}  // namespace holotone::point_cloud
