// A warp sums the points of a task on 32 x 32 places, as a product of factors that it makes in registers (the sums C, L
// and R of coarse_sums_cuda.cu). The exact wave is, about the middle of the places, u and v pixels from there,
//     f u + g v + c u^2 + d v^2 + c' u^3 + d' v^3 + h u v + k u^2 v + l u v^2 turns:
// cubic phases along the axes; of the other terms those of a wave of the bins' middles and of the points' middle bend
// are a factor of the sums, and what is left of h, e, adds 2 pi i e (u X)(v Y) to the product of factors X Y.
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

/// 32 places along an axis: place + spacing n, in pixels of the panel, p = from_middle + spacing n from the middle, on
/// nodes the tile's. Waves there are those times exp(-2 pi i (frequency p + curvature p^2)).
struct Places {
  const AxisRecord* records;
  double place;
  double from_middle;
  double spacing;
  double frequency;
  double curvature;
};
__device__ __forceinline__ Places on_nodes(const CoarseShape& shape, const AxisRecord* records, int first, int bin,
                                           const CoarseWave& wave) {
  const double from_middle = first_node(shape);
  const double frequency = shape.frequency(bin);
  return {records,     static_cast<double>(first) + static_cast<double>(shape.middle()) + from_middle,
          from_middle, node_spacing_px(shape),
          frequency,   wave.curvature_of_bin(frequency)};
}
__device__ __forceinline__ Places on_pixels(const AxisRecord* records, int first) {
  return {records, static_cast<double>(first), -15.5, 1, 0, 0};
}

/// Phases of a point at the places, in fixed point: gamma + n delta + n (n - 1) / 2 second + n (n - 1) (n - 2) / 6
/// third.
struct Phases {
  unsigned gamma;
  unsigned delta;
  unsigned second;
  unsigned third;
};
__device__ __forceinline__ Phases phases_of(const Places& at, const AxisRecord& record, double a, double turns) {
  const double u = (at.place - static_cast<double>(record.x)) - static_cast<double>(record.y);
  const double p = at.from_middle;
  const double s = at.spacing;
  // Half a turn more: unit_at subtracts it.
  return {fixed_turns(a * u * u - (at.frequency + at.curvature * p) * p + (turns + 0.5)),
          fixed_turns(s * (a * (2 * u + s) - at.frequency - at.curvature * (2 * p + s))),
          fixed_turns(2 * s * s * (a - at.curvature)), 0};
}

/// Of the exact wave, `turns` in the middle of both axes.
__device__ __forceinline__ Phases exact_phases_of(const Places& at, double bend, double frequency, double ratio,
                                                  double turns) {
  const double p = at.from_middle;
  const double s = at.spacing;
  const double curvature = curvature_along(bend, frequency, ratio);
  const double f = frequency - at.frequency;
  const double c = curvature - at.curvature;
  const double cubic = -2 * curvature * frequency * bend * ratio * ratio;
  return {fixed_turns(turns + 0.5 + p * (f + p * (c + p * cubic))),
          fixed_turns(s * (f + c * (2 * p + s) + cubic * (3 * p * (p + s) + s * s))),
          fixed_turns(2 * s * s * (c + 3 * cubic * (p + s))), fixed_turns(6 * s * s * s * cubic)};
}

/// exp(2 pi i (turns / 2^32 - 1/2)).
__device__ __forceinline__ float2 unit_at(unsigned turns) {
  const float angle = fmaf(__uint_as_float((turns >> 9) | 0x3f800000U), 6.28318531F, -9.42477796F);
  float2 value;
  __sincosf(angle, &value.y, &value.x);
  return value;
}

/// The first of a lane's places, and the numbers of pairs and of triples of those before.
struct FirstPlace {
  unsigned number;
  unsigned pairs;
  unsigned triples;

  __device__ __forceinline__ explicit FirstPlace(unsigned first)
      : number(first), pairs(first * (first - 1) / 2), triples(first * (first - 1) * (first - 2) / 6) {}
};

/// Phases at every `Step`-th place from the first on, one after the other.
template <unsigned Step, bool Exact>
struct Walk {
  unsigned turns;
  unsigned delta;
  unsigned second;
  unsigned third = 0;

  __device__ __forceinline__ Walk(const uint4& phases, unsigned cubic, const FirstPlace& first)
      : turns(phases.x + first.number * phases.y + first.pairs * phases.z),
        delta(Step * phases.y + (Step * first.number + Step * (Step - 1) / 2) * phases.z),
        second(Step * Step * phases.z) {
    if constexpr (Exact) {
      turns += first.triples * cubic;
      delta += (Step * first.pairs + Step * (Step - 1) / 2 * first.number + Step * (Step - 1) * (Step - 2) / 6) * cubic;
      second += Step * Step * (first.number + Step - 1) * cubic;
      third = Step * Step * Step * cubic;
    }
  }
  __device__ __forceinline__ float2 next() {
    const float2 value = unit_at(turns);
    turns += delta;
    delta += second;
    if constexpr (Exact) second += third;
    return value;
  }
};

/// Records of a point in shared memory: phases along both axes with the weight and the lit places of y; of exact waves
/// also their third differences and e.
constexpr int point_records(bool exact) { return exact ? 3 : 2; }
/// Places are counted from the middle in units of so many for the products with e.
constexpr float cross_unit = 16;
/// Radians of what is left of h u v in the corner of a tile, at most.
constexpr float max_cross = 8;

/// Two complex factors of pairs of points, {re, im} of each pair.
struct Factor {
  unsigned parts[4];
};
__device__ __forceinline__ Factor times_i(const unsigned (&factor)[4]) {
  constexpr unsigned signs = 0x80008000U;
  return {{factor[1] ^ signs, factor[0], factor[3] ^ signs, factor[2]}};
}
__device__ __forceinline__ unsigned scaled(unsigned pair, __half2 by) {
  const __half2 product = __hmul2(*reinterpret_cast<const __half2*>(&pair), by);
  return *reinterpret_cast<const unsigned*>(&product);
}
/// Distance of a place from the middle, in spacings over cross_unit.
__device__ __forceinline__ float from_middle(const Places& at, unsigned number) {
  return (static_cast<float>(at.from_middle / at.spacing) + static_cast<float>(number)) * (1 / cross_unit);
}

/// Threads of a block: those of exact waves need more registers.
constexpr int node_threads(bool exact) { return exact ? 384 : 512; }
constexpr int warp_sums = 32 * 32 * 4;
/// Points that are summed by the tensor cores in a row: their accumulators round towards zero.
constexpr int max_chain = 4096;

/// Terms of a wave that depend on both axes, in turns: uv u v + uuv u^2 v + uvv u v^2.
struct CrossTerms {
  double uv;
  double uuv;
  double uvv;
};
__device__ __forceinline__ CrossTerms cross_terms(double bend, double fx, double fy, double ratio) {
  const double steep = -2 * bend * ratio * ratio;
  const auto flat = [ratio](double frequency) { return 1 - 3 * (frequency * ratio) * (frequency * ratio); };
  return {steep * fx * fy, steep * bend * fy * flat(fx), steep * bend * fx * flat(fy)};
}

/// A task: points, on 32 x 32 places. A cut point lights some of 32 pixels of y.
struct Task {
  Places y;
  Places x;
  int begin;
  int end;
  bool cut;
  CrossTerms cross;  ///< that are a factor of the sums
};

/// Sums a task's points: sum[i][j], rows g: real part at y = 8 i + g, rows g + 8: imaginary part; column c: x = 8 (c /
/// 2) + 2 j + c % 2, so that a lane holds eight in a row.
template <bool Exact>
__device__ __forceinline__ void sum_points(const Task& task, const MaskedPoints& points, const unsigned* sorted,
                                           float scale, uint4* staged, float (&sum)[4][4][4]) {
  constexpr int records = point_records(Exact);
  const int lane = threadIdx.x % 32;
  const unsigned g = lane / 4;
  const int t = lane % 4;
  const FirstPlace first_y(g);
  const FirstPlace first_x(8 * (g / 2) + g % 2);
  const auto index_at = [&](int place) { return place + lane < task.end ? sorted[place + lane] : no_point; };
  unsigned index = index_at(task.begin);
  for (int base = task.begin; base < task.end; base += 32) {
    const bool present = index != no_point;
    const unsigned j = present ? index : 0;
    index = index_at(base + 32);
    const float4 wave = points.waves[j];
    const AxisRecord y_record = task.y.records[j];
    const AxisRecord x_record = task.x.records[j];
    const double a = static_cast<double>(wave.x) + static_cast<double>(wave.y);
    Phases y;
    Phases x;
    [[maybe_unused]] float cross = 0;
    if constexpr (Exact) {
      const auto from_foot = [](const Places& at, const AxisRecord& record) {
        return (at.place - at.from_middle - static_cast<double>(record.x)) - static_cast<double>(record.y);
      };
      const double ratio = points.wave_ratio;
      const LocalWave here(a, ratio, from_foot(task.x, x_record), from_foot(task.y, y_record));
      y = exact_phases_of(task.y, here.bend, here.fy, ratio, here.turns + static_cast<double>(wave.w));
      x = exact_phases_of(task.x, here.bend, here.fx, ratio, 0);
      const double left = cross_terms(here.bend, here.fx, here.fy, ratio).uv - task.cross.uv;
      cross = static_cast<float>(left * task.y.spacing * task.x.spacing) * (6.28318531F * cross_unit * cross_unit);
      if (!(fabsf(cross) <= max_cross)) cross = 0;  // NaN of places that float32 does not hold, too
    } else {
      y = phases_of(task.y, y_record, a, static_cast<double>(wave.w));
      x = phases_of(task.x, x_record, a, 0);
    }
    const unsigned lit = task.cut ? lit_of_32(y_record, static_cast<float>(task.y.place)) : ~0U;
    __syncwarp();
    uint4* const mine = staged + records * lane;
    mine[0] = make_uint4(y.gamma, y.delta, y.second, __float_as_uint(present ? wave.z * scale : 0.0F));
    mine[1] = make_uint4(x.gamma, x.delta, x.second, lit);
    if constexpr (Exact) mine[2] = make_uint4(y.third, x.third, __float_as_uint(cross), 0);
    __syncwarp();
    const int halves = task.end - base > 16 ? 2 : 1;
#pragma unroll 1
    for (int half = 0; half < halves; ++half) {
      const auto record = [&](int k, int which) { return staged[records * (16 * half + 2 * t + k) + which]; };
      const auto cubic = [&](int k, bool of_x) {
        if constexpr (!Exact) return 0U;
        const uint4 third = record(k, records - 1);
        return of_x ? third.y : third.x;
      };
      unsigned factor[4][4];
      __half2 crosses[2];
#pragma unroll
      for (int pair = 0; pair < 2; ++pair) {
        const uint4 left = record(8 * pair, 0);
        const uint4 right = record(8 * pair + 1, 0);
        const unsigned left_lit = record(8 * pair, 1).w >> g;
        const unsigned right_lit = record(8 * pair + 1, 1).w >> g;
        if constexpr (Exact) {
          crosses[pair] =
              __floats2half2_rn(__uint_as_float(record(8 * pair, 2).z), __uint_as_float(record(8 * pair + 1, 2).z));
        }
        Walk<8, Exact> left_walk(left, cubic(8 * pair, false), first_y);
        Walk<8, Exact> right_walk(right, cubic(8 * pair + 1, false), first_y);
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
      Walk<2, Exact> walks[4] = {{record(0, 1), cubic(0, true), first_x},
                                 {record(1, 1), cubic(1, true), first_x},
                                 {record(8, 1), cubic(8, true), first_x},
                                 {record(9, 1), cubic(9, true), first_x}};
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        float2 value[4];
#pragma unroll
        for (int k = 0; k < 4; ++k) value[k] = walks[k].next();
        const unsigned re[2] = {pack_pair(value[0].x, value[1].x), pack_pair(value[2].x, value[3].x)};
        const unsigned im[2] = {pack_pair(value[0].y, value[1].y), pack_pair(value[2].y, value[3].y)};
        [[maybe_unused]] unsigned cross_re[2];
        [[maybe_unused]] unsigned cross_im[2];
        if constexpr (Exact) {
          const __half2 u = __float2half2_rn(from_middle(task.x, first_x.number + 2 * j));
#pragma unroll
          for (int k = 0; k < 2; ++k) {
            const __half2 by = __hmul2(crosses[k], u);
            cross_re[k] = scaled(re[k], by);
            cross_im[k] = scaled(im[k], by);
          }
        }
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          multiply(sum[i][j], factor[i], re[0], re[1]);
          const Factor turned = times_i(factor[i]);
          multiply(sum[i][j], turned.parts, im[0], im[1]);
          if constexpr (Exact) {
            // i v Y, and e u X
            const __half2 v = __float2half2_rn(from_middle(task.y, g + 8 * i));
            const unsigned slot[4] = {scaled(turned.parts[0], v), scaled(turned.parts[1], v),
                                      scaled(turned.parts[2], v), scaled(turned.parts[3], v)};
            multiply(sum[i][j], slot, cross_re[0], cross_re[1]);
            multiply(sum[i][j], times_i(slot).parts, cross_im[0], cross_im[1]);
          }
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

/// Middle of the bends of exact waves of 32 of a task's points, which are spread over all: of a class may be the near
/// and the far side of an object.
__device__ __forceinline__ double middle_bend(const Task& task, const MaskedPoints& points, const unsigned* sorted) {
  const int count = task.end - task.begin;
  const auto lane = static_cast<int>(threadIdx.x % 32);
  float least = 3e38F;
  float most = -3e38F;
  if (lane < count) {
    const int place = task.begin + (count > 32 ? static_cast<int>(std::int64_t{lane} * count / 32) : lane);
    const unsigned j = sorted[place];
    const double x = task.x.place - task.x.from_middle - static_cast<double>(task.x.records[j].x);
    const double y = task.y.place - task.y.from_middle - static_cast<double>(task.y.records[j].x);
    least = most = static_cast<float>(LocalWave(points.waves[j].x, points.wave_ratio, x, y).bend);
  }
  for (int other = 16; other > 0; other /= 2) {
    least = fminf(least, __shfl_xor_sync(0xffffffffU, least, other));
    most = fmaxf(most, __shfl_xor_sync(0xffffffffU, most, other));
  }
  return count > 0 ? 0.5 * (static_cast<double>(least) + static_cast<double>(most)) : 0;
}

/// Multiplies a lane's sums by the terms of both axes.
__device__ __forceinline__ void turn_sums(const Task& task, unsigned g, int t, float (&sum)[4][4][4]) {
  const float unit_y = static_cast<float>(task.y.spacing) * cross_unit;
  const float unit_x = static_cast<float>(task.x.spacing) * cross_unit;
  const float unit = 6.28318531F * unit_x * unit_y;
  const float uv = static_cast<float>(task.cross.uv) * unit;
  const float uuv = static_cast<float>(task.cross.uuv) * unit * unit_x;
  const float uvv = static_cast<float>(task.cross.uvv) * unit * unit_y;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const float v = from_middle(task.y, g + 8 * i);
#pragma unroll
    for (int j = 0; j < 4; ++j) {
#pragma unroll
      for (int k = 0; k < 2; ++k) {
        const float u = from_middle(task.x, 8 * t + 2 * j + k);
        float sine = 0;
        float cosine = 0;
        __sincosf(u * v * (uv + uuv * u + uvv * v), &sine, &cosine);
        const float re = sum[i][j][k];
        const float im = sum[i][j][2 + k];
        sum[i][j][k] = re * cosine - im * sine;
        sum[i][j][2 + k] = re * sine + im * cosine;
      }
    }
  }
}

/// A warp for each task, whichever is free.
template <bool Exact>
__global__ void __launch_bounds__(node_threads(Exact), 1)
    node_kernel(CoarseShape shape, MaskedPoints points, SortedTiles work, CoarseWave wave, float largest, int* next,
                TaskSums to) {
  __shared__ uint4 shared_memory[point_records(Exact) * node_threads(Exact)];
  const int lane = threadIdx.x % 32;
  const int g = lane / 4;
  const int t = lane % 4;
  uint4* const staged = shared_memory + threadIdx.x / 32 * 32 * point_records(Exact);
  float* const chains =
      to.chains + (blockIdx.x * (node_threads(Exact) / 32) + threadIdx.x / 32) * std::int64_t{warp_sums} + 4 * lane;
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
      task.y = on_nodes(shape, points.rows, tile.first_row, row_bin, wave);
      task.x = on_nodes(shape, points.columns, tile.first_column, bin, wave);
      task.begin = begins_here[within];
      task.end = begins_here[within + 1];
      if constexpr (Exact) {
        task.cross =
            cross_terms(middle_bend(task, points, work.sorted), task.x.frequency, task.y.frequency, wave.ratio);
      }
      target = to.on_nodes + (std::int64_t{tile_number} * line + row_bin * coarse_nodes) * row_halves;
    } else {
      const int of_kind = (within - classes) % (bins * strips);
      bin = of_kind / strips;
      const int strip = of_kind % strips;
      const bool columns = kind == cut_columns;
      if (columns) {
        task.y = on_pixels(points.columns, tile.first_column + 32 * strip);
        task.x = on_nodes(shape, points.rows, tile.first_row, bin, wave);
        target = to.lines;
      } else {
        task.y = on_pixels(points.rows, tile.first_row + 32 * strip);
        task.x = on_nodes(shape, points.columns, tile.first_column, bin, wave);
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
      sum_points<Exact>(task, points, work.sorted, scale, staged, sum);
      if (!is_first) move_sums<true>(chains, sum);
      if (task.end == end) break;
      move_sums<false>(chains, sum);
      task.begin = task.end;
    }
    if constexpr (Exact) {
      if (kind == lit_wholly) turn_sums(task, g, t, sum);
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

void NodeSums::sum(const CoarseShape& shape, const MaskedPoints& points, const SortedTiles& work,
                   const CoarseWave& wave, float largest_amplitude, const LinesOfNodes& to) {
  const auto stream = cuda::stream_of(queue_);
  const auto processors = static_cast<unsigned>(cuda::hopper_processors());
  reserve(next_, 1, queue_);
  reserve(chains_, std::int64_t{processors} * (node_threads(false) / 32) * warp_sums, queue_);
  cuda::check(cudaMemsetAsync(next_.data(), 0, sizeof(int), stream), "cudaMemsetAsync");
  const bool exact = wave.ratio > 0;
  const auto kernel = exact ? node_kernel<true> : node_kernel<false>;
  kernel<<<processors, node_threads(exact), 0, stream>>>(shape, points, work, wave, largest_amplitude, next_.data(),
                                                         {to, chains_.data()});
  cuda::check_launch("coarse nodes");
}

}  // namespace holotone::point_cloud
