#include <cub/block/block_scan.cuh>
#include <holotone/smoe/lists_cuda.cuh>

namespace holotone::smoe {
namespace {

constexpr int threads = 256;
constexpr int warps = threads / 32;
/// Shares of the tolerance: dropped components (those never looked at among them) and rounding in float32.
constexpr float dropped_share = 0.85F;
constexpr float far_share = 0.05F;
constexpr float rounding_share = 0.15F;
/// A dropped component's share of the tolerance, at first.
constexpr float first_threshold = 1.0F / 16;
constexpr int most_tries = 5;
constexpr float widest_range = 100;  ///< of log2 densities in a tile that float32 holds
constexpr float log2_e_half = 0.72134752F;
constexpr unsigned all_lanes = 0xFFFFFFFFU;
using Scan = cub::BlockScan<unsigned, threads>;

/// A component in pixels of its block, whose first pixel is (0, 0).
struct Local {
  float x;
  float y;
  float across;
  float skew;
  float down;
  float peak;
};

__device__ __forceinline__ Local local_of(const Place& place, const Frame& frame, double left, double top) {
  return {static_cast<float>((place.x - left) / frame.step_x), static_cast<float>((place.y - top) / frame.step_y),
          place.across * static_cast<float>(frame.step_x),     place.skew * static_cast<float>(frame.step_x),
          place.down * static_cast<float>(frame.step_y),       place.peak};
}

/// What float32 may have lost of a log2 density whose terms are at most these.
__device__ __forceinline__ float slack(float u, float v_terms, float peak) {
  return 1e-6F * (u * u + v_terms * v_terms + fabsf(peak) + 1);
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

/// A mixture's colours at a place less a reference, and how far they go on a box around it: bounds |m - c|.
__device__ __forceinline__ float reach_of(const Expert& expert, const Frame& frame, int channels, float dx, float dy,
                                          float half_x, float half_y, const float* reference) {
  float reach = 0;
#pragma unroll
  for (int c = 0; c < most_smoe_channels; ++c) {
    if (c >= channels) break;
    const float slope_x = expert.slope_x[c] * static_cast<float>(frame.step_x);
    const float slope_y = expert.slope_y[c] * static_cast<float>(frame.step_y);
    const float middle = fmaf(slope_x, dx, fmaf(slope_y, dy, expert.colour[c] - reference[c]));
    reach = fmaxf(reach, fabsf(middle) + fabsf(slope_x) * half_x + fabsf(slope_y) * half_y);
  }
  return reach * 1.000001F;
}

/// The rows of cells to look at, class by class.
struct CellRows {
  int before[size_classes + 1];  ///< rows of the classes before
  int first_row[size_classes];
  int first_column[size_classes];
  int last_column[size_classes];
};

/// Components of up to `threads` rows of cells: those of row i are numbered from before[i] and begin at first[i].
struct Candidates {
  unsigned before[threads + 1];
  unsigned first[threads];
};

struct Shared {
  union {
    Scan::TempStorage scan;
    unsigned warp_count[warps];
  };
  CellRows rows;
  Candidates candidates;
  float distance[size_classes];  ///< to which cells are looked at, in the model's coordinates
  unsigned long long best[tiles_a_block];
  float least[tiles_a_block];
  float reference[most_smoe_channels];
  float spread;  ///< guess of B
  float far_sum;
  float far_reach;
  int kept;
  unsigned flushed;  ///< units written
  float tile_sum[tiles_a_block][4];
  float tile_most[tiles_a_block][3];
  unsigned tile_count[tiles_a_block];
  unsigned begin;
  unsigned unit;
  bool full;
  bool again;
  Local local[most_in_unit];
  unsigned component[most_in_unit];
  unsigned short tiles[most_in_unit];
};

/// The block a thread block works on.
struct Work {
  Frame frame;
  double left;  ///< of its first pixel
  double top;
  int columns;
  int rows;
  unsigned first_component;  ///< of its plane
  const unsigned* begin;     ///< of the plane's cells
  const ClassMost* most;

  __device__ static float start(int tile) { return static_cast<float>(tile * tile_side); }
  __device__ static float end(int tile, int count) {
    return static_cast<float>(min((tile + 1) * tile_side, count) - 1);
  }
};

class Lister {
 public:
  __device__ Lister(const Components& components, const Work& work, const ListSettings& settings, Shared& shared)
      : components_(components), work_(work), settings_(settings), shared_(shared) {}

  /// body(component, whether there is one) for all components in cells within distance[class] of the block. All threads call it, and
  /// body may wait for all of them.
  template <class Body>
  __device__ void visit(const Body& body) {
    __syncthreads();
    if (threadIdx.x < size_classes) set_rows(static_cast<int>(threadIdx.x));
    __syncthreads();
    if (threadIdx.x == 0) {
      for (int i = 1; i <= size_classes; ++i) shared_.rows.before[i] += shared_.rows.before[i - 1];
    }
    __syncthreads();
    const int all = shared_.rows.before[size_classes];
    for (int chunk = 0; chunk < all; chunk += threads) {
      const unsigned total = count_candidates(chunk + static_cast<int>(threadIdx.x), all);
      for (unsigned i = threadIdx.x; i < (total + threads - 1) / threads * threads; i += threads) {
        const bool active = i < total;
        body(active ? candidate(i) : 0U, active);
      }
      __syncthreads();
    }
  }

  __device__ Place place(unsigned component) const { return components_.place[component]; }

 private:
  __device__ void set_rows(int size) {
    const CellClass& cells = components_.layout.classes[size];
    CellRows& rows = shared_.rows;
    const unsigned count = work_.begin[cells.first + cells.columns * cells.rows] - work_.begin[cells.first];
    int number = 0;
    if (count > 0) {
      const double distance = static_cast<double>(shared_.distance[size]);
      const auto cell = [&](double place, double low, int most) {
        return static_cast<int>(fmin(fmax(floor((place - low) / cells.side), 0.0), static_cast<double>(most - 1)));
      };
      const double right = work_.left + (work_.columns - 1) * work_.frame.step_x;
      const double bottom = work_.top + (work_.rows - 1) * work_.frame.step_y;
      rows.first_column[size] = cell(work_.left - distance, components_.layout.x, cells.columns);
      rows.last_column[size] = cell(right + distance, components_.layout.x, cells.columns);
      rows.first_row[size] = cell(work_.top - distance, components_.layout.y, cells.rows);
      number = cell(bottom + distance, components_.layout.y, cells.rows) - rows.first_row[size] + 1;
    }
    rows.before[size + 1] = number;
    if (size == 0) rows.before[0] = 0;
  }

  /// Sets the candidates of `threads` rows from this thread's on; returns their number.
  __device__ unsigned count_candidates(int row, int all) {
    unsigned count = 0;
    unsigned first = 0;
    if (row < all) {
      int size = 0;
      while (row >= shared_.rows.before[size + 1]) ++size;
      const CellClass& cells = components_.layout.classes[size];
      const int line = cells.first + (shared_.rows.first_row[size] + row - shared_.rows.before[size]) * cells.columns;
      first = work_.begin[line + shared_.rows.first_column[size]];
      count = work_.begin[line + shared_.rows.last_column[size] + 1] - first;
    }
    unsigned before = 0;
    unsigned total = 0;
    Scan(shared_.scan).ExclusiveSum(count, before, total);
    shared_.candidates.before[threadIdx.x] = before;
    shared_.candidates.first[threadIdx.x] = first;
    __syncthreads();
    return total;
  }

  __device__ unsigned candidate(unsigned i) const {
    int row = 0;
#pragma unroll
    for (int step = threads / 2; step > 0; step /= 2) {
      if (shared_.candidates.before[row + step] <= i) row += step;
    }
    return shared_.candidates.first[row] + i - shared_.candidates.before[row];
  }

  const Components& components_;
  const Work& work_;
  const ListSettings& settings_;
  Shared& shared_;
};

__device__ __forceinline__ bool in_window(const Place& place, const Work& work, const ListSettings& settings, int row,
                                          int column) {
  const double left = work.left + Work::start(column) * work.frame.step_x;
  const double right = work.left + Work::end(column, work.columns) * work.frame.step_x;
  const double top = work.top + Work::start(row) * work.frame.step_y;
  const double bottom = work.top + Work::end(row, work.rows) * work.frame.step_y;
  return place.x >= left - settings.window_x && place.x <= right + settings.window_x &&
         place.y >= top - settings.window_y && place.y <= bottom + settings.window_y;
}

/// Raises the best log2 density that is reached all over each tile near the component, or in all tiles.
__device__ void raise_least(const Local& own, unsigned component, const Work& work, bool everywhere, unsigned allowed,
                            unsigned long long* best) {
  const float wide = 2.2F / own.across;
  const float ratio = own.skew / own.across;
  const float high = 2.2F * sqrtf(1 + ratio * ratio) / own.down;
  const auto tile_at = [](float place) { return static_cast<int>(floorf(place * (1.0F / tile_side))); };
  const int left = everywhere ? 0 : max(tile_at(fmaxf(own.x - wide, -64.0F)), 0);
  const int right = everywhere ? tiles_across - 1 : min(tile_at(fminf(own.x + wide, 64.0F)), tiles_across - 1);
  const int top = everywhere ? 0 : max(tile_at(fmaxf(own.y - high, -64.0F)), 0);
  const int bottom = everywhere ? tiles_across - 1 : min(tile_at(fminf(own.y + high, 64.0F)), tiles_across - 1);
  for (int row = top; row <= bottom; ++row) {
    if (row * tile_side >= work.rows) break;
    const float y0 = Work::start(row);
    const float y1 = Work::end(row, work.rows);
    for (int column = left; column <= right; ++column) {
      if (column * tile_side >= work.columns) break;
      const int tile = row * tiles_across + column;
      if ((allowed >> tile & 1U) == 0) continue;
      const float x0 = Work::start(column);
      const float x1 = Work::end(column, work.columns);
      const float least = fminf(fminf(density_below(own, x0, y0), density_below(own, x1, y0)),
                                fminf(density_below(own, x0, y1), density_below(own, x1, y1)));
      if (!(least > -1e30F)) continue;
      const unsigned long long bits = (static_cast<unsigned long long>(ordered_bits(least)) << 32) | component;
      if (bits > best[tile]) atomicMax(best + tile, bits);
    }
  }
}

/// Number of threads before this one in the block that keep something; `all` is their sum. All threads call it.
__device__ __forceinline__ unsigned place_among(bool keep, unsigned* warp_count, unsigned& all) {
  const unsigned votes = __ballot_sync(all_lanes, keep);
  const unsigned warp = threadIdx.x / 32;
  __syncthreads();
  if (threadIdx.x % 32 == 0) warp_count[warp] = __popc(votes);
  __syncthreads();
  unsigned before = __popc(votes & ((1U << (threadIdx.x % 32)) - 1));
  all = 0;
  for (unsigned i = 0; i < warps; ++i) {
    if (i < warp) before += warp_count[i];
    all += warp_count[i];
  }
  return before;
}

/// Sums over the threads of one row of tiles (threads that agree modulo four) for its four tiles.
struct RowSums {
  float weight[tiles_across] = {};                              ///< of dropped components
  float colour[tiles_across] = {};                              ///< the same times r
  float spread[tiles_across] = {};                              ///< B
  float most[tiles_across] = {-1e30F, -1e30F, -1e30F, -1e30F};  ///< largest U
  float terms = 0;                                              ///< largest of what v is the difference of
  unsigned count[tiles_across] = {};
};

template <class T, class Join>
__device__ __forceinline__ T join_rows(T value, const Join& join) {
#pragma unroll
  for (int step = 4; step < 32; step *= 2) value = join(value, __shfl_xor_sync(all_lanes, value, step));
  return value;
}

class BlockLists {
 public:
  __device__ BlockLists(const Components& components, const Work& work, const ListSettings& settings, Shared& shared,
                        const ListStore& store, unsigned block)
      : components_(components),
        work_(work),
        settings_(settings),
        shared_(shared),
        store_(store),
        block_(block),
        lister_(components, work, settings, shared) {}

  __device__ void run() {
    if (settings_.selection == SmoeSelection::all) {
      finish(BlockSum::exact_all);
      return;
    }
    find_least();
    if (settings_.selection == SmoeSelection::bounded && lacks_least()) {
      finish(BlockSum::exact_all);
      return;
    }
    float threshold = log2f(settings_.tolerance * first_threshold);
    for (int tries = 0;; ++tries) {
      if (settings_.selection == SmoeSelection::bounded) set_distances();
      collect(threshold);
      if (!shared_.again) break;
      if (tries + 1 == most_tries || shared_.flushed > 0) {
        finish(BlockSum::exact_all);
        return;
      }
      threshold -= 3;
      __syncthreads();
    }
  }

 private:
  __device__ bool bounded() const { return settings_.selection == SmoeSelection::bounded; }
  /// The tiles that the picture has.
  __device__ unsigned real_tiles() const {
    unsigned bits = 0;
    for (int tile = 0; tile < tiles_a_block; ++tile) {
      if (tile / tiles_across * tile_side < work_.rows && tile % tiles_across * tile_side < work_.columns) {
        bits |= 1U << tile;
      }
    }
    return bits;
  }
  __device__ unsigned window_tiles(const Place& place) const {
    unsigned bits = 0;
    for (int tile = 0; tile < tiles_a_block; ++tile) {
      if (in_window(place, work_, settings_, tile / tiles_across, tile % tiles_across)) bits |= 1U << tile;
    }
    return bits;
  }

  __device__ void find_least() {
    if (threadIdx.x < tiles_a_block) shared_.best[threadIdx.x] = 0;
    if (threadIdx.x < size_classes) {
      const double near = 0.5 * components_.layout.classes[threadIdx.x].side;
      const float window = fmaxf(settings_.window_x, settings_.window_y);
      shared_.distance[threadIdx.x] = bounded() ? static_cast<float>(near) : window;
    }
    lister_.visit([&](unsigned component, bool active) {
      if (!active) return;
      const Place place = lister_.place(component);
      const unsigned allowed = bounded() ? 0xFFFFU : window_tiles(place);
      if (allowed == 0) return;
      raise_least(local_of(place, work_.frame, work_.left, work_.top), component, work_, !bounded(), allowed,
                  shared_.best);
    });
    __syncthreads();
    if (bounded() && lacks_least()) {
      for (unsigned i = threadIdx.x; i < components_.count; i += threads) {
        const unsigned component = work_.first_component + i;
        raise_least(local_of(lister_.place(component), work_.frame, work_.left, work_.top), component, work_, true,
                    0xFFFFU, shared_.best);
      }
      __syncthreads();
    }
    set_reference();
  }

  __device__ bool lacks_least() const {
    const unsigned real = real_tiles();
    bool lacks = false;
    for (int tile = 0; tile < tiles_a_block; ++tile) lacks |= (real >> tile & 1U) != 0 && shared_.best[tile] == 0;
    return lacks;
  }

  /// L of every tile, the reference colour c (the mean of the best experts at the middles of their tiles) and a guess of B.
  __device__ void set_reference() {
    if (threadIdx.x >= 32) {
      __syncthreads();
      return;
    }
    const int tile = static_cast<int>(threadIdx.x) % tiles_a_block;
    const unsigned long long best = shared_.best[tile];
    float colour[most_smoe_channels] = {};
    if (best != 0) {
      const auto component = static_cast<unsigned>(best);
      const Local own = local_of(lister_.place(component), work_.frame, work_.left, work_.top);
      const Expert& expert = components_.expert[component];
      const int column = tile % tiles_across;
      const int row = tile / tiles_across;
      const float dx = 0.5F * (Work::start(column) + Work::end(column, work_.columns)) - own.x;
      const float dy = 0.5F * (Work::start(row) + Work::end(row, work_.rows)) - own.y;
      for (int c = 0; c < settings_.channels; ++c) {
        colour[c] = expert.colour[c] + expert.slope_x[c] * static_cast<float>(work_.frame.step_x) * dx +
                    expert.slope_y[c] * static_cast<float>(work_.frame.step_y) * dy;
      }
    }
    if (threadIdx.x < tiles_a_block) {
      shared_.least[tile] = best != 0 ? from_ordered(static_cast<unsigned>(best >> 32)) : 0;
    }
    const auto number = static_cast<float>(__popc(__ballot_sync(all_lanes, best != 0)));
    float spread = 0;
    for (int c = 0; c < settings_.channels; ++c) {
      float sum = colour[c];
      for (int step = 1; step < 32; step *= 2) sum += __shfl_xor_sync(all_lanes, sum, step);
      const float mean = number > 0 ? sum / number : 0;
      float most = best != 0 ? fabsf(colour[c] - mean) : 0;
      for (int step = 1; step < 32; step *= 2) most = fmaxf(most, __shfl_xor_sync(all_lanes, most, step));
      spread = fmaxf(spread, most);
      if (threadIdx.x == 0) shared_.reference[c] = mean;
    }
    if (threadIdx.x == 0) shared_.spread = fminf(fmaxf(2 * spread, 0.01F), 1e30F);
    __syncthreads();
  }

  /// How far to look, so that all components beyond together stay within far_share of the tolerance.
  __device__ void set_distances() {
    __syncthreads();
    if (threadIdx.x == 0) {
      shared_.far_sum = 0;
      shared_.far_reach = 0;
    }
    __syncthreads();
    if (threadIdx.x < size_classes) {
      const CellClass& cells = components_.layout.classes[threadIdx.x];
      const unsigned count = work_.begin[cells.first + cells.columns * cells.rows] - work_.begin[cells.first];
      if (count > 0) bound_class(work_.most[threadIdx.x], static_cast<float>(count));
    }
    __syncthreads();
  }

  __device__ void bound_class(const ClassMost& bits, float count) {
    const unsigned real = real_tiles();
    float least = 1e30F;
    for (int tile = 0; tile < tiles_a_block; ++tile) {
      if ((real >> tile & 1U) != 0) least = fminf(least, shared_.least[tile]);
    }
    float away = 0;
    for (int c = 0; c < settings_.channels; ++c) away = fmaxf(away, fabsf(shared_.reference[c] - 0.5F));
    const float deviation = from_ordered(bits.deviation) * 1.000001F;
    const float reach = from_ordered(bits.reach) + away;
    const float slope = from_ordered(bits.slope);
    const auto diagonal =
        static_cast<float>(hypot(work_.columns * work_.frame.step_x, work_.rows * work_.frame.step_y));
    const float wanted = log2f(far_share / size_classes * settings_.tolerance);
    const float peak = from_ordered(bits.peak) + log2f(count) - least;
    // The bound falls with the distance from a deviation on.
    float distance = deviation;
    float excess = 0;
    for (int i = 0; i < 8; ++i) {
      const float bound = log2f(reach + slope * (distance + diagonal) * 1.000001F + shared_.spread);
      excess = peak + bound - wanted + 0.1F;
      const float next = deviation * sqrtf(fmaxf(excess, 0.0F) / log2_e_half);
      if (next <= distance) break;
      distance = next;
    }
    const float relative = distance / deviation;
    const float fall = log2_e_half * relative * relative * 0.99999F;
    const float log_weight = peak - fall + 1e-6F * (fabsf(peak) + fall);
    const float bound = reach + slope * (distance + diagonal) * 1.000001F;
    if (!(log_weight + log2f(bound + shared_.spread) <= wanted + 0.2F) || !(distance < 1e30F)) distance = 3e38F;
    shared_.distance[threadIdx.x] = distance;
    if (distance < 1e30F) {
      const float weight = exp2f(log_weight);
      atomicAdd(&shared_.far_sum, weight);
      atomicAdd(&shared_.far_reach, weight * bound);
    }
  }

  /// Looks at all candidates, writes the lists and says whether the bound was missed.
  __device__ void collect(float threshold) {
    __syncthreads();
    if (threadIdx.x == 0) {
      shared_.kept = 0;
      shared_.flushed = 0;
      shared_.again = false;
      shared_.full = false;
    }
    for (unsigned i = threadIdx.x; i < tiles_a_block; i += threads) {
      for (auto& sum : shared_.tile_sum[i]) sum = 0;
      shared_.tile_most[i][0] = 0;
      shared_.tile_most[i][1] = -1e30F;
      shared_.tile_most[i][2] = 0;
      shared_.tile_count[i] = 0;
    }
    sums_ = {};
    float near_sum = 0;
    float near_reach = 0;
    float least = 1e30F;
    {
      const unsigned real = real_tiles();
      __syncthreads();
      for (int tile = 0; tile < tiles_a_block; ++tile) {
        if ((real >> tile & 1U) != 0) least = fminf(least, shared_.least[tile]);
      }
    }
    const float half_x = 0.5F * static_cast<float>(work_.columns - 1);
    const float half_y = 0.5F * static_cast<float>(work_.rows - 1);
    lister_.visit([&](unsigned component, bool active) {
      Local own{};
      bool keep = active;
      if (active) {
        const Place place = lister_.place(component);
        own = local_of(place, work_.frame, work_.left, work_.top);
        if (bounded()) {
          const float above = density_above(own, half_x, half_y, half_x, half_y) - least;
          // Colours are looked at where the weight alone does not rule a component out.
          if (above < threshold + log2f(1.0F / (1 + shared_.spread))) {
            const float reach = reach_of(components_.expert[component], work_.frame, settings_.channels, half_x - own.x,
                                         half_y - own.y, half_x, half_y, shared_.reference);
            if (above + log2f(reach + shared_.spread) < threshold - 6) {
              const float weight = exp2f(above);
              near_sum += weight;
              near_reach += weight * reach;
              keep = false;
            }
          }
        } else {
          keep = window_tiles(place) != 0;
        }
      }
      unsigned all = 0;
      const unsigned at = place_among(keep, shared_.warp_count, all);
      if (shared_.kept + all > most_in_unit) flush(threshold);
      const unsigned first = static_cast<unsigned>(shared_.kept);
      if (keep) {
        shared_.local[first + at] = own;
        shared_.component[first + at] = component;
      }
      __syncthreads();
      if (threadIdx.x == 0) shared_.kept = static_cast<int>(first + all);
      __syncthreads();
    });
    test_tiles(threshold);
    judge(near_sum, near_reach);
    if (!shared_.again) write_last();
  }

  /// The masks of what is kept: four threads a component, each a row of tiles.
  __device__ void test_tiles(float threshold) {
    __syncthreads();
    const int row = static_cast<int>(threadIdx.x) % tiles_across;
    const float top = Work::start(row);
    const float bottom = Work::end(row, work_.rows);
    const bool real_row = row * tile_side < work_.rows;
    const float y = 0.5F * (top + bottom);
    const float half_y = 0.5F * (bottom - top);
    const float middle_x = 0.5F * static_cast<float>(work_.columns - 1);
    for (int i = static_cast<int>(threadIdx.x) / tiles_across; i < (shared_.kept + 63) / 64 * 64;
         i += threads / tiles_across) {
      unsigned bits = 0;
      if (i < shared_.kept && real_row) {
        const Local own = shared_.local[i];
        const Expert& expert = components_.expert[shared_.component[i]];
        if (bounded()) {
          const float row_reach = reach_of(expert, work_.frame, settings_.channels, middle_x - own.x, y - own.y,
                                           middle_x, half_y, shared_.reference);
          const float limit = threshold - log2f(row_reach + shared_.spread);
          bits = test_row(own, expert, row, y, half_y, limit, row_reach);
        } else {
          bits = window_tiles(components_.place[shared_.component[i]]) >> (row * tiles_across) & 15U;
          for (int column = 0; column < tiles_across; ++column) {
            if (column * tile_side < work_.columns && (bits >> column & 1U) != 0)
              note_kept(own, expert, row, column, y, half_y);
          }
        }
      }
      bits <<= row * tiles_across;
      bits |= __shfl_xor_sync(all_lanes, bits, 1);
      bits |= __shfl_xor_sync(all_lanes, bits, 2);
      if (i < shared_.kept && row == 0) shared_.tiles[i] = static_cast<unsigned short>(bits);
    }
    __syncthreads();
  }

  __device__ unsigned test_row(const Local& own, const Expert& expert, int row, float y, float half_y, float limit,
                               float row_reach) {
    unsigned bits = 0;
#pragma unroll
    for (int column = 0; column < tiles_across; ++column) {
      if (column * tile_side >= work_.columns) break;
      const float x0 = Work::start(column);
      const float x1 = Work::end(column, work_.columns);
      const float above = density_above(own, 0.5F * (x0 + x1), y, 0.5F * (x1 - x0), half_y);
      const float relative = above - shared_.least[row * tiles_across + column];
      if (relative < limit && relative < 0) {
        const float weight = exp2f(relative);
        sums_.weight[column] += weight;
        sums_.colour[column] += weight * row_reach;
      } else {
        bits |= 1U << column;
        sums_.most[column] = fmaxf(sums_.most[column], above);
        note_kept(own, expert, row, column, y, half_y);
      }
    }
    return bits;
  }

  __device__ __forceinline__ void note_kept(const Local& own, const Expert& expert, int row, int column, float y,
                                            float half_y) {
    const float x0 = Work::start(column);
    const float x1 = Work::end(column, work_.columns);
    const float x = 0.5F * (x0 + x1);
    const float half_x = 0.5F * (x1 - x0);
    const float reach =
        reach_of(expert, work_.frame, settings_.channels, x - own.x, y - own.y, half_x, half_y, shared_.reference);
#pragma unroll
    for (int c = 0; c < tiles_across; ++c) {
      if (c == column) {
        sums_.spread[c] = fmaxf(sums_.spread[c], reach);
        ++sums_.count[c];
        if (!bounded()) sums_.most[c] = fmaxf(sums_.most[c], density_above(own, x, y, half_x, half_y));
      }
    }
    sums_.terms =
        fmaxf(sums_.terms, fabsf(own.skew) * (fabsf(x - own.x) + half_x) + own.down * (fabsf(y - own.y) + half_y));
    (void)row;
  }

  /// Joins the threads' sums and looks whether every tile is within the tolerance.
  __device__ void judge(float near_sum, float near_reach) {
    const int row = static_cast<int>(threadIdx.x) % tiles_across;
    const auto add = [](float a, float b) { return a + b; };
    const auto greater = [](float a, float b) { return fmaxf(a, b); };
    const auto add_count = [](unsigned a, unsigned b) { return a + b; };
    near_sum += __shfl_xor_sync(all_lanes, near_sum, 1);
    near_sum += __shfl_xor_sync(all_lanes, near_sum, 2);
    near_reach += __shfl_xor_sync(all_lanes, near_reach, 1);
    near_reach += __shfl_xor_sync(all_lanes, near_reach, 2);
    near_sum = join_rows(near_sum, add);
    near_reach = join_rows(near_reach, add);
    const float terms = join_rows(sums_.terms, greater);
    const bool writes = threadIdx.x % 32 < tiles_across;
#pragma unroll
    for (int column = 0; column < tiles_across; ++column) {
      const int tile = row * tiles_across + column;
      const float weight = join_rows(sums_.weight[column], add) + near_sum;
      const float colour = join_rows(sums_.colour[column], add) + near_reach;
      const float spread = join_rows(sums_.spread[column], greater);
      const float most = join_rows(sums_.most[column], greater);
      const unsigned count = join_rows(sums_.count[column], add_count);
      if (!writes) continue;
      atomicAdd(&shared_.tile_sum[tile][0], weight);
      atomicAdd(&shared_.tile_sum[tile][1], colour);
      raise_float(&shared_.tile_most[tile][0], spread);
      raise_float(&shared_.tile_most[tile][1], most);
      raise_float(&shared_.tile_most[tile][2], terms);
      atomicAdd(&shared_.tile_count[tile], count);
    }
    __syncthreads();
    const unsigned real = real_tiles();
    const bool own_tile = threadIdx.x < tiles_a_block && (real >> threadIdx.x & 1U) != 0;
    bool missed = false;
    exact_ = settings_.exact;
    if (own_tile) {
      const float spread = shared_.tile_most[threadIdx.x][0];
      const float range = shared_.tile_most[threadIdx.x][1] - shared_.least[threadIdx.x];
      const float terms = shared_.tile_most[threadIdx.x][2];
      const auto count = static_cast<float>(shared_.tile_count[threadIdx.x]);
      exact_ = exact_ || !(range <= widest_range);
      if (bounded()) {
        const float error = (shared_.tile_sum[threadIdx.x][1] + shared_.far_reach) +
                            (shared_.tile_sum[threadIdx.x][0] + shared_.far_sum) * spread;
        missed = !(error * 1.0001F <= dropped_share * settings_.tolerance);
        float away = 0;
        for (int c = 0; c < settings_.channels; ++c) away = fmaxf(away, fabsf(shared_.reference[c]));
        const float in_exponents = 0.7F * 2.4e-7F * (range + 40 + 7 * terms) * 2 * spread;
        const float in_sums = 6e-8F * (count + 8) * (away + spread);
        exact_ = exact_ || !(in_exponents + in_sums <= rounding_share * settings_.tolerance);
      }
    }
    const bool again = __syncthreads_or(missed) != 0;
    exact_ = __syncthreads_or(exact_) != 0;
    if (threadIdx.x == 0 && again) {
      shared_.again = true;
      float spread = shared_.spread;
      for (int tile = 0; tile < tiles_a_block; ++tile) spread = fmaxf(spread, shared_.tile_most[tile][0]);
      shared_.spread = spread;
    }
    __syncthreads();
  }

  __device__ static void raise_float(float* target, float value) {
    // Values from -1e30 up: their order is that of ordered_bits.
    unsigned* const bits = reinterpret_cast<unsigned*>(target);
    unsigned old = *bits;
    while (__uint_as_float(old) < value) {
      const unsigned seen = atomicCAS(bits, old, __float_as_uint(value));
      if (seen == old) break;
      old = seen;
    }
  }

  /// Writes what is kept as a unit of its own, to make room.
  __device__ void flush(float threshold) {
    test_tiles(threshold);
    write_unit();
    __syncthreads();
    if (threadIdx.x == 0) {
      shared_.kept = 0;
      ++shared_.flushed;
    }
    __syncthreads();
  }

  /// The components with tiles, in their order, to the store.
  __device__ void write_unit() {
    unsigned number = 0;
    for (int base = 0; base < shared_.kept; base += threads) {
      const int i = base + static_cast<int>(threadIdx.x);
      const bool keep = i < shared_.kept && shared_.tiles[i] != 0;
      const unsigned component = keep ? shared_.component[i] : 0;
      const unsigned short tiles = keep ? shared_.tiles[i] : 0;
      unsigned all = 0;
      const unsigned at = place_among(keep, shared_.warp_count, all);
      __syncthreads();
      if (keep) {
        shared_.component[number + at] = component;
        shared_.tiles[number + at] = tiles;
      }
      number += all;
      __syncthreads();
    }
    if (threadIdx.x == 0) {
      const unsigned begin = atomicAdd(&store_.counts->listed, number);
      unsigned unit = 0;
      bool full = begin > store_.most_listed || store_.most_listed - begin < number;
      if (!full) {
        unit = atomicAdd(&store_.counts->units, 1U);
        full = unit >= store_.most_units;
        if (!full) store_.unit[unit] = {block_, begin, number, shared_.flushed};
      }
      shared_.begin = begin;
      shared_.unit = unit;
      shared_.full = shared_.full || full;
    }
    __syncthreads();
    if (shared_.full) return;
    for (unsigned i = threadIdx.x; i < number; i += threads) {
      store_.listed[shared_.begin + i] = {shared_.component[i], shared_.tiles[i]};
    }
  }

  __device__ void write_last() {
    write_unit();
    if (shared_.full || (exact_ && shared_.flushed > 0)) {
      finish(BlockSum::exact_all);
      return;
    }
    if (threadIdx.x == 0) {
      const unsigned real = real_tiles();
      unsigned in_all = 0;
      unsigned most = 0;
      for (int tile = 0; tile < tiles_a_block; ++tile) {
        if ((real >> tile & 1U) == 0) continue;
        in_all += shared_.tile_count[tile];
        most = max(most, shared_.tile_count[tile]);
      }
      atomicAdd(&store_.counts->in_all, static_cast<unsigned long long>(in_all));
      atomicMax(&store_.counts->most, most);
    }
    finish(exact_ ? BlockSum::exact_list : BlockSum::units);
  }

  __device__ void finish(BlockSum sum) {
    __syncthreads();
    Block& own = store_.block[block_];
    if (threadIdx.x < tiles_a_block) own.least[threadIdx.x] = shared_.least[threadIdx.x];
    if (threadIdx.x != 0) return;
    own.sum = sum;
    own.units = shared_.flushed + 1;
    own.unit = shared_.unit;
    own.slot = sum == BlockSum::units && own.units > 1 ? atomicAdd(&store_.counts->slots, 1U) : 0;
    if (sum != BlockSum::units) store_.exact_block[atomicAdd(&store_.counts->exact, 1U)] = block_;
  }

  const Components& components_;
  const Work& work_;
  const ListSettings& settings_;
  Shared& shared_;
  const ListStore& store_;
  unsigned block_;
  Lister lister_;
  RowSums sums_;
  bool exact_ = false;
};

__global__ void __launch_bounds__(threads) list_kernel(Components components, const Frame* __restrict__ frames,
                                                       PictureGrid grid, ListSettings settings, ListStore store) {
  extern __shared__ char memory[];
  Shared& shared = *reinterpret_cast<Shared*>(memory);
  const unsigned in_all = grid.first + blockIdx.x;
  const auto of_picture = static_cast<unsigned>(grid.blocks_x * grid.blocks_y);
  const auto row = static_cast<int>(in_all % of_picture) / grid.blocks_x;
  const auto column = static_cast<int>(in_all % of_picture) % grid.blocks_x;
  Work work;
  work.frame = frames[in_all / of_picture];
  work.left = work.frame.x + static_cast<double>(column * block_side) * work.frame.step_x;
  work.top = work.frame.y + static_cast<double>(row * block_side) * work.frame.step_y;
  work.columns = min(block_side, grid.width - column * block_side);
  work.rows = min(block_side, grid.height - row * block_side);
  work.first_component = work.frame.plane * components.count;
  work.begin = components.begin + static_cast<std::int64_t>(work.frame.plane) * components.layout.cells;
  work.most = components.most + work.frame.plane * size_classes;
  if (threadIdx.x == 0) shared.flushed = 0;
  BlockLists(components, work, settings, shared, store, blockIdx.x).run();
}

}  // namespace

void list_components(const Components& components, const Frame* frames, const PictureGrid& grid,
                     const ListSettings& settings, const ListStore& store, cudaStream_t stream) {
  cuda::check(cudaFuncSetAttribute(list_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof(Shared)),
              "cudaFuncSetAttribute");
  list_kernel<<<grid.blocks, threads, sizeof(Shared), stream>>>(components, frames, grid, settings, store);
  cuda::check_launch("list_kernel");
}

}  // namespace holotone::smoe
