#pragma once
// Sums of tiles in float64, on a CUDA device, if the range of densities or the tolerance exceeds float32.
// Not for users.
#include <holotone/smoe/model/warp_cuda.cuh>
#include <holotone/smoe/render/lists/tile_lists_cuda.cuh>

namespace holotone::smoe {

/// Threads that share the components of a pixel: in tiles summed as a whole, and in tiles summed in `exact_parts`
/// parts.
inline constexpr int tile_shares = 2;
inline constexpr unsigned exact_parts = 4;
inline constexpr int parts_shares = tile_shares * exact_parts;
inline constexpr int exact_threads = tile_side * tile_side * tile_shares;

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
  double colour[max_smoe_channels] = {};

  __device__ void add(const ExactComponent& component, double x, double y) {
    const double dx = x - component.x;
    const double dy = y - component.y;
    const double u = component.shape.across * dx;
    const double v = component.shape.skew * dx + component.shape.down * dy;
    const double density = component.shape.peak - u * u - v * v;
    rise(density);
    if (!(density - most > -150)) return;
    const double weight = exp2(density - most);
    weights += weight;
#pragma unroll
    for (int c = 0; c < max_smoe_channels; ++c) {
      colour[c] += weight * (static_cast<double>(component.expert.colour[c]) +
                             static_cast<double>(component.expert.slope_x[c]) * dx +
                             static_cast<double>(component.expert.slope_y[c]) * dy);
    }
  }
  __device__ void join(const ExactSums& other) {
    rise(other.most);
    if (!(other.most > -INFINITY)) return;
    const double scale = exp2(other.most - most);
    weights += scale * other.weights;
#pragma unroll
    for (int c = 0; c < max_smoe_channels; ++c) colour[c] += scale * other.colour[c];
  }
  /// The sums of the lane `step` after this one. All lanes call it.
  __device__ ExactSums of_lane_below(unsigned step) const {
    ExactSums other;
    other.most = __shfl_down_sync(all_lanes, most, step);
    other.weights = __shfl_down_sync(all_lanes, weights, step);
    for (int c = 0; c < max_smoe_channels; ++c) other.colour[c] = __shfl_down_sync(all_lanes, colour[c], step);
    return other;
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
};

/// Writes the pixels of a part of a tile of block `number`. All exact_threads call it.
template <int Shares>
__device__ __forceinline__ void sum_exact(const Components& components, const Frame* frames, const PictureGrid& grid,
                                          const ListStore& store, unsigned number, int tile, int part, int channels,
                                          ExactMemory& memory, float* images) {
  const PictureBlock block(store, grid, number);
  const BlockPlace& place = block.place;
  const Frame frame = frames[place.picture];
  const bool listed = block.record.sum != BlockSum::exact_all;
  const unsigned lists = listed ? block.record.units : 1;
  const unsigned to_plane = listed ? block.to_plane(frame, components) : frame.plane * components.count;
  const int pixel = (part * exact_threads + static_cast<int>(threadIdx.x)) / Shares;
  const unsigned share = threadIdx.x % Shares;
  const int row = place.first_row + tile / tiles_across * tile_side + pixel / tile_side;
  const int column = place.first_column + tile % tiles_across * tile_side + pixel % tile_side;
  ExactSums sums;
  unsigned chunk = block.number;
  for (unsigned list = 0; list < lists; ++list) {
    const unsigned count = listed ? store.chunk[chunk].count : components.count;
    for (unsigned first = 0; first < count; first += exact_threads) {
      const unsigned here = min(static_cast<unsigned>(exact_threads), count - first);
      __syncthreads();
      if (threadIdx.x < here) {
        const unsigned i = first + threadIdx.x;
        const Listed entry = listed ? store.listed[chunk * max_in_unit + i] : Listed{i, ~0U};
        const unsigned component = to_plane + entry.component;
        memory.staged[threadIdx.x] = {components.exact[component], components.place[component].x,
                                      components.place[component].y, components.expert[component], entry.tiles};
      }
      __syncthreads();
      for (unsigned i = share; i < here; i += Shares) {
        if ((memory.staged[i].tiles >> tile & 1U) == 0) continue;
        sums.add(memory.staged[i], frame.x + column * frame.step_x, frame.y + row * frame.step_y);
      }
    }
    if (listed) chunk = store.chunk[chunk].next;
  }
  for (unsigned step = Shares / 2; step > 0; step /= 2) sums.join(sums.of_lane_below(step));
  if (share != 0 || row >= grid.height || column >= grid.width) return;
  float* const target =
      images + ((static_cast<std::int64_t>(place.picture) * grid.height + row) * grid.width + column) * channels;
  for (int c = 0; c < channels; ++c) {
    target[c] = sums.weights > 0 ? static_cast<float>(sums.colour[c] / sums.weights) : 0;
  }
}

}  // namespace holotone::smoe
