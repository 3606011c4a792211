#include <algorithm>
#include <bit>
#include <cub/device/device_radix_sort.cuh>
#include <holotone/smoe/cells_cuda.cuh>

namespace holotone::smoe {
namespace {

constexpr int threads = 128;

/// A component of a plane before it is sorted.
struct alignas(16) Unsorted {
  double x, y;
  double across, skew, down, peak;
  Expert expert;
  float deviation;
};

__device__ __forceinline__ unsigned long long ordered_bits64(double value) {
  const auto bits = static_cast<unsigned long long>(__double_as_longlong(value));
  return (bits >> 63) != 0 ? ~bits : bits | 0x8000000000000000ULL;
}
__device__ __forceinline__ double from_ordered64(unsigned long long bits) {
  return __longlong_as_double(static_cast<long long>((bits >> 63) != 0 ? bits & 0x7FFFFFFFFFFFFFFFULL : ~bits));
}

__device__ __forceinline__ int cell_along(double place, double low, double a_cell, int count) {
  const double cell = floor((place - low) * a_cell);
  return static_cast<int>(fmin(fmax(cell, 0.0), static_cast<double>(count - 1)));
}

/// Largest standard deviation of a 2 x 2 covariance.
__device__ __forceinline__ double largest_deviation(const Matrix& r) {
  const double middle = 0.5 * (r[0][0] + r[1][1]);
  return sqrt(middle + hypot(0.5 * (r[0][0] - r[1][1]), r[0][1]));
}

template <int Dimensions>
__global__ void slice_kernel(ModelNumbers model, CellLayout layout, unsigned count, const double* __restrict__ fixed,
                             Unsorted* __restrict__ unsorted, unsigned* __restrict__ key, unsigned* __restrict__ number,
                             unsigned long long* highest) {
  const unsigned j = blockIdx.x * threads + threadIdx.x;
  const unsigned plane = blockIdx.y;
  if (j >= count) return;
  constexpr int kept = Dimensions - 2;
  double at[kept + 1] = {};
#pragma unroll
  for (int k = 0; k < kept; ++k) at[k] = fixed[plane * kept + k];
  const Slice own = slice_component(model, Dimensions, j, at, kept);
  PlaneShape shape;
  (void)plane_shape(own, 1, 1, shape);  // ComponentCells has tried it
  Unsorted result{own.centre[0], own.centre[1], shape.across, shape.skew, shape.down, shape.peak, {}, 0};
#pragma unroll
  for (int c = 0; c < most_smoe_channels; ++c) {
    if (c >= model.channels) break;
    const float* const slope = model.slope + (static_cast<std::int64_t>(j) * model.channels + c) * Dimensions;
    result.expert.colour[c] = static_cast<float>(own.colour[c]);
    result.expert.slope_x[c] = slope[0];
    result.expert.slope_y[c] = slope[1];
  }
  const double deviation = largest_deviation(own.covariance);
  result.deviation = __double2float_ru(deviation);
  const double doublings = ceil(2 * log2(deviation / layout.first_deviation));
  const int size = static_cast<int>(fmin(fmax(doublings, 0.0), size_classes - 1.0));
  const CellClass& cells = layout.classes[size];
  const int column = cell_along(result.x, layout.x, cells.a_cell, cells.columns);
  const int row = cell_along(result.y, layout.y, cells.a_cell, cells.rows);
  const std::size_t at_own = static_cast<std::size_t>(plane) * count + j;
  unsorted[at_own] = result;
  key[at_own] = plane * layout.cells + cells.first + row * cells.columns + column;
  number[at_own] = static_cast<unsigned>(at_own);
  const unsigned long long bits = ordered_bits64(shape.peak);
  if (bits > highest[plane]) atomicMax(highest + plane, bits);
}

/// Raises a number of the lanes' class: once for all lanes where they agree on it.
__device__ __forceinline__ void raise(unsigned* target, float value, bool together) {
  unsigned bits = ordered_bits(value);
  if (together) {
    bits = __reduce_max_sync(0xFFFFFFFFU, bits);
    if (threadIdx.x % 32 != 0) return;
  }
  if (bits > *target) atomicMax(target, bits);
}

__global__ void gather_kernel(const Unsorted* __restrict__ unsorted, const unsigned* __restrict__ key,
                              const unsigned* __restrict__ number, std::int64_t all, CellLayout layout,
                              const unsigned long long* __restrict__ highest, Place* __restrict__ place,
                              ExactShape* __restrict__ exact, Expert* __restrict__ expert, ClassMost* most) {
  const std::int64_t i = blockIdx.x * static_cast<std::int64_t>(threads) + threadIdx.x;
  const bool whole_warp = i - threadIdx.x % 32 + 31 < all;
  if (i >= all) return;
  const Unsorted own = unsorted[number[i]];
  const unsigned plane = key[i] / layout.cells;
  const int cell = static_cast<int>(key[i] % layout.cells);
  const double peak = own.peak - from_ordered64(highest[plane]);
  float reach = 0;
  float slope = 0;
  for (int c = 0; c < most_smoe_channels; ++c) {
    reach = fmaxf(reach, fabsf(own.expert.colour[c] - 0.5F));
    slope = fmaxf(slope, hypotf(own.expert.slope_x[c], own.expert.slope_y[c]));
  }
  place[i] = {own.x,
              own.y,
              static_cast<float>(own.across),
              static_cast<float>(own.skew),
              static_cast<float>(own.down),
              static_cast<float>(peak),
              reach,
              slope};
  exact[i] = {own.across, own.skew, own.down, peak};
  expert[i] = own.expert;
  int size = 0;
  while (size + 1 < size_classes && layout.classes[size + 1].first <= cell) ++size;
  ClassMost* const own_most = most + plane * size_classes + size;
  const unsigned which = plane * size_classes + size;
  bool together = false;
  if (whole_warp) together = __reduce_min_sync(0xFFFFFFFFU, which) == __reduce_max_sync(0xFFFFFFFFU, which);
  raise(&own_most->peak, static_cast<float>(peak), together);
  raise(&own_most->deviation, own.deviation, together);
  raise(&own_most->reach, reach, together);
  raise(&own_most->slope, slope, together);
}

/// begin[cell] = first component whose key is not below the cell.
__global__ void begin_kernel(const unsigned* __restrict__ key, std::int64_t all, std::int64_t cells,
                             unsigned* __restrict__ begin) {
  const std::int64_t cell = blockIdx.x * static_cast<std::int64_t>(threads) + threadIdx.x;
  if (cell > cells) return;
  std::int64_t low = 0;
  std::int64_t high = all;
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
  for (unsigned i = begin[cell]; i < begin[cell + 1]; ++i) sum += exp2f(place[i].peak);
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
    : queue_(std::move(queue)),
      dimensions_(model.dimensions),
      channels_(model.channels),
      count_(model.count()),
      layout_(layout_of(model)) {
  const std::vector<float>* const parts[] = {&model.log_weight, &model.centre, &model.covariance, &model.colour,
                                             &model.slope};
  std::vector<float> all;
  for (int i = 0; i < 5; ++i) {
    first_number_[i] = std::ssize(all);
    all.insert(all.end(), parts[i]->begin(), parts[i]->end());
  }
  numbers_ = Array<float, 1>({std::ssize(all)}, queue_);
  copy<float, 1>(numbers_.view(), View<const float, 1>(all.data(), {std::ssize(all)}), queue_);
  queue_.synchronize();
}

template <int Dimensions>
void ComponentCells::slice() {
  const float* const first = numbers_.data();
  const ModelNumbers model{first + first_number_[0], first + first_number_[1], first + first_number_[2],
                           first + first_number_[3], first + first_number_[4], channels_};
  unsigned* const key = keys_.data();
  const dim3 grid(cuda::blocks_for(count_, threads), static_cast<unsigned>(planes_));
  slice_kernel<Dimensions><<<grid, threads, 0, cuda::stream_of(queue_)>>>(
      model, layout_, static_cast<unsigned>(count_), fixed_.data(), reinterpret_cast<Unsorted*>(unsorted_.data()), key,
      key + planes_ * count_, highest_.data());
  cuda::check_launch("slice_kernel");
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
  reserve(unsorted_, all * static_cast<std::int64_t>(sizeof(Unsorted)), queue_);
  reserve(keys_, 4 * all, queue_);
  reserve(place_, all, queue_);
  reserve(exact_, all, queue_);
  reserve(expert_, all, queue_);
  reserve(begin_, cells + 1, queue_);
  reserve(highest_, planes_, queue_);
  reserve(most_, planes_ * size_classes, queue_);
  cuda::check(cudaMemsetAsync(highest_.data(), 0, planes_ * sizeof(unsigned long long), stream), "cudaMemsetAsync");
  cuda::check(cudaMemsetAsync(most_.data(), 0, planes_ * size_classes * sizeof(ClassMost), stream), "cudaMemsetAsync");
  switch (dimensions_) {
    case 2: slice<2>(); break;
    case 3: slice<3>(); break;
    default: slice<4>(); break;
  }
  unsigned* const key = keys_.data();
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
  gather_kernel<<<cuda::blocks_for(all, threads), threads, 0, stream>>>(
      reinterpret_cast<const Unsorted*>(unsorted_.data()), sorted, sorted + all, all, layout_, highest_.data(),
      place_.data(), exact_.data(), expert_.data(), most_.data());
  cuda::check_launch("gather_kernel");
  begin_kernel<<<cuda::blocks_for(cells + 1, threads), threads, 0, stream>>>(sorted, all, cells, begin_.data());
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
          layout_,
          static_cast<unsigned>(count_)};
}

}  // namespace holotone::smoe
