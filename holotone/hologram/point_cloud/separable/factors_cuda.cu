#include <algorithm>
#include <cuda_fp16.h>
#include <holotone/hologram/point_cloud/separable/separable_cuda.cuh>

namespace holotone::point_cloud {
namespace {

constexpr int generate_threads = 128;
constexpr int generate_rows = 8;  ///< pixels of an axis per thread
constexpr int combine_threads = 256;

/// Points per thread, for stores of four bytes per lane: wider stores reach half the speed here (measured on an H200).
constexpr int points_a_thread(FactorType type) { return 4 / factor_bytes(type); }

/// Run of pixels along one axis for one point. The phase follows Shimobaba et al. 2010, Eq. (2), in fixed point: turns
/// times 2^32 in unsigned integers, whose overflow drops whole turns. Each of the three numbers is rounded to 2^-32
/// turn. After n steps the phase is therefore within (1 + n + n^2 / 2) 2^-33 turn: 5e-9 turn at the end of a run.
struct AxisRun {
  unsigned gamma;
  unsigned delta;
  unsigned second_difference;
  float weight;  ///< scaled amplitude (Y), one (X)
  int first;     ///< lit pixels of the run, counted from its start
  int last;
};

template <bool IsX>
__device__ __forceinline__ AxisRun start_run(const PointRecords& points, std::int64_t j, std::int64_t padded_count,
                                             float y_weight, int first_pixel) {
  if (j >= padded_count) return {0, 0, 0, 0, 0, -1};
  const float4 position = points.position[j];
  const float4 wave = points.wave[j];
  const float4 lit = points.lit[j];
  const double a = static_cast<double>(wave.x) + static_cast<double>(wave.y);
  const double u = IsX ? (first_pixel - position.x) - static_cast<double>(position.y)
                       : (first_pixel - position.z) - static_cast<double>(position.w);
  const double start = a * u * u + (IsX ? 0.0 : static_cast<double>(wave.w));
  const float first = (IsX ? lit.x : lit.z) - static_cast<float>(first_pixel);
  const float last = (IsX ? lit.y : lit.w) - static_cast<float>(first_pixel);
  return {fixed_turns(start),
          fixed_turns(a * (2 * u + 1)),
          fixed_turns(2 * a),
          IsX ? 1.0F : wave.z * y_weight,
          static_cast<int>(fminf(fmaxf(first, 0.0F), static_cast<float>(generate_rows))),
          static_cast<int>(fminf(fmaxf(last, -1.0F), static_cast<float>(generate_rows)))};
}

/// Returns exp(2 pi i turns) of the run's current pixel times its weight, and advances the run by one pixel.
template <FactorType Type, bool Masked>
__device__ __forceinline__ float2 next_factor(AxisRun& run, int step) {
  float sine;
  float cosine;
  float weight = run.weight;
  if constexpr (Type == FactorType::float16_pair) {
    sincospif(static_cast<float>(static_cast<int>(run.gamma)) * 0x1p-31F, &sine, &cosine);
  } else {
    // The top 23 bits form a float in [1, 2); minus 1.5 it is the turns minus a half. This is cheaper than a
    // conversion, which shares the unit of the sine. The sign of the weight compensates the half turn.
    __sincosf(6.28318531F * (__uint_as_float((run.gamma >> 9) | 0x3f800000U) - 1.5F), &sine, &cosine);
    weight = -weight;
  }
  if constexpr (Masked) weight = step >= run.first && step <= run.last ? weight : 0.0F;
  run.gamma += run.delta;
  run.delta += run.second_difference;
  return make_float2(weight * cosine, weight * sine);
}

/// Stores the values of a thread's points in one matrix row; `segment` is the part of the row, `k` the first point.
template <FactorType Type, bool IsX>
__device__ __forceinline__ void store(void* line, int segment, std::int64_t batch_points, int k,
                                      const float (&v)[points_a_thread(Type)]) {
  if constexpr (Type == FactorType::int8) {
    const auto code = [](float value) { return static_cast<signed char>(__float2int_rn(value * 127.0F)); };
    *reinterpret_cast<char4*>(static_cast<char*>(line) + segment * batch_points + k) =
        make_char4(code(v[0]), code(v[1]), code(v[2]), code(v[3]));
  } else if constexpr (Type == FactorType::float16) {
    *reinterpret_cast<__half2*>(static_cast<__half*>(line) + segment * batch_points + k) =
        __floats2half2_rn(v[0], v[1]);
  } else {
    const __half2 high = __floats2half2_rn(v[0], v[1]);
    const float2 kept = __half22float2(high);
    const __half2 low = __floats2half2_rn(v[0] - kept.x, v[1] - kept.y);
    auto* target = static_cast<__half*>(line) + 3 * segment * batch_points + k;
    *reinterpret_cast<__half2*>(target) = high;
    *reinterpret_cast<__half2*>(target + batch_points) = IsX ? low : high;
    *reinterpret_cast<__half2*>(target + 2 * batch_points) = IsX ? high : low;
  }
}

/// Memory of one batch's matrix of one axis.
struct AxisMatrix {
  char* data;          ///< first element of this batch
  std::int64_t depth;  ///< elements per row
  int lines;           ///< rows per product and row block
  int batch_points;
};

template <FactorType Type, ProductForm Form, bool IsX, bool Masked>
__device__ __forceinline__ void walk_runs(AxisRun (&runs)[points_a_thread(Type)], const AxisMatrix& matrix,
                                          int first_line, int k) {
  const auto put = [&](int product, int block, int segment, int line, const float(&v)[points_a_thread(Type)]) {
    constexpr int blocks = IsX ? 1 : row_blocks(Form);
    const std::int64_t row = static_cast<std::int64_t>(product * blocks + block) * matrix.lines + line;
    store<Type, IsX>(matrix.data + row * matrix.depth * factor_bytes(Type), segment, matrix.batch_points, k, v);
  };
#pragma unroll
  for (int i = 0; i < generate_rows; ++i) {
    const int line = first_line + i;
    if (line >= matrix.lines) return;
    float re[points_a_thread(Type)];
    float im[points_a_thread(Type)];
    float other[points_a_thread(Type)];
#pragma unroll
    for (int p = 0; p < points_a_thread(Type); ++p) {
      const float2 factor = next_factor<Type, Masked>(runs[p], i);
      re[p] = factor.x;
      im[p] = factor.y;
      other[p] = Form == ProductForm::complex_three ? factor.x + factor.y : IsX ? factor.y : -factor.y;
    }
    put(0, 0, 0, line, re);
    if constexpr (Form == ProductForm::complex_three) {
      put(1, 0, 0, line, im);
      put(2, 0, 0, line, other);
    } else {
      put(0, 0, 1, line, other);
      if constexpr (!IsX && Form == ProductForm::complex_four) {
        put(0, 1, 0, line, im);
        put(0, 1, 1, line, re);
      }
    }
  }
}

template <FactorType Type, ProductForm Form, bool IsX>
__device__ void generate_axis(const PointRecords& points, std::int64_t first_point, std::int64_t padded_count,
                              const FactorShape& shape, int first_line, int k, int batch, void* data) {
  AxisMatrix matrix;
  matrix.lines = IsX ? shape.columns : shape.rows;
  matrix.batch_points = shape.batch_points;
  matrix.depth = depth_segments(Type, Form) * static_cast<std::int64_t>(shape.batch_points);
  const std::int64_t rows =
      static_cast<std::int64_t>(product_count(Form)) * (IsX ? 1 : row_blocks(Form)) * matrix.lines;
  matrix.data = static_cast<char*>(data) + batch * rows * matrix.depth * factor_bytes(Type);
  const float largest = __uint_as_float(*points.amplitude_max);
  const float y_weight = largest > 0 ? y_scale(Type) / largest : 0.0F;
  const std::int64_t j = first_point + static_cast<std::int64_t>(batch) * shape.batch_points + k;
  AxisRun runs[points_a_thread(Type)];
  bool all_lit = true;
#pragma unroll
  for (int p = 0; p < points_a_thread(Type); ++p) {
    runs[p] = start_run<IsX>(points, j + p, padded_count, y_weight, IsX ? first_line : first_line + shape.first_row);
    all_lit = all_lit && runs[p].first == 0 && runs[p].last >= generate_rows - 1;
  }
  if (__all_sync(__activemask(), all_lit)) {
    walk_runs<Type, Form, IsX, false>(runs, matrix, first_line, k);
  } else {
    walk_runs<Type, Form, IsX, true>(runs, matrix, first_line, k);
  }
}

template <FactorType Type, ProductForm Form>
__global__ void __launch_bounds__(generate_threads)
    generate_kernel(PointRecords points, std::int64_t first_point, std::int64_t padded_count, FactorShape shape,
                    int x_blocks, void* x, void* y) {
  const int k = (blockIdx.x * generate_threads + threadIdx.x) * points_a_thread(Type);
  if (k >= shape.batch_points) return;
  const int block = blockIdx.y;
  if (block < x_blocks) {
    generate_axis<Type, Form, true>(points, first_point, padded_count, shape, block * generate_rows, k, blockIdx.z, x);
  } else {
    generate_axis<Type, Form, false>(points, first_point, padded_count, shape, (block - x_blocks) * generate_rows, k,
                                     blockIdx.z, y);
  }
}

/// Loads four neighbouring pixels of the summed products.
template <FactorType Type>
__device__ __forceinline__ float4 load_products(const void* c, std::int64_t index) {
  if constexpr (Type == FactorType::int8) {
    const int4 v = *reinterpret_cast<const int4*>(static_cast<const int*>(c) + index);
    return make_float4(static_cast<float>(v.x), static_cast<float>(v.y), static_cast<float>(v.z),
                       static_cast<float>(v.w));
  } else {
    return *reinterpret_cast<const float4*>(static_cast<const float*>(c) + index);
  }
}

__device__ __forceinline__ float4 operator+(float4 a, float4 b) {
  return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}
__device__ __forceinline__ float4 operator-(float4 a, float4 b) {
  return make_float4(a.x - b.x, a.y - b.y, a.z - b.z, a.w - b.w);
}

template <FactorType Type, ProductForm Form>
__global__ void __launch_bounds__(combine_threads)
    combine_kernel(const void* c, FactorShape shape, int skipped, int written, int first_target, int panel_columns,
                   const unsigned* amplitude_max, OutputPointers output) {
  constexpr int planes = product_count(Form) * row_blocks(Form);
  const int quads = shape.columns / 4;
  const std::int64_t item = blockIdx.x * static_cast<std::int64_t>(combine_threads) + threadIdx.x;
  if (item >= static_cast<std::int64_t>(quads) * written) return;
  const std::int64_t target_row = item / quads;
  const std::int64_t row = skipped + target_row;  // within the band
  const int column = static_cast<int>(item % quads) * 4;
  const std::int64_t plane = static_cast<std::int64_t>(shape.columns) * shape.rows;
  const std::int64_t at = row * shape.columns + column;
  float4 sum[planes] = {};
#pragma unroll 4
  for (int batch = 0; batch < shape.batches; ++batch) {
#pragma unroll
    for (int i = 0; i < planes; ++i) {
      sum[i] = sum[i] + load_products<Type>(c, (static_cast<std::int64_t>(batch) * planes + i) * plane + at);
    }
  }
  float4 re = sum[0];
  float4 im = make_float4(0, 0, 0, 0);
  if constexpr (Form == ProductForm::complex_three) {
    re = sum[0] - sum[1];
    im = sum[2] - sum[0] - sum[1];
  } else if constexpr (Form == ProductForm::complex_four) {
    im = sum[1];
  }
  const float scale = __uint_as_float(*amplitude_max) / product_scale(Type);
  const std::int64_t first = (target_row + first_target) * panel_columns + column;
  const float4 scaled_re = make_float4(scale * re.x, scale * re.y, scale * re.z, scale * re.w);
  const float4 scaled_im = make_float4(scale * im.x, scale * im.y, scale * im.z, scale * im.w);
  output.write(first, scaled_re, scaled_im, panel_columns - column);
}

/// Calls action(type constant, form constant) for run-time values.
template <class Action>
void with_constants(FactorType type, ProductForm form, const Action& action) {
  const auto with_form = [&](auto type_constant) {
    switch (form) {
      case ProductForm::complex_three:
        return action(type_constant, std::integral_constant<ProductForm, ProductForm::complex_three>{});
      case ProductForm::complex_four:
        return action(type_constant, std::integral_constant<ProductForm, ProductForm::complex_four>{});
      case ProductForm::real_part:
        return action(type_constant, std::integral_constant<ProductForm, ProductForm::real_part>{});
    }
  };
  switch (type) {
    case FactorType::int8: return with_form(std::integral_constant<FactorType, FactorType::int8>{});
    case FactorType::float16: return with_form(std::integral_constant<FactorType, FactorType::float16>{});
    case FactorType::float16_pair: return with_form(std::integral_constant<FactorType, FactorType::float16_pair>{});
  }
}

}  // namespace

void generate_factors(FactorType type, ProductForm form, const PointRecords& points, std::int64_t first_point,
                      std::int64_t padded_count, const FactorShape& shape, void* x, void* y, cudaStream_t stream) {
  const auto x_blocks = cuda::blocks_for(shape.columns, generate_rows);
  const dim3 grid(cuda::blocks_for(shape.batch_points, points_a_thread(type) * generate_threads),
                  x_blocks + cuda::blocks_for(shape.rows, generate_rows), static_cast<unsigned>(shape.batches));
  with_constants(type, form, [&](auto t, auto f) {
    generate_kernel<t.value, f.value><<<grid, generate_threads, 0, stream>>>(points, first_point, padded_count, shape,
                                                                             static_cast<int>(x_blocks), x, y);
  });
  cuda::check_launch("generate_factors");
}

void combine_products(FactorType type, ProductForm form, const void* c, const FactorShape& shape, const RowRange& part,
                      int panel_columns, const unsigned* amplitude_max, const OutputPointers& output,
                      cudaStream_t stream) {
  const auto first = std::max<std::int64_t>(shape.first_row, part.first_row);
  const auto written = std::min<std::int64_t>(shape.first_row + shape.rows, part.end()) - first;
  if (written <= 0) return;
  const auto blocks = cuda::blocks_for(static_cast<std::int64_t>(shape.columns) / 4 * written, combine_threads);
  with_constants(type, form, [&](auto t, auto f) {
    combine_kernel<t.value, f.value><<<blocks, combine_threads, 0, stream>>>(
        c, shape, static_cast<int>(first - shape.first_row), static_cast<int>(written),
        static_cast<int>(first - part.first_row), panel_columns, amplitude_max, output);
  });
  cuda::check_launch("combine_products");
}

}  // namespace holotone::point_cloud
