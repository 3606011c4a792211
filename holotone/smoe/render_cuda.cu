#include <algorithm>
#include <holotone/smoe/lists_cuda.cuh>
#include <holotone/smoe/render_engine.hpp>

namespace holotone::smoe {
namespace {

constexpr int warps = tiles_a_block;  ///< a warp for each tile
constexpr int threads = 32 * warps;
constexpr int blocks_a_processor = 8;
constexpr unsigned all_lanes = 0xFFFFFFFFU;
/// Lanes side by side take a column of a tile each; so many groups of them take turns at the components.
constexpr int groups = 32 / tile_side;
constexpr std::int64_t most_areas = 8192;  ///< at once
constexpr std::int64_t few_chunks = 8192;
constexpr std::int64_t most_chunks = 1 << 18;

/// Floats of a staged component: x, y, across, skew, down, peak, then colour and both slopes of each channel; a multiple of four.
constexpr int staged_floats(int channels) { return (6 + 3 * channels + 3) / 4 * 4; }

template <int Channels>
struct Shared {
  float4 staged[most_in_unit * staged_floats(Channels) / 4];
  unsigned short tiles[most_in_unit];
  unsigned short list[warps][most_in_unit];
  unsigned unit;
};

__device__ __forceinline__ float power_of_two(float x) {
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}

/// Where a block stands.
struct BlockPlace {
  unsigned picture;
  int first_row;
  int first_column;
  double left;
  double top;
  Frame frame;
};

__device__ __forceinline__ BlockPlace place_of(const PictureGrid& grid, const Frame* frames, unsigned block) {
  const unsigned in_all = grid.first + block / blocks_an_area;
  const auto of_picture = static_cast<unsigned>(grid.areas_x * grid.areas_y);
  BlockPlace place;
  place.picture = in_all / of_picture;
  const auto area = static_cast<int>(in_all % of_picture);
  const auto own = static_cast<int>(block % blocks_an_area);
  place.first_row = area / grid.areas_x * area_side + own / 2 * block_side;
  place.first_column = area % grid.areas_x * area_side + own % 2 * block_side;
  place.frame = frames[place.picture];
  place.left = place.frame.x + place.first_column * place.frame.step_x;
  place.top = place.frame.y + place.first_row * place.frame.step_y;
  return place;
}

/// Sums of one tile: a column of eight pixels a lane, over the components of the lane's group.
template <int Channels>
struct TileSums {
  float weight[tile_side] = {};
  float colour[Channels][tile_side] = {};

  __device__ __forceinline__ void add(const float4* staged, float column, float row, float least) {
    float own[staged_floats(Channels)];
#pragma unroll
    for (int i = 0; i < staged_floats(Channels) / 4; ++i) {
      const float4 four = staged[i];
      own[4 * i] = four.x;
      own[4 * i + 1] = four.y;
      own[4 * i + 2] = four.z;
      own[4 * i + 3] = four.w;
    }
    const float dx = column - own[0];
    const float dy = row - own[1];
    const float u = own[2] * dx;
    const float base = fmaf(-u, u, own[5] - least);
    const float v0 = fmaf(own[3], dx, own[4] * dy);
    float expert[Channels];
#pragma unroll
    for (int c = 0; c < Channels; ++c) {
      expert[c] = fmaf(own[6 + 3 * c + 1], dx, fmaf(own[6 + 3 * c + 2], dy, own[6 + 3 * c]));
    }
#pragma unroll
    for (int i = 0; i < tile_side; ++i) {
      const float v = fmaf(own[4], static_cast<float>(i), v0);
      const float own_weight = power_of_two(fmaf(-v, v, base));
      weight[i] += own_weight;
#pragma unroll
      for (int c = 0; c < Channels; ++c) {
        colour[c][i] = fmaf(own_weight, expert[c], colour[c][i]);
        expert[c] += own[6 + 3 * c + 2];
      }
    }
  }
};

/// values[i] of all groups joined: each group ends with the sums of the two pixels from `first` on.
__device__ __forceinline__ void join_groups(float (&values)[tile_side], float& sum0, float& sum1) {
  const bool high = (threadIdx.x & 16U) != 0;
  const bool odd = (threadIdx.x & 8U) != 0;
  float half[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const float send = high ? values[i] : values[i + 4];
    const float keep = high ? values[i + 4] : values[i];
    half[i] = keep + __shfl_xor_sync(all_lanes, send, 16);
  }
  const float send0 = odd ? half[0] : half[2];
  const float send1 = odd ? half[1] : half[3];
  sum0 = (odd ? half[2] : half[0]) + __shfl_xor_sync(all_lanes, send0, 8);
  sum1 = (odd ? half[3] : half[1]) + __shfl_xor_sync(all_lanes, send1, 8);
}

template <int Channels>
__device__ __forceinline__ void stage(const Components& components, const BlockPlace& place, const Unit& unit,
                                      const Listed* listed, Shared<Channels>& shared) {
  const auto step_x = static_cast<float>(place.frame.step_x);
  const auto step_y = static_cast<float>(place.frame.step_y);
  const double a_pixel_x = 1 / place.frame.step_x;
  const double a_pixel_y = 1 / place.frame.step_y;
  constexpr int floats = staged_floats(Channels);
  for (unsigned i = threadIdx.x; i < unit.count; i += threads) {
    const Listed own = listed[unit.begin + i];
    const Place where = components.place[own.component];
    const Expert& expert = components.expert[own.component];
    float values[floats] = {};
    values[0] = static_cast<float>((where.x - place.left) * a_pixel_x);
    values[1] = static_cast<float>((where.y - place.top) * a_pixel_y);
    values[2] = where.across * step_x;
    values[3] = where.skew * step_x;
    values[4] = where.down * step_y;
    values[5] = where.peak;
#pragma unroll
    for (int c = 0; c < Channels; ++c) {
      values[6 + 3 * c] = expert.colour[c];
      values[6 + 3 * c + 1] = expert.slope_x[c] * step_x;
      values[6 + 3 * c + 2] = expert.slope_y[c] * step_y;
    }
#pragma unroll
    for (int k = 0; k < floats / 4; ++k) {
      shared.staged[i * (floats / 4) + k] =
          make_float4(values[4 * k], values[4 * k + 1], values[4 * k + 2], values[4 * k + 3]);
    }
    shared.tiles[i] = static_cast<unsigned short>(own.tiles);
  }
}

/// The numbers of the unit's components that a warp's tile needs.
__device__ __forceinline__ unsigned compact(const unsigned short* tiles, unsigned count, unsigned short* list) {
  const unsigned lane = threadIdx.x % 32;
  const unsigned tile = threadIdx.x / 32;
  unsigned number = 0;
  for (unsigned base = 0; base < count; base += 32) {
    const unsigned i = base + lane;
    const bool needed = i < count && (tiles[i] >> tile & 1U) != 0;
    const unsigned votes = __ballot_sync(all_lanes, needed);
    if (needed) list[number + __popc(votes & ((1U << lane) - 1))] = static_cast<unsigned short>(i);
    number += __popc(votes);
  }
  __syncwarp();
  return number;
}

/// Units of one block add up in their order: a unit waits for the one before, whose ticket is older.
struct Turns {
  unsigned* turn;  ///< a slot's next part
  float* sums;     ///< {slots, Channels + 1, block_side^2}
};

/// Adds a thread's two pixels, one above the other, to the sums of its block's units before; whether the sums are whole. All threads
/// call it.
template <int Channels>
__device__ bool take_turn(const Turns& turns, const Block& block, const Unit& unit, int first_pixel, float (&weight)[2],
                          float (&colour)[Channels][2]) {
  constexpr int pixels = block_side * block_side;
  float* const own = turns.sums + static_cast<std::int64_t>(block.slot) * (Channels + 1) * pixels;
  if (threadIdx.x == 0) {
    while (atomicAdd(turns.turn + block.slot, 0U) != unit.part) __nanosleep(100);
    __threadfence();
  }
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    float* const pixel = own + first_pixel + i * block_side;
    if (unit.part > 0) {
      weight[i] += __ldcg(pixel + Channels * pixels);
#pragma unroll
      for (int c = 0; c < Channels; ++c) colour[c][i] += __ldcg(pixel + c * pixels);
    }
    __stcg(pixel + Channels * pixels, weight[i]);
#pragma unroll
    for (int c = 0; c < Channels; ++c) __stcg(pixel + c * pixels, colour[c][i]);
  }
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(turns.turn + block.slot, 1U);
  return unit.part + 1 == block.units;
}

template <int Channels>
__global__ void __launch_bounds__(threads, blocks_a_processor)
    sum_kernel(Components components, const Frame* __restrict__ frames, PictureGrid grid, ListStore store, Turns turns,
               float* __restrict__ image) {
  extern __shared__ char memory[];
  Shared<Channels>& shared = *reinterpret_cast<Shared<Channels>*>(memory);
  const unsigned units = store.counts->units;
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int tile = static_cast<int>(threadIdx.x / 32);
  const int column_in_block = tile % tiles_across * tile_side + lane % tile_side;
  const int row_in_block = tile / tiles_across * tile_side;
  const int group = lane / tile_side;
  while (true) {
    __syncthreads();
    if (threadIdx.x == 0) shared.unit = atomicAdd(&store.counts->ticket, 1U);
    __syncthreads();
    if (shared.unit >= units) return;
    const Unit unit = store.unit[shared.unit];
    const Block& block = store.block[unit.block];
    if (block.sum != BlockSum::units) continue;
    const BlockPlace place = place_of(grid, frames, unit.block);
    stage<Channels>(components, place, unit, store.listed, shared);
    __syncthreads();
    const unsigned number = compact(shared.tiles, unit.count, shared.list[tile]);
    TileSums<Channels> sums;
    constexpr int fours = staged_floats(Channels) / 4;
    for (unsigned i = static_cast<unsigned>(group); i < number; i += groups) {
      sums.add(shared.staged + shared.list[tile][i] * fours, static_cast<float>(column_in_block),
               static_cast<float>(row_in_block), block.least[tile]);
    }
    float weight[2];
    float colour[Channels][2];
    join_groups(sums.weight, weight[0], weight[1]);
#pragma unroll
    for (int c = 0; c < Channels; ++c) join_groups(sums.colour[c], colour[c][0], colour[c][1]);
    const int first_row = row_in_block + ((lane & 16) != 0 ? 4 : 0) + ((lane & 8) != 0 ? 2 : 0);
    if (block.units > 1 &&
        !take_turn<Channels>(turns, block, unit, first_row * block_side + column_in_block, weight, colour)) {
      continue;
    }
    const int column = place.first_column + column_in_block;
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int row = place.first_row + first_row + i;
      if (column >= grid.width || row >= grid.height) continue;
      const float scale = weight[i] > 0 ? 1 / weight[i] : 0;
      float* const pixel =
          image + ((static_cast<std::int64_t>(place.picture) * grid.height + row) * grid.width + column) * Channels;
#pragma unroll
      for (int c = 0; c < Channels; ++c) pixel[c] = colour[c][i] * scale;
    }
  }
}

constexpr int exact_threads = block_side * block_side;
constexpr unsigned exact_chunk = 128;

/// A component for sums in float64, in shared memory.
struct ExactComponent {
  ExactShape shape;
  double x;
  double y;
  Expert expert;
  unsigned tiles;
};

/// Sums of one pixel in float64, relative to the largest density so far.
struct ExactSums {
  double most = -INFINITY;
  double weights = 0;
  double colour[most_smoe_channels] = {};

  __device__ void add(const ExactComponent& own, double x, double y) {
    const double dx = x - own.x;
    const double dy = y - own.y;
    const double u = own.shape.across * dx;
    const double v = own.shape.skew * dx + own.shape.down * dy;
    const double density = own.shape.peak - u * u - v * v;
    if (density > most) {
      const double scale = exp2(most - density);
      weights *= scale;
      for (double& sum : colour) sum *= scale;
      most = density;
    }
    if (!(density - most > -150)) return;
    const double weight = exp2(density - most);
    weights += weight;
#pragma unroll
    for (int c = 0; c < most_smoe_channels; ++c) {
      colour[c] +=
          weight * (static_cast<double>(own.expert.colour[c]) + static_cast<double>(own.expert.slope_x[c]) * dx +
                    static_cast<double>(own.expert.slope_y[c]) * dy);
    }
  }
};

/// Blocks in float64: a pixel a thread, over the block's list or all components.
__global__ void __launch_bounds__(exact_threads)
    exact_kernel(Components components, const Frame* __restrict__ frames, PictureGrid grid, ListStore store,
                 int channels, float* __restrict__ image) {
  __shared__ ExactComponent staged[exact_chunk];
  __shared__ unsigned ticket;
  while (true) {
    __syncthreads();
    if (threadIdx.x == 0) ticket = atomicAdd(&store.counts->exact_ticket, 1U);
    __syncthreads();
    if (ticket >= store.counts->exact) return;
    const unsigned number = store.exact_block[ticket];
    const Block& block = store.block[number];
    const BlockPlace place = place_of(grid, frames, number);
    const bool listed = block.sum == BlockSum::exact_list;
    const unsigned lists = listed ? block.units : 1;
    const int own_row = static_cast<int>(threadIdx.x) / block_side;
    const int own_column = static_cast<int>(threadIdx.x) % block_side;
    const int row = place.first_row + own_row;
    const int column = place.first_column + own_column;
    const int tile = own_row / tile_side * tiles_across + own_column / tile_side;
    ExactSums sums;
    for (unsigned list = 0; list < lists; ++list) {
      const Unit unit = listed ? store.unit[block.unit + list] : Unit{number, 0, components.count, 0};
      for (unsigned first = 0; first < unit.count; first += exact_chunk) {
        const unsigned here = min(exact_chunk, unit.count - first);
        __syncthreads();
        if (threadIdx.x < here) {
          const unsigned i = first + threadIdx.x;
          const Listed own =
              listed ? store.listed[unit.begin + i] : Listed{place.frame.plane * components.count + i, all_lanes};
          staged[threadIdx.x] = {components.exact[own.component], components.place[own.component].x,
                                 components.place[own.component].y, components.expert[own.component], own.tiles};
        }
        __syncthreads();
        for (unsigned i = 0; i < here; ++i) {
          if ((staged[i].tiles >> tile & 1U) == 0) continue;
          sums.add(staged[i], place.frame.x + column * place.frame.step_x, place.frame.y + row * place.frame.step_y);
        }
      }
    }
    if (row >= grid.height || column >= grid.width) continue;
    float* const target =
        image + ((static_cast<std::int64_t>(place.picture) * grid.height + row) * grid.width + column) * channels;
    for (int c = 0; c < channels; ++c)
      target[c] = sums.weights > 0 ? static_cast<float>(sums.colour[c] / sums.weights) : 0;
  }
}

class CudaEngine final : public SmoeRenderer::Engine {
 public:
  CudaEngine(const SmoeModel& model, Queue queue, const SmoeRenderOptions& options)
      : model_(model), queue_(std::move(queue)), options_(options), cells_(model, queue_) {
    int count = 0;
    cuda::check(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, queue_.device().index),
                "cudaDeviceGetAttribute");
    processors_ = static_cast<unsigned>(count);
  }

  void render(std::span<const SmoeView> views, View<float, 4> images) override {
    set_frames(views);
    const Shape<2> size = views.front().size;
    PictureGrid grid{static_cast<int>(size[1]), static_cast<int>(size[0]), 0, 0, 0, 0};
    grid.areas_x = (grid.width + area_side - 1) / area_side;
    grid.areas_y = (grid.height + area_side - 1) / area_side;
    const std::int64_t all = std::int64_t{grid.areas_x} * grid.areas_y * std::ssize(views);
    reserve_store(std::min(all, most_areas) * blocks_an_area);
    bands_ = (all + most_areas - 1) / most_areas;
    reserve(counts_, bands_, queue_);
    cuda::check(cudaMemsetAsync(counts_.data(), 0, counts_.bytes(), cuda::stream_of(queue_)), "cudaMemsetAsync");
    for (std::int64_t band = 0; band < bands_; ++band) {
      grid.first = static_cast<unsigned>(band * most_areas);
      grid.areas = static_cast<unsigned>(std::min(all - band * most_areas, most_areas));
      render_blocks(grid, views.front(), counts_.data() + band, images.data());
    }
    tiles_ = (size[0] + tile_side - 1) / tile_side * ((size[1] + tile_side - 1) / tile_side) * std::ssize(views);
  }

  [[nodiscard]] SmoeRenderInfo info() const override {
    std::vector<ListCounts> counts(static_cast<std::size_t>(bands_));
    queue_.synchronize();
    if (bands_ > 0) {
      cuda::check(cudaMemcpy(counts.data(), counts_.data(), counts.size() * sizeof(ListCounts), cudaMemcpyDeviceToHost),
                  "cudaMemcpy");
    }
    SmoeRenderInfo info;
    info.tile = {tile_side, tile_side};
    double sum = 0;
    for (const auto& own : counts) {
      sum += static_cast<double>(own.in_all);
      info.most_components = std::max<std::int64_t>(info.most_components, own.most);
      info.robust_tiles += std::int64_t{own.exact} * tiles_a_block;
    }
    info.components_per_tile = tiles_ > 0 ? sum / static_cast<double>(tiles_) : 0;
    return info;
  }

 private:
  void set_frames(std::span<const SmoeView> views) {
    const auto free = static_cast<std::size_t>(model_.dimensions - 2);
    std::vector<Frame> frames;
    std::vector<double> at;
    for (const auto& view : views) {
      Frame frame{0, 0, view.extent[0] / static_cast<double>(view.size[1]),
                  view.extent[1] / static_cast<double>(view.size[0]), 0};
      frame.x = view.corner[0] + 0.5 * frame.step_x;
      frame.y = view.corner[1] + 0.5 * frame.step_y;
      if (free > 0) {
        frame.plane = static_cast<unsigned>(frames.size());
        at.insert(at.end(), view.at.begin(), view.at.end());
      }
      frames.push_back(frame);
    }
    cells_.set_planes(at, free > 0 ? static_cast<int>(views.size()) : 1);
    reserve(frames_, std::ssize(frames), queue_);
    copy_bytes(frames_.data(), queue_.device(), frames.data(), Device{}, frames.size() * sizeof(Frame), queue_);
  }

  void reserve_store(std::int64_t blocks) {
    first_free_ = blocks;
    // A block takes at most as many as all components fill, all of them together rarely more than one each.
    const std::int64_t taken = std::max(blocks + 4 * model_.count() / most_in_unit, few_chunks);
    chunks_ = std::min({taken, blocks * (model_.count() / (most_in_unit - 31)), most_chunks});
    reserve(blocks_, blocks, queue_);
    reserve(listed_, (blocks + chunks_) * most_in_unit, queue_);
    reserve(chunk_, blocks + chunks_, queue_);
    reserve(units_, blocks + chunks_, queue_);
    reserve(exact_blocks_, blocks, queue_);
    reserve(turns_, blocks, queue_);
    reserve(slots_, blocks * (model_.channels + 1) * block_side * block_side, queue_);
  }

  void render_blocks(const PictureGrid& grid, const SmoeView& view, ListCounts* counts, float* image) {
    const auto stream = cuda::stream_of(queue_);
    const ListStore store{blocks_.data(),
                          units_.data(),
                          listed_.data(),
                          chunk_.data(),
                          exact_blocks_.data(),
                          counts,
                          static_cast<unsigned>(first_free_),
                          static_cast<unsigned>(chunks_)};
    const ListSettings settings{
        options_.selection,
        static_cast<float>(options_.tolerance),
        static_cast<float>(options_.window_px * view.extent[0] / static_cast<double>(view.size[1])),
        static_cast<float>(options_.window_px * view.extent[1] / static_cast<double>(view.size[0])),
        options_.precision == SmoePrecision::robust,
        model_.channels};
    cuda::check(cudaMemsetAsync(turns_.data(), 0, grid.areas * blocks_an_area * sizeof(unsigned), stream),
                "cudaMemsetAsync");
    list_components(cells_.components(), frames_.data(), grid, settings, store, stream);
    switch (model_.channels) {
      case 1: sum<1>(grid, store, image); break;
      case 2: sum<2>(grid, store, image); break;
      case 3: sum<3>(grid, store, image); break;
      default: sum<4>(grid, store, image); break;
    }
    exact_kernel<<<std::min(4 * processors_, blocks_an_area * grid.areas), exact_threads, 0, stream>>>(
        cells_.components(), frames_.data(), grid, store, model_.channels, image);
    cuda::check_launch("exact_kernel");
  }

  template <int Channels>
  void sum(const PictureGrid& grid, const ListStore& store, float* image) {
    cuda::check(cudaFuncSetAttribute(sum_kernel<Channels>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                     sizeof(Shared<Channels>)),
                "cudaFuncSetAttribute");
    sum_kernel<Channels><<<std::min(blocks_a_processor * processors_, blocks_an_area * grid.areas), threads,
                           sizeof(Shared<Channels>), cuda::stream_of(queue_)>>>(
        cells_.components(), frames_.data(), grid, store, {turns_.data(), slots_.data()}, image);
    cuda::check_launch("sum_kernel");
  }

  const SmoeModel& model_;
  Queue queue_;
  SmoeRenderOptions options_;
  ComponentCells cells_;
  unsigned processors_ = 0;
  std::int64_t tiles_ = 0;
  std::int64_t bands_ = 0;
  std::int64_t first_free_ = 0;
  std::int64_t chunks_ = 0;
  Array<Frame, 1> frames_;
  Array<Block, 1> blocks_;
  Array<Unit, 1> units_;
  Array<Listed, 1> listed_;
  Array<Chunk, 1> chunk_;
  Array<unsigned, 1> exact_blocks_;
  Array<unsigned, 1> turns_;
  Array<float, 1> slots_;
  Array<ListCounts, 1> counts_;
};

}  // namespace

EnginePointer engine_cuda(const SmoeModel& model, const Queue& queue, const SmoeRenderOptions& options) {
  return std::make_unique<CudaEngine>(model, queue, options);
}

}  // namespace holotone::smoe
