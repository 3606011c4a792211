#include <holotone/core/kernel_parts_cuda.cuh>
#include <holotone/core/random.hpp>
#include <holotone/retrieval/spots/spot_kernels_cuda.hpp>
#include <holotone/retrieval/spots/spot_wave_cuda.cuh>

namespace holotone::spots {
namespace {

using cuda::blocks_for;
using cuda::product;
using cuda::thread_index;
using cuda::threads;

constexpr float least_square = 1e-20F;

/// Where a pixel's column lies in the plane form: X = j + first on the right and -X on the left of the middle.
struct Columns {
  int half;
  int middle;   ///< column of j = 0 on the right
  float first;  ///< its X
  int left;     ///< column of j = 0 on the left; the middle itself, which stands on the right, for an odd nx

  __host__ __device__ explicit Columns(const Panel& panel)
      : half(panel.half()),
        middle(panel.nx / 2),
        first(panel.nx % 2 == 0 ? 0.5F : 0.0F),
        left(panel.nx % 2 == 0 ? panel.nx / 2 - 1 : panel.nx / 2) {}
};

__device__ __forceinline__ float2 to_floats(unsigned bits) {
  return __half22float2(*reinterpret_cast<const __half2*>(&bits));
}
__device__ __forceinline__ unsigned to_halves(float a, float b) {
  const __half2 value = __floats2half2_rn(a, b);
  return *reinterpret_cast<const unsigned*>(&value);
}

__device__ __forceinline__ void scale_to(float& re, float& im, float modulus) {
  const float scale = modulus * rsqrtf(fmaxf(re * re + im * im, least_square));
  re *= scale;
  im *= scale;
}

/// The four numbers of columns X and -X in a row.
struct Mirrored {
  float even_re;  ///< E+ + E- re
  float odd_im;   ///< E+ - E- im
  float even_im;
  float odd_re;  ///< E- - E+ re, as it is stored
};
/// `sum`: (Se re, So re, Se im, So im) of the spots; the result replaces `field`.
__device__ __forceinline__ void normalise_mirrored(const float4& sum, float right, float left, float keep,
                                                   Mirrored& field) {
  float plus_re = right * (sum.x - sum.w);
  float plus_im = right * (sum.z + sum.y);
  float minus_re = left * (sum.x + sum.w);
  float minus_im = left * (sum.z - sum.y);
  if (keep > 0) {
    const float half = 0.5F * keep;
    plus_re += half * (field.even_re - field.odd_re);
    plus_im += half * (field.even_im + field.odd_im);
    minus_re += half * (field.even_re + field.odd_re);
    minus_im += half * (field.even_im - field.odd_im);
  }
  scale_to(plus_re, plus_im, right);
  scale_to(minus_re, minus_im, left);
  field = {plus_re + minus_re, plus_im - minus_im, plus_im + minus_im, minus_re - plus_re};
}

/// Two columns of each side a thread.
__global__ void __launch_bounds__(threads)
    normalise_plane_kernel(Panel panel, const unsigned* __restrict__ sum, const unsigned* __restrict__ light,
                           float keep, unsigned* __restrict__ field) {
  const auto quarter = static_cast<unsigned>(panel.width / 4);  // pairs in a half row
  const unsigned pair = blockIdx.y * blockDim.x + threadIdx.x;
  if (pair >= quarter) return;
  const unsigned row = blockIdx.x;
  const unsigned re = 4 * row * quarter + pair;
  const unsigned im = re + 2 * quarter;
  const float2 even_re = to_floats(sum[re]);
  const float2 odd_re = to_floats(sum[re + quarter]);
  const float2 even_im = to_floats(sum[im]);
  const float2 odd_im = to_floats(sum[im + quarter]);
  float2 right{1, 1};
  float2 left{1, 1};
  if (light != nullptr) {
    const unsigned at = 2 * row * quarter + pair;
    right = to_floats(light[at]);
    left = to_floats(light[at + quarter]);
  }
  float2 a{};
  float2 b{};
  float2 c{};
  float2 d{};
  if (keep > 0) {
    a = to_floats(field[re]);
    b = to_floats(field[re + quarter]);
    c = to_floats(field[im]);
    d = to_floats(field[im + quarter]);
  }
  Mirrored first{a.x, b.x, c.x, d.x};
  Mirrored second{a.y, b.y, c.y, d.y};
  normalise_mirrored({even_re.x, odd_re.x, even_im.x, odd_im.x}, right.x, left.x, keep, first);
  normalise_mirrored({even_re.y, odd_re.y, even_im.y, odd_im.y}, right.y, left.y, keep, second);
  field[re] = to_halves(first.even_re, second.even_re);
  field[re + quarter] = to_halves(first.odd_im, second.odd_im);
  field[im] = to_halves(first.even_im, second.even_im);
  field[im + quarter] = to_halves(first.odd_re, second.odd_re);
}

/// Four columns a thread.
__global__ void __launch_bounds__(threads)
    normalise_space_kernel(Panel panel, const uint2* __restrict__ sum, const uint2* __restrict__ light, float keep,
                           uint2* __restrict__ field) {
  const std::int64_t i = thread_index();
  const std::int64_t plane = static_cast<std::int64_t>(panel.ny) * panel.width / 4;
  if (i >= plane) return;
  const uint2 first = sum[i];
  const uint2 second = sum[i + plane];
  const uint2 third = sum[i + 2 * plane];
  uint2 amplitude{};
  if (light != nullptr) amplitude = light[i];
  uint2 old_re{};
  uint2 old_im{};
  if (keep > 0) {
    old_re = field[i];
    old_im = field[i + plane];
  }
  const auto pair = [&](unsigned t1, unsigned t2, unsigned t3, unsigned bright, unsigned& re, unsigned& im,
                        unsigned& mixed) {
    const float2 a = to_floats(t1);
    const float2 b = to_floats(t2);
    const float2 c = to_floats(t3);
    const float2 l = light != nullptr ? to_floats(bright) : float2{1, 1};
    float2 x{l.x * (a.x - b.x), l.y * (a.y - b.y)};
    float2 y{l.x * (a.x + b.x - c.x), l.y * (a.y + b.y - c.y)};
    if (keep > 0) {
      const float2 u = to_floats(re);
      const float2 v = to_floats(im);
      x.x += keep * u.x;
      x.y += keep * u.y;
      y.x += keep * v.x;
      y.y += keep * v.y;
    }
    scale_to(x.x, y.x, l.x);
    scale_to(x.y, y.y, l.y);
    re = to_halves(x.x, x.y);
    im = to_halves(y.x, y.y);
    mixed = to_halves(x.x + y.x, x.y + y.y);
  };
  uint2 mixed{};
  pair(first.x, second.x, third.x, amplitude.x, old_re.x, old_im.x, mixed.x);
  pair(first.y, second.y, third.y, amplitude.y, old_re.y, old_im.y, mixed.y);
  field[i] = old_re;
  field[i + plane] = old_im;
  field[i + 2 * plane] = mixed;
}

__device__ __forceinline__ void store_turns(float* to, float turns) { *to = turns; }
__device__ __forceinline__ void store_turns(std::uint8_t* to, float turns) {
  *to = static_cast<std::uint8_t>(__float2int_rn(256 * turns) & 255);
}

/// Four numbers side by side.
__device__ __forceinline__ void load_four(const __half* from, float (&value)[4]) {
  const uint2 bits = *reinterpret_cast<const uint2*>(from);
  const float2 first = to_floats(bits.x);
  const float2 second = to_floats(bits.y);
  value[0] = first.x;
  value[1] = first.y;
  value[2] = second.x;
  value[3] = second.y;
}

/// Four columns of each side a thread in the plane form, four columns in the space form.
template <class Out>
__global__ void __launch_bounds__(threads)
    field_to_turns_kernel(Panel panel, const __half* __restrict__ field, const float2* __restrict__ light, int levels,
                          Out* __restrict__ out) {
  struct alignas(4 * sizeof(Out)) Four {
    Out number[4];
  };
  const unsigned width = static_cast<unsigned>(panel.form == ProductForm::plane ? panel.half() : panel.width);
  const unsigned j = 4 * (blockIdx.y * blockDim.x + threadIdx.x);
  if (j >= width) return;
  const unsigned row = blockIdx.x;
  const bool is_aligned = panel.nx % 8 == 0 && reinterpret_cast<std::uintptr_t>(out) % sizeof(Four) == 0;
  const std::int64_t first_pixel = static_cast<std::int64_t>(row) * panel.nx;
  const auto store = [&](int column, const float(&re)[4], const float(&im)[4], int skipped) {
    Four four;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      four.number[i] = Out{};
      if (column + i < 0 || column + i >= panel.nx) continue;
      const PixelLight at(light, first_pixel + column + i);
      store_turns(four.number + i, at.modulus > 0 ? rounded(panel_turns({re[i], im[i]}, at), levels) : 0.0F);
      if (!is_aligned && i != skipped) out[first_pixel + column + i] = four.number[i];
    }
    if (is_aligned && column >= 0 && column < panel.nx) {
      *reinterpret_cast<Four*>(out + first_pixel + column) = four;
    }
  };
  constexpr int none = -1;
  float re[4];
  float im[4];
  if (panel.form == ProductForm::space) {
    const __half* const at = field + static_cast<std::int64_t>(row) * width + j;
    load_four(at, re);
    load_four(at + static_cast<std::int64_t>(panel.ny) * width, im);
    store(static_cast<int>(j), re, im, none);
    return;
  }
  const Columns columns(panel);
  const __half* const at = field + static_cast<std::int64_t>(row) * 4 * width + j;
  float odd_re[4];
  float odd_im[4];
  load_four(at, re);
  load_four(at + width, odd_im);
  load_four(at + 2 * width, im);
  load_four(at + 3 * width, odd_re);
  float left_re[4];
  float left_im[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    left_re[3 - i] = re[i] + odd_re[i];
    left_im[3 - i] = im[i] - odd_im[i];
    re[i] -= odd_re[i];
    im[i] += odd_im[i];
  }
  store(columns.middle + static_cast<int>(j), re, im, none);
  // The middle column of an odd number stands on the right.
  store(columns.left - static_cast<int>(j) - 3, left_re, left_im, columns.left == columns.middle && j == 0 ? 3 : none);
}

/// The factor of depth beyond the paraxial one at a pixel, as SpotPlan has it; float64, as turns may be thousands.
__device__ float2 depth_wave(const Panel& panel, DepthFactor depth, int row, int column) {
  const double x = column - 0.5 * (panel.nx - 1);
  const double y = 0.5 * (panel.ny - 1) - row;
  const double s = depth.square * (x * x + y * y);
  const double turns = depth.turns * s * (1 / (1 + sqrt(fmax(1 - s, 0.0))) - 0.5);
  return unit_wave(static_cast<float>(turns - rint(turns)));
}

/// Fields of the layout; pixels beyond the panel are dark.
__global__ void turns_to_field_kernel(Panel panel, const float* __restrict__ turns, const float2* __restrict__ light,
                                      int levels, DepthFactor depth, __half* __restrict__ field) {
  const std::int64_t i = thread_index();
  const auto value_at = [&](std::int64_t row, int column) {
    if (column < 0 || column >= panel.nx) return float2{};
    const std::int64_t pixel = row * panel.nx + column;
    const PixelLight at(light, pixel);
    float2 value = modulated(turns != nullptr ? rounded(turns[pixel], levels) : 0.0F, at);
    if (depth.turns != 0) {
      const float2 factor = depth_wave(panel, depth, static_cast<int>(row), column);
      value = product(value, {factor.x, -factor.y});
    }
    return value;
  };
  if (panel.form == ProductForm::plane) {
    const Columns columns(panel);
    if (i >= static_cast<std::int64_t>(panel.ny) * columns.half) return;
    const std::int64_t row = i / columns.half;
    const int j = static_cast<int>(i % columns.half);
    const float2 plus = value_at(row, columns.middle + j);
    const bool is_middle = columns.left == columns.middle && j == 0;
    const float2 minus = is_middle ? float2{} : value_at(row, columns.left - j);
    const std::int64_t re = 2 * row * panel.width + j;
    const std::int64_t im = re + panel.width;
    field[re] = __float2half(plus.x + minus.x);
    field[re + columns.half] = __float2half(plus.y - minus.y);
    field[im] = __float2half(plus.y + minus.y);
    field[im + columns.half] = __float2half(minus.x - plus.x);
    return;
  }
  const std::int64_t plane = static_cast<std::int64_t>(panel.ny) * panel.width;
  if (i >= plane) return;
  const float2 value = value_at(i / panel.width, static_cast<int>(i % panel.width));
  field[i] = __float2half(value.x);
  field[i + plane] = __float2half(value.y);
  field[i + 2 * plane] = __float2half(value.x + value.y);
}

__global__ void amplitude_kernel(Panel panel, const float2* __restrict__ light, __half* __restrict__ amplitude) {
  const std::int64_t i = thread_index();
  if (i >= static_cast<std::int64_t>(panel.ny) * panel.width) return;
  const std::int64_t row = i / panel.width;
  const int j = static_cast<int>(i % panel.width);
  int column = j;
  if (panel.form == ProductForm::plane) {
    const Columns columns(panel);
    const bool is_right = j < columns.half;
    column = is_right ? columns.middle + j : columns.left - (j - columns.half);
    if (!is_right && column == columns.middle) column = -1;  // an odd panel's middle column stands on the right
  }
  const bool is_inside = column >= 0 && column < panel.nx;
  amplitude[i] = __float2half(is_inside ? PixelLight(light, row * panel.nx + column).modulus : 0.0F);
}

__global__ void add_group_kernel(Panel panel, const __half* __restrict__ products, DepthFactor depth, bool is_first,
                                 float2* __restrict__ sum) {
  const std::int64_t i = thread_index();
  if (i >= static_cast<std::int64_t>(panel.ny) * panel.nx) return;
  const std::int64_t plane = static_cast<std::int64_t>(panel.ny) * panel.width;
  const int row = static_cast<int>(i / panel.nx);
  const int column = static_cast<int>(i % panel.nx);
  const std::int64_t at = static_cast<std::int64_t>(row) * panel.width + column;
  const float a = __half2float(products[at]);
  const float b = __half2float(products[at + plane]);
  const float c = __half2float(products[at + 2 * plane]);
  float2 value{a - b, a + b - c};
  if (depth.turns != 0) value = product(value, depth_wave(panel, depth, row, column));
  sum[i] = is_first ? value : cuda::sum(sum[i], value);
}

__global__ void normalise_turns_kernel(std::int64_t count, const float2* __restrict__ sum,
                                       const float2* __restrict__ light, float keep, float* __restrict__ turns) {
  const std::int64_t i = thread_index();
  if (i >= count) return;
  PixelLight at(light, i);
  float2 value = sum[i];
  const bool is_lit = at.modulus > 0;
  at.modulus = keep;
  if (keep > 0) value = cuda::sum(value, modulated(turns[i], at));
  if (value.x * value.x + value.y * value.y <= least_square) return;
  turns[i] = is_lit ? rounded(panel_turns(value, at), 0) : 0.0F;
}

__global__ void radians_kernel(const float* __restrict__ turns, std::int64_t count, float* __restrict__ radians) {
  const std::int64_t i = thread_index();
  if (i >= count) return;
  constexpr float turn = 6.2831853F;
  const float value = turn * turns[i];
  radians[i] = value < turn ? value : 0.0F;
}
__global__ void turns_kernel(const float* __restrict__ radians, std::int64_t count, float* __restrict__ turns) {
  const std::int64_t i = thread_index();
  if (i >= count) return;
  const double value = static_cast<double>(radians[i]) * 0.15915494309189535;
  turns[i] = rounded(static_cast<float>(value - floor(value)), 0);
}

__global__ void codes_kernel(const float* __restrict__ turns, std::int64_t count, std::uint8_t* __restrict__ codes) {
  const std::int64_t i = thread_index();
  if (i < count) store_turns(codes + i, turns[i]);
}

__global__ void load_kernel(const float4* __restrict__ place_here, const float* __restrict__ shade_here, int count,
                            float4* __restrict__ place, float* __restrict__ shade) {
  const int i = static_cast<int>(thread_index());
  if (i >= count) return;
  place[i] = place_here[i];
  if (shade != nullptr) shade[i] = shade_here[i];
}

__global__ void begin_kernel(SpotBeginning what) {
  const int i = static_cast<int>(thread_index());
  if (blockIdx.x == 0) {
    const float2 before = what.is_start ? float2{what.level, 0} : what.sums[what.last];
    __syncthreads();
    if (i == 0) what.sums[what.last] = what.steps > 0 ? float2{} : before;
    if (i < what.steps) what.sums[i] = i == 0 ? before : float2{};
  }
  if (i >= what.count) return;
  if (what.place_in != nullptr) {
    what.place[i] = what.place_in[i];
    if (what.shade_in != nullptr) what.shade[i] = what.shade_in[i];
    what.pace[i].before = 0;
  }
  if (!what.is_start) return;
  what.weight[i] = what.place[i].w;
  double sine = 0;
  double cosine = 0;
  sincospi(2 * random_uniform64(what.seed, static_cast<std::uint64_t>(what.number[i])), &sine, &cosine);
  what.unit[i] = {static_cast<float>(cosine), static_cast<float>(sine)};
  what.pace[i] = {};
}

__global__ void round_kernel(float* __restrict__ turns, std::int64_t count, int levels) {
  const std::int64_t i = thread_index();
  if (i < count) turns[i] = rounded(turns[i], levels);
}

unsigned blocks(std::int64_t count) { return blocks_for(count, threads); }
/// Blocks of equal size along rows of `count` threads.
struct RowLaunch {
  dim3 grid;
  unsigned threads;

  RowLaunch(const Panel& panel, int count) {
    const unsigned across = blocks(count);
    threads = (static_cast<unsigned>(count) + across - 1) / across;
    threads = (threads + 31) / 32 * 32;
    grid = dim3(static_cast<unsigned>(panel.ny), across);
  }
};
std::int64_t pixels(const Panel& panel) { return static_cast<std::int64_t>(panel.ny) * panel.nx; }

}  // namespace

void normalise(const Panel& panel, const __half* sum, const __half* light, float keep, __half* field,
               cudaStream_t stream) {
  if (panel.form == ProductForm::plane) {
    const RowLaunch rows(panel, panel.width / 4);
    normalise_plane_kernel<<<rows.grid, rows.threads, 0, stream>>>(panel, reinterpret_cast<const unsigned*>(sum),
                                                                   reinterpret_cast<const unsigned*>(light), keep,
                                                                   reinterpret_cast<unsigned*>(field));
  } else {
    const unsigned grid = blocks(static_cast<std::int64_t>(panel.ny) * panel.width / 4);
    normalise_space_kernel<<<grid, threads, 0, stream>>>(panel, reinterpret_cast<const uint2*>(sum),
                                                         reinterpret_cast<const uint2*>(light), keep,
                                                         reinterpret_cast<uint2*>(field));
  }
  cuda::check_launch("spots normalise");
}

namespace {
template <class Out>
void find_turns(const Panel& panel, const __half* field, const float2* light, int levels, Out* out,
                cudaStream_t stream) {
  const RowLaunch rows(panel, panel.width / (panel.form == ProductForm::plane ? 8 : 4));
  field_to_turns_kernel<<<rows.grid, rows.threads, 0, stream>>>(panel, field, light, levels, out);
  cuda::check_launch("spots phase");
}
}  // namespace

void field_to_turns(const Panel& panel, const __half* field, const float2* light, int levels, float* turns,
                    cudaStream_t stream) {
  find_turns(panel, field, light, levels, turns, stream);
}
void field_to_codes(const Panel& panel, const __half* field, const float2* light, int levels, std::uint8_t* codes,
                    cudaStream_t stream) {
  find_turns(panel, field, light, levels, codes, stream);
}

void turns_to_group(const Panel& panel, const float* turns, const float2* light, int levels, DepthFactor depth,
                    __half* field, cudaStream_t stream) {
  const int columns = panel.form == ProductForm::plane ? panel.half() : panel.width;
  turns_to_field_kernel<<<blocks(static_cast<std::int64_t>(panel.ny) * columns), threads, 0, stream>>>(
      panel, turns, light, levels, depth, field);
  cuda::check_launch("spots field");
}

void place_amplitude(const Panel& panel, const float2* light, __half* amplitude, cudaStream_t stream) {
  amplitude_kernel<<<blocks(static_cast<std::int64_t>(panel.ny) * panel.width), threads, 0, stream>>>(panel, light,
                                                                                                      amplitude);
  cuda::check_launch("spots amplitude");
}

void add_group(const Panel& panel, const __half* products, DepthFactor depth, bool is_first, float2* sum,
               cudaStream_t stream) {
  add_group_kernel<<<blocks(pixels(panel)), threads, 0, stream>>>(panel, products, depth, is_first, sum);
  cuda::check_launch("spots group");
}

void normalise_turns(const Panel& panel, const float2* sum, const float2* light, float keep, float* turns,
                     cudaStream_t stream) {
  normalise_turns_kernel<<<blocks(pixels(panel)), threads, 0, stream>>>(pixels(panel), sum, light, keep, turns);
  cuda::check_launch("spots normalise");
}

void round_turns(float* turns, std::int64_t count, int levels, cudaStream_t stream) {
  round_kernel<<<blocks(count), threads, 0, stream>>>(turns, count, levels);
  cuda::check_launch("spots rounding");
}
void begin_steps(const SpotBeginning& what, cudaStream_t stream) {
  begin_kernel<<<blocks(what.count), threads, 0, stream>>>(what);
  cuda::check_launch("spots begin");
}
void load_places(const float4* place_here, const float* shade_here, int count, float4* place, float* shade,
                 cudaStream_t stream) {
  load_kernel<<<blocks(count), threads, 0, stream>>>(place_here, shade_here, count, place, shade);
  cuda::check_launch("spots places");
}
void turns_to_codes(const float* turns, std::int64_t count, std::uint8_t* codes, cudaStream_t stream) {
  codes_kernel<<<blocks(count), threads, 0, stream>>>(turns, count, codes);
  cuda::check_launch("spots codes");
}
void turns_to_radians(const float* turns, std::int64_t count, float* radians, cudaStream_t stream) {
  radians_kernel<<<blocks(count), threads, 0, stream>>>(turns, count, radians);
  cuda::check_launch("spots radians");
}
void radians_to_turns(const float* radians, std::int64_t count, float* turns, cudaStream_t stream) {
  turns_kernel<<<blocks(count), threads, 0, stream>>>(radians, count, turns);
  cuda::check_launch("spots turns");
}

}  // namespace holotone::spots
