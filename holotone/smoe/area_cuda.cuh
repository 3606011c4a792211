#pragma once
// What the four warps of an area find together before each lists its block. Not for users.
#include <holotone/smoe/near_cuda.cuh>

namespace holotone::smoe {

/// Four warps make the lists of an area, one for each of its blocks.
inline constexpr int area_warps = blocks_an_area;
inline constexpr int area_threads = 32 * area_warps;
inline constexpr int area_tiles = area_side / tile_side;  ///< across
/// Share of the tolerance of components that are not looked at.
inline constexpr float far_share = 0.1F;
/// Of a dropped component's share, that of one that is dropped for a whole block or area.
inline constexpr float box_threshold = 1.0F / 64;
inline constexpr float log2_e_half = 0.72134752F;
inline constexpr float huge = 1e30F;
inline constexpr int most_near = 160;  ///< components of an area that a warp notes

/// What of a component the tests of boxes need.
struct Candidate {
  Local local;
  float reach;
  float slope;
};

/// A warp's own memory.
struct WarpMemory {
  CellRows rows;
  Candidate near[most_near];  ///< in the area, for all its blocks
  unsigned near_component[most_near];
  int near_count;  ///< more than most_near: some are not there
  float sums[2 + most_smoe_channels];
  float dropped[2];
  Local kept[64];  ///< in the warp's block, waiting for the tests of its tiles
  unsigned component[64];
};

struct AreaMemory {
  unsigned least[area_tiles * area_tiles];  ///< ordered_bits
  WarpMemory warp[area_warps];
};

/// What the warps of an area find together.
struct Area {
  const Plane& plane;
  const ListSettings& settings;
  const Box box;
  AreaMemory& memory;
  float reference[most_smoe_channels];  ///< c: the mean of the components in the area
  float away;                           ///< of it from 1/2
  float spread;                         ///< guess of B
  float far_weight;                     ///< of components that are not looked at, and that times r
  float far_colour;

  __device__ bool bounded() const { return settings.selection == SmoeSelection::bounded; }
  __device__ WarpMemory& own() const { return memory.warp[threadIdx.x / 32]; }
  __device__ bool has(int tile) const {
    return tile / area_tiles * tile_side < box.rows && tile % area_tiles * tile_side < box.columns;
  }
  __device__ bool lacks_least() const {
    const int lane = static_cast<int>(threadIdx.x % 32);
    return __any_sync(all_lanes, lane < area_tiles * area_tiles && has(lane) && memory.least[lane] == 0);
  }

  /// The tiles of a box in whose windows a component's centre stands, a bit each, `across` of them in a row.
  __device__ unsigned window_tiles(const Box& own_box, int across, const Place& place) const {
    unsigned bits = 0;
    for (int row = 0; row * tile_side < own_box.rows; ++row) {
      const double y0 = own_box.top + static_cast<double>(Box::start(row)) * own_box.pixel_y;
      const double y1 = own_box.top + static_cast<double>(own_box.bottom(row)) * own_box.pixel_y;
      for (int column = 0; column * tile_side < own_box.columns; ++column) {
        const double x0 = own_box.left + static_cast<double>(Box::start(column)) * own_box.pixel_x;
        const double x1 = own_box.left + static_cast<double>(own_box.right(column)) * own_box.pixel_x;
        const bool inside = place.x >= x0 - settings.window_x && place.x <= x1 + settings.window_x &&
                            place.y >= y0 - settings.window_y && place.y <= y1 + settings.window_y;
        if (inside) bits |= 1U << (row * across + column);
      }
    }
    return bits;
  }

  /// Raises the best log2 density that is reached all over each tile within `within` / sqrt(log2(e) / 2) deviations of the component, or
  /// in all tiles.
  __device__ void raise_least(const Local& own, float within, unsigned allowed) const {
    const float wide = within / own.across;
    const float ratio = own.skew / own.across;
    const float high = within * sqrtf(fmaf(ratio, ratio, 1.0F)) / own.down;
    const auto tile_at = [](float place) {
      return static_cast<int>(floorf(fminf(fmaxf(place, -64.0F), 64.0F) * (1.0F / tile_side)));
    };
    const int left = max(tile_at(own.x - wide), 0);
    const int right = min(tile_at(own.x + wide), (box.columns - 1) / tile_side);
    const int top = max(tile_at(own.y - high), 0);
    const int bottom = min(tile_at(own.y + high), (box.rows - 1) / tile_side);
    const float far_x = fmaxf(fabsf(own.x), fabsf(own.x - (area_side - 1)));
    const float far_y = fmaxf(fabsf(own.y), fabsf(own.y - (area_side - 1)));
    const float peak = own.peak - slack(own.across * far_x, fmaf(fabsf(own.skew), far_x, own.down * far_y), own.peak);
    for (int row = top; row <= bottom; ++row) {
      const float v0 = own.down * (Box::start(row) - own.y);
      const float v1 = own.down * (box.bottom(row) - own.y);
      for (int column = left; column <= right; ++column) {
        const int tile = row * area_tiles + column;
        if ((allowed >> tile & 1U) == 0) continue;
        // The density's logarithm is concave: it is least at a corner.
        const float dx0 = Box::start(column) - own.x;
        const float dx1 = box.right(column) - own.x;
        const float skew0 = own.skew * dx0;
        const float skew1 = own.skew * dx1;
        const float v_left = fmaxf(fabsf(skew0 + v0), fabsf(skew0 + v1));
        const float v_right = fmaxf(fabsf(skew1 + v0), fabsf(skew1 + v1));
        const float u_left = own.across * dx0;
        const float u_right = own.across * dx1;
        const float far = fmaxf(fmaf(u_left, u_left, v_left * v_left), fmaf(u_right, u_right, v_right * v_right));
        const float least = peak - far;
        if (!(least > -1e30F)) continue;
        const unsigned bits = ordered_bits(least);
        if (bits > memory.least[tile]) atomicMax(memory.least + tile, bits);
      }
    }
  }

  /// L of every tile, the reference colour and a guess of B. All threads of the area call it.
  __device__ void find_least() {
    const int lane = static_cast<int>(threadIdx.x % 32);
    const int warp = static_cast<int>(threadIdx.x / 32);
    if (threadIdx.x < area_tiles * area_tiles) memory.least[threadIdx.x] = 0;
    __syncthreads();
    const bool near = bounded();
    const auto side = lane < size_classes ? static_cast<float>(plane.components.layout.classes[lane].side) : 0;
    const float window = fmaxf(settings.window_x, settings.window_y);
    float number = 0;
    float sum[most_smoe_channels] = {};
    float squares = 0;
    visit(plane, box, own().rows, near ? 0.5F * side : window, warp, area_warps, [&](unsigned component, bool active) {
      if (!active) return;
      const Place place = plane.components.place[component];
      const Local local = box.local_of(place);
      raise_least(local, near ? 1 : huge, near ? all_lanes : window_tiles(box, area_tiles, place));
      if (local.x < -0.5F || local.y < -0.5F || local.x > area_side || local.y > area_side) return;
      const Expert& expert = plane.components.expert[component];
      number += 1;
#pragma unroll
      for (int c = 0; c < most_smoe_channels; ++c) {
        sum[c] += expert.colour[c];
        squares = fmaf(expert.colour[c], expert.colour[c], squares);
      }
    });
    number = sum_of_lanes(number);
    squares = sum_of_lanes(squares);
#pragma unroll
    for (float& value : sum) value = sum_of_lanes(value);
    if (lane == 0) {
      own().sums[0] = number;
      own().sums[1] = squares;
      for (int c = 0; c < most_smoe_channels; ++c) own().sums[2 + c] = sum[c];
    }
    __syncthreads();
    // Where components are sparse: farther ones, and at last all of them.
    for (float within = 3; near && within < 10 && lacks_least(); within *= 3) {
      __syncthreads();
      visit(plane, box, own().rows, within * side, warp, area_warps, [&](unsigned component, bool active) {
        if (active) raise_least(box.local_of(plane.components.place[component]), within, all_lanes);
      });
      __syncthreads();
    }
    if (near && lacks_least()) {
      for (unsigned i = threadIdx.x; i < plane.components.count; i += area_threads) {
        raise_least(box.local_of(plane.components.place[plane.first + i]), huge, all_lanes);
      }
    }
    __syncthreads();
    set_reference();
  }

  __device__ void set_reference() {
    float total[2 + most_smoe_channels] = {};
    for (const auto& other : memory.warp) {
#pragma unroll
      for (int i = 0; i < 2 + most_smoe_channels; ++i) total[i] += other.sums[i];
    }
    float variance = total[0] > 0 ? total[1] / total[0] : 0;
    away = 0;
#pragma unroll
    for (int c = 0; c < most_smoe_channels; ++c) {
      reference[c] = total[0] > 0 ? total[2 + c] / total[0] : 0.5F;
      if (total[0] > 0) variance -= reference[c] * reference[c];
      if (c < settings.channels) away = fmaxf(away, fabsf(reference[c] - 0.5F));
    }
    spread = fminf(2 * sqrtf(fmaxf(variance, 0.0F)) + 0.02F, 1e30F);
  }

  /// The least L of the area's tiles.
  __device__ float least_of_all() const {
    const int lane = static_cast<int>(threadIdx.x % 32);
    float least = 1e30F;
    if (lane < area_tiles * area_tiles && has(lane) && memory.least[lane] != 0)
      least = from_ordered(memory.least[lane]);
    return least_of_lanes(least);
  }

  /// How far to look, class i in lane i, so that all components beyond together stay within far_share of the tolerance.
  __device__ float far_distance(const Box& own_box, float least) {
    const int lane = static_cast<int>(threadIdx.x % 32);
    float distance = 0;
    float weight = 0;
    float bound = 0;
    if (lane < size_classes) {
      const unsigned count = plane.count_of(lane);
      if (count > 0) distance = class_distance(lane, own_box, least, static_cast<float>(count), weight, bound);
    }
    far_weight = sum_of_lanes(weight);
    far_colour = sum_of_lanes(weight * bound);
    return distance;
  }

  /// Of the cells beyond the distance, those next to it hold at most the class's greatest mass each. The next ring of cells is 2.8
  /// deviations farther, its components 2^-9 as heavy at most, and so on: a tenth covers all of them. The last class's cells may be small
  /// against its deviations: there, all of its components count as if they stood at the distance.
  __device__ float class_distance(int size, const Box& own_box, float least, float count, float& weight,
                                  float& bound) const {
    const ClassMost& bits = plane.most[size];
    const float deviation = from_ordered(bits.deviation) * 1.000001F;
    const float reach = from_ordered(bits.reach) + away;
    const float slope = from_ordered(bits.slope) * 1.000001F;
    const float width = static_cast<float>(own_box.columns) * own_box.step_x;
    const float height = static_cast<float>(own_box.rows) * own_box.step_y;
    const float side = static_cast<float>(plane.components.layout.classes[size].side);
    const float wanted = log2f(far_share / size_classes * settings.tolerance);
    const float mass = from_ordered(bits.mass);
    const float all = exp2f(from_ordered(bits.peak)) * count * 1.0001F;
    float distance = deviation;
    float log_weight = 0;
    for (int i = 0; i < 8; ++i) {
      const float ring = 2.2F * ((width + height + 4 * distance) / side + 8) * mass;
      const float together = size + 1 < size_classes ? fminf(ring, all) : all;
      bound = fmaf(slope, distance + width + height, reach);
      const float relative = distance / deviation;
      const float fall = log2_e_half * relative * relative * 0.99999F;
      log_weight = log2f(together) - least - fall + 1e-6F * (fabsf(least) + fall) + 1e-5F;
      const float excess = log_weight + log2f(bound + spread) - wanted;
      if (excess <= 0) break;
      distance = deviation * sqrtf(relative * relative + (excess + 0.1F) * (1 / log2_e_half));
    }
    if (!(log_weight + log2f(bound + spread) <= wanted + 0.5F) || !(distance < 1e30F)) {
      bound = 0;
      return 3e38F;  // all of them
    }
    weight = exp2f(log_weight);
    return distance;
  }

  /// Whether some pixel of a box may need the component; if not, its weight and that times r are added.
  __device__ bool matters(const Candidate& candidate, const Box& own_box, float least, float threshold,
                          float own_spread, float& dropped_weight, float& dropped_colour) const {
    const Local& local = candidate.local;
    const float half_x = 0.5F * static_cast<float>(own_box.columns - 1);
    const float half_y = 0.5F * static_cast<float>(own_box.rows - 1);
    const float weight = power_above(fminf(density_above(local, half_x, half_y) - least, 100.0F));
    const float far_x = (fabsf(half_x - local.x) + half_x) * own_box.step_x;
    const float far_y = (fabsf(half_y - local.y) + half_y) * own_box.step_y;
    const float reach = fmaf(candidate.slope, (far_x + far_y) * 1.000001F, candidate.reach + away);
    if (!(weight * (reach + own_spread) < threshold * box_threshold)) return true;
    dropped_weight += weight;
    dropped_colour = fmaf(weight, reach, dropped_colour);
    return false;
  }

  /// Notes the components that some block of the area may need, each warp those it meets. All threads of the area call it.
  __device__ void find_near(float threshold) {
    const int lane = static_cast<int>(threadIdx.x % 32);
    const float least = least_of_all();
    float distance = fmaxf(settings.window_x, settings.window_y);
    if (bounded()) distance = far_distance(box, least);
    WarpMemory& target = own();
    float weight = 0;
    float colour = 0;
    int count = 0;
    visit(plane, box, target.rows, distance, static_cast<int>(threadIdx.x / 32), area_warps,
          [&](unsigned component, bool active) {
            Candidate candidate{};
            bool keep = active;
            if (active) {
              const Place place = plane.components.place[component];
              candidate = {box.local_of(place), place.reach, place.slope};
              if (bounded()) keep = matters(candidate, box, least, threshold, spread, weight, colour);
            }
            const unsigned votes = __ballot_sync(all_lanes, keep);
            const int at = count + __popc(votes & ((1U << lane) - 1));
            if (keep && at < most_near) {
              target.near[at] = candidate;
              target.near_component[at] = component;
            }
            count += __popc(votes);
          });
    weight = sum_of_lanes(weight);
    colour = sum_of_lanes(colour);
    if (lane == 0) {
      target.near_count = count;
      target.dropped[0] = weight;
      target.dropped[1] = colour;
    }
    __syncthreads();
    for (const auto& other : memory.warp) {
      far_weight += other.dropped[0];
      far_colour += other.dropped[1];
    }
  }
};

}  // namespace holotone::smoe
