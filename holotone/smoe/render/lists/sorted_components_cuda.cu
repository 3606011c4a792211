// Components of planes on CUDA, sorted by size and cell.
#include <algorithm>
#include <holotone/core/sorting/sorting_cuda.hpp>
#include <holotone/smoe/model/warp_cuda.cuh>
#include <holotone/smoe/render/lists/sorted_components_cuda.cuh>

namespace holotone::smoe {
namespace {

constexpr int threads = 128;
/// Limits for planes of a bundle: mean distance of components from the middle, in pixels, and of their coordinates in
/// deviations. Wider bundles would make lists too long.
constexpr double max_shift_px = 1.2;
constexpr double max_fall = 0.7;

__device__ __forceinline__ int cell_along(double place, double low, double a_cell, int count) {
  const double cell = floor((place - low) * a_cell);
  return static_cast<int>(fmin(fmax(cell, 0.0), static_cast<double>(count - 1)));
}

__device__ __forceinline__ int size_class(double deviation, const CellLayout& layout) {
  const double doublings = ceil(2 * log2(deviation / layout.first_deviation));
  return static_cast<int>(fmin(fmax(doublings, 0.0), size_classes - 1.0));
}

/// Computes the data of components that do not depend on the plane.
template <int Dimensions>
__global__ void prepare_kernel(ModelNumbers model, CellLayout layout, unsigned count,
                               MovingComponent* __restrict__ moving) {
  const unsigned j = blockIdx.x * threads + threadIdx.x;
  if (j >= count) return;
  MovingComponent component = moving_component<Dimensions>(model, j);
  component.size = size_class(static_cast<double>(component.deviation), layout);
  moving[j] = component;
}

/// A component in a plane.
struct Moved {
  double x;
  double y;
  double peak;
  double away[2];

  __device__ Moved(const MovingComponent& component, const double* __restrict__ at, int fixed)
      : x(component.x), y(component.y), peak(component.shape.peak), away{} {
    constexpr double half_log2_e = 0.72134752044448170368;
#pragma unroll
    for (int k = 0; k < 2; ++k) {
      if (k >= fixed) break;
      away[k] = at[k] - component.at[k];
      x += component.shift_x[k] * away[k];
      y += component.shift_y[k] * away[k];
      const double scaled = component.scale[k][0] * away[0] + component.scale[k][1] * away[1];
      peak -= half_log2_e * scaled * scaled;
    }
  }
};

/// Raises a number to at least `value`; `together`: once for all lanes, which share the target.
__device__ __forceinline__ void raise(unsigned* target, float value, bool together) {
  unsigned bits = ordered_bits(value);
  if (together) {
    bits = __reduce_max_sync(all_lanes, bits);
    if (threadIdx.x % 32 != 0) return;
  }
  if (bits > __ldcg(target)) atomicMax(target, bits);
}

/// A component in the planes of a bundle: its position in the middle one, and the largest distance from there in the
/// others.
struct Bundled {
  Moved middle;
  float x = 0;
  float y = 0;
  int size;

  __device__ Bundled(const MovingComponent& component, const PlaneBundle& bundle, int fixed,
                     const double* __restrict__ at, const CellLayout& layout)
      : middle(component, at + bundle.middle * fixed, fixed), size(component.size) {
    for (unsigned plane = bundle.first; plane < bundle.first + bundle.planes; ++plane) {
      const Moved moved(component, at + plane * fixed, fixed);
      x = fmaxf(x, __double2float_ru(fabs(moved.x - middle.x)));
      y = fmaxf(y, __double2float_ru(fabs(moved.y - middle.y)));
    }
    // Components that move farther than their deviation are classified by that distance.
    if (fmaxf(x, y) > component.deviation) size = size_class(static_cast<double>(fmaxf(x, y)), layout);
  }
};

__global__ void key_kernel(const MovingComponent* __restrict__ moving, CellLayout layout, unsigned count, int fixed,
                           const double* __restrict__ at, const PlaneBundle* __restrict__ bundles,
                           unsigned* __restrict__ key, unsigned* __restrict__ number, unsigned* highest) {
  const unsigned j = blockIdx.x * threads + threadIdx.x;
  const unsigned bundle = blockIdx.y;
  if (j >= count) return;
  const MovingComponent component = load_words(moving + j);
  const PlaneBundle planes = bundles[bundle];
  const Bundled bundled(component, planes, fixed, at, layout);
  const CellClass& cells = layout.classes[bundled.size];
  const int column = cell_along(bundled.middle.x, layout.x, cells.a_cell, cells.columns);
  const int row = cell_along(bundled.middle.y, layout.y, cells.a_cell, cells.rows);
  const std::size_t in_all = static_cast<std::size_t>(bundle) * count + j;
  key[in_all] = bundle * layout.cells + cells.first + row * cells.columns + column;
  number[in_all] = static_cast<unsigned>(in_all);
  const bool whole_warp = j - threadIdx.x % 32 + 31 < count;
  raise(highest + planes.middle, static_cast<float>(bundled.middle.peak), whole_warp);
  for (unsigned plane = planes.first; plane < planes.first + planes.planes; ++plane) {
    if (plane == planes.middle) continue;
    const Moved moved(component, at + plane * fixed, fixed);
    raise(highest + plane, static_cast<float>(moved.peak), whole_warp);
  }
}

/// Computes a component's data in one plane.
__device__ __forceinline__ void place_in_plane(const MovingComponent& component, const Moved& moved, float highest,
                                               Place& place, ExactShape& exact, Expert& expert) {
  const double peak = moved.peak - static_cast<double>(highest);
  expert = component.expert;
  float reach = 0;
#pragma unroll
  for (int c = 0; c < max_smoe_channels; ++c) {
    expert.colour[c] = static_cast<float>(static_cast<double>(component.expert.colour[c]) +
                                          static_cast<double>(component.drift[0][c]) * moved.away[0] +
                                          static_cast<double>(component.drift[1][c]) * moved.away[1]);
    reach = fmaxf(reach, fabsf(expert.colour[c] - 0.5F));
  }
  const auto& [across, skew, down, own_peak] = component.shape;
  place = {moved.x,
           moved.y,
           static_cast<float>(across),
           static_cast<float>(skew),
           static_cast<float>(down),
           static_cast<float>(peak),
           reach,
           component.steep};
  exact = {across, skew, down, peak};
}

__global__ void place_kernel(const MovingComponent* __restrict__ moving, CellLayout layout, unsigned count, int fixed,
                             const double* __restrict__ at, const PlaneBundle* __restrict__ bundles,
                             const unsigned* __restrict__ number, std::int64_t all,
                             const unsigned* __restrict__ highest, Place* __restrict__ place, Span* __restrict__ span,
                             ExactShape* __restrict__ exact, Expert* __restrict__ expert, ClassMost* most) {
  constexpr std::size_t max_words = std::max({sizeof(Place), sizeof(ExactShape), sizeof(Expert)}) / sizeof(uint4);
  __shared__ uint4 room[threads][max_words];
  const std::int64_t i = blockIdx.x * static_cast<std::int64_t>(threads) + threadIdx.x;
  const bool whole_warp = i - threadIdx.x % 32 + 31 < all;
  if (i >= all) return;
  const unsigned bundle = number[i] / count;
  const bool side_by_side = whole_warp && __reduce_min_sync(all_lanes, bundle) == __reduce_max_sync(all_lanes, bundle);
  const auto store = [&](const auto& list, auto* array, std::int64_t at) {
    if (side_by_side) {
      store_side_by_side(list, array + at - threadIdx.x % 32, room[threadIdx.x / 32 * 32]);
    } else {
      array[at] = list;
    }
  };
  const std::int64_t in_plane = i - static_cast<std::int64_t>(bundle) * count;
  const MovingComponent component = load_words(moving + (number[i] - bundle * count));
  const PlaneBundle planes = bundles[bundle];
  const Bundled bundled(component, planes, fixed, at, layout);
  const unsigned middle = planes.middle;
  Place own_place;
  ExactShape own_exact;
  Expert own_expert;
  place_in_plane(component, bundled.middle, from_ordered(highest[middle]), own_place, own_exact, own_expert);
  store(own_place, place, middle * std::int64_t{count} + in_plane);
  store(own_exact, exact, middle * std::int64_t{count} + in_plane);
  store(own_expert, expert, middle * std::int64_t{count} + in_plane);
  Span from_middle{bundled.x, bundled.y, 0, 0, 0};
  for (unsigned plane = planes.first; plane < planes.first + planes.planes; ++plane) {
    if (plane == middle) continue;
    Place other;
    ExactShape other_exact;
    Expert other_expert;
    place_in_plane(component, {component, at + plane * fixed, fixed}, from_ordered(highest[plane]), other, other_exact,
                   other_expert);
    store(other, place, plane * std::int64_t{count} + in_plane);
    store(other_exact, exact, plane * std::int64_t{count} + in_plane);
    store(other_expert, expert, plane * std::int64_t{count} + in_plane);
    from_middle.rise = fmaxf(from_middle.rise, __double2float_ru(other_exact.peak - own_exact.peak));
    from_middle.drop = fmaxf(from_middle.drop, __double2float_ru(own_exact.peak - other_exact.peak));
#pragma unroll
    for (int c = 0; c < max_smoe_channels; ++c) {
      from_middle.colour = fmaxf(from_middle.colour, fabsf(other_expert.colour[c] - own_expert.colour[c]));
    }
  }
  from_middle.colour *= 1.000001F;
  if (span != nullptr) span[i] = from_middle;
  const unsigned which = bundle * size_classes + static_cast<unsigned>(bundled.size);
  ClassMost* const own_most = most + which;
  bool together = false;
  if (whole_warp) together = __reduce_min_sync(all_lanes, which) == __reduce_max_sync(all_lanes, which);
  const float extent = fmaxf(bundled.x, bundled.y);
  raise(&own_most->peak, __fadd_ru(own_place.peak, from_middle.rise), together);
  raise(&own_most->deviation, fmaxf(component.deviation, extent), together);
  raise(&own_most->reach, __fadd_ru(own_place.reach, from_middle.colour), together);
  raise(&own_most->steep, component.steep, together);
  if (span != nullptr) raise(&own_most->extent, extent, together);
}

/// begin[cell] = first component whose key is not below the cell.
__global__ void begin_kernel(const unsigned* __restrict__ key, std::int64_t count, int cells_a_bundle,
                             std::int64_t cells, unsigned* __restrict__ begin) {
  const std::int64_t cell = blockIdx.x * static_cast<std::int64_t>(threads) + threadIdx.x;
  if (cell > cells) return;
  std::int64_t low = cell / cells_a_bundle * count;  // each bundle has `count` components
  std::int64_t high = min(low + count, cells / cells_a_bundle * count);
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
__global__ void mass_kernel(const Place* __restrict__ place, const Span* __restrict__ span,
                            const PlaneBundle* __restrict__ bundles, unsigned count, const unsigned* __restrict__ begin,
                            CellLayout layout, std::int64_t cells, ClassMost* most) {
  const std::int64_t cell = blockIdx.x * static_cast<std::int64_t>(threads) + threadIdx.x;
  if (cell >= cells || begin[cell] == begin[cell + 1]) return;
  const auto bundle = static_cast<unsigned>(cell / layout.cells);
  const unsigned to_middle = (bundles[bundle].middle - bundle) * count;
  float sum = 0;
  for (unsigned i = begin[cell]; i < begin[cell + 1]; ++i) {
    const float rise = span != nullptr ? span[i].rise : 0;
    sum += fmaxf(exp2f(__fadd_ru(place[to_middle + i].peak, rise)), min_mass);
  }
  const auto cell_number = static_cast<int>(cell % layout.cells);
  int size = 0;
  while (size + 1 < size_classes && layout.classes[size + 1].first <= cell_number) ++size;
  unsigned* const target = &most[bundle * size_classes + size].mass;
  // The factor covers one rounding for each summand.
  const unsigned bits = ordered_bits(sum * (1.00001F + 6e-8F * static_cast<float>(begin[cell + 1] - begin[cell])));
  if (bits > *target) atomicMax(target, bits);
}

/// Range of one of the fixed coordinates over the planes [first, end).
std::pair<double, double> find_range(const std::vector<double>& at, std::size_t first, std::size_t end,
                                     std::size_t fixed, std::size_t axis) {
  std::pair<double, double> range(at[first * fixed + axis], at[first * fixed + axis]);
  for (std::size_t plane = first; plane < end; ++plane) {
    range.first = std::min(range.first, at[plane * fixed + axis]);
    range.second = std::max(range.second, at[plane * fixed + axis]);
  }
  return range;
}

/// The planes' fixed coordinates, then those of the middles of bundles of several planes.
std::vector<double> with_middles(const std::vector<double>& at, const std::vector<PlaneBundle>& bundles,
                                 std::size_t fixed) {
  std::vector<double> all = at;
  for (const PlaneBundle& bundle : bundles) {
    if (bundle.planes == 1) continue;
    for (std::size_t axis = 0; axis < fixed; ++axis) {
      const auto [low, high] = find_range(at, bundle.first, bundle.first + bundle.planes, fixed, axis);
      all.push_back(0.5 * (low + high));
    }
  }
  return all;
}

CellLayout make_layout(const SmoeModel& model) {
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
    : queue_(std::move(queue)), dimensions_(model.dimensions), count_(model.count()), layout_(make_layout(model)) {
  set_means(model);
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

void ComponentCells::set_means(const SmoeModel& model) {
  constexpr std::int64_t samples = 4096;
  const std::int64_t step = std::max<std::int64_t>(count_ / samples, 1);
  double number = 0;
  for (std::int64_t j = 0; j < count_; j += step, ++number) {
    const Matrix r = symmetric(model.covariance.data() + j * triangle_size(dimensions_), dimensions_);
    for (int axis = 2; axis < dimensions_; ++axis) {
      mean_shift_[axis - 2] += std::max(std::abs(r[0][axis]), std::abs(r[1][axis])) / r[axis][axis];
      mean_fall_[axis - 2] += 1 / std::sqrt(r[axis][axis]);
    }
  }
  for (int axis = 0; axis < 2; ++axis) {
    mean_shift_[axis] /= number;
    mean_fall_[axis] /= number;
  }
}

std::vector<PlaneBundle> ComponentCells::bundle_planes(const std::vector<double>& at, unsigned planes, unsigned most,
                                                       double pixels) const {
  const auto fixed = static_cast<unsigned>(dimensions_ - 2);
  std::vector<PlaneBundle> bundles;
  const auto close = [&](unsigned first, unsigned last) {
    double shift = 0;
    double fall = 0;
    for (unsigned axis = 0; axis < fixed; ++axis) {
      const auto [low, high] = find_range(at, first, last + 1, fixed, axis);
      shift += 0.5 * (high - low) * mean_shift_[axis];
      fall += 0.5 * (high - low) * mean_fall_[axis];
    }
    return shift * pixels <= max_shift_px && fall <= max_fall;
  };
  for (unsigned plane = 0; plane < planes; ++plane) {
    const bool joins = !bundles.empty() && bundles.back().planes < most && close(bundles.back().first, plane);
    if (joins) {
      ++bundles.back().planes;
    } else {
      bundles.push_back({plane, 1, plane});
    }
  }
  unsigned after = planes;
  for (PlaneBundle& bundle : bundles) {
    if (bundle.planes > 1) bundle.middle = after++;
  }
  return bundles;
}

void ComponentCells::set_planes(const std::vector<double>& at, const std::vector<PlaneBundle>& bundles) {
  if (bundles == bundles_ && at == at_) return;
  bundles_ = bundles;
  at_ = at;
  const auto fixed = static_cast<std::size_t>(dimensions_ - 2);
  const auto middles =
      std::count_if(bundles.begin(), bundles.end(), [](const PlaneBundle& bundle) { return bundle.planes > 1; });
  const std::vector<double> all_at = with_middles(at, bundles, fixed);
  spans_ = std::ssize(all_at) > std::ssize(at);
  upload_planes(all_at);
  reserve_planes(bundles.back().first + bundles.back().planes + middles);
  sort_by_cell();
  place_in_order();
}

void ComponentCells::upload_planes(const std::vector<double>& all_at) {
  reserve(fixed_, std::ssize(all_at) + 1, queue_);
  if (!all_at.empty())
    copy_bytes(fixed_.data(), queue_.device(), all_at.data(), Device{}, all_at.size() * sizeof(double), queue_);
  reserve(device_bundles_, std::ssize(bundles_), queue_);
  copy_bytes(device_bundles_.data(), queue_.device(), bundles_.data(), Device{}, bundles_.size() * sizeof(PlaneBundle),
             queue_);
}

void ComponentCells::reserve_planes(std::int64_t planes) {
  const auto stream = cuda::stream_of(queue_);
  reserve(keys_, 4 * in_bundles(), queue_);
  reserve(place_, planes * count_, queue_);
  reserve(exact_, planes * count_, queue_);
  reserve(expert_, planes * count_, queue_);
  if (spans_) reserve(span_, in_bundles(), queue_);
  reserve(begin_, cells_of_bundles() + 1, queue_);
  reserve(highest_, planes, queue_);
  reserve(most_, std::ssize(bundles_) * size_classes, queue_);
  cuda::check(cudaMemsetAsync(highest_.data(), 0, planes * sizeof(unsigned), stream), "cudaMemsetAsync");
  cuda::check(cudaMemsetAsync(most_.data(), 0, bundles_.size() * size_classes * sizeof(ClassMost), stream),
              "cudaMemsetAsync");
}

void ComponentCells::sort_by_cell() {
  const auto stream = cuda::stream_of(queue_);
  const std::int64_t all = in_bundles();
  unsigned* const key = keys_.data();
  const dim3 grid(cuda::blocks_for(count_, threads), static_cast<unsigned>(bundles_.size()));
  key_kernel<<<grid, threads, 0, stream>>>(moving_.data(), layout_, static_cast<unsigned>(count_), dimensions_ - 2,
                                           fixed_.data(), device_bundles_.data(), key, key + all, highest_.data());
  cuda::check_launch("key_kernel");
  unsigned* const sorted = key + 2 * all;
  const cuda::KeyBits bits = cuda::key_bits(static_cast<std::uint64_t>(cells_of_bundles()));
  const std::size_t bytes = cuda::sort_pairs_into_bytes(all, bits);
  reserve(sort_memory_, static_cast<std::int64_t>(bytes), queue_);
  cuda::sort_pairs_into(sort_memory_.data(), bytes, key, sorted, key + all, sorted + all, all, bits, stream);
}

void ComponentCells::place_in_order() {
  const auto stream = cuda::stream_of(queue_);
  const std::int64_t all = in_bundles();
  const std::int64_t cells = cells_of_bundles();
  const auto count = static_cast<unsigned>(count_);
  const unsigned* const key = keys_.data() + 2 * all;
  const unsigned* const number = key + all;
  Span* const span = spans_ ? span_.data() : nullptr;
  place_kernel<<<cuda::blocks_for(all, threads), threads, 0, stream>>>(
      moving_.data(), layout_, count, dimensions_ - 2, fixed_.data(), device_bundles_.data(), number, all,
      highest_.data(), place_.data(), span, exact_.data(), expert_.data(), most_.data());
  cuda::check_launch("place_kernel");
  begin_kernel<<<cuda::blocks_for(cells + 1, threads), threads, 0, stream>>>(key, count_, layout_.cells, cells,
                                                                             begin_.data());
  cuda::check_launch("begin_kernel");
  mass_kernel<<<cuda::blocks_for(cells, threads), threads, 0, stream>>>(
      place_.data(), span, device_bundles_.data(), count, begin_.data(), layout_, cells, most_.data());
  cuda::check_launch("mass_kernel");
}

Components ComponentCells::components() const {
  return {place_.data(), exact_.data(), expert_.data(),        spans_ ? span_.data() : nullptr,
          begin_.data(), most_.data(),  device_layout_.data(), static_cast<unsigned>(count_)};
}

}  // namespace holotone::smoe
