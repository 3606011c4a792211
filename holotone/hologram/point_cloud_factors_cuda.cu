#include <cuda_fp16.h>

#include <holotone/hologram/point_cloud_separable_cuda.cuh>

namespace holotone::point_cloud {
namespace {

constexpr int generate_threads = 128;
constexpr int generate_rows = 15;  ///< pixels of an axis a thread works through
constexpr int combine_threads = 256;

/// Y is stored times this, so that the parts of dim points stay normal numbers in half precision.
constexpr float y_scale(FactorType type) { return type == FactorType::int8 ? 1.0F : 1024.0F; }
/// What the product of two stored factors must be divided by.
constexpr float product_scale(FactorType type) {
  return type == FactorType::int8 ? 127.0F * 127.0F : y_scale(type);
}

struct Pair {
  float first;
  float second;
};

/// Where a thread's two points go: `line` is the start of a matrix row of `depth` elements, `segment` the
/// part of it.
template <FactorType Type, bool IsX>
__device__ __forceinline__ void store(void* line, int segment, int batch_points, int k, Pair value) {
  if constexpr (Type == FactorType::int8) {
    auto* target = static_cast<char*>(line) + segment * static_cast<std::int64_t>(batch_points) + k;
    *reinterpret_cast<char2*>(target) =
        make_char2(static_cast<signed char>(__float2int_rn(value.first * 127.0F)),
                   static_cast<signed char>(__float2int_rn(value.second * 127.0F)));
  } else if constexpr (Type == FactorType::float16) {
    auto* target = static_cast<__half*>(line) + segment * static_cast<std::int64_t>(batch_points) + k;
    *reinterpret_cast<__half2*>(target) = __floats2half2_rn(value.first, value.second);
  } else {
    const __half2 high = __floats2half2_rn(value.first, value.second);
    const float2 rounded = __half22float2(high);
    const __half2 low = __floats2half2_rn(value.first - rounded.x, value.second - rounded.y);
    auto* target = static_cast<__half*>(line) + 3 * segment * static_cast<std::int64_t>(batch_points) + k;
    *reinterpret_cast<__half2*>(target) = high;
    *reinterpret_cast<__half2*>(target + batch_points) = IsX ? low : high;
    *reinterpret_cast<__half2*>(target + 2 * static_cast<std::int64_t>(batch_points)) = IsX ? high : low;
  }
}

template <FactorType Type>
__device__ __forceinline__ void sine_cosine(float turns, float& sine, float& cosine) {
  if constexpr (Type == FactorType::float16_pair) {
    sincospif(2.0F * turns, &sine, &cosine);
  } else {
    __sincosf(6.28318531F * turns, &sine, &cosine);
  }
}

/// One axis of one point: where it is, how its phase grows, what it is worth.
struct AxisPoint {
  float whole;
  float rest;
  float a_high;
  float a_low;
  float turns;   ///< added to the phase (Y only)
  float weight;  ///< amplitude over the largest (Y only, else 1)
  float first;
  float last;

  template <FactorType Type>
  __device__ __forceinline__ void factor(float pixel, float& re, float& im) const {
    float sine;
    float cosine;
    sine_cosine<Type>(reduced_turns(pixel, whole, rest, a_high, a_low) + turns, sine, cosine);
    const float lit = pixel >= first && pixel <= last ? weight : 0.0F;
    re = lit * cosine;
    im = lit * sine;
  }
};

template <bool IsX>
__device__ __forceinline__ AxisPoint load_axis(const PointRecords& points, std::int64_t j,
                                               std::int64_t padded_count, float inverse_max) {
  if (j >= padded_count) return {0, 0, 0, 0, 0, 0, 0, -1};
  const float4 position = points.position[j];
  const float4 wave = points.wave[j];
  const float4 lit = points.lit[j];
  if constexpr (IsX) return {position.x, position.y, wave.x, wave.y, 0, 1, lit.x, lit.y};
  return {position.z, position.w, wave.x, wave.y, wave.w, wave.z * inverse_max, lit.z, lit.w};
}

template <FactorType Type, ProductForm Form, bool IsX>
__device__ void generate_axis(const PointRecords& points, std::int64_t first_point, std::int64_t padded_count,
                              const FactorShape& shape, int row0, int k, int batch, void* matrix) {
  constexpr int products = product_count(Form);
  constexpr int blocks = IsX ? 1 : row_blocks(Form);
  const int lines = IsX ? shape.columns : shape.rows;
  const std::int64_t depth = depth_segments(Type, Form) * static_cast<std::int64_t>(shape.batch_points);
  const float largest = __uint_as_float(*points.amplitude_max);
  const float inverse_max = largest > 0 ? y_scale(Type) / largest : 0.0F;
  const std::int64_t j = first_point + static_cast<std::int64_t>(batch) * shape.batch_points + k;
  const AxisPoint p0 = load_axis<IsX>(points, j, padded_count, inverse_max);
  const AxisPoint p1 = load_axis<IsX>(points, j + 1, padded_count, inverse_max);
  const auto line = [&](int product, int block, int row) -> void* {
    const std::int64_t at =
        ((static_cast<std::int64_t>(batch) * products + product) * blocks + block) * lines + row;
    return static_cast<char*>(matrix) + at * depth * factor_bytes(Type);
  };
  const auto put = [&](int product, int block, int segment, int row, float first, float second) {
    store<Type, IsX>(line(product, block, row), segment, shape.batch_points, k, {first, second});
  };
#pragma unroll 5
  for (int i = 0; i < generate_rows; ++i) {
    const int row = row0 + i;
    if (row >= lines) return;
    const auto pixel = static_cast<float>(IsX ? row : row + shape.first_row);
    float re0;
    float im0;
    float re1;
    float im1;
    p0.factor<Type>(pixel, re0, im0);
    p1.factor<Type>(pixel, re1, im1);
    if constexpr (Form == ProductForm::complex_three) {
      put(0, 0, 0, row, re0, re1);
      put(1, 0, 0, row, im0, im1);
      put(2, 0, 0, row, re0 + im0, re1 + im1);
    } else {
      put(0, 0, 0, row, re0, re1);
      put(0, 0, 1, row, IsX ? im0 : -im0, IsX ? im1 : -im1);
      if constexpr (!IsX && Form == ProductForm::complex_four) {
        put(0, 1, 0, row, im0, im1);
        put(0, 1, 1, row, re0, re1);
      }
    }
  }
}

template <FactorType Type, ProductForm Form>
__global__ void __launch_bounds__(generate_threads)
    generate_kernel(PointRecords points, std::int64_t first_point, std::int64_t padded_count,
                    FactorShape shape, int x_blocks, void* x, void* y) {
  const int k = (blockIdx.x * generate_threads + threadIdx.x) * 2;
  if (k >= shape.batch_points) return;
  const int block = blockIdx.y;
  if (block < x_blocks) {
    generate_axis<Type, Form, true>(points, first_point, padded_count, shape, block * generate_rows, k,
                                    blockIdx.z, x);
  } else {
    generate_axis<Type, Form, false>(points, first_point, padded_count, shape,
                                     (block - x_blocks) * generate_rows, k, blockIdx.z, y);
  }
}

/// Four neighbouring pixels of the summed products.
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
    combine_kernel(const void* c, FactorShape shape, int panel_columns, const unsigned* amplitude_max,
                   OutputPointers output) {
  constexpr int planes = product_count(Form) * row_blocks(Form);
  const int quads = shape.columns / 4;
  const std::int64_t item = blockIdx.x * static_cast<std::int64_t>(combine_threads) + threadIdx.x;
  if (item >= static_cast<std::int64_t>(quads) * shape.rows) return;
  const std::int64_t row = item / quads;
  const int column = static_cast<int>(item % quads) * 4;
  const std::int64_t plane = static_cast<std::int64_t>(shape.columns) * shape.rows;
  const std::int64_t at = row * shape.columns + column;
  float4 sum[planes] = {};
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
  const std::int64_t first = (row + shape.first_row) * panel_columns + column;
  const float res[4] = {re.x, re.y, re.z, re.w};
  const float ims[4] = {im.x, im.y, im.z, im.w};
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    if (column + i < panel_columns) output.write(first + i, scale * res[i], scale * ims[i]);
  }
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
    case FactorType::int8:
      return with_form(std::integral_constant<FactorType, FactorType::int8>{});
    case FactorType::float16:
      return with_form(std::integral_constant<FactorType, FactorType::float16>{});
    case FactorType::float16_pair:
      return with_form(std::integral_constant<FactorType, FactorType::float16_pair>{});
  }
}

}  // namespace

void generate_factors(FactorType type, ProductForm form, const PointRecords& points, std::int64_t first_point,
                      std::int64_t padded_count, const FactorShape& shape, void* x, void* y,
                      cudaStream_t stream) {
  const auto x_blocks = cuda::blocks_for(shape.columns, generate_rows);
  const dim3 grid(cuda::blocks_for(shape.batch_points, 2 * generate_threads),
                  x_blocks + cuda::blocks_for(shape.rows, generate_rows),
                  static_cast<unsigned>(shape.batches));
  with_constants(type, form, [&](auto t, auto f) {
    generate_kernel<t.value, f.value><<<grid, generate_threads, 0, stream>>>(
        points, first_point, padded_count, shape, static_cast<int>(x_blocks), x, y);
  });
  cuda::check_launch("generate_factors");
}

void combine_products(FactorType type, ProductForm form, const void* c, const FactorShape& shape,
                      int panel_columns, const unsigned* amplitude_max, const OutputPointers& output,
                      cudaStream_t stream) {
  const auto blocks =
      cuda::blocks_for(static_cast<std::int64_t>(shape.columns) / 4 * shape.rows, combine_threads);
  with_constants(type, form, [&](auto t, auto f) {
    combine_kernel<t.value, f.value>
        <<<blocks, combine_threads, 0, stream>>>(c, shape, panel_columns, amplitude_max, output);
  });
  cuda::check_launch("combine_products");
}

}  // namespace holotone::point_cloud
