#include <holotone/smoe/render/area_lists_cuda.cuh>

namespace holotone::smoe {
namespace {

/// Share of the tolerance of dropped components, those never looked at among them; rounding in float32 has what they leave.
constexpr float dropped_share = 0.65F;
/// 2^-11, what sums in tensor cores lose beside, and what float32 loses more where weights come from their ratios and shapes are in float32.
constexpr float half_rounding = 5.2e-4F;
constexpr float in_halves = 7;
constexpr int most_tries = 5;
constexpr int areas_a_processor = 6;
/// Farthest quarter of a tile whose L a component raises before areas look for what is missing.
constexpr int most_quarters = 3;
constexpr float first_within = 1.25F;  ///< deviations / 0.85 up to which it does so
/// Components whose weight times (r + 1) is less than a part in this many of the best's weight count with that much less, all of them
/// together with at most their number divided by this.
constexpr float minor = 2048;
/// Of log2 densities in a tile that float32 holds, from 2^-90 to 2^most_power.
constexpr float widest_range = 90 + most_power;

/// A lane's part of what a try finds.
struct TrySums {
  float dropped[tiles_a_block] = {};  ///< shares of dropped components, tile by tile
  float excess[tiles_a_block] = {};   ///< of B above the area's guess
  float range = 0;                    ///< largest U - L
  float rounding = 0;                 ///< what a weight's rounding in float32 grows with
};

/// The lists of one block, by one warp.
template <bool Bounded>
class BlockLists {
 public:
  __device__ BlockLists(const Area<Bounded>& area, const PictureBundle& bundle, unsigned bundle_log2,
                        const ListStore& store, unsigned block)
      : area_(area),
        bundle_(bundle),
        bundle_log2_(bundle_log2),
        box_(area.box.part(area.warp % 2 * block_side, area.warp / 2 * block_side, block_side)),
        store_(store),
        block_(block),
        lane_(area.lane),
        spread_(area.spread),
        threshold_(first_threshold * area.settings.tolerance),
        chunk_(block) {
    block_least_ = 1e30F;
    const int first_tile = area.warp / 2 * tiles_across * area_tiles + area.warp % 2 * tiles_across;
#pragma unroll
    for (int tile = 0; tile < tiles_a_block; ++tile) {
      const unsigned bits = area.memory.least[first_tile + tile / tiles_across * area_tiles + tile % tiles_across];
      // Tiles outside the picture need nothing.
      least_[tile] = has(tile) ? (bits != 0 ? from_ordered(bits) : 0) : 1e30F;
      block_least_ = fminf(block_least_, least_[tile]);
    }
  }

  __device__ void run() {
    if (box_.columns <= 0 || box_.rows <= 0) return finish(BlockSum::nothing);
    if (Bounded && area_.lacks_least()) return finish(BlockSum::exact_all);
    bool together = true;
    for (const int count : area_.memory.near_count) together = together && count <= most_near;
    for (int tries = 0; tries < most_tries; ++tries) {
      sums_ = {};
      chunk_ = block_;
      parts_ = 0;
      count_ = 0;
      not_seen_ = 0;
      if (together && tries + 2 < most_tries) {
        from_area();
      } else {
        alone();
      }
      if (full_) break;
      if (judge()) return write_units();
    }
    finish(BlockSum::exact_all);
  }

 private:
  __device__ bool has(int tile) const {
    return tile / tiles_across * tile_side < box_.rows && tile % tiles_across * tile_side < box_.columns;
  }

  /// The block's first pixel in the area.
  __device__ int first_row() const { return area_.warp / 2 * block_side; }
  __device__ int first_column() const { return area_.warp % 2 * block_side; }

  /// Looks at what the area's warps have noted.
  __device__ void from_area() {
    const auto shift_x = static_cast<float>(first_column());
    const auto shift_y = static_cast<float>(first_row());
    const AreaMemory& memory = area_.memory;
    int ends[area_warps];
    int number = 0;
#pragma unroll
    for (int warp = 0; warp < area_warps; ++warp) ends[warp] = number += memory.near_count[warp];
    for (int first = 0; first < number; first += 32) {
      int i = min(first + lane_, number - 1);
      int list = 0;
      int begin = 0;
#pragma unroll
      for (int warp = 0; warp + 1 < area_warps; ++warp) {
        if (i >= ends[warp]) {
          list = warp + 1;
          begin = ends[warp];
        }
      }
      Candidate candidate = memory.near[list][i - begin];
      candidate.local.x -= shift_x;
      candidate.local.y -= shift_y;
      look_at(candidate, first + lane_ < number);
    }
    not_seen_ = area_.dropped;
    colour_ = guessed_colour;
  }

  /// Walks over the plane's components without the other warps.
  __device__ void alone() {
    float distance = area_.window_reach();
    if constexpr (Bounded) {
      colour_ = area_.away + spread_;
      distance = area_.far_distance(box_, block_least_, colour_, not_seen_);
    }
    CellRows& rows = area_.memory.own_rows[area_.warp];
    set_rows(area_.plane,
             Bounded ? box_ : area_.part.grown(box_, first_row(), first_column(), area_.settings.window_block),
             distance, rows);
    visit(area_.plane, rows, 0, 1, [&](unsigned component, bool active) {
      Candidate candidate{};
      if (active) {
        candidate = Candidate::of(box_, area_.plane.place(component), area_.plane.span(component, box_), component);
      }
      look_at(candidate, active);
    });
  }

  /// Lists the lanes' components with the tiles that need them.
  __device__ __forceinline__ void look_at(const Candidate& candidate, bool active) {
    if (count_ + 32 > most_in_unit) next_chunk();
    const unsigned tiles = active ? tiles_of(candidate) : 0;
    const unsigned listed = __ballot_sync(all_lanes, tiles != 0);
    if (tiles != 0 && !full_) {
      store_.listed[chunk_ * most_in_unit + count_ + __popc(listed & ((1U << lane_) - 1))] = {candidate.component,
                                                                                              tiles};
    }
    count_ += __popc(listed);
  }

  /// The tiles that need a component, a bit each. Tiles count as whole.
  __device__ __forceinline__ unsigned tiles_of(const Candidate& candidate) {
    constexpr float half = 0.5F * (tile_side - 1);
    const Local& own = candidate.local;
    const float first_dx = half - own.x;
    const float first_dy = half - own.y;
    const Expert& expert = area_.plane.expert(candidate.component);
    float away = 0;
#pragma unroll
    for (int c = 0; c < most_smoe_channels; ++c) {
      if (c < area_.settings.channels) away = fmaxf(away, fabsf(expert.colour[c] - area_.reference[c]));
    }
    away += candidate.span_colour;
    const float steep = fmaxf(candidate.steep, 1e-6F);
    const float to_guess = __fdividef(away - area_.spread, steep);
    const float skewed = fabsf(own.skew);
    const float far_x = fmaxf(fabsf(own.x), fabsf(own.x - (block_side - 1))) + candidate.span_x;
    const float far_y = fmaxf(fabsf(own.y), fabsf(own.y - (block_side - 1))) + candidate.span_y;
    const float peak = own.peak + slack(own.across * far_x, fmaf(skewed, far_x, own.down * far_y), own.peak);
    const float half_x = half + candidate.span_x;
    const float narrowed = fmaf(skewed, half_x, own.down * (half + candidate.span_y));
    unsigned windows = 0;
    if constexpr (!Bounded) {
      windows =
          area_.window_tiles(box_, first_row(), first_column(), tiles_across, area_.plane.place(candidate.component));
    }
    unsigned bits = 0;
    float most_share = 0;
#pragma unroll
    for (int tile = 0; tile < tiles_a_block; ++tile) {
      const float dx = first_dx + Box::start(tile % tiles_across);
      const float dy = first_dy + Box::start(tile / tiles_across);
      const float u = fmaxf(own.across * (fabsf(dx) - half_x), 0.0F);
      const float v = fmaxf(fabsf(fmaf(own.skew, dx, own.down * dy)) - narrowed, 0.0F);
      const float relative = fmaf(-v, v, fmaf(-u, u, peak)) - least_[tile];
      const float weight = power_above(relative);
      const float below = most_away(peak - least_[tile] - fminf(relative, 0.0F));
      const float reach = fmaf(steep, below, away);
      const float own_share = weight * (reach + spread_);
      if (Bounded ? !(own_share < threshold_) : (windows >> tile & 1U) != 0) {
        bits |= 1U << tile;
      } else {
        sums_.dropped[tile] += own_share;
      }
      most_share = fmaxf(most_share, fmaf(weight, reach, weight));
      sums_.range = fmaxf(sums_.range, relative);
      sums_.excess[tile] = fmaf(fminf(weight, 1.0F) * steep, excess_of(to_guess + below), sums_.excess[tile]);
    }
    // Where a component matters, u and v are at most this; they are sums of terms in coordinates from the block's middle.
    const float range = root(fmaxf(own.peak - block_least_, 0.0F) + 10);
    const float terms = fmaf(0.5F * block_side, own.across + skewed + own.down, 2 * range);
    sums_.rounding = fmaxf(sums_.rounding, __saturatef(minor * most_share) * terms * range);
    return bits;
  }

  /// The most that a component's weight, 1 at first, times its r less the guess of B can be, over `steep`: with a from there on as in
  /// most_away, (above + a) 2^(-2 steepest_at a) at most.
  __device__ static __forceinline__ float excess_of(float above) {
    return fmaxf(above, 0.0F) + 0.3123F * power_of_two(1.69F * fminf(above, 0.0F));
  }

  /// Joins the lanes' sums; false where a tile's bound exceeds the tolerance.
  __device__ bool judge() {
    const auto count = static_cast<float>(parts_ * most_in_unit + static_cast<unsigned>(count_));
    float excess = 0;
#pragma unroll
    for (const float own : sums_.excess) excess = fmaxf(excess, sum_of_lanes(own));
    const float spread = (area_.spread + excess) * 1.0001F;
    const float range = most_of_lanes(sums_.range);
    above_ = fmaxf(range - most_power, 0.0F);
    // Shares were taken with a guess of B.
    const float wider = fmaxf(1.0F, spread / spread_);
    // u and v are off by three roundings of their terms, their squares by 2 u and 2 v times that; all else by some roundings of exponents
    // that are at least -126. Both count with |m_k - y|.
    const float exponents = 0.7F * 3.6e-7F * most_of_lanes(sums_.rounding);
    const float minors = count / minor;
    // Four lanes share a unit's components, units add up one by one; m_k and y from c.
    const float depth = fminf(count, most_in_unit) / 4 + static_cast<float>(parts_) + 8;
    rounding_ = exponents * (2 + minors) + 0.7F * 2.4e-7F * (range + 126 + fabsf(block_least_)) * 2 + 1.2e-7F * depth;
    room_ = area_.settings.tolerance - exponents * minors - 1.2e-7F * (area_.away + 0.5F);
    exact_ = area_.settings.exact || !(range <= widest_range);
    if constexpr (!Bounded) return true;
    float dropped = 0;
#pragma unroll
    for (const float own : sums_.dropped) dropped = fmaxf(dropped, sum_of_lanes(own));
    const float unseen = not_seen_ * fmaxf(1.0F, (area_.away + spread) / colour_);
    const float all = (dropped * wider + unseen) * 1.0001F;
    spread_ = fmaxf(spread_, spread);
    room_ -= all;
    checked_ = !(rounding_ * spread <= room_);
    // Where even a usual mean is too much, sums in float32 are not tried.
    exact_ = exact_ || !(0.25F * rounding_ * area_.spread <= room_);
    half_above_ = fmaxf(range - most_half_power, 0.0F);
    half_spread_ = __fdividef(room_ - (in_halves - 1) * exponents * minors,
                              half_rounding + in_halves * exponents + 1.7e-7F * fabsf(block_least_));
    halves_ = parts_ == 0 && !exact_ && range <= most_half_range && area_.settings.channels <= most_half_channels &&
              half_spread_ > 0.5F * area_.spread;
    const float allowed = dropped_share * area_.settings.tolerance;
    threshold_ *= fminf(fmaxf(0.5F * allowed / all, 1.0F / 64), 0.25F);  // of the next try
    return all <= allowed;
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
    if (lane_ == 0) store_.chunk[chunk_].count = static_cast<unsigned>(count_);
    if (exact_) return finish(BlockSum::exact_list);
    if (parts_ == 0) return finish(halves_ ? BlockSum::halves : BlockSum::floats);
    if (lane_ == 0) slot_ = atomicAdd(&store_.counts->slots, bundle_.pictures);
    slot_ = __shfl_sync(all_lanes, slot_, 0);
    if (slot_ + bundle_.pictures > store_.most_slots) return finish(BlockSum::exact_list);
    if (lane_ == 0) {
      unsigned unit = atomicAdd(&store_.counts->units, bundle_.pictures * (parts_ + 1));
      for (unsigned picture = 0; picture < bundle_.pictures; ++picture) {
        unsigned chunk = block_;
        for (unsigned part = 0; part <= parts_; ++part) {
          const Chunk own = store_.chunk[chunk];
          store_.unit[unit++] = {(block_ << bundle_log2_) + picture, chunk * most_in_unit, own.count, part};
          chunk = own.next;
        }
      }
    }
    finish(BlockSum::units);
  }

  __device__ void finish(BlockSum sum) {
    Block& own = store_.block[block_];
    if (lane_ != 0) return;
#pragma unroll
    for (int tile = 0; tile < tiles_a_block; ++tile) own.shift[tile] = least_[tile] + above_;
#pragma unroll
    for (int c = 0; c < most_smoe_channels; ++c) own.reference[c] = area_.reference[c];
    own.pictures = bundle_.pictures;
    own.order = bundle_.order;
    own.place = {bundle_.first, area_.part.first_row + first_row(), area_.part.first_column + first_column()};
    own.checked = checked_;
    own.most_spread = __fdividef(room_, rounding_);
    own.half_spread = half_spread_;
    own.half_above = half_above_;
    own.sum = sum;
    own.units = parts_ + 1;
    own.slot = slot_;
    if (sum != BlockSum::exact_list && sum != BlockSum::exact_all) return;
    for (unsigned i = 0; i < bundle_.pictures * tiles_a_block; ++i) {
      add_exact(store_, (block_ << bundle_log2_) + i / tiles_a_block, i % tiles_a_block);
    }
  }

  const Area<Bounded>& area_;
  const PictureBundle& bundle_;
  const unsigned bundle_log2_;
  const Box box_;
  const ListStore& store_;
  const unsigned block_;
  const int lane_;
  float least_[tiles_a_block];
  float block_least_;
  float spread_;  ///< guess of B
  float threshold_;
  float not_seen_ = 0;  ///< shares of components that are not looked at
  float colour_ = 0;    ///< guess of |y - 1/2| in these
  TrySums sums_;
  unsigned chunk_;      ///< in hand
  int count_ = 0;       ///< components in it
  unsigned parts_ = 0;  ///< chunks before it
  unsigned chain_ = 0;  ///< chunks that the block has taken
  unsigned slot_ = 0;
  float above_ = 0;  ///< by how much powers of two would exceed most_power
  bool full_ = false;
  bool exact_ = false;
  bool checked_ = false;
  bool halves_ = false;
  float half_spread_ = 0;
  float half_above_ = 0;
  float rounding_ = 0;  ///< of colours, over the mean of r
  float room_ = 0;      ///< for it
};

template <bool Bounded>
__global__ void __launch_bounds__(area_threads, areas_a_processor)
    list_kernel(Components components, const Frame* __restrict__ frames, const PictureBundle* __restrict__ bundles,
                PictureGrid grid, ListSettings settings, ListStore store) {
  __shared__ AreaMemory memory;
  const BlockPlace place = place_of(grid, blockIdx.x * blocks_an_area);
  const PictureBundle bundle = bundles[place.picture];
  const Frame frame = frames[bundle.first];
  const Plane plane{components, components.begin + static_cast<std::int64_t>(bundle.order) * components.layout->cells,
                    components.most + bundle.order * size_classes, bundle.order * components.count,
                    (bundle.middle - bundle.order) * components.count};
  const Box box = Box::of(frame, place.first_column, place.first_row, min(area_side, grid.width - place.first_column),
                          min(area_side, grid.height - place.first_row));
  const PicturePart part{frame.x, frame.y, place.first_row, place.first_column, grid.height, grid.width};
  const Area<Bounded> area(plane, settings, box, part, store.best + blockIdx.x * area_quarters * area_quarters, memory);
  BlockLists<Bounded>(area, bundle, grid.bundle_log2, store,
                      blockIdx.x * blocks_an_area + static_cast<unsigned>(area.warp))
      .run();
}

/// Each component raises L around its centre, as far as its deviation reaches and not beyond most_quarters.
__global__ void best_kernel(Components components, const Frame* __restrict__ frames,
                            const PictureBundle* __restrict__ bundles, PictureGrid grid, unsigned first_bundle,
                            unsigned* __restrict__ best) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= components.count) return;
  const unsigned number = first_bundle + blockIdx.y;
  const PictureBundle bundle = bundles[number];
  const Frame frame = frames[bundle.first];
  const Place place = components.place[bundle.middle * components.count + i];
  constexpr double a_quarter = 1.0 / quarter_side;
  const double x = floor((place.x - frame.x) * frame.a_step_x * a_quarter);
  const double y = floor((place.y - frame.y) * frame.a_step_y * a_quarter);
  const int quarters_x = (grid.width + quarter_side - 1) / quarter_side;
  const int quarters_y = (grid.height + quarter_side - 1) / quarter_side;
  if (!(x >= -most_quarters && y >= -most_quarters && x < quarters_x + most_quarters &&
        y < quarters_y + most_quarters)) {
    return;
  }
  // In pixels of the quarter of its centre.
  const Box box = Box::of(frame, x * quarter_side, y * quarter_side, quarter_side, quarter_side);
  const Local own = box.local_of(place);
  LocalSpan span;
  if (components.span != nullptr) span = LocalSpan::of(components.span[bundle.order * components.count + i], box);
  const Reached reached(own, span, (most_quarters + 1) * quarter_side);
  const float wide = first_within / own.across;
  const float high = reached.height(first_within);
  const auto quarter_at = [](float at) {
    return static_cast<int>(fminf(fmaxf(floorf(at * (1.0F / quarter_side)), -most_quarters), most_quarters));
  };
  const int middle_x = static_cast<int>(x);
  const int middle_y = static_cast<int>(y);
  const int left = max(quarter_at(own.x - wide), -middle_x);
  const int right = min(quarter_at(own.x + wide), quarters_x - 1 - middle_x);
  const int top = max(quarter_at(own.y - high), -middle_y);
  const int bottom = min(quarter_at(own.y + high), quarters_y - 1 - middle_y);
  const unsigned first_area = number * static_cast<unsigned>(grid.areas_x * grid.areas_y) - grid.first;
  for (int row = top; row <= bottom; ++row) {
    for (int column = left; column <= right; ++column) {
      const int quarter_x = middle_x + column;
      const int quarter_y = middle_y + row;
      const unsigned area =
          first_area + static_cast<unsigned>(quarter_y / area_quarters * grid.areas_x + quarter_x / area_quarters);
      if (area >= grid.areas) continue;
      const auto x0 = static_cast<float>(column * quarter_side);
      const auto y0 = static_cast<float>(row * quarter_side);
      const float least = reached.least(x0, x0 + quarter_side - 1, y0, y0 + quarter_side - 1);
      if (!(least > -1e30F)) continue;
      unsigned* const of_area = best + area * area_quarters * area_quarters;
      atomicMax(of_area + quarter_y % area_quarters * area_quarters + quarter_x % area_quarters, ordered_bits(least));
    }
  }
}

/// Blocks that sum all components.
__global__ void list_all_kernel(PictureGrid grid, const PictureBundle* __restrict__ bundles, ListStore store) {
  const unsigned block = blockIdx.x * blockDim.x + threadIdx.x;
  if (block >= grid.areas * blocks_an_area) return;
  BlockPlace place = place_of(grid, block);
  const PictureBundle bundle = bundles[place.picture];
  place.picture = bundle.first;
  const bool inside = place.first_column < grid.width && place.first_row < grid.height;
  store.block[block] = {place, 1, bundle.order, inside ? BlockSum::exact_all : BlockSum::nothing, 0, 0, false, 0, 0, 0,
                        {},    {}};
  for (unsigned tile = 0; inside && tile < tiles_a_block; ++tile) add_exact(store, block, tile);
}

}  // namespace

void list_components(const Components& components, const Frame* frames, const PictureBundle* bundles,
                     const PictureGrid& grid, const ListSettings& settings, const ListStore& store,
                     cudaStream_t stream) {
  if (settings.selection == SmoeSelection::all) {
    list_all_kernel<<<cuda::blocks_for(grid.areas * blocks_an_area, area_threads), area_threads, 0, stream>>>(
        grid, bundles, store);
    cuda::check_launch("list_all_kernel");
    return;
  }
  if (settings.selection == SmoeSelection::bounded) {
    const auto of_picture = static_cast<unsigned>(grid.areas_x * grid.areas_y);
    const unsigned first = grid.first / of_picture;
    const dim3 parts(cuda::blocks_for(components.count, area_threads),
                     (grid.first + grid.areas - 1) / of_picture - first + 1);
    best_kernel<<<parts, area_threads, 0, stream>>>(components, frames, bundles, grid, first, store.best);
    cuda::check_launch("best_kernel");
  }
  auto* const kernel = settings.selection == SmoeSelection::bounded ? list_kernel<true> : list_kernel<false>;
  kernel<<<grid.areas, area_threads, 0, stream>>>(components, frames, bundles, grid, settings, store);
  cuda::check_launch("list_kernel");
}

}  // namespace holotone::smoe
