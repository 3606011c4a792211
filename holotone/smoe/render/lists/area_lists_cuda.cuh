#pragma once
// Computations that the four warps of an area share before each lists its block. Not for users.
#include <holotone/smoe/render/lists/density_bounds_cuda.cuh>

namespace holotone::smoe {

/// Four warps make the lists of an area, one for each of its blocks.
inline constexpr int area_warps = blocks_an_area;
inline constexpr int area_threads = 32 * area_warps;
/// Share of the tolerance for components that are not visited.
inline constexpr float far_share = 0.1F;
/// Threshold for dropping a component for a whole area, over that for a tile.
inline constexpr float box_threshold = 1.0F / 64;
/// Distance, in 1 / 0.85 deviations, at which components often still matter.
inline constexpr float usual_reach = 4;
/// Guess of |y - 1/2|: high, because bounds of y are loose for steep experts, and repeating a list costs more than a
/// longer one.
inline constexpr float guessed_colour = 20;
/// Initial threshold of a dropped component, as a share of the tolerance.
inline constexpr float first_threshold = 1.0F / 24;
inline constexpr float log2_e_half = 0.72134752F;
inline constexpr float huge = 1e30F;
inline constexpr int max_near = 128;  ///< largest number of an area's candidates that a warp stores

/// Component that the lists of an area's blocks may need.
struct alignas(16) Candidate {
  Local local;  ///< in coordinates of the area
  unsigned component;
  float steep;
  float span_x;
  float span_y;
  float span_colour;

  /// The peak is the highest over the planes of the bundle.
  __device__ static Candidate of(const Box& box, const Place& place, const LocalSpan& span, unsigned component) {
    Candidate candidate{box.local_of(place), component, place.steep, span.x, span.y, span.colour};
    candidate.local.peak += span.rise;
    return candidate;
  }
};

struct AreaMemory {
  unsigned best[area_quarters * area_quarters];  ///< L of quarters as ordered_bits, like those of the tiles
  unsigned least[area_tiles * area_tiles];
  CellRows rows;
  float far;  ///< share of components that are not visited
  float sums[area_warps][3 + max_smoe_channels];
  float dropped[area_warps];
  int near_count[area_warps];  ///< more than max_near: some are not stored
  Candidate near[area_warps][max_near];
  CellRows own_rows[area_warps];
};

/// Position of a box in its picture.
struct PicturePart {
  double x;  ///< position of the picture's first pixel, in the model's coordinates
  double y;
  int first_row;
  int first_column;
  int height;  ///< size of the picture
  int width;

  /// Box at (row, column) of this part, extended to all window blocks, `side` pixels each, that it meets.
  __device__ Box grown(const Box& box, int row, int column, int side) const {
    const int left = (first_column + column) / side * side;
    const int top = (first_row + row) / side * side;
    Box all = box;
    all.left = x + left * box.pixel_x;
    all.top = y + top * box.pixel_y;
    all.columns = min((first_column + column + box.columns - 1) / side * side + side, width) - left;
    all.rows = min((first_row + row + box.rows - 1) / side * side + side, height) - top;
    return all;
  }
};

/// Shared results of an area's warps. `Bounded`: SmoeSelection::bounded.
template <bool Bounded>
struct Area {
  const Plane& plane;
  const ListSettings& settings;
  const Box box;
  const PicturePart part;
  AreaMemory& memory;
  const int warp;
  const int lane;
  float reference[max_smoe_channels];  ///< c: the mean of the components in the area
  float away;                          ///< largest |c - 1/2| of a channel
  float spread;                        ///< guess of B
  float dropped;                       ///< shares of components that no block visits, computed with guessed_colour

  __device__ Area(const Plane& of_plane, const ListSettings& list_settings, const Box& area_box,
                  const PicturePart& area_part, const unsigned* best, AreaMemory& shared)
      : plane(of_plane),
        settings(list_settings),
        box(area_box),
        part(area_part),
        memory(shared),
        warp(static_cast<int>(threadIdx.x / 32)),
        lane(static_cast<int>(threadIdx.x % 32)),
        dropped(0) {
    find_least(best);
    find_near();
  }

  __device__ bool has(int quarter) const {
    return quarter / area_quarters * quarter_side < box.rows && quarter % area_quarters * quarter_side < box.columns;
  }
  __device__ bool lacks_least() const {
    static_assert(area_quarters * area_quarters == 64);
    const bool lacks = (has(lane) && memory.best[lane] == 0) || (has(lane + 32) && memory.best[lane + 32] == 0);
    return __any_sync(all_lanes, lacks);
  }
  /// Visits the components within `distance` (of class i in lane i of the first warp), shared among all warps. All
  /// threads of the area call it.
  template <class Body>
  __device__ __forceinline__ void visit_together(float distance, const Body& body) const {
    if (warp == 0) set_rows(plane, Bounded ? box : part.grown(box, 0, 0, settings.window_block), distance, memory.rows);
    __syncthreads();
    visit(plane, memory.rows, warp, area_warps, body);
  }

  /// Upper bound of the distance of windows' edges from their blocks, in the model's coordinates.
  __device__ float window_reach() const { return settings.window_px * fmaxf(box.step_x, box.step_y) * 1.000001F; }
  /// Bit mask of the tiles of a box at (first_row, first_column) of the area whose blocks' windows contain a
  /// component's centre; `across` tiles in a row.
  __device__ unsigned window_tiles(const Box& own_box, int first_row, int first_column, int across,
                                   const Place& place) const {
    const double window_x = settings.window_px * box.pixel_x;
    const double window_y = settings.window_px * box.pixel_y;
    unsigned bits = 0;
    for (int row = 0; row * tile_side < own_box.rows; ++row) {
      for (int column = 0; column * tile_side < own_box.columns; ++column) {
        const Box block =
            part.grown(own_box.part(column * tile_side, row * tile_side, tile_side), first_row + row * tile_side,
                       first_column + column * tile_side, settings.window_block);
        const bool inside = place.x >= block.left - window_x && place.y >= block.top - window_y &&
                            place.x <= block.left + (block.columns - 1) * block.pixel_x + window_x &&
                            place.y <= block.top + (block.rows - 1) * block.pixel_y + window_y;
        if (inside) bits |= 1U << (row * across + column);
      }
    }
    return bits;
  }

  /// Computes L of every tile from the values that components have set in `best`. All threads of the area call it.
  __device__ void find_least(const unsigned* best) {
    if (threadIdx.x < area_quarters * area_quarters) memory.best[threadIdx.x] = Bounded ? best[threadIdx.x] : 0;
    __syncthreads();
    if constexpr (Bounded) {
      look_farther();
    } else {
      visit_together(window_reach(), [&](unsigned component, bool active) {
        if (!active) return;
        const Place place = plane.place(component);
        raise_least(box, box.local_of(place), plane.span(component, box), huge,
                    window_tiles(box, 0, 0, area_tiles, place), memory.best);
      });
      __syncthreads();
    }
    set_least();
  }

  /// L of a tile: the least of its quarters; 0 if a quarter has none.
  __device__ void set_least() const {
    if (threadIdx.x < area_tiles * area_tiles) {
      const int tile = static_cast<int>(threadIdx.x);
      const int first = tile / area_tiles * 2 * area_quarters + tile % area_tiles * 2;
      unsigned least = ~0U;
      for (const int quarter : {first, first + 1, first + area_quarters, first + area_quarters + 1}) {
        if (has(quarter)) least = min(least, memory.best[quarter]);
      }
      memory.least[tile] = least;
    }
    __syncthreads();
  }

  /// Largest deviation of a class over 0.85; no limit for the last one.
  __device__ float class_reach(int size) const {
    if (size + 1 >= size_classes) return huge;
    return 0.295F * static_cast<float>(plane.components.layout->classes[size].side);
  }

  /// Raises L where components are sparse: by farther ones, and finally by all of them.
  __device__ void look_farther() const {
    for (float within = 3; within < 10 && lacks_least(); within *= 3) {
      __syncthreads();
      visit_together(within * class_reach(lane), [&](unsigned component, bool active) {
        if (!active) return;
        raise_least(box, box.local_of(plane.place(component)), plane.span(component, box), within, all_lanes,
                    memory.best);
      });
      __syncthreads();
    }
    if (lacks_least()) {
      for (unsigned i = threadIdx.x; i < plane.components.count; i += area_threads) {
        const unsigned component = plane.first + i;
        raise_least(box, box.local_of(plane.place(component)), plane.span(component, box), huge, all_lanes,
                    memory.best);
      }
    }
    __syncthreads();
  }

  __device__ void set_reference() {
    float total[3 + max_smoe_channels] = {};
    for (const auto& other : memory.sums) {
#pragma unroll
      for (int i = 0; i < 3 + max_smoe_channels; ++i) total[i] += other[i];
    }
    const bool some = total[0] > 0;
    const float part = some ? 1 / total[0] : 0;
    float variance = total[1] * part;
    away = 0;
#pragma unroll
    for (int c = 0; c < max_smoe_channels; ++c) {
      reference[c] = some ? total[3 + c] * part : 0.5F;
      if (some) variance -= reference[c] * reference[c];
      if (c < settings.channels) away = fmaxf(away, fabsf(reference[c] - 0.5F));
    }
    spread = 2 * sqrtf(fmaxf(variance, 0.0F)) + 0.02F + usual_reach * total[2] * part;
    spread = fminf(fmaxf(spread, settings.tolerance), 1e30F);
  }

  /// The least L of the area's tiles.
  __device__ float min_of_all() const {
    const unsigned bits = lane < area_tiles * area_tiles ? memory.least[lane] : 0;
    return min_of_lanes(bits == 0 || bits == ~0U ? 1e30F : from_ordered(bits));
  }

  /// Search distance of class i in lane i. All components beyond it together stay within far_share of the tolerance if
  /// |y - 1/2| is at most `colour`. Adds the bound of their share to `share`.
  __device__ float far_distance(const Box& own_box, float least, float colour, float& share) const {
    float distance = 0;
    float lane_share = 0;
    if (lane < size_classes) {
      const unsigned count = plane.count_of(lane);
      if (count > 0) distance = class_distance(lane, own_box, least, colour, static_cast<float>(count), lane_share);
    }
    share += sum_of_lanes(lane_share);
    return distance;
  }

  /// Search distance of one class. Of the cells beyond it, the adjacent ones hold at most the class's greatest mass
  /// each. The next ring of cells is 2.8 deviations farther, its components 2^-9 as heavy at most, and so on: a tenth
  /// covers all of them. The last class's cells may be small against its deviations: all of its components count as if
  /// they were at the distance.
  __device__ float class_distance(int size, const Box& own_box, float least, float colour, float count,
                                  float& share) const {
    const ClassMost& bits = plane.most[size];
    const float deviation = from_ordered(bits.deviation) * 1.000001F;
    const float reach = from_ordered(bits.reach);
    const float steep = from_ordered(bits.steep) * 1.00001F;
    const float width = static_cast<float>(own_box.columns) * own_box.step_x;
    const float height = static_cast<float>(own_box.rows) * own_box.step_y;
    const float side = static_cast<float>(plane.components.layout->classes[size].side);
    const float wanted = log2f(far_share / size_classes * settings.tolerance);
    const float mass = from_ordered(bits.mass);
    const float all = fmaxf(exp2f(from_ordered(bits.peak)), min_mass) * count * 1.0001F;
    float distance = deviation;
    float log_share = 0;
    for (int i = 0; i < 8; ++i) {
      const float ring = 2.2F * ((width + height + 4 * distance) / side + 8) * mass;
      const float together = size + 1 < size_classes ? fminf(ring, all) : all;
      const float relative = distance / deviation;
      const float bound = fmaf(steep, steepest_at * relative, reach) + colour;
      const float fall = log2_e_half * relative * relative * 0.99999F;
      log_share = __log2f(together) + __log2f(bound) - least - fall + 1e-6F * (fabsf(least) + fall) + 3e-5F;
      const float excess = log_share - wanted;
      if (excess <= 0) break;
      distance = deviation * sqrtf(relative * relative + (excess + 0.1F) * (1 / log2_e_half));
    }
    if (!(log_share <= wanted + 0.5F) || !(distance < 1e30F)) return 3e38F;  // all of them
    share = exp2f(log_share);
    return distance + (bits.extent != 0 ? from_ordered(bits.extent) : 0);
  }

  /// Upper bound of a component's share of the error in a box.
  __device__ float error_share(const Place& place, const Local& local, const LocalSpan& span, float least) const {
    const float density =
        density_above(local, span, 0.5F * static_cast<float>(box.columns - 1), 0.5F * static_cast<float>(box.rows - 1));
    const float reach = fmaf(place.steep, max_away(local.peak + span.rise - density), place.reach + span.colour);
    return power_above(density - least) * (reach + guessed_colour);
  }

  /// Stores the components that some block of the area may need, each warp those it visits. All threads of the area
  /// call it.
  __device__ void find_near() {
    const float least = min_of_all();
    float distance = window_reach();
    float far = 0;
    if (Bounded && warp == 0) {
      distance = far_distance(box, least, guessed_colour, far);
      if (lane == 0) memory.far = far;
    }
    const float threshold = box_threshold * first_threshold * settings.tolerance;
    float share = 0;
    int count = 0;
    float inside = 0;
    float squares = 0;
    float steep = 0;
    float sum[max_smoe_channels] = {};
    visit_together(distance, [&](unsigned component, bool active) {
      Candidate candidate{{}, component, 0, 0, 0, 0};
      bool keep = active;
      if (active) {
        const Place place = plane.place(component);
        const LocalSpan span = plane.span(component, box);
        candidate = Candidate::of(box, place, span, component);
        if constexpr (Bounded) {
          const float error = error_share(place, box.local_of(place), span, least);
          keep = !(error < threshold);
          if (!keep) share += error;
        }
      }
      const unsigned votes = __ballot_sync(all_lanes, keep);
      const int at = count + __popc(votes & ((1U << lane) - 1));
      if (keep && at < max_near) memory.near[warp][at] = candidate;
      count += __popc(votes);
      const Local& local = candidate.local;
      if (!keep || local.x < -0.5F || local.y < -0.5F || local.x > area_side || local.y > area_side) return;
      const Expert& expert = plane.expert(component);
      inside += 1;
      steep += __saturatef(candidate.steep);
#pragma unroll
      for (int c = 0; c < max_smoe_channels; ++c) {
        sum[c] += expert.colour[c];
        squares = fmaf(expert.colour[c], expert.colour[c], squares);
      }
    });
    share = sum_of_lanes(share);
    inside = sum_of_lanes(inside);
    squares = sum_of_lanes(squares);
    steep = sum_of_lanes(steep);
#pragma unroll
    for (float& value : sum) value = sum_of_lanes(value);
    if (lane == 0) {
      memory.near_count[warp] = count;
      memory.dropped[warp] = share;
      memory.sums[warp][0] = inside;
      memory.sums[warp][1] = squares;
      memory.sums[warp][2] = steep;
#pragma unroll
      for (int c = 0; c < max_smoe_channels; ++c) memory.sums[warp][3 + c] = sum[c];
    }
    __syncthreads();
    if constexpr (Bounded) {
      dropped = memory.far;
      for (const float other : memory.dropped) dropped += other;
    }
    set_reference();
  }
};

}  // namespace holotone::smoe
