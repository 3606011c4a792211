// Points sorted into tiles of the grid on CUDA.
#include <algorithm>
#include <holotone/core/sorting/sorting_cuda.hpp>
#include <holotone/nufft/place.hpp>
#include <holotone/nufft/spread_cuda.cuh>
#include <utility>

namespace holotone::nufft {
namespace {

constexpr int threads = 256;
constexpr std::uint32_t none = 0xFFFFFFFF;

/// Minimum points of a part of a tile, and approximate number of parts on the card at once.
constexpr std::int64_t min_part = 512;
constexpr std::int64_t wanted_parts = 8192;
constexpr std::int64_t max_parts = 4096;  ///< per tile

template <std::size_t Rank>
struct Place {
  std::int32_t cell[Rank];
  float place[Rank];
  int bin;
  bool finite;
};

template <std::size_t Rank>
__device__ __forceinline__ Place<Rank> find_place(const TileGrid<Rank>& grid, const float* __restrict__ points,
                                                  std::int64_t j) {
  Place<Rank> result{};
  result.finite = true;
  int stride = 1;
#pragma unroll
  for (int axis = 0; axis < static_cast<int>(Rank); ++axis) {
    float x = points[j * static_cast<int>(Rank) + axis];
    if (!isfinite(x)) {
      result.finite = false;
      x = 0;
    }
    place_on_axis(grid_coordinate(x, grid.extent[axis]), grid.width, grid.extent[axis], result.cell[axis],
                  result.place[axis]);
    result.bin += stride * (result.cell[axis] / bin_cells<Rank>);
    stride *= grid.bins[axis];
  }
  return result;
}

/// Writes each point's bin and its number, to be sorted.
template <std::size_t Rank>
__global__ void key_kernel(TileGrid<Rank> grid, const float* __restrict__ points, std::int64_t count,
                           std::uint32_t* __restrict__ bin, std::uint32_t* __restrict__ number,
                           std::uint32_t* first_bad) {
  const std::int64_t j = blockIdx.x * static_cast<std::int64_t>(threads) + threadIdx.x;
  if (j >= count) return;
  const Place<Rank> place = find_place(grid, points, j);
  if (!place.finite) atomicMin(first_bad, static_cast<std::uint32_t>(j));
  bin[j] = static_cast<std::uint32_t>(place.bin);
  number[j] = static_cast<std::uint32_t>(j);
}

/// Finds the start of each bin in the sorted list: the first entry with no smaller bin.
__global__ void begin_kernel(const std::uint32_t* __restrict__ sorted_bin, std::int64_t count, int bins,
                             std::uint32_t* __restrict__ bin_begin) {
  const auto bin = blockIdx.x * threads + threadIdx.x;
  if (bin > static_cast<unsigned>(bins)) return;
  std::int64_t low = 0;
  std::int64_t high = count;
  while (low < high) {
    const std::int64_t middle = (low + high) / 2;
    if (sorted_bin[middle] < bin) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  bin_begin[bin] = static_cast<std::uint32_t>(low);
}

template <std::size_t Rank>
__global__ void record_kernel(TileGrid<Rank> grid, const float* __restrict__ points, std::int64_t count,
                              const std::uint32_t* __restrict__ index, uint4* __restrict__ record,
                              uint2* __restrict__ depth) {
  const std::int64_t i = blockIdx.x * static_cast<std::int64_t>(threads) + threadIdx.x;
  if (i >= count) return;
  const Place<Rank> place = find_place(grid, points, index[i]);
  record[i] = make_uint4(static_cast<unsigned>(place.cell[0]), static_cast<unsigned>(place.cell[1]),
                         __float_as_uint(place.place[0]), __float_as_uint(place.place[1]));
  if constexpr (Rank == 3) {
    depth[i] = make_uint2(static_cast<unsigned>(place.cell[2]), __float_as_uint(place.place[2]));
  }
}

__global__ void number_kernel(std::int64_t count, std::uint32_t* __restrict__ number) {
  const std::int64_t i = blockIdx.x * static_cast<std::int64_t>(threads) + threadIdx.x;
  if (i < count) number[i] = static_cast<std::uint32_t>(i);
}

__global__ void invert_kernel(const std::uint32_t* __restrict__ index, const std::uint32_t* __restrict__ number,
                              std::int64_t count, std::uint32_t* __restrict__ place) {
  const std::int64_t i = blockIdx.x * static_cast<std::int64_t>(threads) + threadIdx.x;
  if (i < count) place[index[i]] = number[i];
}

struct Counters {
  std::uint32_t first_bad;
  std::uint32_t extras;
  std::uint32_t heavy;
};

/// Counts the points in the runs of each tile, and the parts in which they are summed.
template <std::size_t Rank>
__global__ void split_kernel(TileGrid<Rank> grid, const std::uint32_t* __restrict__ bin_begin,
                             std::uint64_t part_points, std::uint64_t* candidates, std::uint32_t* parts,
                             std::uint32_t* extra, std::uint32_t* heavy, Counters* counters) {
  const int tile = static_cast<int>(blockIdx.x * threads + threadIdx.x);
  if (tile == grid.tile_count) extra[tile] = 0;
  if (tile >= grid.tile_count) return;
  const TileRuns<Rank> runs = tile_runs(grid, tile);
  std::uint64_t sum = 0;
  for (int which = 0; which < runs.count; ++which) {
    const BinRun<Rank> run = bin_run(grid, runs, which);
    sum += bin_begin[run.end] - bin_begin[run.begin];
  }
  const std::uint64_t wanted = (sum + part_points - 1) / part_points;
  const auto count = static_cast<std::uint32_t>(wanted < 1 ? 1 : wanted < max_parts ? wanted : max_parts);
  candidates[tile] = sum;
  parts[tile] = count;
  extra[tile] = count - 1;
  if (count > 1) {
    atomicAdd(&counters->extras, count - 1);
    heavy[atomicAdd(&counters->heavy, 1U)] = static_cast<std::uint32_t>(tile);
  }
}

template <class T>
T* as(const Buffer& buffer) {
  return static_cast<T*>(buffer.data());
}

void grow(Buffer& buffer, std::size_t bytes, const Queue& queue) {
  if (buffer.bytes() >= bytes) return;
  buffer = Buffer();  // freed before the new allocation
  buffer = Buffer(bytes, queue);
}

int bits_for(std::int64_t count) {
  int bits = 1;
  while (bits < 32 && (std::int64_t{1} << bits) < count) ++bits;
  return bits;
}

/// The highest eight bits of numbers below `count`.
cuda::KeyBits coarse_bits(std::int64_t count) {
  const int bits = bits_for(count);
  return {std::max(0, bits - 8), bits};
}

}  // namespace

template <std::size_t Rank>
TileGrid<Rank> make_tile_grid(const Shape<Rank>& extent, int width) {
  TileGrid<Rank> grid{};
  grid.width = width;
  grid.bin_count = 1;
  grid.tile_count = 1;
  for (std::size_t axis = 0; axis < Rank; ++axis) {
    grid.extent[axis] = static_cast<int>(extent[Rank - 1 - axis]);
    grid.bins[axis] = (grid.extent[axis] + bin_cells<Rank> - 1) / bin_cells<Rank>;
    grid.tiles[axis] = (grid.extent[axis] + tile_cells<Rank> - 1) / tile_cells<Rank>;
    grid.bin_count *= grid.bins[axis];
    grid.tile_count *= grid.tiles[axis];
  }
  return grid;
}

template <std::size_t Rank>
struct PointSort<Rank>::Status {
  Counters counters;
};

template <std::size_t Rank>
PointSort<Rank>::PointSort(const TileGrid<Rank>& grid, const Queue& queue) : grid_(grid), queue_(queue) {
  const auto tiles = static_cast<std::size_t>(grid.tile_count) + 1;
  bin_begin_ = Buffer((static_cast<std::size_t>(grid.bin_count) + 1) * 4, queue);
  candidates_ = Buffer(tiles * 8, queue);
  part_count_ = Buffer(tiles * 4, queue);
  extra_ = Buffer(tiles * 4, queue);
  extra_begin_ = Buffer(tiles * 4, queue);
  heavy_ = Buffer(tiles * 4, queue);
  status_ = Buffer(sizeof(Counters), queue);
  set(nullptr, 0);
}

template <std::size_t Rank>
std::size_t PointSort<Rank>::bytes() const {
  std::size_t sum = 0;
  for (const auto* buffer : {&bin_begin_, &keys_, &results_, &record_, &depth_, &scratch_, &candidates_, &part_count_,
                             &extra_, &extra_begin_, &heavy_, &sums_, &status_}) {
    sum += buffer->bytes();
  }
  return sum;
}

template <std::size_t Rank>
void PointSort<Rank>::set(const float* points, std::int64_t count) {
  const cuda::DeviceScope scope(queue_.device());
  points_ = {};
  reserve(count);
  cuda::check(cudaMemsetAsync(status_.data(), 0, status_.bytes(), stream()), "cudaMemsetAsync");
  cuda::check(cudaMemsetAsync(&as<Counters>(status_)->first_bad, 0xFF, sizeof(std::uint32_t), stream()),
              "cudaMemsetAsync");
  const Order order = sort(points, count);
  places_known_ = false;
  split(count);
  const Status status = wait();
  if (status.counters.first_bad != none) {
    set(nullptr, 0);
    throw_argument("NufftPlan", "points", "finite coordinates",
                   "one that is not, at point " + std::to_string(status.counters.first_bad));
  }
  place_extras(status);
  points_ = {count,
             as<std::uint32_t>(bin_begin_),
             as<uint4>(record_),
             as<uint2>(depth_),
             order.index,
             order.place,
             as<float>(results_)};
}

template <std::size_t Rank>
void PointSort<Rank>::reserve(std::int64_t count) {
  const auto points = static_cast<std::size_t>(count);
  grow(keys_, points * 4 * 4, queue_);
  grow(record_, points * sizeof(uint4), queue_);
  if (Rank == 3) grow(depth_, points * sizeof(uint2), queue_);
  if (count > max_scattered_points) grow(results_, points * 2 * (Rank + 1) * sizeof(float), queue_);
  std::size_t bytes = cuda::sort_pairs_bytes(count, {0, bits_for(grid_.bin_count)});
  if (count > max_scattered_points) bytes = std::max(bytes, cuda::sort_pairs_into_bytes(count, coarse_bits(count)));
  bytes = std::max(bytes, cuda::exclusive_sum_bytes<std::uint32_t>(grid_.tile_count + std::int64_t{1}));
  grow(scratch_, bytes, queue_);
}

template <std::size_t Rank>
typename PointSort<Rank>::Order PointSort<Rank>::sort(const float* points, std::int64_t count) {
  auto* const all = as<std::uint32_t>(keys_);
  cuda::SortedArray bins{all, all + count};
  cuda::SortedArray numbers{all + 2 * count, all + 3 * count};
  const unsigned blocks = cuda::blocks_for(count, threads);
  std::uint32_t* place = nullptr;
  if (count > 0) {
    key_kernel<Rank><<<blocks, threads, 0, stream()>>>(grid_, points, count, bins.current, numbers.current,
                                                       &as<Counters>(status_)->first_bad);
    cuda::check_launch("nufft keys");
    cuda::sort_pairs(scratch_.data(), scratch_.bytes(), bins, numbers, count, {0, bits_for(grid_.bin_count)}, stream());
    // Buffers that the sort no longer needs, for find_places.
    spare_ = {bins.current, bins.other, numbers.other};
    if (count > max_scattered_points) place = spare_[0];
    record_kernel<Rank><<<blocks, threads, 0, stream()>>>(grid_, points, count, numbers.current, as<uint4>(record_),
                                                          as<uint2>(depth_));
    cuda::check_launch("nufft record");
  }
  begin_kernel<<<cuda::blocks_for(grid_.bin_count + std::int64_t{1}, threads), threads, 0, stream()>>>(
      bins.current, count, grid_.bin_count, as<std::uint32_t>(bin_begin_));
  cuda::check_launch("nufft begin");
  return {numbers.current, place};
}

template <std::size_t Rank>
void PointSort<Rank>::split(std::int64_t count) {
  // More points reach a tile than lie in it, by a factor of 9/4 or 27/8. Parts of twice the mean never split an even
  // cloud.
  const std::int64_t reaching = (Rank == 2 ? 9 : 27) * count / (Rank == 2 ? 4 : 8);
  const std::int64_t part = std::max(min_part, reaching / std::max<std::int64_t>(grid_.tile_count / 2, wanted_parts));
  split_kernel<Rank><<<cuda::blocks_for(grid_.tile_count + std::int64_t{1}, threads), threads, 0, stream()>>>(
      grid_, as<std::uint32_t>(bin_begin_), static_cast<std::uint64_t>(part), as<std::uint64_t>(candidates_),
      as<std::uint32_t>(part_count_), as<std::uint32_t>(extra_), as<std::uint32_t>(heavy_), as<Counters>(status_));
  cuda::check_launch("nufft split");
}

template <std::size_t Rank>
typename PointSort<Rank>::Status PointSort<Rank>::wait() {
  Status status{};
  cuda::check(cudaMemcpyAsync(&status.counters, status_.data(), sizeof(Counters), cudaMemcpyDeviceToHost, stream()),
              "cudaMemcpyAsync");
  queue_.synchronize();
  return status;
}

template <std::size_t Rank>
void PointSort<Rank>::place_extras(const Status& status) {
  const Counters& counters = status.counters;
  if (counters.extras > 0) {
    cuda::exclusive_sum(scratch_.data(), scratch_.bytes(), as<std::uint32_t>(extra_), as<std::uint32_t>(extra_begin_),
                        grid_.tile_count + std::int64_t{1}, stream());
    grow(sums_, std::size_t{counters.extras} * tile_numbers<Rank> * sizeof(float), queue_);
  }
  parts_ = {as<std::uint64_t>(candidates_),
            as<std::uint32_t>(part_count_),
            as<std::uint32_t>(extra_begin_),
            as<std::uint32_t>(heavy_),
            counters.extras,
            counters.heavy,
            as<float>(sums_)};
}

template <std::size_t Rank>
void PointSort<Rank>::find_places() {
  if (points_.place == nullptr || places_known_) return;
  const unsigned blocks = cuda::blocks_for(points_.count, threads);
  number_kernel<<<blocks, threads, 0, stream()>>>(points_.count, spare_[0]);
  cuda::check_launch("nufft number");
  cuda::sort_pairs_into(scratch_.data(), scratch_.bytes(), points_.index, spare_[1], spare_[0], spare_[2],
                        points_.count, coarse_bits(points_.count), stream());
  invert_kernel<<<blocks, threads, 0, stream()>>>(spare_[1], spare_[2], points_.count, spare_[0]);
  cuda::check_launch("nufft invert");
  places_known_ = true;
}

#define HOLOTONE_POINTS(Rank)                                            \
  template TileGrid<Rank> make_tile_grid<Rank>(const Shape<Rank>&, int); \
  template class PointSort<Rank>;
HOLOTONE_POINTS(2)
HOLOTONE_POINTS(3)
#undef HOLOTONE_POINTS

}  // namespace holotone::nufft
