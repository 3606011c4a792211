#include <holotone/smoe/lists_cuda.cuh>

namespace holotone::smoe {
namespace {

/// A warp makes the lists of a block; warps of one thread block know nothing of each other.
constexpr int warps = 4;
constexpr int threads = 32 * warps;
constexpr unsigned all_lanes = 0xFFFFFFFFU;
/// Shares of the tolerance: dropped components (those never looked at among them) and rounding in float32.
constexpr float dropped_share = 0.65F;
constexpr float far_share = 0.05F;
constexpr float rounding_share = 0.35F;
/// A dropped component's share of the tolerance, at first, and that of one that is dropped for a whole block.
constexpr float first_threshold = 1.0F / 16;
constexpr float block_threshold = 1.0F / 64;
constexpr int most_tries = 5;
/// Components that weigh less than a part in this many of the best count with their weight times this, all of them together with at
/// most their number divided by this.
constexpr float minor = 256;
constexpr float widest_range = 100;  ///< of log2 densities in a tile that float32 holds
constexpr float log2_e_half = 0.72134752F;

/// A component in pixels of its block, whose first pixel is (0, 0).
struct Local {
  float x;
  float y;
  float across;
  float skew;
  float down;
  float peak;
};

/// Components of a block, waiting for the tests of its tiles.
struct WarpMemory {
  unsigned least[tiles_a_block];  ///< ordered_bits
  Local kept[64];
  unsigned component[64];
  int rows_before[size_classes + 1];  ///< rows of cells of the classes before
  int first_row[size_classes];
  int first_column[size_classes];
  int last_column[size_classes];
};

/// The block that a warp works on.
struct Work {
  Frame frame;
  double left;  ///< of its first pixel
  double top;
  double a_pixel_x;  ///< 1 / step_x
  double a_pixel_y;
  int columns;
  int rows;
  unsigned first_component;  ///< of its plane
  const unsigned* begin;     ///< of the plane's cells
  const ClassMost* most;

  __device__ __forceinline__ Local local_of(const Place& place) const {
    return {static_cast<float>((place.x - left) * a_pixel_x), static_cast<float>((place.y - top) * a_pixel_y),
            place.across * static_cast<float>(frame.step_x),  place.skew * static_cast<float>(frame.step_x),
            place.down * static_cast<float>(frame.step_y),    place.peak};
  }
  __device__ static float start(int tile) { return static_cast<float>(tile * tile_side); }
  __device__ float right(int tile) const { return static_cast<float>(min((tile + 1) * tile_side, columns) - 1); }
  __device__ float bottom(int tile) const { return static_cast<float>(min((tile + 1) * tile_side, rows) - 1); }
  __device__ bool has(int tile) const {
    return tile / tiles_across * tile_side < rows && tile % tiles_across * tile_side < columns;
  }
};

/// What float32 may have lost of a log2 density whose terms are at most these.
__device__ __forceinline__ float slack(float u, float v_terms, float peak) {
  return 1e-6F * fmaf(u, u, fmaf(v_terms, v_terms, fabsf(peak) + 1));
}

/// log2 density at a pixel, not above the true one.
__device__ __forceinline__ float density_below(const Local& own, float x, float y) {
  const float dx = x - own.x;
  const float dy = y - own.y;
  const float u = own.across * dx;
  const float v = fmaf(own.skew, dx, own.down * dy);
  return own.peak - u * u - v * v - slack(u, fabsf(own.skew * dx) + own.down * fabsf(dy), own.peak);
}

/// A bound from above on a box around (x, y): u and v each at their least.
__device__ __forceinline__ float density_above(const Local& own, float x, float y, float half_x, float half_y) {
  const float dx = x - own.x;
  const float dy = y - own.y;
  const float u = fmaxf(fabsf(own.across * dx) - own.across * half_x, 0.0F);
  const float skewed = fabsf(own.skew);
  const float v = fmaxf(fabsf(fmaf(own.skew, dx, own.down * dy)) - fmaf(skewed, half_x, own.down * half_y), 0.0F);
  return own.peak - u * u - v * v + slack(u, skewed * (fabsf(dx) + half_x) + own.down * (fabsf(dy) + half_y), own.peak);
}

__device__ __forceinline__ float sum_of_lanes(float value) {
#pragma unroll
  for (int step = 1; step < 32; step *= 2) value += __shfl_xor_sync(all_lanes, value, step);
  return value;
}
__device__ __forceinline__ float most_of_lanes(float value) {
  return from_ordered(__reduce_max_sync(all_lanes, ordered_bits(value)));
}
__device__ __forceinline__ float least_of_lanes(float value) {
  return from_ordered(__reduce_min_sync(all_lanes, ordered_bits(value)));
}

/// Sums of a lane's components, tile by tile.
struct TileSums {
  float weight[tiles_a_block] = {};                              ///< of dropped components
  float colour[tiles_a_block] = {};                              ///< the same times r
  float spread[tiles_a_block] = {};                              ///< B
  float most[tiles_a_block] = {-1e30F, -1e30F, -1e30F, -1e30F};  ///< largest U
  float terms[tiles_a_block] = {};                               ///< what rounding in float32 grows with
  unsigned count[tiles_a_block] = {};
};

class BlockLists {
 public:
  __device__ BlockLists(const Components& components, const Work& work, const ListSettings& settings,
                        const ListStore& store, WarpMemory& memory, unsigned block)
      : components_(components),
        work_(work),
        settings_(settings),
        store_(store),
        memory_(memory),
        block_(block),
        lane_(static_cast<int>(threadIdx.x % 32)) {}

  __device__ void run() {
    begin_ = block_ * most_in_unit;
    if (lane_ < tiles_a_block) memory_.least[lane_] = 0;
    __syncwarp();
    if (settings_.selection == SmoeSelection::all) {
      finish(BlockSum::exact_all);
      return;
    }
    find_least();
    if (bounded() && lacks_least()) {
      finish(BlockSum::exact_all);
      return;
    }
#pragma unroll
    for (int tile = 0; tile < tiles_a_block; ++tile) {
      least_[tile] = memory_.least[tile] != 0 ? from_ordered(memory_.least[tile]) : 0;
    }
    threshold_ = settings_.tolerance * first_threshold;
    for (int tries = 0; tries < most_tries; ++tries) {
      collect();
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
  __device__ bool bounded() const { return settings_.selection == SmoeSelection::bounded; }

  /// body(component, whether there is one) for all components in cells within `distance` (of class i in lane i) of the block.
  template <class Body>
  __device__ void visit(float distance, const Body& body) {
    __syncwarp();
    if (lane_ < size_classes) set_rows(lane_, static_cast<double>(distance));
    __syncwarp();
    int all = lane_ < size_classes ? memory_.rows_before[lane_ + 1] : 0;
#pragma unroll
    for (int step = 1; step < 16; step *= 2) {
      const int before = __shfl_up_sync(all_lanes, all, step);
      if (lane_ >= step) all += before;
    }
    if (lane_ < size_classes) memory_.rows_before[lane_ + 1] = all;
    __syncwarp();
    const int rows = memory_.rows_before[size_classes];
    for (int first_row = 0; first_row < rows; first_row += 32) {
      unsigned first = 0;
      unsigned end = count_row(first_row + lane_, rows, first);
#pragma unroll
      for (int step = 1; step < 32; step *= 2) {
        const unsigned before = __shfl_up_sync(all_lanes, end, step);
        if (lane_ >= step) end += before;
      }
      const unsigned total = __shfl_sync(all_lanes, end, 31);
      unsigned before = __shfl_up_sync(all_lanes, end, 1);
      if (lane_ == 0) before = 0;
      for (unsigned base = 0; base < total; base += 32) {
        const unsigned i = base + static_cast<unsigned>(lane_);
        int own = 0;  // the last row that begins at or before i
#pragma unroll
        for (int step = 16; step > 0; step /= 2) {
          if (__shfl_sync(all_lanes, before, own + step) <= i) own += step;
        }
        const unsigned component = __shfl_sync(all_lanes, first, own) + i - __shfl_sync(all_lanes, before, own);
        body(component, i < total);
      }
    }
  }

  __device__ void set_rows(int size, double distance) {
    const CellClass& cells = components_.layout.classes[size];
    int number = 0;
    if (work_.begin[cells.first + cells.columns * cells.rows] > work_.begin[cells.first]) {
      const double a_cell = 1 / cells.side;
      const auto cell = [&](double place, int most) {
        return static_cast<int>(fmin(fmax(floor(place * a_cell), 0.0), static_cast<double>(most - 1)));
      };
      const double left = work_.left - components_.layout.x;
      const double top = work_.top - components_.layout.y;
      memory_.first_column[size] = cell(left - distance, cells.columns);
      memory_.last_column[size] = cell(left + (work_.columns - 1) * work_.frame.step_x + distance, cells.columns);
      memory_.first_row[size] = cell(top - distance, cells.rows);
      number = cell(top + (work_.rows - 1) * work_.frame.step_y + distance, cells.rows) - memory_.first_row[size] + 1;
    }
    memory_.rows_before[size + 1] = number;
    if (size == 0) memory_.rows_before[0] = 0;
  }

  /// The number of components in a row of cells, and the first of them.
  __device__ unsigned count_row(int row, int rows, unsigned& first) const {
    if (row >= rows) return 0;
    int size = 0;
    while (row >= memory_.rows_before[size + 1]) ++size;
    const CellClass& cells = components_.layout.classes[size];
    const unsigned* const line =
        work_.begin + cells.first + (memory_.first_row[size] + row - memory_.rows_before[size]) * cells.columns;
    first = line[memory_.first_column[size]];
    return line[memory_.last_column[size] + 1] - first;
  }

  __device__ unsigned window_tiles(const Place& place) const {
    unsigned bits = 0;
    for (int tile = 0; tile < tiles_a_block; ++tile) {
      const int row = tile / tiles_across;
      const int column = tile % tiles_across;
      const double x0 = work_.left + static_cast<double>(Work::start(column)) * work_.frame.step_x;
      const double x1 = work_.left + static_cast<double>(work_.right(column)) * work_.frame.step_x;
      const double y0 = work_.top + static_cast<double>(Work::start(row)) * work_.frame.step_y;
      const double y1 = work_.top + static_cast<double>(work_.bottom(row)) * work_.frame.step_y;
      if (place.x >= x0 - settings_.window_x && place.x <= x1 + settings_.window_x &&
          place.y >= y0 - settings_.window_y && place.y <= y1 + settings_.window_y) {
        bits |= 1U << tile;
      }
    }
    return bits;
  }

  /// L of every tile, the reference colour c (the mean of the components in the block) and a guess of B.
  __device__ void find_least() {
    const float window = fmaxf(settings_.window_x, settings_.window_y);
    const float near = lane_ < size_classes ? 0.5F * static_cast<float>(components_.layout.classes[lane_].side) : 0;
    float number = 0;
    float sum[most_smoe_channels] = {};
    float squares = 0;
    visit(bounded() ? near : window, [&](unsigned component, bool active) {
      if (!active) return;
      const Place place = components_.place[component];
      const Local own = work_.local_of(place);
      raise_least(own, !bounded(), bounded() ? all_lanes : window_tiles(place));
      if (own.x < -0.5F || own.y < -0.5F || own.x > block_side || own.y > block_side) return;
      const Expert& expert = components_.expert[component];
      number += 1;
#pragma unroll
      for (int c = 0; c < most_smoe_channels; ++c) {
        sum[c] += expert.colour[c];
        squares = fmaf(expert.colour[c], expert.colour[c], squares);
      }
    });
    __syncwarp();
    if (bounded() && lacks_least()) {
      for (unsigned i = static_cast<unsigned>(lane_); i < components_.count; i += 32) {
        raise_least(work_.local_of(components_.place[work_.first_component + i]), true, all_lanes);
      }
      __syncwarp();
    }
    number = sum_of_lanes(number);
    squares = sum_of_lanes(squares);
    float variance = number > 0 ? squares / number : 0;
#pragma unroll
    for (int c = 0; c < most_smoe_channels; ++c) {
      sum[c] = sum_of_lanes(sum[c]);
      reference_[c] = number > 0 ? sum[c] / number : 0.5F;
      if (number > 0) variance -= reference_[c] * reference_[c];
    }
    spread_ = fminf(2 * sqrtf(fmaxf(variance, 0.0F)) + 0.02F, 1e30F);
    block_least_ = 1e30F;
    if (lane_ < tiles_a_block && work_.has(lane_) && memory_.least[lane_] != 0) {
      block_least_ = from_ordered(memory_.least[lane_]);
    }
    block_least_ = least_of_lanes(block_least_);
  }

  /// Raises the best log2 density that is reached all over each tile near the component, or in all tiles.
  __device__ void raise_least(const Local& own, bool everywhere, unsigned allowed) {
    const float wide = 2.2F / own.across;
    const float ratio = own.skew / own.across;
    const float high = 2.2F * sqrtf(fmaf(ratio, ratio, 1.0F)) / own.down;
    const auto tile_at = [](float place) {
      return static_cast<int>(floorf(fminf(fmaxf(place, -64.0F), 64.0F) * (1.0F / tile_side)));
    };
    const int last_column = (work_.columns - 1) / tile_side;
    const int last_row = (work_.rows - 1) / tile_side;
    const int left = everywhere ? 0 : max(tile_at(own.x - wide), 0);
    const int right = everywhere ? last_column : min(tile_at(own.x + wide), last_column);
    const int top = everywhere ? 0 : max(tile_at(own.y - high), 0);
    const int bottom = everywhere ? last_row : min(tile_at(own.y + high), last_row);
    for (int row = top; row <= bottom; ++row) {
      const float y0 = Work::start(row);
      const float y1 = work_.bottom(row);
      for (int column = left; column <= right; ++column) {
        const int tile = row * tiles_across + column;
        if ((allowed >> tile & 1U) == 0) continue;
        const float x0 = Work::start(column);
        const float x1 = work_.right(column);
        const float least = fminf(fminf(density_below(own, x0, y0), density_below(own, x1, y0)),
                                  fminf(density_below(own, x0, y1), density_below(own, x1, y1)));
        if (!(least > -1e30F)) continue;
        const unsigned bits = ordered_bits(least);
        if (bits > memory_.least[tile]) atomicMax(memory_.least + tile, bits);
      }
    }
  }

  __device__ bool lacks_least() const {
    return __any_sync(all_lanes, lane_ < tiles_a_block && work_.has(lane_) && memory_.least[lane_] == 0);
  }

  /// How far to look, class i in lane i, so that all components beyond together stay within far_share of the tolerance.
  __device__ float far_distance() {
    float distance = 0;
    float weight = 0;
    float bound = 0;
    if (lane_ < size_classes) {
      const CellClass& cells = components_.layout.classes[lane_];
      const unsigned count = work_.begin[cells.first + cells.columns * cells.rows] - work_.begin[cells.first];
      if (count > 0) distance = class_distance(work_.most[lane_], static_cast<float>(count), weight, bound);
    }
    far_weight_ = sum_of_lanes(weight);
    far_colour_ = sum_of_lanes(weight * bound);
    return distance;
  }

  __device__ float class_distance(const ClassMost& bits, float count, float& weight, float& bound) const {
    float away = 0;
#pragma unroll
    for (int c = 0; c < most_smoe_channels; ++c) {
      if (c < settings_.channels) away = fmaxf(away, fabsf(reference_[c] - 0.5F));
    }
    const float deviation = from_ordered(bits.deviation) * 1.000001F;
    const float reach = from_ordered(bits.reach) + away;
    const float slope = from_ordered(bits.slope) * 1.000001F;
    const float diagonal = hypotf(static_cast<float>(work_.columns * work_.frame.step_x),
                                  static_cast<float>(work_.rows * work_.frame.step_y));
    const float wanted = log2f(far_share / size_classes * settings_.tolerance);
    const float peak = from_ordered(bits.peak) + log2f(count) - block_least_;
    // From one deviation on the bound falls with the distance.
    float distance = deviation;
    for (int i = 0; i < 6; ++i) {
      const float excess = peak + log2f(fmaf(slope, distance + diagonal, reach + spread_)) - wanted + 0.1F;
      const float next = deviation * sqrtf(fmaxf(excess, 0.0F) * (1 / log2_e_half));
      if (next <= distance) break;
      distance = next;
    }
    const float relative = distance / deviation;
    const float fall = log2_e_half * relative * relative * 0.99999F;
    const float log_weight = peak - fall + 1e-6F * (fabsf(peak) + fall);
    bound = fmaf(slope, distance + diagonal, reach);
    if (!(log_weight + log2f(bound + spread_) <= wanted + 0.2F) || !(distance < 1e30F)) return 3e38F;  // all of them
    weight = exp2f(log_weight);
    return distance;
  }

  /// Looks at all candidates and lists them.
  __device__ void collect() {
    sums_ = {};
    count_ = 0;
    kept_ = 0;
    near_weight_ = 0;
    near_colour_ = 0;
    float distance = fmaxf(settings_.window_x, settings_.window_y);
    if (bounded()) distance = far_distance();
    const float half_x = 0.5F * static_cast<float>(work_.columns - 1);
    const float half_y = 0.5F * static_cast<float>(work_.rows - 1);
    visit(distance, [&](unsigned component, bool active) {
      Local own{};
      bool keep = active;
      if (active) {
        const Place place = components_.place[component];
        own = work_.local_of(place);
        keep = bounded() ? matters(own, component, half_x, half_y) : window_tiles(place) != 0;
      }
      const unsigned votes = __ballot_sync(all_lanes, keep);
      if (keep) {
        const int at = kept_ + __popc(votes & ((1U << lane_) - 1));
        memory_.kept[at] = own;
        memory_.component[at] = component;
      }
      kept_ += __popc(votes);
      __syncwarp();
      if (kept_ >= 32) test_kept(32);
    });
    test_kept(kept_);
  }

  /// Whether some tile of the block may need the component.
  __device__ bool matters(const Local& own, unsigned component, float half_x, float half_y) {
    const float weight = exp2f(fminf(density_above(own, half_x, half_y, half_x, half_y) - block_least_, 100.0F));
    if (weight * spread_ >= threshold_ * block_threshold) return true;
    const Expert& expert = components_.expert[component];
    float reach = 0;
#pragma unroll
    for (int c = 0; c < most_smoe_channels; ++c) {
      if (c >= settings_.channels) break;
      const float slope_x = expert.slope_x[c] * static_cast<float>(work_.frame.step_x);
      const float slope_y = expert.slope_y[c] * static_cast<float>(work_.frame.step_y);
      const float middle =
          fmaf(slope_x, half_x - own.x, fmaf(slope_y, half_y - own.y, expert.colour[c] - reference_[c]));
      reach = fmaxf(reach, fabsf(middle) + fabsf(slope_x) * half_x + fabsf(slope_y) * half_y);
    }
    if (!(weight * (reach * 1.000001F + spread_) < threshold_ * block_threshold)) return true;
    near_weight_ += weight;
    near_colour_ = fmaf(weight, reach * 1.000001F, near_colour_);
    return false;
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
    const Expert& expert = components_.expert[component];
#pragma unroll
    for (int c = 0; c < most_smoe_channels; ++c) {
      if (c >= settings_.channels) break;
      const float slope_x = expert.slope_x[c] * static_cast<float>(work_.frame.step_x);
      const float slope_y = expert.slope_y[c] * static_cast<float>(work_.frame.step_y);
      const float middle = fmaf(slope_x, first_dx, fmaf(slope_y, first_dy, expert.colour[c] - reference_[c]));
      const float around = half * (fabsf(slope_x) + fabsf(slope_y));
#pragma unroll
      for (int tile = 0; tile < tiles_a_block; ++tile) {
        const float there =
            fmaf(slope_x, Work::start(tile % tiles_across), fmaf(slope_y, Work::start(tile / tiles_across), middle));
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
      const float dx = first_dx + Work::start(tile % tiles_across);
      const float dy = first_dy + Work::start(tile / tiles_across);
      const float u = fmaxf(own.across * (fabsf(dx) - half), 0.0F);
      const float v = fmaxf(fabsf(fmaf(own.skew, dx, own.down * dy)) - lessened, 0.0F);
      const float above = fmaf(-v, v, fmaf(-u, u, top_peak));
      const float relative = above - least_[tile];
      const float weight = exp2f(fminf(relative, 100.0F));
      reach[tile] *= 1.000001F;
      const bool keep = !bounded() || relative >= 0 || !(weight * (reach[tile] + spread_) < threshold_);
      if (!keep) {
        sums_.weight[tile] += weight;
        sums_.colour[tile] = fmaf(weight, reach[tile], sums_.colour[tile]);
      } else if (work_.has(tile)) {
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
    return bounded() ? bits : bits & window_tiles(components_.place[component]);
  }

  /// Joins the lanes' sums; false where a tile's bound exceeds the tolerance.
  __device__ bool judge() {
    near_weight_ = sum_of_lanes(near_weight_) + far_weight_;
    near_colour_ = sum_of_lanes(near_colour_) + far_colour_;
    float away = 0;
#pragma unroll
    for (int c = 0; c < most_smoe_channels; ++c) {
      if (c < settings_.channels) away = fmaxf(away, fabsf(reference_[c]));
    }
    bool good = true;
    float widest = 0;
    exact_ = settings_.exact;
    in_all_ = 0;
    most_ = 0;
#pragma unroll
    for (int tile = 0; tile < tiles_a_block; ++tile) {
      if (!work_.has(tile)) continue;
      const float weight = sum_of_lanes(sums_.weight[tile]) + near_weight_;
      const float colour = sum_of_lanes(sums_.colour[tile]) + near_colour_;
      const float range = most_of_lanes(sums_.most[tile]) - least_[tile];
      const unsigned count = __reduce_add_sync(all_lanes, sums_.count[tile]);
      const float minors = 1 + static_cast<float>(count) / minor;
      const float spread = most_of_lanes(sums_.spread[tile]) * minors;
      const float terms = most_of_lanes(sums_.terms[tile]) * minors;
      in_all_ += count;
      most_ = max(most_, count);
      exact_ = exact_ || !(range <= widest_range);
      if (!bounded()) continue;
      good = good && fmaf(weight, spread, colour) * 1.0001F <= dropped_share * settings_.tolerance;
      widest = fmaxf(widest, spread);
      // v is off by three and a half roundings of its terms, v^2 by 2 v times that; all else by some roundings of the exponent.
      const float in_exponents = 0.7F * (4.2e-7F * terms + 2.4e-7F * (range + 40));
      const float in_sums = 6e-8F * static_cast<float>(count + 8) * (away + spread);
      exact_ = exact_ || !(in_exponents * 2 * spread + in_sums <= rounding_share * settings_.tolerance);
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
    if (lane_ < tiles_a_block) own.least[lane_] = memory_.least[lane_] != 0 ? from_ordered(memory_.least[lane_]) : 0;
    if (lane_ != 0) return;
    own.sum = sum;
    own.units = parts_ + 1;
    own.unit = unit_;
    own.slot = sum == BlockSum::units && own.units > 1 ? atomicAdd(&store_.counts->slots, 1U) : 0;
    if (sum != BlockSum::units) store_.exact_block[atomicAdd(&store_.counts->exact, 1U)] = block_;
  }

  const Components& components_;
  const Work& work_;
  const ListSettings& settings_;
  const ListStore& store_;
  WarpMemory& memory_;
  const unsigned block_;
  const int lane_;
  float least_[tiles_a_block];
  float reference_[most_smoe_channels];
  float spread_ = 0;  ///< guess of B
  float block_least_ = 0;
  float threshold_ = 0;
  float far_weight_ = 0;
  float far_colour_ = 0;
  float near_weight_ = 0;
  float near_colour_ = 0;
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
  __shared__ WarpMemory memory[warps];
  const unsigned block = blockIdx.x * warps + threadIdx.x / 32;
  if (block >= grid.blocks) return;
  const unsigned in_all = grid.first + block;
  const auto of_picture = static_cast<unsigned>(grid.blocks_x * grid.blocks_y);
  const auto row = static_cast<int>(in_all % of_picture) / grid.blocks_x;
  const auto column = static_cast<int>(in_all % of_picture) % grid.blocks_x;
  Work work;
  work.frame = frames[in_all / of_picture];
  work.left = work.frame.x + static_cast<double>(column * block_side) * work.frame.step_x;
  work.top = work.frame.y + static_cast<double>(row * block_side) * work.frame.step_y;
  work.a_pixel_x = 1 / work.frame.step_x;
  work.a_pixel_y = 1 / work.frame.step_y;
  work.columns = min(block_side, grid.width - column * block_side);
  work.rows = min(block_side, grid.height - row * block_side);
  work.first_component = work.frame.plane * components.count;
  work.begin = components.begin + static_cast<std::int64_t>(work.frame.plane) * components.layout.cells;
  work.most = components.most + work.frame.plane * size_classes;
  BlockLists(components, work, settings, store, memory[threadIdx.x / 32], block).run();
}

}  // namespace

void list_components(const Components& components, const Frame* frames, const PictureGrid& grid,
                     const ListSettings& settings, const ListStore& store, cudaStream_t stream) {
  list_kernel<<<(grid.blocks + warps - 1) / warps, threads, 0, stream>>>(components, frames, grid, settings, store);
  cuda::check_launch("list_kernel");
}

}  // namespace holotone::smoe
