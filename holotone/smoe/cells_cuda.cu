#include <algorithm>
#include <bit>
#include <cub/device/device_radix_sort.cuh>
#include <holotone/smoe/cells_cuda.cuh>
#include <holotone/smoe/lanes_cuda.cuh>

namespace holotone::smoe {
namespace {

constexpr int threads = 128;

__device__ __forceinline__ int cell_along(double place, double low, double a_cell, int count) {
  const double cell = floor((place - low) * a_cell);
  return static_cast<int>(fmin(fmax(cell, 0.0), static_cast<double>(count - 1)));
}

/// Largest standard deviation of a 2 x 2 covariance.
__device__ __forceinline__ double largest_deviation(const Matrix& r) {
  const double middle = 0.5 * (r[0][0] + r[1][1]);
  return sqrt(middle + hypot(0.5 * (r[0][0] - r[1][1]), r[0][1]));
}

/// What does not depend on the plane.
template <int Dimensions>
__global__ void prepare_kernel(ModelNumbers model, CellLayout layout, unsigned count,
                               MovingComponent* __restrict__ moving) {
  const unsigned j = blockIdx.x * threads + threadIdx.x;
  if (j >= count) return;
  constexpr int fixed = Dimensions - 2;
  MovingComponent own{};
  const float* const centre = model.centre + static_cast<std::int64_t>(j) * Dimensions;
#pragma unroll
  for (int k = 0; k < fixed; ++k) own.at[k] = static_cast<double>(centre[2 + k]);
  const Slice slice = slice_component(model, Dimensions, j, own.at, fixed);
  (void)plane_shape(slice, 1, 1, own.shape);  // require_slices has tried it
  own.x = slice.centre[0];
  own.y = slice.centre[1];
  const Matrix r = symmetric(model.covariance + static_cast<std::int64_t>(j) * triangle_size(Dimensions), Dimensions);
  Matrix inner{};
#pragma unroll
  for (int row = 0; row < fixed; ++row) {
#pragma unroll
    for (int column = 0; column < fixed; ++column) inner[row][column] = r[2 + row][2 + column];
  }
  Matrix l{};
  (void)factor(inner, fixed, l);
#pragma unroll
  for (int k = 0; k < fixed; ++k) {
    Vector unit{};
    unit[k] = 1;
    const Vector scaled = forward_solve(l, unit, fixed);
#pragma unroll
    for (int row = k; row < fixed; ++row) own.scale[row][k] = scaled[row];
    const Vector inverse = backward_solve(l, scaled, fixed);
#pragma unroll
    for (int row = 0; row < fixed; ++row) {
      own.shift_x[k] += r[0][2 + row] * inverse[row];
      own.shift_y[k] += r[1][2 + row] * inverse[row];
    }
  }
#pragma unroll
  for (int c = 0; c < most_smoe_channels; ++c) {
    if (c >= model.channels) break;
    const float* const slope = model.slope + (static_cast<std::int64_t>(j) * model.channels + c) * Dimensions;
    own.expert.colour[c] = static_cast<float>(slice.colour[c]);
    own.expert.slope_x[c] = slope[0];
    own.expert.slope_y[c] = slope[1];
#pragma unroll
    for (int k = 0; k < fixed; ++k) {
      own.drift[k][c] =
          static_cast<float>(static_cast<double>(slope[0]) * own.shift_x[k] +
                             static_cast<double>(slope[1]) * own.shift_y[k] + static_cast<double>(slope[2 + k]));
    }
    // dx and dy by u and v, whose squares the log2 density falls by.
    const double by_v = static_cast<double>(slope[1]) / own.shape.down;
    const double by_u = (static_cast<double>(slope[0]) - own.shape.skew * by_v) / own.shape.across;
    own.steep = fmaxf(own.steep, __double2float_ru(hypot(by_u, by_v)));
  }
  const double deviation = largest_deviation(slice.covariance);
  own.deviation = __double2float_ru(deviation);
  const double doublings = ceil(2 * log2(deviation / layout.first_deviation));
  own.size = static_cast<int>(fmin(fmax(doublings, 0.0), size_classes - 1.0));
  moving[j] = own;
}

/// A component in a plane.
struct Moved {
  double x;
  double y;
  double peak;
  double away[2];

  __device__ Moved(const MovingComponent& own, const double* __restrict__ at, int fixed)
      : x(own.x), y(own.y), peak(own.shape.peak), away{} {
    constexpr double half_log2_e = 0.72134752044448170368;
#pragma unroll
    for (int k = 0; k < 2; ++k) {
      if (k >= fixed) break;
      away[k] = at[k] - own.at[k];
      x += own.shift_x[k] * away[k];
      y += own.shift_y[k] * away[k];
      const double scaled = own.scale[k][0] * away[0] + own.scale[k][1] * away[1];
      peak -= half_log2_e * scaled * scaled;
    }
  }
};

/// Raises a number: once for all lanes where they agree on which.
__device__ __forceinline__ void raise(unsigned* target, float value, bool together) {
  unsigned bits = ordered_bits(value);
  if (together) {
    bits = __reduce_max_sync(all_lanes, bits);
    if (threadIdx.x % 32 != 0) return;
  }
  if (bits > __ldcg(target)) atomicMax(target, bits);
}

__global__ void key_kernel(const MovingComponent* __restrict__ moving, CellLayout layout, unsigned count, int fixed,
                           const double* __restrict__ at, unsigned* __restrict__ key, unsigned* __restrict__ number,
                           unsigned* highest) {
  const unsigned j = blockIdx.x * threads + threadIdx.x;
  const unsigned plane = blockIdx.y;
  if (j >= count) return;
  const MovingComponent& own = moving[j];
  const Moved moved(own, at + plane * fixed, fixed);
  const CellClass& cells = layout.classes[own.size];
  const int column = cell_along(moved.x, layout.x, cells.a_cell, cells.columns);
  const int row = cell_along(moved.y, layout.y, cells.a_cell, cells.rows);
  const std::size_t in_all = static_cast<std::size_t>(plane) * count + j;
  key[in_all] = plane * layout.cells + cells.first + row * cells.columns + column;
  number[in_all] = static_cast<unsigned>(in_all);
  raise(highest + plane, static_cast<float>(moved.peak), j - threadIdx.x % 32 + 31 < count);
}

__global__ void place_kernel(const MovingComponent* __restrict__ moving, unsigned count, int fixed,
                             const double* __restrict__ at, const unsigned* __restrict__ number, std::int64_t all,
                             const unsigned* __restrict__ highest, Place* __restrict__ place,
                             ExactShape* __restrict__ exact, Expert* __restrict__ expert, ClassMost* most) {
  const std::int64_t i = blockIdx.x * static_cast<std::int64_t>(threads) + threadIdx.x;
  const bool whole_warp = i - threadIdx.x % 32 + 31 < all;
  if (i >= all) return;
  const unsigned plane = number[i] / count;
  const MovingComponent& own = moving[number[i] - plane * count];
  const Moved moved(own, at + plane * fixed, fixed);
  const double peak = moved.peak - static_cast<double>(from_ordered(highest[plane]));
  Expert colours = own.expert;
  float reach = 0;
#pragma unroll
  for (int c = 0; c < most_smoe_channels; ++c) {
    colours.colour[c] = static_cast<float>(static_cast<double>(own.expert.colour[c]) +
                                           static_cast<double>(own.drift[0][c]) * moved.away[0] +
                                           static_cast<double>(own.drift[1][c]) * moved.away[1]);
    reach = fmaxf(reach, fabsf(colours.colour[c] - 0.5F));
  }
  const auto& [across, skew, down, own_peak] = own.shape;
  place[i] = {moved.x,
              moved.y,
              static_cast<float>(across),
              static_cast<float>(skew),
              static_cast<float>(down),
              static_cast<float>(peak),
              reach,
              own.steep};
  exact[i] = {across, skew, down, peak};
  expert[i] = colours;
  const unsigned which = plane * size_classes + static_cast<unsigned>(own.size);
  ClassMost* const own_most = most + which;
  bool together = false;
  if (whole_warp) together = __reduce_min_sync(all_lanes, which) == __reduce_max_sync(all_lanes, which);
  raise(&own_most->peak, static_cast<float>(peak), together);
  raise(&own_most->deviation, own.deviation, together);
  raise(&own_most->reach, reach, together);
  raise(&own_most->steep, own.steep, together);
}

/// begin[cell] = first component whose key is not below the cell.
__global__ void begin_kernel(const unsigned* __restrict__ key, std::int64_t count, int cells_a_plane,
                             std::int64_t cells, unsigned* __restrict__ begin) {
  const std::int64_t cell = blockIdx.x * static_cast<std::int64_t>(threads) + threadIdx.x;
  if (cell > cells) return;
  std::int64_t low = cell / cells_a_plane * count;  // planes have as many components each
  std::int64_t high = min(low + count, cells / cells_a_plane * count);
  while (low < high) {
    const std::int64_t middle = (low + high) / 2;
    if (key[middle] < cell) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  begin[cell] = static_cast<unsigned>(low);
}

/// The largest sum of 2^peak over a cell, class by class.
__global__ void mass_kernel(const Place* __restrict__ place, const unsigned* __restrict__ begin, CellLayout layout,
                            std::int64_t cells, ClassMost* most) {
  const std::int64_t cell = blockIdx.x * static_cast<std::int64_t>(threads) + threadIdx.x;
  if (cell >= cells || begin[cell] == begin[cell + 1]) return;
  float sum = 0;
  for (unsigned i = begin[cell]; i < begin[cell + 1]; ++i) sum += fmaxf(exp2f(place[i].peak), least_mass);
  const auto plane = static_cast<int>(cell / layout.cells);
  const auto own = static_cast<int>(cell % layout.cells);
  int size = 0;
  while (size + 1 < size_classes && layout.classes[size + 1].first <= own) ++size;
  unsigned* const target = &most[plane * size_classes + size].mass;
  // Sums of many are off by their number of roundings.
  const unsigned bits = ordered_bits(sum * (1.00001F + 6e-8F * static_cast<float>(begin[cell + 1] - begin[cell])));
  if (bits > *target) atomicMax(target, bits);
}

CellLayout layout_of(const SmoeModel& model) {
  const double width = model.high[0] - model.low[0];
  const double height = model.high[1] - model.low[1];
  // Square cells of one component each in the mean, or the longer side in 2^15.
  const double spacing =
      std::max(std::sqrt(width / static_cast<double>(model.count()) * height), std::max(width, height) / 32768);
  CellLayout layout{model.low[0], model.low[1], 0.25 * spacing, 0, {}};
  for (int size = 0; size < size_classes; ++size) {
    const double side = spacing * std::pow(2.0, 0.5 * size);
    const int columns = static_cast<int>(std::ceil(width / side));
    const int rows = static_cast<int>(std::ceil(height / side));
    layout.classes[size] = {side, 1 / side, columns, rows, layout.cells};
    layout.cells += columns * rows;
  }
  return layout;
}

}  // namespace

ComponentCells::ComponentCells(const SmoeModel& model, Queue queue)
    : queue_(std::move(queue)), dimensions_(model.dimensions), count_(model.count()), layout_(layout_of(model)) {
  device_layout_ = Array<CellLayout, 1>({1}, queue_);
  copy_bytes(device_layout_.data(), queue_.device(), &layout_, Device{}, sizeof(CellLayout), queue_);
  moving_ = Array<MovingComponent, 1>({count_}, queue_);
  switch (dimensions_) {
    case 2: prepare<2>(model); break;
    case 3: prepare<3>(model); break;
    default: prepare<4>(model); break;
  }
}

template <int Dimensions>
void ComponentCells::prepare(const SmoeModel& model) {
  const std::vector<float>* const parts[] = {&model.log_weight, &model.centre, &model.covariance, &model.colour,
                                             &model.slope};
  std::vector<float> all;
  std::int64_t first[5] = {};
  for (int i = 0; i < 5; ++i) {
    first[i] = std::ssize(all);
    all.insert(all.end(), parts[i]->begin(), parts[i]->end());
  }
  Array<float, 1> numbers({std::ssize(all)}, queue_);
  copy<float, 1>(numbers.view(), View<const float, 1>(all.data(), {std::ssize(all)}), queue_);
  const ModelNumbers on_device{numbers.data() + first[0], numbers.data() + first[1], numbers.data() + first[2],
                               numbers.data() + first[3], numbers.data() + first[4], model.channels};
  prepare_kernel<Dimensions><<<cuda::blocks_for(count_, threads), threads, 0, cuda::stream_of(queue_)>>>(
      on_device, layout_, static_cast<unsigned>(count_), moving_.data());
  cuda::check_launch("prepare_kernel");
  queue_.synchronize();
}

void ComponentCells::set_planes(const std::vector<double>& at, int planes) {
  if (planes == planes_ && at == at_) return;
  planes_ = planes;
  at_ = at;
  const auto stream = cuda::stream_of(queue_);
  const std::int64_t all = planes_ * count_;
  const std::int64_t cells = std::int64_t{planes_} * layout_.cells;
  reserve(fixed_, std::ssize(at_) + 1, queue_);
  if (!at_.empty())
    copy_bytes(fixed_.data(), queue_.device(), at_.data(), Device{}, at_.size() * sizeof(double), queue_);
  reserve(keys_, 4 * all, queue_);
  reserve(place_, all, queue_);
  reserve(exact_, all, queue_);
  reserve(expert_, all, queue_);
  reserve(begin_, cells + 1, queue_);
  reserve(highest_, planes_, queue_);
  reserve(most_, planes_ * size_classes, queue_);
  cuda::check(cudaMemsetAsync(highest_.data(), 0, planes_ * sizeof(unsigned), stream), "cudaMemsetAsync");
  cuda::check(cudaMemsetAsync(most_.data(), 0, planes_ * size_classes * sizeof(ClassMost), stream), "cudaMemsetAsync");
  unsigned* const key = keys_.data();
  const int fixed = dimensions_ - 2;
  const auto count = static_cast<unsigned>(count_);
  const dim3 grid(cuda::blocks_for(count_, threads), static_cast<unsigned>(planes_));
  key_kernel<<<grid, threads, 0, stream>>>(moving_.data(), layout_, count, fixed, fixed_.data(), key, key + all,
                                           highest_.data());
  cuda::check_launch("key_kernel");
  unsigned* const sorted = key + 2 * all;
  std::size_t bytes = 0;
  const int bits = std::bit_width(static_cast<std::uint64_t>(cells));
  const auto sort = [&](void* memory) {
    cuda::check(
        cub::DeviceRadixSort::SortPairs(memory, bytes, key, sorted, key + all, sorted + all, all, 0, bits, stream),
        "cub::DeviceRadixSort");
  };
  sort(nullptr);
  reserve(sort_memory_, static_cast<std::int64_t>(bytes), queue_);
  sort(sort_memory_.data());
  place_kernel<<<cuda::blocks_for(all, threads), threads, 0, stream>>>(
      moving_.data(), count, fixed, fixed_.data(), sorted + all, all, highest_.data(), place_.data(), exact_.data(),
      expert_.data(), most_.data());
  cuda::check_launch("place_kernel");
  begin_kernel<<<cuda::blocks_for(cells + 1, threads), threads, 0, stream>>>(sorted, count_, layout_.cells, cells,
                                                                             begin_.data());
  cuda::check_launch("begin_kernel");
  mass_kernel<<<cuda::blocks_for(cells, threads), threads, 0, stream>>>(place_.data(), begin_.data(), layout_, cells,
                                                                        most_.data());
  cuda::check_launch("mass_kernel");
}

Components ComponentCells::components() const {
  return {place_.data(),
          exact_.data(),
          expert_.data(),
          begin_.data(),
          most_.data(),
          device_layout_.data(),
          static_cast<unsigned>(count_)};
}

}  // namespace holotone::smoe
