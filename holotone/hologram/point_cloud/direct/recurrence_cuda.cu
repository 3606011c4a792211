#include <holotone/hologram/point_cloud/engine_cuda.cuh>

namespace holotone::point_cloud {
namespace {

// Shimobaba et al. 2010, Eq. (2), in fixed point: phases are turns times 2^32 in unsigned integers, whose overflow
// drops whole turns. A thread computes a run of pixels along a row; each step is two additions. Gamma_0 is reduced in
// float32, within about 1e-7 turn as for every method. Delta_0 and Delta are within 2^-32 turn (rounding), so n steps
// add at most (n + n^2 / 2) 2^-32 turn: 4e-8 turn at the end of a run of 16, below float32's own rounding of the sum.
constexpr int run_pixels = 16;
constexpr int block_rows = 8;
constexpr int block_runs = 16;
constexpr int block_threads = block_rows * block_runs;
constexpr int batch_points = 64;

/// Data of a point for one thread; the row part of the phase is stored separately, once per row of the block.
struct PointStart {
  float a_high;
  float a_low;
  float x_whole;
  float x_rest;
  float amplitude;
  float first;
  float last;
  unsigned second_difference;  ///< Delta = 2 a
};

struct Batch {
  PointStart point[batch_points];
  float row_turns[batch_points][block_rows];
  float row_lit[batch_points][block_rows];
};

__device__ void load_batch(Batch& batch, const PointRecords& points, std::int64_t base, int row0) {
  for (int i = threadIdx.x; i < batch_points * block_rows; i += block_threads) {
    const int p = i / block_rows;
    const int r = i % block_rows;
    const float4 position = points.position[base + p];
    const float4 wave = points.wave[base + p];
    const float4 lit = points.lit[base + p];
    const auto row = static_cast<float>(row0 + r);
    batch.row_turns[p][r] = reduced_turns(row, position.z, position.w, wave.x, wave.y) + wave.w;
    batch.row_lit[p][r] = row >= lit.z && row <= lit.w ? 1.0F : 0.0F;
    if (r == 0) {
      const double a = static_cast<double>(wave.x) + static_cast<double>(wave.y);
      batch.point[p] = {wave.x, wave.y, position.x, position.y, wave.z, lit.x, lit.y, fixed_turns(2 * a)};
    }
  }
}

/// RealAlone: see direct_sum.
template <bool RealAlone>
__global__ void __launch_bounds__(block_threads) recurrence_sum(PointRecords points, std::int64_t padded_count, int nx,
                                                                int first_row, int rows, OutputPointers output) {
  __shared__ Batch batch;
  const int local_row = threadIdx.x / block_runs;
  const int column0 = (blockIdx.x * block_runs + threadIdx.x % block_runs) * run_pixels;
  const int row0 = blockIdx.y * block_rows;  // relative to the part
  const auto x0 = static_cast<float>(column0);
  float re[run_pixels] = {};
  float im[run_pixels] = {};
  float re_lost[run_pixels] = {};
  float im_lost[run_pixels] = {};
  for (std::int64_t base = 0; base < padded_count; base += batch_points) {
    __syncthreads();
    load_batch(batch, points, base, first_row + row0);
    __syncthreads();
    float re_batch[run_pixels] = {};
    float im_batch[run_pixels] = {};
    for (int p = 0; p < batch_points; ++p) {
      const PointStart start = batch.point[p];
      const float anchor =
          reduced_turns(x0, start.x_whole, start.x_rest, start.a_high, start.a_low) + batch.row_turns[p][local_row];
      unsigned gamma = fixed_turns(anchor);
      const double u = (static_cast<double>(x0) - start.x_whole) - start.x_rest;
      unsigned delta = fixed_turns((static_cast<double>(start.a_high) + start.a_low) * (2 * u + 1));
      const float weight = -start.amplitude * batch.row_lit[p][local_row];  // minus compensates the half turn
                                                                            // subtracted below
#pragma unroll
      for (int n = 0; n < run_pixels; ++n) {
        // The top 23 bits form a float in [1, 2); minus 1.5 it is the turns minus a half. This is cheaper than a
        // conversion, which shares the unit of the sine.
        const float turns = __uint_as_float((gamma >> 9) | 0x3f800000U) - 1.5F;
        const float x = x0 + static_cast<float>(n);
        const float lit = x >= start.first && x <= start.last ? weight : 0.0F;
        add_wave<RealAlone>(6.28318531F * turns, lit, re_batch[n], im_batch[n]);
        gamma += delta;
        delta += start.second_difference;
      }
    }
#pragma unroll
    for (int n = 0; n < run_pixels; ++n) {
      add_compensated(re[n], re_lost[n], re_batch[n]);
      if constexpr (!RealAlone) add_compensated(im[n], im_lost[n], im_batch[n]);
    }
  }
  if (row0 + local_row >= rows) return;
#pragma unroll
  for (int n = 0; n < run_pixels; ++n) {
    if (column0 + n < nx) {
      output.write(static_cast<std::int64_t>(row0 + local_row) * nx + column0 + n, re[n], im[n]);
    }
  }
}

class RecurrenceCuda final : public PointCloudPlan::Engine {
 public:
  RecurrenceCuda(const PointCloudOptions& options, const Queue& queue)
      : options_(options), queue_(queue), points_(options, queue, batch_points) {}

  void set_points(EnginePoints points, const MethodChoice& /*choice*/) override { points_.set(points.sources); }

  void execute(const RowRange& part, const PointCloudOutput& output, Progress& progress) override {
    const cuda::DeviceScope scope(queue_.device());
    const auto nx = static_cast<int>(options_.shape[1]);
    const auto rows = static_cast<int>(part.rows);
    const dim3 grid(cuda::blocks_for(nx, run_pixels * block_runs), cuda::blocks_for(rows, block_rows));
    const auto kernel = only_real(output) ? recurrence_sum<true> : recurrence_sum<false>;
    kernel<<<grid, block_threads, 0, cuda::stream_of(queue_)>>>(
        points_.records(), points_.padded_count(), nx, static_cast<int>(part.first_row), rows, pointers_of(output));
    cuda::check_launch("recurrence_sum");
    progress.step("summing points", 1, 1);
  }

  [[nodiscard]] PointCloudInfo info() const override {
    return {PointMethod::recurrence, "fixed point 2^-32 turn, anchored every 16 pixels, float32 sum",
            point_cloud_tolerance_floor, points_.bytes()};
  }

 private:
  PointCloudOptions options_;
  Queue queue_;
  PreparedPoints points_;
};

}  // namespace

EnginePointer recurrence_cuda(const PointCloudOptions& options, const Queue& queue) {
  return std::make_unique<RecurrenceCuda>(options, queue);
}

}  // namespace holotone::point_cloud
