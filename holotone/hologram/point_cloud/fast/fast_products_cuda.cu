#include <algorithm>
#include <bit>
#include <holotone/core/matrix_product/wgmma_cuda.cuh>
#include <holotone/hologram/point_cloud/fast/fast_place_cuda.cuh>
#include <holotone/hologram/point_cloud/fast/fast_products_cuda.cuh>
#include <vector>

namespace holotone::point_cloud {
namespace {

constexpr int threads = 256;
constexpr unsigned all_lanes = 0xffffffffU;
constexpr int planes = product_count(ProductForm::complex_three);
constexpr std::int64_t longest_batch = 2048;
constexpr std::int64_t point_granularity = 64;
constexpr std::int64_t budget_bytes = std::int64_t{1} << 30;

/// Points of one block of gather_kernel: rounds of one point for each thread.
constexpr int gather_rounds = 8;

/// Writes the record of a point in coordinates of the tile.
__device__ __forceinline__ void write_record(const FastGrid& grid, const RawPoints& points, std::int64_t j, int tile,
                                             std::int64_t slot, float4* records, std::int64_t record_count) {
  const double distance = -static_cast<double>(points.position[3 * j + 2]);
  const double x = points.position[3 * j] * points.inverse_pitch + points.center_x;
  const double y = points.center_y - points.position[3 * j + 1] * points.inverse_pitch;
  const double turns = points.phase_rad != nullptr ? points.phase_rad[j] * 0.15915494309189535 : 0.0;
  const double reach = points.reach_per_metre > 0 ? points.reach_per_metre * fabs(distance) : 1e30;
  const PointRecord record =
      record_of(x - tile % grid.tiles_x * grid.tile_width, y - tile / grid.tiles_x * grid.tile_height,
                points.turns_metre / distance, reach, points.amplitude[j], turns);
  records[slot] = record.position;
  records[record_count + slot] = record.wave;
  records[2 * record_count + slot] = record.lit;
}

/// Counts (begins null) or gathers the points that light a tile in part, in their order: counts[tile][block], and the
/// sums of all counts before each.
__global__ void __launch_bounds__(threads)
    gather_kernel(FastGrid grid, RawPoints points, int* counts, const int* begins, const int* slots, float4* records,
                  std::int64_t record_count) {
  constexpr int warps = threads / 32;
  __shared__ int warp_found[warps];
  const int tile = blockIdx.y;
  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;
  const std::int64_t first_block = static_cast<std::int64_t>(tile) * gridDim.x;
  int before = begins == nullptr ? 0 : slots[tile] + begins[first_block + blockIdx.x] - begins[first_block];
  for (int round = 0; round < gather_rounds; ++round) {
    const std::int64_t first = (blockIdx.x * static_cast<std::int64_t>(gather_rounds) + round) * threads;
    if (first >= points.count) break;
    const std::int64_t j = first + threadIdx.x;
    const bool partly = j < points.count && place_point(grid, points, j, tile).lit == Lit::partly;
    const unsigned found = __ballot_sync(all_lanes, partly);
    if (lane == 0) warp_found[warp] = __popc(found);
    __syncthreads();
    int ahead = __popc(found & ((1U << lane) - 1));
    int all = 0;
#pragma unroll
    for (int w = 0; w < warps; ++w) {
      ahead += w < warp ? warp_found[w] : 0;
      all += warp_found[w];
    }
    __syncthreads();  // the next round overwrites warp_found
    if (partly && begins != nullptr) write_record(grid, points, j, tile, before + ahead, records, record_count);
    before += all;
  }
  if (begins == nullptr && threadIdx.x == 0) counts[first_block + blockIdx.x] = before;
}

/// Number of points that light each tile in part.
__global__ void count_kernel(int tiles, std::int64_t blocks, const int* begins, int* tile_count) {
  const int tile = blockIdx.x * threads + threadIdx.x;
  if (tile < tiles) tile_count[tile] = begins[(tile + 1) * blocks] - begins[tile * blocks];
}

/// Adds the jobs [first_job, first_job + batches) of every tile to the panel.
__global__ void add_kernel(FastGrid grid, const float* c, const int* tile_job, int first_job, int batches, float scale,
                           float2* panel) {
  const int tile = blockIdx.y;
  const int begin = max(tile_job[tile] - first_job, 0);
  const int end = min(tile_job[tile + 1] - first_job, batches);
  const int pixel = blockIdx.x * threads + threadIdx.x;
  const int pixels = grid.tile_width * grid.tile_height;
  if (begin >= end || pixel >= pixels) return;
  const int column = tile % grid.tiles_x * grid.tile_width + pixel % grid.tile_width;
  const int row = tile / grid.tiles_x * grid.tile_height + pixel / grid.tile_width;
  if (column >= grid.panel_width || row >= grid.panel_height) return;
  float sum[planes] = {};
  for (int batch = begin; batch < end; ++batch) {
#pragma unroll
    for (int i = 0; i < planes; ++i) sum[i] += c[(static_cast<std::int64_t>(batch) * planes + i) * pixels + pixel];
  }
  float2& target = panel[static_cast<std::int64_t>(row) * grid.panel_width + column];
  target.x += scale * (sum[0] - sum[1]);
  target.y += scale * (sum[2] - sum[0] - sum[1]);
}

std::int64_t round_up(std::int64_t value, std::int64_t step) { return (value + step - 1) / step * step; }

/// Returns the largest power of two that is not above a positive value.
std::int64_t power_below(std::int64_t value) {
  return static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(value)));
}

}  // namespace

bool fast_masks_on_chip(double tolerance, const Queue& queue) {
  const cuda::DeviceScope scope(queue.device());
  return choose_float_arithmetic(tolerance).type == FactorType::float16 && cuda::hopper_processors() > 0;
}

FastProducts::FastProducts(const PointCloudOptions& options, Queue queue, bool few_shapes)
    : options_(options),
      queue_(std::move(queue)),
      few_shapes_(few_shapes),
      arithmetic_(choose_float_arithmetic(options.tolerance)),
      masked_(queue_) {
  // Three products at every tolerance: add_kernel implements no other form.
  if (arithmetic_.form != ProductForm::complex_three)
    arithmetic_ = choose_float_arithmetic(point_cloud_fast_tolerance_floor);
  arithmetic_.form = ProductForm::complex_three;
}

void FastProducts::set(const FastGrid& grid, const RawPoints& points, float largest_amplitude) {
  clear();
  if (grid.on_chip) {
    x_ = {};
    y_ = {};
    c_ = {};
    return masked_.set(grid, points, largest_amplitude);
  }
  masked_ = MaskedProducts(queue_);
  const auto stream = cuda::stream_of(queue_);
  const int tiles = grid.tiles();
  if (grid.tile_width != grid_.tile_width || grid.tile_height != grid_.tile_height) products_.clear();
  grid_ = grid;
  largest_amplitude_ = largest_amplitude;
  reserve(tiles_, 3 * tiles + 1, queue_);
  const unsigned largest = std::bit_cast<unsigned>(largest_amplitude);
  reserve(largest_, 1, queue_);
  copy_bytes(largest_.data(), queue_.device(), &largest, Device{}, sizeof largest, queue_);
  const std::size_t count_bytes = sizeof(int) * static_cast<std::size_t>(tiles);
  const dim3 blocks(cuda::blocks_for(points.count, threads * gather_rounds), static_cast<unsigned>(tiles));
  // The last count is read, but no sum holds it.
  const std::int64_t entries = std::int64_t{1} * tiles * blocks.x + 1;
  const auto scan_bytes = static_cast<std::int64_t>(fast_scan_bytes(static_cast<int>(entries - 1)));
  reserve(counts_, 2 * entries, queue_);
  reserve(scan_memory_, scan_bytes, queue_);
  int* const counts = counts_.data();
  int* const begins = counts + entries;
  cuda::check(cudaMemsetAsync(counts + entries - 1, 0, sizeof(int), stream), "cudaMemsetAsync");
  gather_kernel<<<blocks, threads, 0, stream>>>(grid, points, counts, nullptr, nullptr, nullptr, 0);
  cuda::check_launch("gather");
  fast_scan(counts, begins, static_cast<int>(entries - 1), scan_memory_.data(), stream);
  count_kernel<<<cuda::blocks_for(tiles, threads), threads, 0, stream>>>(tiles, blocks.x, begins, tiles_.data());
  cuda::check_launch("count");
  std::vector<int> tile_points(static_cast<std::size_t>(tiles));
  copy_bytes(tile_points.data(), Device{}, tiles_.data(), queue_.device(), count_bytes, queue_);
  queue_.synchronize();
  plan_calls(tile_points);
  if (jobs_ == 0) return;
  const std::int64_t slots = round_up(jobs_, batches_) * batch_points_;
  reserve(records_, 3 * slots, queue_);
  cuda::check(cudaMemsetAsync(records_.data(), 0, static_cast<std::size_t>(3 * slots) * sizeof(float4), stream),
              "cudaMemsetAsync");
  gather_kernel<<<blocks, threads, 0, stream>>>(grid, points, nullptr, begins, tiles_.data() + tiles, records_.data(),
                                                slots);
  cuda::check_launch("gather");
}

void FastProducts::plan_calls(const std::vector<int>& tile_points) {
  std::int64_t all = 0;
  for (const int count : tile_points) all += count;
  jobs_ = 0;
  if (all == 0) return;
  const auto tiles = static_cast<std::int64_t>(tile_points.size());
  const std::int64_t longest = std::min(longest_batch, max_batch_points(arithmetic_));
  std::int64_t batch = std::clamp(round_up(all / tiles + 1, point_granularity), point_granularity,
                                  std::max(point_granularity, longest / point_granularity * point_granularity));
  if (few_shapes_) batch = power_below(batch);
  std::vector<int> slots_and_jobs;
  for (const int count : tile_points) {
    slots_and_jobs.push_back(static_cast<int>(jobs_ * batch));
    jobs_ += (count + batch - 1) / batch;
  }
  std::int64_t job = 0;
  for (const int count : tile_points) {
    slots_and_jobs.push_back(static_cast<int>(job));
    job += (count + batch - 1) / batch;
  }
  slots_and_jobs.push_back(static_cast<int>(job));
  copy_bytes(tiles_.data() + tiles, queue_.device(), slots_and_jobs.data(), Device{},
             slots_and_jobs.size() * sizeof(int), queue_);
  queue_.synchronize();
  const std::int64_t depth = batch * depth_segments(arithmetic_.type, arithmetic_.form);
  const std::int64_t lines = std::int64_t{planes} * (grid_.tile_width + grid_.tile_height);
  const std::int64_t job_bytes =
      lines * depth * factor_bytes(arithmetic_.type) +
      std::int64_t{planes} * grid_.tile_width * grid_.tile_height * static_cast<std::int64_t>(sizeof(float));
  constexpr std::int64_t max_batches = 256;
  const std::int64_t affordable = std::clamp<std::int64_t>(budget_bytes / job_bytes, 1, max_batches);
  const std::int64_t batches = few_shapes_ ? power_below(affordable) : std::min(affordable, jobs_);
  if (!few_shapes_ && (batch != batch_points_ || batches != batches_)) products_.clear();
  batch_points_ = static_cast<int>(batch);
  batches_ = static_cast<int>(batches);
  reserve(x_, planes * grid_.tile_width * depth * factor_bytes(arithmetic_.type) * batches, queue_);
  reserve(y_, planes * grid_.tile_height * depth * factor_bytes(arithmetic_.type) * batches, queue_);
  reserve(c_, std::int64_t{planes} * grid_.tile_width * grid_.tile_height * batches, queue_);
}

const float2* FastProducts::sum(cuda::MatrixProductChoice how, void* scratch) {
  if (!masked_.empty()) return masked_.sum();
  const auto stream = cuda::stream_of(queue_);
  const std::int64_t pixels = std::int64_t{1} * grid_.panel_width * grid_.panel_height;
  reserve(panel_, pixels, queue_);
  cuda::check(cudaMemsetAsync(panel_.data(), 0, static_cast<std::size_t>(pixels) * sizeof(float2), stream),
              "cudaMemsetAsync");
  const std::int64_t calls = (jobs_ + batches_ - 1) / batches_;
  const std::int64_t slots = calls * batches_ * batch_points_;
  const PointRecords records{records_.data(), records_.data() + slots, records_.data() + 2 * slots, largest_.data()};
  const FactorShape shape{grid_.tile_width, grid_.tile_height, 0, batch_points_, batches_};
  const std::pair<int, int> key{batch_points_, batches_};
  auto product = products_.find(key);
  if (product == products_.end()) {
    cuda::MatrixProductShape of_jobs;
    of_jobs.rows = grid_.tile_height;
    of_jobs.columns = grid_.tile_width;
    of_jobs.depth = std::int64_t{batch_points_} * depth_segments(arithmetic_.type, arithmetic_.form);
    of_jobs.batch = std::int64_t{batches_} * planes;
    product = products_.try_emplace(key, of_jobs, queue_, scratch).first;
  }
  for (std::int64_t call = 0; call < calls; ++call) {
    generate_factors(arithmetic_.type, arithmetic_.form, records, call * batches_ * batch_points_, slots, shape,
                     x_.data(), y_.data(), stream);
    product->second.choose(how, y_.data(), x_.data(), c_.data());
    product->second.run(y_.data(), x_.data(), c_.data(), false);
    const dim3 blocks(cuda::blocks_for(std::int64_t{1} * grid_.tile_width * grid_.tile_height, threads),
                      static_cast<unsigned>(grid_.tiles()));
    add_kernel<<<blocks, threads, 0, stream>>>(grid_, c_.data(), tiles_.data() + 2 * grid_.tiles(),
                                               static_cast<int>(call * batches_), batches_,
                                               largest_amplitude_ / product_scale(arithmetic_.type), panel_.data());
    cuda::check_launch("add");
  }
  return panel_.data();
}

std::size_t FastProducts::bytes() const {
  return tiles_.bytes() + counts_.bytes() + scan_memory_.bytes() + records_.bytes() + x_.bytes() + y_.bytes() +
         c_.bytes() + panel_.bytes() + masked_.bytes();
}

}  // namespace holotone::point_cloud
