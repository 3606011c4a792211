// Component lists of tiles in a fit, from large boxes to small ones, on CUDA.
#include <holotone/core/sorting/sorting_cuda.hpp>
#include <holotone/smoe/model/warp_cuda.cuh>
#include <holotone/smoe/render/selection/select_cuda.cuh>
#include <string>

namespace holotone::smoe {
namespace {

constexpr int box_threads = 256;
constexpr int box_warps = box_threads / 32;
constexpr int threads = 256;
/// Boxes of a level along each side of a box of the next one.
constexpr std::int64_t boxes_across = 8;
/// Costs are added as whole numbers of 2^-32 of the budget, rounded up.
constexpr double a_budget = 4294967296.0;

__device__ __forceinline__ unsigned long long ordered_bits(double value) {
  const auto bits = static_cast<unsigned long long>(__double_as_longlong(value));
  return bits >> 63 != 0 ? ~bits : bits | 1ULL << 63;
}
__device__ __forceinline__ double from_ordered(unsigned long long bits) {
  if (bits == 0) return -INFINITY;
  return __longlong_as_double(static_cast<long long>(bits >> 63 != 0 ? bits & ~(1ULL << 63) : ~bits));
}

/// Joins all threads' values in a fixed order; all threads receive the result.
template <class Value, class Join>
__device__ Value over_block(Value value, Value* shared, const Join& join) {
  for (int offset = 16; offset > 0; offset /= 2) value = join(value, __shfl_xor_sync(all_lanes, value, offset));
  __syncthreads();
  if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = value;
  __syncthreads();
  Value all = shared[0];
  for (int warp = 1; warp < box_warps; ++warp) all = join(all, shared[warp]);
  return all;
}

/// Raises L of tiles: one thread per component and tile of the 3 x 3 around its centre.
__global__ void min_kernel(const ImageComponent* __restrict__ components, std::int64_t count, Shape<2> size,
                           Shape<2> tiles, unsigned long long* __restrict__ least) {
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= 9 * count) return;
  const ImageComponent& component = components[i / 9];
  const auto [row, column] = tile_of(component, tiles);
  const std::int64_t own_row = row + i % 9 / 3 - 1;
  const std::int64_t own_column = column + i % 3 - 1;
  if (own_row < 0 || own_row >= tiles[0] || own_column < 0 || own_column >= tiles[1]) return;
  const double density = min_density(component, box_of(own_row, own_column, 1, size));
  if (density > -INFINITY) atomicMax(least + own_row * tiles[1] + own_column, ordered_bits(density));
}

/// L of a box from those of its parts.
__global__ void join_kernel(const unsigned long long* __restrict__ parts, Shape<2> of_parts, Shape<2> boxes,
                            unsigned long long* __restrict__ least) {
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= boxes[0] * boxes[1]) return;
  const std::int64_t row = i / boxes[1] * boxes_across;
  const std::int64_t column = i % boxes[1] * boxes_across;
  unsigned long long key = ~0ULL;
  for (std::int64_t r = row; r < std::min(row + boxes_across, of_parts[0]); ++r) {
    for (std::int64_t c = column; c < std::min(column + boxes_across, of_parts[1]); ++c) {
      key = std::min(key, parts[r * of_parts[1] + c]);
    }
  }
  least[i] = key;
}

/// Candidates of a box: the list of its parent, or all components.
struct Candidates {
  const std::uint32_t* index;
  std::int64_t count;

  __device__ std::uint32_t operator[](std::int64_t i) const { return index ? index[i] : static_cast<std::uint32_t>(i); }
};

__global__ void first_kernel(const std::uint32_t* __restrict__ sorted, std::int64_t pairs, std::int64_t count,
                             std::int64_t* __restrict__ first) {
  const std::int64_t j = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (j > count) return;
  std::int64_t low = 0;
  std::int64_t high = pairs;
  while (low < high) {
    const std::int64_t middle = (low + high) / 2;
    if (std::int64_t{sorted[middle]} < j) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  first[j] = low;
}

__global__ void number_kernel(std::uint32_t* __restrict__ numbers, std::int64_t count) {
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < count) numbers[i] = static_cast<std::uint32_t>(i);
}

/// A level and the one above it.
struct Scene {
  const ImageComponent* components;
  std::int64_t count;
  int channels;
  Shape<2> size;
  Shape<2> boxes;
  std::int64_t side;
  double budget;
  Shape<2> parents;  ///< {0, 0}: none
  const BoundedBox* parent;
  const std::int64_t* parent_begin;
  const std::uint32_t* parent_index;

  __device__ PixelBox box(std::int64_t i) const { return box_of(i / boxes[1], i % boxes[1], side, size); }
  __device__ std::int64_t parent_of(std::int64_t i) const {
    return i / boxes[1] / boxes_across * parents[1] + i % boxes[1] / boxes_across;
  }
  __device__ Candidates candidates(std::int64_t i) const {
    if (parents[0] == 0) return {nullptr, count};
    const std::int64_t from = parent_begin[parent_of(i)];
    return {parent_index + from, parent_begin[parent_of(i) + 1] - from};
  }
};

/// Not inlined: both kernels must compute the same class, to the last bit.
__device__ __noinline__ int class_of(const Scene& scene, const ImageComponent& component, const PixelBox& box,
                                     const BoundedBox& bounded, double& cost) {
  return class_of_cost(density_above(component, box), reach_of(component, scene.channels, box, bounded.reference),
                       bounded.least, bounded.spread, scene.budget, cost);
}

/// Shared memory of a block of threads for the bounds of a box.
struct BoundMemory {
  double joined[box_warps];
  std::int64_t best_of_warps[box_warps];
  unsigned long long cost_of_class[cost_classes];
  unsigned number_of_class[cost_classes];
};

struct Larger {
  __device__ double operator()(double a, double b) const { return a > b ? a : b; }
};

/// L of a box: the larger of its known value and its parent's. For tiles, and if both are unknown, all candidates raise
/// it.
__device__ __forceinline__ double min_of(const Scene& scene, std::int64_t box_number, const PixelBox& box,
                                         const Candidates& candidates, unsigned long long known, BoundMemory& memory) {
  double least = from_ordered(known);
  if (scene.parents[0] != 0) least = Larger()(least, scene.parent[scene.parent_of(box_number)].least);
  if (scene.side == 1 || least == -INFINITY) {
    double best = least;
    for (std::int64_t i = threadIdx.x; i < candidates.count; i += box_threads) {
      best = Larger()(best, min_density(scene.components[candidates[i]], box));
    }
    least = over_block(best, memory.joined, Larger());
  }
  return least;
}

/// Candidate of the largest density, the first of several.
__device__ __forceinline__ std::int64_t densest_of(const Scene& scene, const PixelBox& box,
                                                   const Candidates& candidates, BoundMemory& memory) {
  double most = -INFINITY;
  std::int64_t best = INT64_MAX;
  for (std::int64_t i = threadIdx.x; i < candidates.count; i += box_threads) {
    const double density = density_above(scene.components[candidates[i]], box);
    if (density > most || best == INT64_MAX) {
      most = density;
      best = i;
    }
  }
  const double highest = over_block(most, memory.joined, Larger());
  best = over_block(most == highest ? best : INT64_MAX, memory.best_of_warps,
                    [](std::int64_t a, std::int64_t b) { return a < b ? a : b; });
  return best == INT64_MAX ? 0 : best;
}

/// B of a box.
__device__ __forceinline__ double spread_of(const Scene& scene, const PixelBox& box, const Candidates& candidates,
                                            const BoundedBox& bounded, BoundMemory& memory) {
  double major = 0;
  double rest = 0;
  for (std::int64_t i = threadIdx.x; i < candidates.count; i += box_threads) {
    const ImageComponent& component = scene.components[candidates[i]];
    const double density = density_above(component, box);
    const double reach = reach_of(component, scene.channels, box, bounded.reference);
    if (density >= bounded.least + minor_weight) {
      major = Larger()(major, reach);
    } else {
      rest += std::exp2(density - bounded.least) * reach;
    }
  }
  return over_block(major, memory.joined, Larger()) +
         over_block(rest, memory.joined, [](double a, double b) { return a + b; });
}

/// Sums numbers and costs of candidates, class by class, in the shared memory.
__device__ __forceinline__ void count_costs(const Scene& scene, const PixelBox& box, const Candidates& candidates,
                                            const BoundedBox& bounded, BoundMemory& memory) {
  if (threadIdx.x < cost_classes) {
    memory.cost_of_class[threadIdx.x] = 0;
    memory.number_of_class[threadIdx.x] = 0;
  }
  __syncthreads();
  for (std::int64_t i = threadIdx.x; i < candidates.count; i += box_threads) {
    double cost = 0;
    const int own_class = class_of(scene, scene.components[candidates[i]], box, bounded, cost);
    if (own_class == must_stay) continue;
    atomicAdd(memory.cost_of_class + own_class,
              static_cast<unsigned long long>(std::ceil(cost / scene.budget * a_budget)));
    atomicAdd(memory.number_of_class + own_class, 1U);
  }
  __syncthreads();
}

/// One block per box: L, B and the first dropped class.
__global__ void __launch_bounds__(box_threads)
    bound_kernel(Scene scene, const unsigned long long* __restrict__ least, BoundedBox* __restrict__ boxes,
                 std::int64_t* __restrict__ numbers) {
  __shared__ BoundMemory memory;
  const auto box_number = static_cast<std::int64_t>(blockIdx.x);
  const PixelBox box = scene.box(box_number);
  const Candidates candidates = scene.candidates(box_number);
  BoundedBox bounded{min_of(scene, box_number, box, candidates, least[box_number], memory), 0, {}, 0};
  const ImageComponent& densest = scene.components[candidates[densest_of(scene, box, candidates, memory)]];
  for (int c = 0; c < scene.channels; ++c) {
    bounded.reference[static_cast<std::size_t>(c)] = colour_amid(densest, c, box);
  }
  bounded.spread = spread_of(scene, box, candidates, bounded, memory);
  count_costs(scene, box, candidates, bounded, memory);
  if (threadIdx.x != 0) return;
  bounded.cheapest = cost_classes;
  std::int64_t dropped = 0;
  for (unsigned long long sum = 0; bounded.cheapest > 0; --bounded.cheapest) {
    sum += memory.cost_of_class[bounded.cheapest - 1];
    if (static_cast<double>(sum) > a_budget) break;
    dropped += memory.number_of_class[bounded.cheapest - 1];
  }
  boxes[box_number] = bounded;
  numbers[box_number] = candidates.count - dropped;
}

/// One block per box: the kept components, in their order.
__global__ void __launch_bounds__(box_threads)
    list_kernel(Scene scene, const BoundedBox* __restrict__ boxes, const std::int64_t* __restrict__ begin,
                std::uint32_t* __restrict__ index) {
  __shared__ int of_warp[box_warps];
  const auto box_number = static_cast<std::int64_t>(blockIdx.x);
  const PixelBox box = scene.box(box_number);
  const Candidates candidates = scene.candidates(box_number);
  const BoundedBox bounded = boxes[box_number];
  std::int64_t next = begin[box_number];
  const unsigned lane = threadIdx.x % 32;
  const unsigned warp = threadIdx.x / 32;
  for (std::int64_t from = 0; from < candidates.count; from += box_threads) {
    const std::int64_t i = from + threadIdx.x;
    bool stays = false;
    if (i < candidates.count) {
      double cost = 0;
      const int own_class = class_of(scene, scene.components[candidates[i]], box, bounded, cost);
      stays = own_class == must_stay || own_class < bounded.cheapest;
    }
    const unsigned votes = __ballot_sync(all_lanes, stays);
    __syncthreads();
    if (lane == 0) of_warp[warp] = __popc(votes);
    __syncthreads();
    std::int64_t at = next + __popc(votes & ((1U << lane) - 1));
    for (unsigned other = 0; other < box_warps; ++other) {
      if (other < warp) at += of_warp[other];
      next += of_warp[other];
    }
    if (stays) index[at] = candidates[i];
  }
}

}  // namespace

CudaSelector::CudaSelector(const Shape<2>& size, int channels, Queue queue)
    : size_(size), channels_(channels), queue_(std::move(queue)) {
  const cuda::DeviceScope scope(queue_.device());
  const auto add = [&](const Shape<2>& count, std::int64_t side) {
    const std::int64_t boxes = count[0] * count[1];
    Level level;
    level.count = count;
    level.side = side;
    level.least = Array<unsigned long long, 1>({boxes}, queue_);
    level.boxes = Array<BoundedBox, 1>({boxes}, queue_);
    level.numbers = Array<std::int64_t, 1>({boxes + 1}, queue_);
    level.begin = Array<std::int64_t, 1>({boxes + 1}, queue_);
    cuda::check(cudaMemsetAsync(level.numbers.data(), 0, level.numbers.bytes(), cuda::stream_of(queue_)),
                "cudaMemsetAsync");
    levels_.push_back(std::move(level));
  };
  Shape<2> count{(size[0] + tile_shape[0] - 1) / tile_shape[0], (size[1] + tile_shape[1] - 1) / tile_shape[1]};
  add(count, 1);
  // No level for the whole picture: it would drop nothing that its parts would not.
  for (std::int64_t side = boxes_across; count[0] > boxes_across || count[1] > boxes_across; side *= boxes_across) {
    count = {(count[0] + boxes_across - 1) / boxes_across, (count[1] + boxes_across - 1) / boxes_across};
    add(count, side);
  }
}

void CudaSelector::find_least(const ImageComponent* components, std::int64_t count) {
  const auto stream = cuda::stream_of(queue_);
  Level& tiles = levels_.front();
  cuda::check(cudaMemsetAsync(tiles.least.data(), 0, tiles.least.bytes(), stream), "cudaMemsetAsync");
  min_kernel<<<cuda::blocks_for(9 * count, threads), threads, 0, stream>>>(components, count, size_, tiles.count,
                                                                           tiles.least.data());
  cuda::check_launch("min_kernel");
  for (std::size_t i = 1; i < levels_.size(); ++i) {
    Level& level = levels_[i];
    join_kernel<<<cuda::blocks_for(level.least.size(), threads), threads, 0, stream>>>(
        levels_[i - 1].least.data(), levels_[i - 1].count, level.count, level.least.data());
    cuda::check_launch("join_kernel");
  }
}

void CudaSelector::list(std::size_t level, const ImageComponent* components, std::int64_t count, double budget,
                        DevicePairs& pairs) {
  const auto stream = cuda::stream_of(queue_);
  Level& entry = levels_[level];
  Scene scene{components, count, channels_, size_, entry.count, entry.side, budget, {0, 0}, {}, {}, {}};
  if (level + 1 < levels_.size()) {
    const Level& parent = levels_[level + 1];
    scene.parents = parent.count;
    scene.parent = parent.boxes.data();
    scene.parent_begin = parent.begin.data();
    scene.parent_index = parent.index.data();
  }
  const std::int64_t boxes = entry.boxes.size();
  bound_kernel<<<static_cast<unsigned>(boxes), box_threads, 0, stream>>>(scene, entry.least.data(), entry.boxes.data(),
                                                                         entry.numbers.data());
  cuda::check_launch("bound_kernel");
  Array<std::int64_t, 1>& begin = level == 0 ? pairs.begin : entry.begin;
  Array<std::uint32_t, 1>& index = level == 0 ? pairs.index : entry.index;
  reserve(begin, boxes + 1, queue_);
  const std::size_t bytes = cuda::exclusive_sum_bytes<std::int64_t>(boxes + 1);
  reserve(workspace_, static_cast<std::int64_t>(bytes), queue_);
  cuda::exclusive_sum(workspace_.data(), bytes, entry.numbers.data(), begin.data(), boxes + 1, stream);
  std::int64_t total = 0;
  copy_bytes(&total, Device{}, begin.data() + boxes, queue_.device(), sizeof(total), queue_);
  queue_.synchronize();
  if (total > UINT32_MAX) {
    throw Error(
        ErrorCode::out_of_memory,
        "SmoeFitter: components: expected at most 2^32 in the lists of all tiles, got " + std::to_string(total));
  }
  // A quarter more than needed: lists grow and shrink from step to step.
  if (index.size() < total) reserve(index, total + total / 4, queue_);
  list_kernel<<<static_cast<unsigned>(boxes), box_threads, 0, stream>>>(scene, entry.boxes.data(), begin.data(),
                                                                        index.data());
  cuda::check_launch("list_kernel");
  if (level == 0) pairs.count = total;
}

void CudaSelector::sort_pairs(std::int64_t count, DevicePairs& pairs) {
  const auto stream = cuda::stream_of(queue_);
  const std::int64_t room = pairs.index.size();
  reserve(numbers_, room, queue_);
  reserve(sorted_, room, queue_);
  reserve(pairs.places, room, queue_);
  reserve(pairs.first, count + 1, queue_);
  number_kernel<<<cuda::blocks_for(pairs.count, threads), threads, 0, stream>>>(numbers_.data(), pairs.count);
  cuda::check_launch("number_kernel");
  const cuda::KeyBits bits = cuda::key_bits(static_cast<std::uint64_t>(count));
  const std::size_t bytes = cuda::sort_pairs_into_bytes(pairs.count, bits);
  reserve(workspace_, static_cast<std::int64_t>(bytes), queue_);
  cuda::sort_pairs_into(workspace_.data(), bytes, pairs.index.data(), sorted_.data(), numbers_.data(),
                        pairs.places.data(), pairs.count, bits, stream);
  first_kernel<<<cuda::blocks_for(count + 1, threads), threads, 0, stream>>>(sorted_.data(), pairs.count, count,
                                                                             pairs.first.data());
  cuda::check_launch("first_kernel");
}

void CudaSelector::select(const ImageComponent* components, std::int64_t count, double tolerance, DevicePairs& pairs) {
  find_least(components, count);
  const auto above = static_cast<double>(levels_.size() - 1);
  for (std::size_t level = levels_.size(); level-- > 0;) {
    list(level, components, count, level == 0 ? tile_share * tolerance : box_share * tolerance / above, pairs);
  }
  sort_pairs(count, pairs);
}

}  // namespace holotone::smoe
