// A warp sums the points of a task on 32 x 32 places, as a product of factors that it makes in registers (the sums C, L
// and R of coarse_sums_cuda.cu).
#include <holotone/core/matrix_product/wgmma_cuda.cuh>
#include <holotone/hologram/point_cloud/coarse/coarse_nodes_cuda.cuh>

namespace holotone::point_cloud {
namespace {

constexpr unsigned no_point = ~0U;

__device__ __forceinline__ void multiply(float (&sum)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, "
      "%3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

__device__ __forceinline__ unsigned pack_pair(float left, float right) {
  const __half2 both = __floats2half2_rn(left, right);
  return *reinterpret_cast<const unsigned*>(&both);
}

/// 32 places along an axis: place + spacing n, in pixels of the panel, from_middle + spacing n from the tile's middle.
/// Waves there are those times exp(-2 pi i (frequency p + curvature p^2)).
struct Places {
  const AxisRecord* records;
  double place;
  double from_middle;
  double spacing;
  double frequency;
  double curvature;
};
__device__ __forceinline__ Places on_nodes(const CoarseShape& shape, const AxisRecord* records, int first, int bin,
                                           double curvature) {
  const double from_middle = first_node(shape);
  return {records,
          static_cast<double>(first) + static_cast<double>(shape.middle()) + from_middle,
          from_middle,
          node_spacing_px(shape),
          shape.frequency(bin),
          curvature};
}
__device__ __forceinline__ Places on_pixels(const AxisRecord* records, int first) {
  return {records, static_cast<double>(first), 0, 1, 0, 0};
}

/// Phases of a point at the places: gamma + n delta + n (n - 1) / 2 second, in fixed point.
struct Phases {
  unsigned gamma;
  unsigned delta;
  unsigned second;
};
__device__ __forceinline__ Phases phases_of(const Places& at, const AxisRecord& record, double a, double turns) {
  const double u = (at.place - static_cast<double>(record.x)) - static_cast<double>(record.y);
  const double p = at.from_middle;
  const double s = at.spacing;
  // Half a turn more: unit_at subtracts it.
  return {fixed_turns(a * u * u - (at.frequency + at.curvature * p) * p + (turns + 0.5)),
          fixed_turns(s * (a * (2 * u + s) - at.frequency - at.curvature * (2 * p + s))),
          fixed_turns(2 * s * s * (a - at.curvature))};
}

/// exp(2 pi i (turns / 2^32 - 1/2)).
__device__ __forceinline__ float2 unit_at(unsigned turns) {
  const float angle = fmaf(__uint_as_float((turns >> 9) | 0x3f800000U), 6.28318531F, -9.42477796F);
  float2 value;
  __sincosf(angle, &value.y, &value.x);
  return value;
}

/// Phases at every `Step`-th place from `first` on, one after the other.
template <unsigned Step>
struct Walk {
  unsigned turns;
  unsigned delta;
  unsigned second;

  __device__ __forceinline__ Walk(const uint4& phases, unsigned first, unsigned before_first)
      : turns(phases.x + first * phases.y + before_first * phases.z),
        delta(Step * phases.y + (Step * first + Step * (Step - 1) / 2) * phases.z),
        second(Step * Step * phases.z) {}
  __device__ __forceinline__ float2 next() {
    const float2 value = unit_at(turns);
    turns += delta;
    delta += second;
    return value;
  }
};

constexpr int node_threads = 512;
constexpr int warp_sums = 32 * 32 * 4;
/// Points that are summed by the tensor cores in a row: their accumulators round towards zero.
constexpr int max_chain = 4096;

/// A task: points, on 32 x 32 places. A cut point lights some of 32 pixels of y.
struct Task {
  Places y;
  Places x;
  int begin;
  int end;
  bool cut;
};

/// Sums a task's points: sum[i][j], rows g: real part at y = 8 i + g, rows g + 8: imaginary part; column c: x = 8 (c /
/// 2) + 2 j + c % 2, so that a lane holds eight in a row.
__device__ __forceinline__ void sum_points(const Task& task, const float4* waves, const unsigned* sorted, float scale,
                                           uint4* staged, float (&sum)[4][4][4]) {
  const int lane = threadIdx.x % 32;
  const unsigned g = lane / 4;
  const int t = lane % 4;
  const unsigned before_y = g * (g - 1) / 2;
  const unsigned first_x = 8 * (g / 2) + g % 2;
  const unsigned before_x = first_x * (first_x - 1) / 2;
  const auto index_at = [&](int place) { return place + lane < task.end ? sorted[place + lane] : no_point; };
  unsigned index = index_at(task.begin);
  for (int base = task.begin; base < task.end; base += 32) {
    const bool present = index != no_point;
    const unsigned j = present ? index : 0;
    index = index_at(base + 32);
    const float4 wave = waves[j];
    const AxisRecord y_record = task.y.records[j];
    const double a = static_cast<double>(wave.x) + static_cast<double>(wave.y);
    const Phases y = phases_of(task.y, y_record, a, static_cast<double>(wave.w));
    const Phases x = phases_of(task.x, task.x.records[j], a, 0);
    const unsigned lit = task.cut ? lit_of_32(y_record, static_cast<float>(task.y.place)) : ~0U;
    __syncwarp();
    staged[2 * lane] = make_uint4(y.gamma, y.delta, y.second, __float_as_uint(present ? wave.z * scale : 0.0F));
    staged[2 * lane + 1] = make_uint4(x.gamma, x.delta, x.second, lit);
    __syncwarp();
    const int halves = task.end - base > 16 ? 2 : 1;
#pragma unroll 1
    for (int half = 0; half < halves; ++half) {
      const uint4* const record = staged + 2 * (16 * half + 2 * t);
      unsigned factor[4][4];
#pragma unroll
      for (int pair = 0; pair < 2; ++pair) {
        const uint4* const points = record + 16 * pair;
        const uint4 left = points[0];
        const uint4 right = points[2];
        const unsigned left_lit = points[1].w >> g;
        const unsigned right_lit = points[3].w >> g;
        Walk<8> left_walk(left, g, before_y);
        Walk<8> right_walk(right, g, before_y);
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const float2 at_left = left_walk.next();
          const float2 at_right = right_walk.next();
          const float left_weight = (left_lit & 1U << (8 * i)) != 0 ? __uint_as_float(left.w) : 0.0F;
          const float right_weight = (right_lit & 1U << (8 * i)) != 0 ? __uint_as_float(right.w) : 0.0F;
          factor[i][2 * pair] = pack_pair(at_left.x * left_weight, at_right.x * right_weight);
          factor[i][2 * pair + 1] = pack_pair(at_left.y * left_weight, at_right.y * right_weight);
        }
      }
      Walk<2> walks[4] = {{record[1], first_x, before_x},
                          {record[3], first_x, before_x},
                          {record[17], first_x, before_x},
                          {record[19], first_x, before_x}};
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        float2 value[4];
#pragma unroll
        for (int k = 0; k < 4; ++k) value[k] = walks[k].next();
        const unsigned re[2] = {pack_pair(value[0].x, value[1].x), pack_pair(value[2].x, value[3].x)};
        const unsigned im[2] = {pack_pair(value[0].y, value[1].y), pack_pair(value[2].y, value[3].y)};
        constexpr unsigned signs = 0x80008000U;
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          // i times the factor
          const unsigned turned[4] = {factor[i][1] ^ signs, factor[i][0], factor[i][3] ^ signs, factor[i][2]};
          multiply(sum[i][j], factor[i], re[0], re[1]);
          multiply(sum[i][j], turned, im[0], im[1]);
        }
      }
    }
  }
}

/// Adds a lane's sums of other chains, or stores its own and clears them.
template <bool Add>
__device__ __forceinline__ void move_sums(float* chains, float (&sum)[4][4][4]) {
#pragma unroll
  for (int i = 0; i < 4; ++i) {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      float(&here)[4] = sum[i][j];
      float4& there = *reinterpret_cast<float4*>(chains + (4 * i + j) * 128);
      if constexpr (Add) {
        const float4 other = there;
        here[0] += other.x;
        here[1] += other.y;
        here[2] += other.z;
        here[3] += other.w;
      } else {
        there = make_float4(here[0], here[1], here[2], here[3]);
        here[0] = here[1] = here[2] = here[3] = 0;
      }
    }
  }
}

struct TaskSums : LinesOfNodes {
  float* chains;  ///< room for the sums of every warp
};

/// A warp for each task, whichever is free.
__global__ void __launch_bounds__(node_threads, 1)
    node_kernel(CoarseShape shape, MaskedPoints points, SortedTiles work, double curvature, float largest, int* next,
                TaskSums to) {
  __shared__ uint4 shared_memory[2 * node_threads];
  const int lane = threadIdx.x % 32;
  const int g = lane / 4;
  const int t = lane % 4;
  uint4* const staged = shared_memory + threadIdx.x / 32 * 64;
  float* const chains =
      to.chains + (blockIdx.x * (node_threads / 32) + threadIdx.x / 32) * std::int64_t{warp_sums} + 4 * lane;
  const float scale = largest > 0 ? node_scale / largest : 0.0F;
  const int bins = shape.bins();
  const int classes = shape.classes();
  const int strips = shape.strips();
  const int line = count_axis_nodes(shape);
  for (;;) {
    int number = 0;
    if (lane == 0) number = atomicAdd(next, 1);
    number = __shfl_sync(0xffffffffU, number, 0);
    const int tile_number = number / (2 * classes);
    if (tile_number >= work.tile_count) return;
    const CoarseTile& tile = work.tiles[tile_number];
    const int within = number % (2 * classes);
    const int kind = within < classes ? lit_wholly : within < classes + bins * strips ? cut_columns : cut_rows;
    const int* const begins_here = work.begins + (std::int64_t{tile_number} * coarse_kinds + kind) * (classes + 1);
    // The rows of the sums, from the first half on, and the bin within them.
    __half* target = nullptr;
    int bin = 0;
    std::int64_t row_halves = 2 * line;
    Task task{};
    task.cut = kind != lit_wholly;
    if (kind == lit_wholly) {
      const int row_bin = within / bins;
      bin = within % bins;
      task.y = on_nodes(shape, points.rows, tile.first_row, row_bin, curvature);
      task.x = on_nodes(shape, points.columns, tile.first_column, bin, curvature);
      task.begin = begins_here[within];
      task.end = begins_here[within + 1];
      target = to.on_nodes + (std::int64_t{tile_number} * line + row_bin * coarse_nodes) * row_halves;
    } else {
      const int of_kind = (within - classes) % (bins * strips);
      bin = of_kind / strips;
      const int strip = of_kind % strips;
      const bool columns = kind == cut_columns;
      if (columns) {
        task.y = on_pixels(points.columns, tile.first_column + 32 * strip);
        task.x = on_nodes(shape, points.rows, tile.first_row, bin, curvature);
        target = to.lines;
      } else {
        task.y = on_pixels(points.rows, tile.first_row + 32 * strip);
        task.x = on_nodes(shape, points.columns, tile.first_column, bin, curvature);
        target = to.cut_rows;
        row_halves = 4 * line;
      }
      task.begin = begins_here[bin * bins + strips - 1 - strip];
      task.end = begins_here[bin * bins + 2 * strips - strip];
      target += (std::int64_t{tile_number} * shape.side + 32 * strip) * row_halves;
    }
    float sum[4][4][4] = {};
    const int end = task.end;
    for (bool is_first = true;; is_first = false) {
      task.end = min(task.begin + max_chain, end);
      sum_points(task, points.waves, work.sorted, scale, staged, sum);
      if (!is_first) move_sums<true>(chains, sum);
      if (task.end == end) break;
      move_sums<false>(chains, sum);
      task.begin = task.end;
    }
    const float shrink = scalbnf(1.0F, -work.exponents[tile_number]);
    target += g * row_halves + bin * coarse_nodes + 8 * t;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      unsigned re[4];
      unsigned im[4];
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        re[j] = pack_pair(sum[i][j][0] * shrink, sum[i][j][1] * shrink);
        im[j] = pack_pair(sum[i][j][2] * shrink, sum[i][j][3] * shrink);
      }
      constexpr unsigned signs = 0x80008000U;
      const uint4 real = make_uint4(re[0], re[1], re[2], re[3]);
      const uint4 imaginary = make_uint4(im[0], im[1], im[2], im[3]);
      const uint4 minus = make_uint4(im[0] ^ signs, im[1] ^ signs, im[2] ^ signs, im[3] ^ signs);
      __half* const row = target + 8 * i * row_halves;
      *reinterpret_cast<uint4*>(row) = real;
      *reinterpret_cast<uint4*>(row + line) = kind == cut_rows ? minus : imaginary;
      if (kind == cut_rows) {
        *reinterpret_cast<uint4*>(row + 2 * line) = imaginary;
        *reinterpret_cast<uint4*>(row + 3 * line) = real;
      }
    }
  }
}

}  // namespace

void NodeSums::sum(const CoarseShape& shape, const MaskedPoints& points, const SortedTiles& work, double curvature,
                   float largest_amplitude, const LinesOfNodes& to) {
  const auto stream = cuda::stream_of(queue_);
  const auto processors = static_cast<unsigned>(cuda::hopper_processors());
  reserve(next_, 1, queue_);
  reserve(chains_, std::int64_t{processors} * (node_threads / 32) * warp_sums, queue_);
  cuda::check(cudaMemsetAsync(next_.data(), 0, sizeof(int), stream), "cudaMemsetAsync");
  node_kernel<<<processors, node_threads, 0, stream>>>(shape, points, work, curvature, largest_amplitude, next_.data(),
                                                       {to, chains_.data()});
  cuda::check_launch("coarse nodes");
}

}  // namespace holotone::point_cloud
