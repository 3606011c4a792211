#include <holotone/smoe/near_cuda.cuh>

namespace holotone::smoe {
namespace {

/// Four warps make the lists of an area, one for each of its blocks.
constexpr int warps = blocks_an_area;
constexpr int threads = 32 * warps;
constexpr int area_tiles = area_side / tile_side;  ///< across
/// Shares of the tolerance: dropped components (those never looked at among them) and rounding in float32.
constexpr float dropped_share = 0.65F;
constexpr float far_share = 0.1F;
constexpr float rounding_share = 0.35F;
/// A dropped component's share of the tolerance, at first, and that of one that is dropped for a whole block or area.
constexpr float first_threshold = 1.0F / 32;
constexpr float box_threshold = 1.0F / 64;
constexpr int most_tries = 5;
/// Components that weigh less than a part in this many of the best count with their weight times this, all of them together with at
/// most their number divided by this.
constexpr float minor = 256;
constexpr float widest_range = 100;  ///< of log2 densities in a tile that float32 holds
constexpr float log2_e_half = 0.72134752F;
constexpr float huge = 1e30F;
constexpr int most_near = 160;  ///< components of an area that a warp notes

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
  WarpMemory warp[warps];
};

/// Sums of a lane's components, tile by tile.
struct TileSums {
  float weight[tiles_a_block] = {};                              ///< of dropped components
  float colour[tiles_a_block] = {};                              ///< the same times r
  float spread[tiles_a_block] = {};                              ///< B
  float most[tiles_a_block] = {-1e30F, -1e30F, -1e30F, -1e30F};  ///< largest U
  float terms[tiles_a_block] = {};                               ///< what rounding in float32 grows with
  unsigned count[tiles_a_block] = {};
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
      const double y0 = own_box.top + static_cast<double>(Box::start(row)) / own_box.a_pixel_y;
      const double y1 = own_box.top + static_cast<double>(own_box.bottom(row)) / own_box.a_pixel_y;
      for (int column = 0; column * tile_side < own_box.columns; ++column) {
        const double x0 = own_box.left + static_cast<double>(Box::start(column)) / own_box.a_pixel_x;
        const double x1 = own_box.left + static_cast<double>(own_box.right(column)) / own_box.a_pixel_x;
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
    visit(plane, box, own().rows, near ? 0.5F * side : window, warp, warps, [&](unsigned component, bool active) {
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
      visit(plane, box, own().rows, within * side, warp, warps, [&](unsigned component, bool active) {
        if (active) raise_least(box.local_of(plane.components.place[component]), within, all_lanes);
      });
      __syncthreads();
    }
    if (near && lacks_least()) {
      for (unsigned i = threadIdx.x; i < plane.components.count; i += threads) {
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
    visit(plane, box, target.rows, distance, static_cast<int>(threadIdx.x / 32), warps,
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

/// The lists of one block, by one warp.
class BlockLists {
 public:
  __device__ BlockLists(Area& area, const Box& box, const ListStore& store, unsigned block, int first_tile)
      : area_(area),
        box_(box),
        store_(store),
        memory_(area.own()),
        block_(block),
        lane_(static_cast<int>(threadIdx.x % 32)),
        begin_(block * most_in_unit) {
    block_least_ = 1e30F;
#pragma unroll
    for (int tile = 0; tile < tiles_a_block; ++tile) {
      const unsigned bits = area.memory.least[first_tile + tile / tiles_across * area_tiles + tile % tiles_across];
      least_[tile] = bits != 0 ? from_ordered(bits) : 0;
      if (has(tile) && bits != 0) block_least_ = fminf(block_least_, least_[tile]);
    }
  }

  __device__ void run(float threshold) {
    if (box_.columns <= 0 || box_.rows <= 0) {
      finish(BlockSum::nothing);
      return;
    }
    if (area_.settings.selection == SmoeSelection::all || (area_.bounded() && area_.lacks_least())) {
      finish(BlockSum::exact_all);
      return;
    }
    threshold_ = threshold;
    spread_ = area_.spread;
    bool together = true;
    for (const auto& other : area_.memory.warp) together = together && other.near_count <= most_near;
    for (int tries = 0; tries < most_tries; ++tries) {
      sums_ = {};
      count_ = 0;
      kept_ = 0;
      dropped_weight_ = 0;
      dropped_colour_ = 0;
      if (together && tries + 2 < most_tries) {
        from_area();
      } else {
        alone();
      }
      test_kept(kept_);
      if (judge()) {
        write_last();
        return;
      }
      if (parts_ > 0) break;
      threshold_ *= 0.125F;
    }
    finish(BlockSum::exact_all);
  }

 private:
  __device__ bool has(int tile) const {
    return tile / tiles_across * tile_side < box_.rows && tile % tiles_across * tile_side < box_.columns;
  }

  /// Looks at what the area's warps have noted.
  __device__ void from_area() {
    const auto shift_x = static_cast<float>((box_.left - area_.box.left) * box_.a_pixel_x);
    const auto shift_y = static_cast<float>((box_.top - area_.box.top) * box_.a_pixel_y);
    for (const auto& other : area_.memory.warp) {
      for (int first = 0; first < other.near_count; first += 32) {
        const int i = first + lane_;
        const bool active = i < other.near_count;
        Candidate candidate{};
        if (active) {
          candidate = other.near[i];
          candidate.local.x -= shift_x;
          candidate.local.y -= shift_y;
        }
        look_at(candidate, active ? other.near_component[i] : 0, active);
      }
    }
  }

  /// Walks over the plane's components without the other warps.
  __device__ void alone() {
    float distance = fmaxf(area_.settings.window_x, area_.settings.window_y);
    if (area_.bounded()) distance = area_.far_distance(box_, block_least_);
    visit(area_.plane, box_, memory_.rows, distance, 0, 1, [&](unsigned component, bool active) {
      Candidate candidate{};
      if (active) {
        const Place place = area_.plane.components.place[component];
        candidate = {box_.local_of(place), place.reach, place.slope};
      }
      look_at(candidate, component, active);
    });
  }

  __device__ __forceinline__ void look_at(const Candidate& candidate, unsigned component, bool active) {
    bool keep = active;
    if (active && area_.bounded()) {
      keep = area_.matters(candidate, box_, block_least_, threshold_, spread_, dropped_weight_, dropped_colour_);
    }
    const unsigned votes = __ballot_sync(all_lanes, keep);
    if (keep) {
      const int at = kept_ + __popc(votes & ((1U << lane_) - 1));
      memory_.kept[at] = candidate.local;
      memory_.component[at] = component;
    }
    kept_ += __popc(votes);
    if (kept_ >= 32) test_kept(32);
  }

  /// Lists the first `number` <= 32 of what is kept with the tiles that need them. The rest moves up.
  __device__ void test_kept(int number) {
    __syncwarp();
    if (count_ + 32 > most_in_unit) next_part();
    unsigned tiles = 0;
    unsigned component = 0;
    if (lane_ < number) {
      component = memory_.component[lane_];
      tiles = tiles_of(memory_.kept[lane_], component);
    }
    const unsigned listed = __ballot_sync(all_lanes, tiles != 0);
    if (tiles != 0 && !full_) {
      store_.listed[begin_ + count_ + __popc(listed & ((1U << lane_) - 1))] = {component, tiles};
    }
    count_ += __popc(listed);
    const int rest = kept_ - number;
    Local own{};
    if (lane_ < rest) {
      own = memory_.kept[number + lane_];
      component = memory_.component[number + lane_];
    }
    __syncwarp();
    if (lane_ < rest) {
      memory_.kept[lane_] = own;
      memory_.component[lane_] = component;
    }
    kept_ = rest;
    __syncwarp();
  }

  /// The tiles that need a component, a bit each.
  __device__ unsigned tiles_of(const Local& own, unsigned component) {
    // As if all tiles were whole.
    constexpr float half = 0.5F * (tile_side - 1);
    float reach[tiles_a_block] = {};
    const float first_dx = half - own.x;
    const float first_dy = half - own.y;
    const Expert& expert = area_.plane.components.expert[component];
#pragma unroll
    for (int c = 0; c < most_smoe_channels; ++c) {
      if (c >= area_.settings.channels) break;
      const float slope_x = expert.slope_x[c] * box_.step_x;
      const float slope_y = expert.slope_y[c] * box_.step_y;
      const float middle = fmaf(slope_x, first_dx, fmaf(slope_y, first_dy, expert.colour[c] - area_.reference[c]));
      const float around = half * (fabsf(slope_x) + fabsf(slope_y));
#pragma unroll
      for (int tile = 0; tile < tiles_a_block; ++tile) {
        const float there =
            fmaf(slope_x, Box::start(tile % tiles_across), fmaf(slope_y, Box::start(tile / tiles_across), middle));
        reach[tile] = fmaxf(reach[tile], fabsf(there) + around);
      }
    }
    const float skewed = fabsf(own.skew);
    const float far_x = fmaxf(fabsf(own.x), fabsf(own.x - (block_side - 1)));
    const float far_y = fmaxf(fabsf(own.y), fabsf(own.y - (block_side - 1)));
    const float top_peak = own.peak + slack(own.across * far_x, fmaf(skewed, far_x, own.down * far_y), own.peak);
    const float lessened = half * (skewed + own.down);
    unsigned bits = 0;
#pragma unroll
    for (int tile = 0; tile < tiles_a_block; ++tile) {
      const float dx = first_dx + Box::start(tile % tiles_across);
      const float dy = first_dy + Box::start(tile / tiles_across);
      const float u = fmaxf(own.across * (fabsf(dx) - half), 0.0F);
      const float v = fmaxf(fabsf(fmaf(own.skew, dx, own.down * dy)) - lessened, 0.0F);
      const float above = fmaf(-v, v, fmaf(-u, u, top_peak));
      const float relative = above - least_[tile];
      const float weight = power_above(fminf(relative, 100.0F));
      reach[tile] *= 1.000001F;
      const bool keep = !area_.bounded() || relative >= 0 || !(weight * (reach[tile] + spread_) < threshold_);
      if (!keep) {
        sums_.weight[tile] += weight;
        sums_.colour[tile] = fmaf(weight, reach[tile], sums_.colour[tile]);
      } else if (has(tile)) {
        bits |= 1U << tile;
        const float counted = fminf(minor * weight, 1.0F);
        const float terms = fmaf(skewed, fabsf(dx) + half, own.down * (fabsf(dy) + half));
        sums_.most[tile] = fmaxf(sums_.most[tile], above);
        sums_.spread[tile] = fmaxf(sums_.spread[tile], counted * reach[tile]);
        sums_.terms[tile] =
            fmaxf(sums_.terms[tile], counted * terms * sqrtf(fmaxf(own.peak - least_[tile], 0.0F) + 10));
        ++sums_.count[tile];
      }
    }
    return area_.bounded() ? bits
                           : bits & area_.window_tiles(box_, tiles_across, area_.plane.components.place[component]);
  }

  /// Joins the lanes' sums; false where a tile's bound exceeds the tolerance.
  __device__ bool judge() {
    dropped_weight_ = sum_of_lanes(dropped_weight_) + area_.far_weight;
    dropped_colour_ = sum_of_lanes(dropped_colour_) + area_.far_colour;
    const float away = area_.away + 0.5F;  // of c from black
    bool good = true;
    float widest = 0;
    exact_ = area_.settings.exact;
    in_all_ = 0;
    most_ = 0;
#pragma unroll
    for (int tile = 0; tile < tiles_a_block; ++tile) {
      if (!has(tile)) continue;
      const float weight = sum_of_lanes(sums_.weight[tile]) + dropped_weight_;
      const float colour = sum_of_lanes(sums_.colour[tile]) + dropped_colour_;
      const float range = most_of_lanes(sums_.most[tile]) - least_[tile];
      const unsigned count = __reduce_add_sync(all_lanes, sums_.count[tile]);
      const float minors = 1 + static_cast<float>(count) / minor;
      const float spread = most_of_lanes(sums_.spread[tile]) * minors;
      const float terms = most_of_lanes(sums_.terms[tile]) * minors;
      in_all_ += count;
      most_ = max(most_, count);
      exact_ = exact_ || !(range <= widest_range);
      if (!area_.bounded()) continue;
      good = good && fmaf(weight, spread, colour) * 1.0001F <= dropped_share * area_.settings.tolerance;
      widest = fmaxf(widest, spread);
      // v is off by three and a half roundings of its terms, v^2 by 2 v times that; all else by some roundings of the exponent.
      const float in_exponents = 0.7F * (4.2e-7F * terms + 2.4e-7F * (range + 40));
      const float in_sums = 6e-8F * static_cast<float>(count + 8) * (away + spread);
      exact_ = exact_ || !(in_exponents * 2 * spread + in_sums <= rounding_share * area_.settings.tolerance);
    }
    if (!good) spread_ = fmaxf(spread_, widest);
    return good;
  }

  /// Ends the unit in hand.
  __device__ void write_unit() {
    bool full = false;
    if (lane_ == 0) {
      const unsigned unit = atomicAdd(&store_.counts->units, 1U);
      full = unit >= store_.most_units;
      if (!full) store_.unit[unit] = {block_, begin_, static_cast<unsigned>(count_), parts_};
      unit_ = unit;
    }
    full_ = __any_sync(all_lanes, full) || full_;
  }

  /// Ends the unit in hand and begins another one.
  __device__ void next_part() {
    write_unit();
    unsigned begin = 0;
    bool full = false;
    if (lane_ == 0) {
      const unsigned chunk = atomicAdd(&store_.counts->chunks, 1U);
      full = chunk >= store_.most_chunks;
      begin = (store_.first_chunk + chunk) * most_in_unit;
    }
    begin_ = __shfl_sync(all_lanes, begin, 0);
    full_ = __any_sync(all_lanes, full) || full_;
    count_ = 0;
    ++parts_;
  }

  __device__ void write_last() {
    write_unit();
    if (full_ || (exact_ && parts_ > 0)) {
      finish(BlockSum::exact_all);
      return;
    }
    if (lane_ == 0) {
      atomicAdd(&store_.counts->in_all, static_cast<unsigned long long>(in_all_));
      if (most_ > store_.counts->most) atomicMax(&store_.counts->most, most_);
    }
    finish(exact_ ? BlockSum::exact_list : BlockSum::units);
  }

  __device__ void finish(BlockSum sum) {
    Block& own = store_.block[block_];
    if (lane_ != 0) return;
#pragma unroll
    for (int tile = 0; tile < tiles_a_block; ++tile) own.least[tile] = least_[tile];
    own.sum = sum;
    own.units = parts_ + 1;
    own.unit = unit_;
    own.slot = sum == BlockSum::units && own.units > 1 ? atomicAdd(&store_.counts->slots, 1U) : 0;
    if (sum == BlockSum::exact_list || sum == BlockSum::exact_all)
      store_.exact_block[atomicAdd(&store_.counts->exact, 1U)] = block_;
  }

  Area& area_;
  const Box& box_;
  const ListStore& store_;
  WarpMemory& memory_;
  const unsigned block_;
  const int lane_;
  float least_[tiles_a_block];
  float block_least_;
  float spread_ = 0;  ///< guess of B
  float threshold_ = 0;
  float dropped_weight_ = 0;  ///< by the block as a whole
  float dropped_colour_ = 0;
  TileSums sums_;
  int kept_ = 0;
  unsigned begin_ = 0;  ///< of the unit in hand
  int count_ = 0;
  unsigned parts_ = 0;  ///< units written
  unsigned unit_ = 0;
  bool full_ = false;
  bool exact_ = false;
  unsigned in_all_ = 0;
  unsigned most_ = 0;
};

__global__ void __launch_bounds__(threads, LISTS_BLOCKS)
    list_kernel(const __grid_constant__ Components components, const Frame* __restrict__ frames, PictureGrid grid,
                const __grid_constant__ ListSettings settings, const __grid_constant__ ListStore store) {
  extern __shared__ char shared[];
  AreaMemory& memory = *reinterpret_cast<AreaMemory*>(shared);
  const unsigned in_all = grid.first + blockIdx.x;
  const auto of_picture = static_cast<unsigned>(grid.areas_x * grid.areas_y);
  const auto first_row = static_cast<int>(in_all % of_picture) / grid.areas_x * area_side;
  const auto first_column = static_cast<int>(in_all % of_picture) % grid.areas_x * area_side;
  const Frame frame = frames[in_all / of_picture];
  const Plane plane{components, components.begin + static_cast<std::int64_t>(frame.plane) * components.layout.cells,
                    components.most + frame.plane * size_classes, frame.plane * components.count};
  const Box box{frame.x + first_column * frame.step_x,
                frame.y + first_row * frame.step_y,
                1 / frame.step_x,
                1 / frame.step_y,
                static_cast<float>(frame.step_x),
                static_cast<float>(frame.step_y),
                min(area_side, grid.width - first_column),
                min(area_side, grid.height - first_row)};
  Area area{plane, settings, box, memory, {}, 0, 0, 0, 0};
  const float threshold = settings.tolerance * first_threshold;
  if (settings.selection != SmoeSelection::all) {
    area.find_least();
    area.find_near(threshold);
  }
  const int warp = static_cast<int>(threadIdx.x / 32);
  const int column = warp % 2;
  const int row = warp / 2;
  const Box own = box.part(column * block_side, row * block_side, block_side);
  BlockLists(area, own, store, blockIdx.x * blocks_an_area + static_cast<unsigned>(warp),
             row * tiles_across * area_tiles + column * tiles_across)
      .run(threshold);
}

}  // namespace

void list_components(const Components& components, const Frame* frames, const PictureGrid& grid,
                     const ListSettings& settings, const ListStore& store, cudaStream_t stream) {
  cuda::check(cudaFuncSetAttribute(list_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof(AreaMemory)),
              "cudaFuncSetAttribute");
  list_kernel<<<grid.areas, threads, sizeof(AreaMemory), stream>>>(components, frames, grid, settings, store);
  cuda::check_launch("list_kernel");
}

}  // namespace holotone::smoe
