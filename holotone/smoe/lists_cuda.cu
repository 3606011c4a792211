#include <holotone/smoe/area_cuda.cuh>

namespace holotone::smoe {
namespace {

/// Shares of the tolerance: dropped components (those never looked at among them) and rounding in float32.
constexpr float dropped_share = 0.65F;
constexpr float rounding_share = 0.35F;
/// A dropped component's share of the tolerance, at first.
constexpr float first_threshold = 1.0F / 32;
constexpr int most_tries = 5;
/// Components that weigh less than a part in this many of the best count with their weight times this, all of them together with at
/// most their number divided by this.
constexpr float minor = 256;
constexpr float widest_range = 100;  ///< of log2 densities in a tile that float32 holds

/// Sums of a lane's components, tile by tile.
struct TileSums {
  float weight[tiles_a_block] = {};                              ///< of dropped components
  float colour[tiles_a_block] = {};                              ///< the same times r
  float spread[tiles_a_block] = {};                              ///< B
  float most[tiles_a_block] = {-1e30F, -1e30F, -1e30F, -1e30F};  ///< largest U
  float terms[tiles_a_block] = {};                               ///< what rounding in float32 grows with
  unsigned count[tiles_a_block] = {};
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
        chunk_(block) {
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
      chunk_ = block_;
      parts_ = 0;
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
      if (full_) break;
      if (judge()) {
        write_units();
        return;
      }
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
    if (count_ + 32 > most_in_unit) next_chunk();
    unsigned tiles = 0;
    unsigned component = 0;
    if (lane_ < number) {
      component = memory_.component[lane_];
      tiles = tiles_of(memory_.kept[lane_], component);
    }
    const unsigned listed = __ballot_sync(all_lanes, tiles != 0);
    if (tiles != 0 && !full_) {
      store_.listed[chunk_ * most_in_unit + count_ + __popc(listed & ((1U << lane_) - 1))] = {component, tiles};
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
    unsigned windows = 0;
    if (!area_.bounded()) windows = area_.window_tiles(box_, tiles_across, area_.plane.components.place[component]);
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
      const bool needed = relative >= 0 || !(weight * (reach[tile] + spread_) < threshold_);
      if (area_.bounded() ? !needed : (windows >> tile & 1U) == 0) {
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
    return bits;
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

  /// Ends the chunk in hand and goes to the next one, that of an earlier try if there is one.
  __device__ void next_chunk() {
    ++parts_;
    unsigned next = 0;
    if (lane_ == 0) {
      Chunk& own = store_.chunk[chunk_];
      own.count = static_cast<unsigned>(count_);
      if (parts_ > chain_) own.next = store_.first_free + atomicAdd(&store_.counts->chunks, 1U);
      next = own.next;
    }
    next = __shfl_sync(all_lanes, next, 0);
    chain_ = max(chain_, parts_);
    count_ = 0;
    full_ = full_ || next - store_.first_free >= store_.most_chunks;
    if (!full_) chunk_ = next;
  }

  __device__ void write_units() {
    if (lane_ == 0) {
      store_.chunk[chunk_].count = static_cast<unsigned>(count_);
      unit_ = atomicAdd(&store_.counts->units, parts_ + 1);
      unsigned chunk = block_;
      for (unsigned part = 0; part <= parts_; ++part) {
        const Chunk own = store_.chunk[chunk];
        store_.unit[unit_ + part] = {block_, chunk * most_in_unit, own.count, part};
        chunk = own.next;
      }
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
  unsigned chunk_;      ///< in hand
  int count_ = 0;       ///< components in it
  unsigned parts_ = 0;  ///< chunks before it
  unsigned chain_ = 0;  ///< chunks that the block has taken
  unsigned unit_ = 0;
  bool full_ = false;
  bool exact_ = false;
  unsigned in_all_ = 0;
  unsigned most_ = 0;
};

__global__ void __launch_bounds__(area_threads)
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
                frame.step_x,
                frame.step_y,
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
  list_kernel<<<grid.areas, area_threads, sizeof(AreaMemory), stream>>>(components, frames, grid, settings, store);
  cuda::check_launch("list_kernel");
}

}  // namespace holotone::smoe
