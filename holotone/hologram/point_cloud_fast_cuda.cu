#include <algorithm>
#include <cmath>
#include <cub/device/device_reduce.cuh>
#include <holotone/core/matrix_product_cuda.hpp>
#include <holotone/hologram/point_cloud_fast_cuda.cuh>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace holotone::point_cloud {
namespace {

constexpr double upsamplings[] = {1.25, 1.5, 2.0};
constexpr int most_tiles = 8;  ///< an axis
constexpr int range_threads = 256;

/// Relative l2 errors that the stored precision leaves, measured on an H200 against float64 beside the windows' own.
constexpr double half_error = 6.5e-4;
constexpr double pair_error = 4e-5;
/// From this many points and tiles on, sorting them first pays; it needs a window that fits the sorted kernel.
constexpr double sorted_work = 300000;
constexpr int widest_sorted_window = 5;
/// Ranges are widened by this share of themselves, so that an object that moves a little keeps its matrices.
constexpr double range_slack = 0.02;

/// Where a cloud lies: pixels and turns a square pixel.
struct CloudRange {
  double low[3];  ///< column, row, curvature
  double high[3];
};

__global__ void range_kernel(PointRecords points, std::int64_t count, float* low, float* high) {
  float own_low[3] = {INFINITY, INFINITY, INFINITY};
  float own_high[3] = {-INFINITY, -INFINITY, -INFINITY};
  for (std::int64_t j = blockIdx.x * static_cast<std::int64_t>(range_threads) + threadIdx.x; j < count;
       j += static_cast<std::int64_t>(gridDim.x) * range_threads) {
    const float4 position = points.position[j];
    const float value[3] = {position.x + position.y, position.z + position.w, points.wave[j].x};
#pragma unroll
    for (int axis = 0; axis < 3; ++axis) {
      own_low[axis] = fminf(own_low[axis], value[axis]);
      own_high[axis] = fmaxf(own_high[axis], value[axis]);
    }
  }
  __shared__ float lows[3][range_threads / 32];
  __shared__ float highs[3][range_threads / 32];
#pragma unroll
  for (int axis = 0; axis < 3; ++axis) {
    for (int offset = 16; offset > 0; offset /= 2) {
      own_low[axis] = fminf(own_low[axis], __shfl_xor_sync(0xffffffffU, own_low[axis], offset));
      own_high[axis] = fmaxf(own_high[axis], __shfl_xor_sync(0xffffffffU, own_high[axis], offset));
    }
    if (threadIdx.x % 32 == 0) {
      lows[axis][threadIdx.x / 32] = own_low[axis];
      highs[axis][threadIdx.x / 32] = own_high[axis];
    }
  }
  __syncthreads();
  if (threadIdx.x < 3) {
    for (int i = 1; i < range_threads / 32; ++i) {
      lows[threadIdx.x][0] = fminf(lows[threadIdx.x][0], lows[threadIdx.x][i]);
      highs[threadIdx.x][0] = fmaxf(highs[threadIdx.x][0], highs[threadIdx.x][i]);
    }
    low[3 * blockIdx.x + threadIdx.x] = lows[threadIdx.x][0];
    high[3 * blockIdx.x + threadIdx.x] = highs[threadIdx.x][0];
  }
}

/// Frequencies -2 a u of points u in [low, high], a in the cloud's range, in steps of a grid.
struct Span {
  double low;
  double high;
};
Span frequency_span(const CloudRange& range, int axis, double origin, double steps) {
  Span span{std::numeric_limits<double>::max(), std::numeric_limits<double>::lowest()};
  for (const double u : {range.low[axis] - origin, range.high[axis] - origin}) {
    for (const double a : {range.low[2], range.high[2]}) {
      span.low = std::min(span.low, -2 * a * u * steps);
      span.high = std::max(span.high, -2 * a * u * steps);
    }
  }
  return span;
}

int round_up(int value, int step) { return (value + step - 1) / step * step; }

/// Tiles, boxes and steps for a window. False if a box would be too large for the kernels.
FastGrid make_grid(const Shape<2>& panel, const CloudRange& range, int tiles_x, int tiles_y, const SpreadWindow& window,
                   int split) {
  FastGrid grid{};
  const auto width = static_cast<int>(panel[1]);
  const auto height = static_cast<int>(panel[0]);
  grid.tile_width = round_up((width + tiles_x - 1) / tiles_x, 8);
  grid.tile_height = round_up((height + tiles_y - 1) / tiles_y, 2);
  grid.tiles_x = (width + grid.tile_width - 1) / grid.tile_width;
  grid.tiles_y = (height + grid.tile_height - 1) / grid.tile_height;
  grid.steps_x = std::ceil(window.upsampling * grid.tile_width);
  grid.steps_y = std::ceil(window.upsampling * grid.tile_height);
  const double radius =
      std::max(1.0, 0.25 * (1.0 * grid.tile_width * grid.tile_width + 1.0 * grid.tile_height * grid.tile_height));
  grid.middle_radius = 0.5 * radius;
  grid.steps_m = FastLayout::depth_margin * window.upsampling * radius;
  grid.middle_curvature = 0.5 * (range.low[2] + range.high[2]);
  grid.window_width = window.width;
  grid.window_beta = static_cast<float>(window.beta);
  grid.split = split;
  const double half_depth = 0.5 * (range.high[2] - range.low[2]) * grid.steps_m;
  grid.first_plane = static_cast<int>(std::floor(-half_depth - 0.5 * window.width));
  grid.planes = round_up(static_cast<int>(std::ceil(half_depth + 0.5 * window.width)) - grid.first_plane + 2, 2);
  const auto lay = [&](int axis, int tiles, int tile, double steps, int* first, int& extent, bool& wrap) {
    extent = 0;
    for (int t = 0; t < tiles; ++t) {
      const Span span = frequency_span(range, axis, t * tile + tile / 2, steps);
      first[t] = static_cast<int>(std::floor(span.low - 0.5 * window.width)) - 1;
      extent = static_cast<int>(
          std::min(1e9, std::max<double>(extent, std::ceil(span.high + 0.5 * window.width) + 2 - first[t])));
    }
    const int period = static_cast<int>(steps) + 2 * window.width + 2;
    wrap = extent > period;
    if (wrap) extent = period;
  };
  lay(0, grid.tiles_x, grid.tile_width, grid.steps_x, grid.first_column, grid.columns, grid.wrap_columns);
  lay(1, grid.tiles_y, grid.tile_height, grid.steps_y, grid.first_row, grid.rows, grid.wrap_rows);
  grid.columns = round_up(grid.columns, 8);
  grid.rows = round_up(grid.rows, 4);
  return grid;
}

double flops_of_columns(const FastGrid& grid) {
  return 2.0 * grid.tiles() * grid.depth_rows() * 2 * grid.tile_width * 2 * grid.columns * grid.split;
}
double flops_of_depth(const FastGrid& grid) {
  return 2.0 * grid.tiles() * 2 * grid.tile_height * grid.tile_width * 2 * grid.depth_rows() * grid.split;
}
bool sorts(const FastGrid& grid, std::int64_t count) {
  return grid.window_width <= widest_sorted_window && static_cast<double>(count) * grid.tiles() >= sorted_work &&
         static_cast<double>(count) * grid.tiles() < 1e9;
}
std::int64_t operand_elements(const FastGrid& grid) {
  return std::int64_t{2} * grid.tiles() * grid.tile_width * grid.depth_rows() * grid.split;
}

/// Estimated microseconds on an H200.
double estimated_time(const FastGrid& grid, std::int64_t count) {
  const double work = static_cast<double>(count) * grid.tiles();
  const double nodes = std::pow(grid.window_width, 3);
  const auto cells = static_cast<double>(grid.cells());
  // Sorted: two passes over the points, products, and every filled bin added to the grid once.
  const double filled_bins = std::min(work, cells / (bin_columns * bin_rows * bin_planes));
  const double spread =
      sorts(grid, count) ? 30 + work * 2.4e-4 + filled_bins * 1.1e-2 : 10 + work * 5.5e-4 * nodes / 125;
  const double middle = 2.0 * grid.tiles() * grid.depth_rows() * grid.tile_width;
  const double traffic = cells * (16 + 4 * grid.split) + middle * (8 + 2 * grid.split) + 4e7;
  return 20 + spread + traffic / 2.5e6 + (flops_of_columns(grid) + flops_of_depth(grid)) / 4.5e8;
}

FastGrid choose_grid(const Shape<2>& panel, const CloudRange& range, std::int64_t count, double tolerance,
                     std::optional<SpreadWindow>& chosen) {
  const int split = tolerance >= half_error * 1.2 ? 1 : 3;
  const double stored = split == 1 ? half_error : pair_error;
  const double window_tolerance = std::min(0.05, std::sqrt(tolerance * tolerance - stored * stored) * 0.9);
  double least = std::numeric_limits<double>::max();
  FastGrid best{};
  chosen.reset();
  for (const double upsampling : upsamplings) {
    const auto window = choose_window(window_tolerance, upsampling, 3);
    // Where phihat falls far, fp16 rounding grows with its inverse.
    if (window.width > widest_fast_window || (split == 1 && window_noise_gain(window) > 1.6)) continue;
    for (int tiles_y = 1; tiles_y <= most_tiles; ++tiles_y) {
      for (int tiles_x = 1; tiles_x <= most_tiles; ++tiles_x) {
        const FastGrid grid = make_grid(panel, range, tiles_x, tiles_y, window, split);
        if (operand_elements(grid) > (std::int64_t{1} << 31) || grid.cells() > (std::int64_t{1} << 29)) continue;
        const double time = estimated_time(grid, count);
        if (time < least) {
          least = time;
          best = grid;
          chosen = window;
        }
      }
    }
  }
  return best;
}

class FastCuda final : public PointCloudPlan::Engine {
 public:
  FastCuda(const PointCloudOptions& options, const Queue& queue)
      : options_(options),
        queue_(queue),
        points_(options, queue, 1),
        ranges_({6 * range_blocks}, queue),
        scratch_({static_cast<std::int64_t>(cuda::MatrixProduct::workspace_bytes)}, queue) {}

  void set_points(const PointSources& points) override {
    const cuda::DeviceScope scope(queue_.device());
    points_.set(points);
    const CloudRange range = cloud_range();
    require_lit(range);
    const bool same = window_ && inside(range, planned_) && points_.count() <= 2 * planned_count_ &&
                      2 * points_.count() >= planned_count_;
    if (!same) plan(range);
    reserve_sort();
  }

  void execute(const PointCloudOutput& output, Progress& progress) override {
    const cuda::DeviceScope scope(queue_.device());
    const auto stream = cuda::stream_of(queue_);
    const PointRecords records = points_.records();
    cuda::check(cudaMemsetAsync(cells_.data(), 0, static_cast<std::size_t>(grid_.cells()) * sizeof(float2), stream),
                "cudaMemsetAsync");
    if (sorts(grid_, points_.count())) {
      spread_sorted(grid_, records, points_.count(), sorted_, cells_.data(), stream);
    } else {
      spread_unsorted(grid_, records, points_.count(), cells_.data(), stream);
    }
    convert_cells(grid_, cells_.data(), records.amplitude_max, points_.count(), rows_.data(), stream);
    columns_product_->choose(columns_.data(), rows_.data(), between_.data());
    columns_product_->run(columns_.data(), rows_.data(), between_.data(), false);
    apply_middle(grid_, between_.data(), middle_.data(), operand_.data(), stream);
    depth_product_->choose(depth_.data(), operand_.data(), pixels_.data());
    depth_product_->run(depth_.data(), operand_.data(), pixels_.data(), false);
    write_pixels(grid_, pixels_.data(), factors(), records.amplitude_max, points_.count(), options_.shape,
                 pointers_of(output), stream);
    progress.step("summing points", 3, 3);
  }

  [[nodiscard]] PointCloudInfo info() const override {
    const std::string shape = window_ ? std::to_string(grid_.tiles_x) + " x " + std::to_string(grid_.tiles_y) : "";
    return {PointMethod::fast,
            grid_.split == 3 ? "fp16 pairs (non-uniform Fourier sums)" : "fp16 (non-uniform Fourier sums)",
            options_.tolerance,
            points_.bytes() + scratch_.bytes() + cells_.bytes() + rows_.bytes() + columns_.bytes() + depth_.bytes() +
                between_.bytes() + operand_.bytes() + pixels_.bytes() + sort_memory_.bytes() + tables_.bytes() +
                middle_.bytes()};
  }

 private:
  static constexpr std::int64_t range_blocks = 128;

  CloudRange cloud_range() {
    const auto stream = cuda::stream_of(queue_);
    float* const low = ranges_.data();
    float* const high = low + 3 * range_blocks;
    range_kernel<<<range_blocks, range_threads, 0, stream>>>(points_.records(), points_.count(), low, high);
    cuda::check_launch("range");
    float host[6 * range_blocks];
    copy_bytes(host, Device{}, low, queue_.device(), sizeof host, queue_);
    queue_.synchronize();
    CloudRange range{};
    for (int axis = 0; axis < 3; ++axis) {
      range.low[axis] = range.high[axis] = 0;
      float least = INFINITY;
      float most = -INFINITY;
      for (int i = 0; i < range_blocks; ++i) {
        least = std::min(least, host[3 * i + axis]);
        most = std::max(most, host[3 * range_blocks + 3 * i + axis]);
      }
      range.low[axis] = least;
      range.high[axis] = most;
    }
    return range;
  }

  /// Every point must light every pixel: masks are the other methods'.
  void require_lit(const CloudRange& range) const {
    if (!options_.band_limit) return;
    const double steepest = std::max(std::abs(range.low[2]), std::abs(range.high[2]));
    const double reach = 1 / (4 * steepest);
    const auto far = [&](int axis, std::int64_t extent) {
      return std::max(range.high[axis], static_cast<double>(extent - 1) - range.low[axis]) > reach;
    };
    if (far(0, options_.shape[1]) || far(1, options_.shape[0])) {
      throw Error(ErrorCode::unsupported,
                  "PointCloudPlan: method: expected one that masks points at the band limit, got fast on " +
                      to_string(queue_.device()) + ", which needs every point to light the whole panel");
    }
  }

  static bool inside(const CloudRange& inner, const CloudRange& outer) {
    for (int axis = 0; axis < 3; ++axis) {
      if (inner.low[axis] < outer.low[axis] || inner.high[axis] > outer.high[axis]) return false;
      if (2 * (inner.high[axis] - inner.low[axis]) < outer.high[axis] - outer.low[axis]) return false;
    }
    return true;
  }

  void plan(CloudRange range) {
    for (int axis = 0; axis < 3; ++axis) {
      const double slack =
          range_slack * (range.high[axis] - range.low[axis]) + (axis < 2 ? 0.01 : 1e-6 * std::abs(range.high[2]));
      range.low[axis] -= slack;
      range.high[axis] += slack;
    }
    grid_ = choose_grid(options_.shape, range, points_.count(), options_.tolerance, window_);
    if (!window_) {
      throw Error(ErrorCode::unsupported,
                  "PointCloudPlan: method: expected another one for so deep a scene, got fast on " +
                      to_string(queue_.device()));
    }
    planned_ = range;
    planned_count_ = points_.count();
    reserve(cells_, grid_.cells());
    const std::int64_t all_rows = std::int64_t{1} * grid_.tiles() * grid_.depth_rows();
    reserve(rows_, all_rows * 2 * grid_.columns * grid_.split);
    reserve(columns_, std::int64_t{4} * grid_.tile_width * grid_.columns * grid_.split);
    reserve(depth_, std::int64_t{4} * grid_.tile_height * grid_.depth_rows() * grid_.split);
    reserve(middle_, std::int64_t{1} * grid_.tiles_x * grid_.planes * grid_.tile_width);
    reserve(between_, 2 * grid_.tile_width * all_rows);
    reserve(operand_, operand_elements(grid_));
    reserve(pixels_, std::int64_t{2} * grid_.tiles() * grid_.tile_height * grid_.tile_width);
    make_tables();
    make_fast_matrices(grid_, factors(), columns_.data(), depth_.data(), middle_.data(), cuda::stream_of(queue_));
    columns_product_.emplace(cuda::MatrixProductShape{cuda::MatrixElement::float16, 2 * grid_.tile_width, all_rows,
                                                      std::int64_t{2} * grid_.columns * grid_.split, 1},
                             queue_, scratch_.data());
    cuda::MatrixProductShape depth;
    depth.rows = 2 * grid_.tile_height;
    depth.columns = grid_.tile_width;
    depth.depth = std::int64_t{2} * grid_.depth_rows() * grid_.split;
    depth.batch = grid_.tiles();
    depth.share_a = true;
    depth_product_.emplace(depth, queue_, scratch_.data());
  }

  void reserve_sort() {
    if (!sorts(grid_, points_.count())) return;
    const int bins = fast_bins(grid_);
    const std::int64_t records = points_.count() * grid_.tiles();
    sorted_.scan_bytes = fast_scan_bytes(bins);
    const auto padded = [](std::size_t bytes) { return (bytes + 255) / 256 * 256; };
    const std::size_t bin_bytes = padded(sizeof(int) * static_cast<std::size_t>(bins + 1));
    const auto n = static_cast<std::size_t>(records);
    reserve(sort_memory_,
            static_cast<std::int64_t>(2 * bin_bytes + padded(n * sizeof(uint2)) + padded(n * sizeof(float4)) +
                                      padded(n * sizeof(float)) + padded(sorted_.scan_bytes)));
    std::byte* at = sort_memory_.data();
    const auto take = [&](std::size_t bytes) {
      std::byte* const here = at;
      at += padded(bytes);
      return static_cast<void*>(here);
    };
    sorted_.record = static_cast<float4*>(take(n * sizeof(float4)));
    sorted_.bin_and_rank = static_cast<uint2*>(take(n * sizeof(uint2)));
    sorted_.imaginary = static_cast<float*>(take(n * sizeof(float)));
    sorted_.bin_count = static_cast<int*>(take(sizeof(int) * static_cast<std::size_t>(bins + 1)));
    sorted_.bin_begin = static_cast<int*>(take(sizeof(int) * static_cast<std::size_t>(bins + 1)));
    sorted_.scan_memory = take(sorted_.scan_bytes);
  }

  template <class T>
  void reserve(Array<T, 1>& buffer, std::int64_t count) {
    if (buffer.size() >= count) return;
    buffer = Array<T, 1>();
    buffer = Array<T, 1>({count}, queue_);
  }

  void make_tables() {
    const auto columns = static_cast<std::size_t>(grid_.tile_width);
    const auto rows = static_cast<std::size_t>(grid_.tile_height);
    std::vector<float> host(columns + rows + FastFactors::table_size + 2);
    for (std::size_t i = 0; i < columns; ++i) {
      host[i] = static_cast<float>(
          1 / window_transform(*window_, (static_cast<double>(i) - grid_.tile_width / 2) / grid_.steps_x));
    }
    for (std::size_t i = 0; i < rows; ++i) {
      host[columns + i] = static_cast<float>(
          1 / window_transform(*window_, (static_cast<double>(i) - grid_.tile_height / 2) / grid_.steps_y));
    }
    const double half_range = grid_.middle_radius / grid_.steps_m;
    for (std::size_t i = 0; i < FastFactors::table_size + 2; ++i) {
      host[columns + rows + i] = static_cast<float>(
          1 / window_transform(*window_, half_range * static_cast<double>(i) / FastFactors::table_size));
    }
    reserve(tables_, static_cast<std::int64_t>(host.size()));
    copy_bytes(tables_.data(), queue_.device(), host.data(), Device{}, host.size() * sizeof(float), queue_);
    queue_.synchronize();
  }

  [[nodiscard]] FastFactors factors() const {
    const float* const base = tables_.data();
    return {base, base + grid_.tile_width, base + grid_.tile_width + grid_.tile_height,
            static_cast<float>(FastFactors::table_size / grid_.middle_radius)};
  }

  PointCloudOptions options_;
  Queue queue_;
  PreparedPoints points_;
  Array<float, 1> ranges_;
  Array<std::byte, 1> scratch_;
  std::optional<SpreadWindow> window_;
  CloudRange planned_{};
  std::int64_t planned_count_ = 0;
  FastGrid grid_{};
  Array<float2, 1> cells_;
  Array<__half, 1> rows_;
  Array<__half, 1> columns_;
  Array<__half, 1> depth_;
  Array<float2, 1> middle_;
  Array<float, 1> between_;
  Array<__half, 1> operand_;
  Array<float, 1> pixels_;
  Array<float, 1> tables_;
  Array<std::byte, 1> sort_memory_;
  SortedPoints sorted_{};
  std::optional<cuda::MatrixProduct> columns_product_;
  std::optional<cuda::MatrixProduct> depth_product_;
};

}  // namespace

EnginePointer fast_cuda(const PointCloudOptions& options, const Queue& queue) {
  if (options.tolerance < point_cloud_fast_cuda_tolerance_floor) {
    throw Error(ErrorCode::unsupported, "PointCloudPlan: method: expected another one for tolerances below 1e-4 on " +
                                            to_string(queue.device()) + ", got fast");
  }
  return std::make_unique<FastCuda>(options, queue);
}

}  // namespace holotone::point_cloud
