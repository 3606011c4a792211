#pragma once
// Tiles in float64, on a CUDA device: those whose range of densities or tolerance is too much for float32. Not for users.
#include <holotone/smoe/lists_cuda.cuh>

namespace holotone::smoe {

/// Two threads a pixel, each with half of the components.
inline constexpr int exact_threads = 2 * tile_side * tile_side;

/// A component in shared memory.
struct ExactComponent {
  ExactShape shape;
  double x;
  double y;
  Expert expert;
  unsigned tiles;
};

/// Sums of one pixel, relative to the largest density so far.
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
    rise(density);
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
  __device__ void join(const ExactSums& other) {
    rise(other.most);
    if (!(other.most > -INFINITY)) return;
    const double scale = exp2(other.most - most);
    weights += scale * other.weights;
#pragma unroll
    for (int c = 0; c < most_smoe_channels; ++c) colour[c] += scale * other.colour[c];
  }

 private:
  __device__ void rise(double density) {
    if (!(density > most)) return;
    const double scale = exp2(most - density);
    weights *= scale;
    for (double& sum : colour) sum *= scale;
    most = density;
  }
};

struct ExactMemory {
  ExactComponent staged[exact_threads];
  ExactSums half[exact_threads / 2];
};

/// Writes the pixels of a tile of `number`, a block in exact_list or exact_all. All exact_threads call it.
__device__ inline void sum_exact(const Components& components, const Frame* frames, const PictureGrid& grid,
                                 const ListStore& store, unsigned number, int tile, int channels, ExactMemory& memory,
                                 float* images) {
  const Block& block = store.block[number];
  const BlockPlace place = place_of(grid, number);
  const Frame frame = frames[place.picture];
  const bool listed = block.sum != BlockSum::exact_all;
  const unsigned lists = listed ? block.units : 1;
  constexpr int pixels = tile_side * tile_side;
  const int pixel = static_cast<int>(threadIdx.x) % pixels;
  const unsigned half = threadIdx.x / pixels;
  const int row = place.first_row + tile / tiles_across * tile_side + pixel / tile_side;
  const int column = place.first_column + tile % tiles_across * tile_side + pixel % tile_side;
  ExactSums sums;
  for (unsigned list = 0; list < lists; ++list) {
    const Unit unit = listed ? store.unit[block.unit + list] : Unit{number, 0, components.count, 0};
    for (unsigned first = 0; first < unit.count; first += exact_threads) {
      const unsigned here = min(static_cast<unsigned>(exact_threads), unit.count - first);
      __syncthreads();
      if (threadIdx.x < here) {
        const unsigned i = first + threadIdx.x;
        const Listed own = listed ? store.listed[unit.begin + i] : Listed{frame.plane * components.count + i, ~0U};
        memory.staged[threadIdx.x] = {components.exact[own.component], components.place[own.component].x,
                                      components.place[own.component].y, components.expert[own.component], own.tiles};
      }
      __syncthreads();
      for (unsigned i = half; i < here; i += 2) {
        if ((memory.staged[i].tiles >> tile & 1U) == 0) continue;
        sums.add(memory.staged[i], frame.x + column * frame.step_x, frame.y + row * frame.step_y);
      }
    }
  }
  __syncthreads();
  if (half == 1) memory.half[pixel] = sums;
  __syncthreads();
  if (half == 1 || row >= grid.height || column >= grid.width) return;
  sums.join(memory.half[pixel]);
  float* const target =
      images + ((static_cast<std::int64_t>(place.picture) * grid.height + row) * grid.width + column) * channels;
  for (int c = 0; c < channels; ++c) {
    target[c] = sums.weights > 0 ? static_cast<float>(sums.colour[c] / sums.weights) : 0;
  }
}

}  // namespace holotone::smoe
