#include <holotone/hologram/point_cloud/engine_cuda.cuh>

namespace holotone::point_cloud {
namespace {

// A block sums one tile of columns x rows; a thread owns one column and all rows of the tile. The x part of a phase is
// computed once per thread and point, the y part once per block and point. Each pair of pixel and point then costs one
// addition, one sine, one cosine and two multiply-adds: the special-function units are the limit.
constexpr int tile_columns = 128;
constexpr int tile_rows = 8;
constexpr int tile_points = 64;
constexpr float two_pi = 6.28318531F;
/// Largest pitch / d: squares of pixels times it stay finite. Points so near light no pixel beside their own.
constexpr float max_slope = 1e8F;

/// Column phase, amplitude and lit columns of one point.
struct ColumnRecord {
  float a_high;
  float a_low;
  float amplitude;
  float x_whole;
  float x_rest;
  float first;
  float last;
};

struct Tile {
  ColumnRecord column[tile_points];
  float row_phase[tile_points][tile_rows];   ///< y part of the phase in radians, reduced
  float row_lit[tile_points][tile_rows];     ///< 1 or 0
  float row_offset[tile_points][tile_rows];  ///< spherical only: v in pixels
};

/// Loads one batch of points into shared memory, one (point, row) pair after another.
template <bool Spherical>
__device__ void load_tile(Tile& tile, const PointRecords& points, std::int64_t base, int row0) {
  for (int i = threadIdx.x; i < tile_points * tile_rows; i += tile_columns) {
    const int p = i / tile_rows;
    const int r = i % tile_rows;
    const float4 position = points.position[base + p];
    const float4 wave = points.wave[base + p];
    const float4 lit = points.lit[base + p];
    const auto row = static_cast<float>(row0 + r);
    const float turns = reduced_turns(row, position.z, position.w, wave.x, wave.y) + wave.w;
    tile.row_phase[p][r] = two_pi * (turns - rintf(turns));
    tile.row_lit[p][r] = row >= lit.z && row <= lit.w ? 1.0F : 0.0F;
    if constexpr (Spherical) tile.row_offset[p][r] = (row - position.z) - position.w;
    if (r == 0) tile.column[p] = {wave.x, wave.y, wave.z, position.x, position.y, lit.x, lit.y};
  }
}

/// Computes the lag of the spherical phase behind the Fresnel phase, in turns, reduced to [-0.5, 0.5]: a rho^2 s / (1 +
/// sqrt(1 + s))^2 with s = (rho / d)^2 and pitch / d = 2 lambda a / pitch. Float32 suffices where the lag is a
/// few turns at most.
template <class Real>
__device__ __forceinline__ float spherical_lag(const ColumnRecord& record, float u, float v, Real slope_per_a) {
  const Real a = static_cast<Real>(record.a_high) + static_cast<Real>(record.a_low);
  const Real rho_square = static_cast<Real>(u) * static_cast<Real>(u) + static_cast<Real>(v) * static_cast<Real>(v);
  const Real slope = fmin(fmax(a * slope_per_a, Real(-max_slope)), Real(max_slope));
  const Real s = rho_square * slope * slope;
  const Real root = Real(1) + sqrt(Real(1) + s);
  const Real lag = a * rho_square * (s / (root * root));
  return static_cast<float>(lag - rint(lag));
}

__device__ __forceinline__ float soft_edge_single(float t) {
  const float x = fminf(fmaxf(t, 0.0F), 1.0F);
  const float c = cospif(0.5F * x * x * x * (10.0F + x * (6.0F * x - 15.0F)));
  return x >= 1.0F ? 0.0F : c * c;
}

/// |d| / r, also of points far nearer than a pixel; slope: pitch / d.
__device__ __forceinline__ float foot_share(float u, float v, float slope) {
  const float tangent = fabsf(slope) * sqrtf(u * u + v * v);
  return tangent > 1e9F ? 1.0F / tangent : rsqrtf(1.0F + tangent * tangent);
}

/// b of point_cloud_math.h in float32, with falloff times |d| / r; per_limit: 1 / s1, 0 without a band limit.
__device__ __forceinline__ float light_of_pixel(float u, float v, float slope, float per_limit, bool falloff) {
  const float size = fminf(fabsf(slope), max_slope);
  const float x = fabsf(u) * size;
  const float y = fabsf(v) * size;
  const float square = x * x + y * y;
  const float cosine = rsqrtf(1.0F + square);
  const float sine = sqrtf(square) * cosine;
  const float size_of_wave = falloff ? foot_share(u, v, slope) : 1.0F;
  if (per_limit == 0 ||
      (fmaxf(x, y) * cosine * per_limit <= static_cast<float>(edge_begin) && sine <= static_cast<float>(cone_begin))) {
    return size_of_wave;
  }
  constexpr auto edge = static_cast<float>(1 / (1 - edge_begin));
  return size_of_wave * soft_edge_single((x * cosine * per_limit - static_cast<float>(edge_begin)) * edge) *
         soft_edge_single((y * cosine * per_limit - static_cast<float>(edge_begin)) * edge) *
         soft_edge_single((sine - static_cast<float>(cone_begin)) * static_cast<float>(1 / (cone_end - cone_begin)));
}

/// Real is void for the Fresnel wave, else the precision of the sphere's lag. RealAlone: cosines only, half the work of
/// the special-function units; the output has a real part alone.
template <class Real, bool RealAlone>
__global__ void __launch_bounds__(tile_columns)
    direct_sum(PointRecords points, std::int64_t padded_count, int nx, int first_row, int rows, double slope_per_a,
               float per_limit, bool falloff, OutputPointers output) {
  constexpr bool spherical = !std::is_void_v<Real>;
  __shared__ Tile tile;
  const int column = blockIdx.x * tile_columns + threadIdx.x;
  const int row0 = blockIdx.y * tile_rows;  // relative to the part
  const auto x = static_cast<float>(column);
  float re[tile_rows] = {};
  float im[tile_rows] = {};
  float re_lost[tile_rows] = {};  // Kahan 1965, once per batch: no visible rounding for a million points
  float im_lost[tile_rows] = {};
  for (std::int64_t base = 0; base < padded_count; base += tile_points) {
    __syncthreads();
    load_tile<spherical>(tile, points, base, first_row + row0);
    __syncthreads();
    float re_batch[tile_rows] = {};
    float im_batch[tile_rows] = {};
    for (int p = 0; p < tile_points; ++p) {
      const ColumnRecord record = tile.column[p];
      const float phase = two_pi * reduced_turns(x, record.x_whole, record.x_rest, record.a_high, record.a_low);
      const float amplitude = x >= record.first && x <= record.last ? record.amplitude : 0.0F;
#pragma unroll
      for (int r = 0; r < tile_rows; ++r) {
        float sum = phase + tile.row_phase[p][r];
        if constexpr (spherical) {
          sum -= two_pi * spherical_lag<Real>(record, (x - record.x_whole) - record.x_rest, tile.row_offset[p][r],
                                              static_cast<Real>(slope_per_a));
        }
        float weight = amplitude * tile.row_lit[p][r];
        if constexpr (spherical) {
          weight *= light_of_pixel((x - record.x_whole) - record.x_rest, tile.row_offset[p][r],
                                   record.a_high * static_cast<float>(slope_per_a), per_limit, falloff);
        }
        add_wave<RealAlone>(sum, weight, re_batch[r], im_batch[r]);
      }
    }
#pragma unroll
    for (int r = 0; r < tile_rows; ++r) {
      add_compensated(re[r], re_lost[r], re_batch[r]);
      if constexpr (!RealAlone) add_compensated(im[r], im_lost[r], im_batch[r]);
    }
  }
  if (column >= nx) return;
#pragma unroll
  for (int r = 0; r < tile_rows; ++r) {
    if (row0 + r < rows) output.write(static_cast<std::int64_t>(row0 + r) * nx + column, re[r], im[r]);
  }
}

class DirectCuda final : public PointCloudPlan::Engine {
 public:
  DirectCuda(const PointCloudOptions& options, const Queue& queue)
      : options_(options), queue_(queue), points_(options, queue, tile_points) {}

  void set_points(EnginePoints points, const MethodChoice& /*choice*/) override { points_.set(points.sources); }

  void execute(const RowRange& part, const PointCloudOutput& output, Progress& progress) override {
    const cuda::DeviceScope scope(queue_.device());
    const auto nx = static_cast<int>(options_.shape[1]);
    const auto rows = static_cast<int>(part.rows);
    const dim3 grid(cuda::blocks_for(nx, tile_columns), cuda::blocks_for(rows, tile_rows));
    const double slope_per_a = 2 * options_.wavelength_m / options_.pitch_m;
    const float per_limit = options_.band_limit ? static_cast<float>(1 / limit_cosine(options_)) : 0;
    const auto stream = cuda::stream_of(queue_);
    const auto launch = [&](auto kernel) {
      kernel<<<grid, tile_columns, 0, stream>>>(points_.records(), points_.padded_count(), nx,
                                                static_cast<int>(part.first_row), rows, slope_per_a, per_limit,
                                                options_.falloff, pointers_of(output));
    };
    const bool real = only_real(output);
    if (options_.wave == Wave::fresnel) {
      launch(real ? direct_sum<void, true> : direct_sum<void, false>);
    } else if (small_lag(options_)) {
      launch(real ? direct_sum<float, true> : direct_sum<float, false>);
    } else {
      launch(real ? direct_sum<double, true> : direct_sum<double, false>);
    }
    cuda::check_launch("direct_sum");
    progress.step("summing points", 1, 1);
  }

  [[nodiscard]] PointCloudInfo info() const override {
    return {PointMethod::direct, "float32, phases reduced in turns", point_cloud_tolerance_floor, points_.bytes()};
  }

 private:
  PointCloudOptions options_;
  Queue queue_;
  PreparedPoints points_;
};

}  // namespace

EnginePointer direct_cuda(const PointCloudOptions& options, const Queue& queue) {
  return std::make_unique<DirectCuda>(options, queue);
}

}  // namespace holotone::point_cloud
