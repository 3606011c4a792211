#pragma once
// Component lists of one block: a warp bounds the contribution of components to each tile and lists those that matter.
// Not for users.
#include <holotone/smoe/render/lists/area_lists_cuda.cuh>
#include <holotone/smoe/render/lists/block_chunks_cuda.cuh>

namespace holotone::smoe {

/// Share of the tolerance for dropped components, including those never visited; rounding in float32 has the rest.
inline constexpr float dropped_share = 0.65F;
/// Relative rounding of sums in half precision, 2^-11 plus that of tensor cores. `in_halves`: factor of float32's error
/// of exponents, as weights come from their ratios and shapes are in float32.
inline constexpr float half_rounding = 5.2e-4F;
inline constexpr float in_halves = 7;
inline constexpr int max_tries = 5;
/// Components with weight (r + 1) below 1 / minor of the best's weight enter the rounding bound proportionally less;
/// all of them together with at most their number / minor.
inline constexpr float minor = 2048;
/// Largest range of log2 densities in a tile that float32 holds, from 2^-90 to 2^max_power.
inline constexpr float widest_range = 90 + max_power;

/// One lane's partial sums of a try.
struct TrySums {
  float dropped[tiles_a_block] = {};  ///< shares of dropped components, tile by tile
  float excess[tiles_a_block] = {};   ///< excess of B over the area's guess
  float range = 0;                    ///< largest U - L
  float rounding = 0;                 ///< factor of a weight's rounding error in float32
};

/// Precision needed for a block's sums.
struct Precision {
  float above = 0;        ///< excess of the largest power of two over max_power
  float rounding = 0;     ///< rounding error of colours in float32, over the mean of r
  float room = 0;         ///< tolerance left for rounding
  float half_spread = 0;  ///< as Block::half_spread
  float half_above = 0;
  bool exact = false;  ///< float64 is needed
  bool checked = false;
  bool halves = false;  ///< weights in half precision are precise enough
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
        chunks_(store, block, area.lane),
        lane_(area.lane),
        spread_(area.spread),
        threshold_(first_threshold * area.settings.tolerance) {
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
    for (const int count : area_.memory.near_count) together = together && count <= max_near;
    for (int tries = 0; tries < max_tries; ++tries) {
      sums_ = {};
      chunks_.restart();
      not_seen_ = 0;
      if (together && tries + 2 < max_tries) {
        from_area();
      } else {
        alone();
      }
      if (chunks_.full()) break;
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

  /// Tests the candidates that the area's warps have stored.
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

  /// Tests the plane's components without the other warps.
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
    chunks_.make_room();
    chunks_.add(candidate.component, active ? find_tiles(candidate) : 0);
  }

  /// Bit mask of the tiles that need a component. Tiles count as whole.
  __device__ __forceinline__ unsigned find_tiles(const Candidate& candidate) {
    constexpr float half = 0.5F * (tile_side - 1);
    const Local& local = candidate.local;
    const float first_dx = half - local.x;
    const float first_dy = half - local.y;
    const Expert& expert = area_.plane.expert(candidate.component);
    float away = 0;
#pragma unroll
    for (int c = 0; c < max_smoe_channels; ++c) {
      if (c < area_.settings.channels) away = fmaxf(away, fabsf(expert.colour[c] - area_.reference[c]));
    }
    away += candidate.span_colour;
    const float steep = fmaxf(candidate.steep, 1e-6F);
    const float to_guess = __fdividef(away - area_.spread, steep);
    const float skewed = fabsf(local.skew);
    const float far_x = fmaxf(fabsf(local.x), fabsf(local.x - (block_side - 1))) + candidate.span_x;
    const float far_y = fmaxf(fabsf(local.y), fabsf(local.y - (block_side - 1))) + candidate.span_y;
    const float peak = local.peak + slack(local.across * far_x, fmaf(skewed, far_x, local.down * far_y), local.peak);
    const float half_x = half + candidate.span_x;
    const float narrowed = fmaf(skewed, half_x, local.down * (half + candidate.span_y));
    unsigned windows = 0;
    if constexpr (!Bounded) {
      windows =
          area_.window_tiles(box_, first_row(), first_column(), tiles_across, area_.plane.place(candidate.component));
    }
    unsigned bits = 0;
    float max_share = 0;
#pragma unroll
    for (int tile = 0; tile < tiles_a_block; ++tile) {
      const float dx = first_dx + Box::start(tile % tiles_across);
      const float dy = first_dy + Box::start(tile / tiles_across);
      const float u = fmaxf(local.across * (fabsf(dx) - half_x), 0.0F);
      const float v = fmaxf(fabsf(fmaf(local.skew, dx, local.down * dy)) - narrowed, 0.0F);
      const float relative = fmaf(-v, v, fmaf(-u, u, peak)) - least_[tile];
      const float weight = power_above(relative);
      const float below = max_away(peak - least_[tile] - fminf(relative, 0.0F));
      const float reach = fmaf(steep, below, away);
      const float own_share = weight * (reach + spread_);
      if (Bounded ? !(own_share < threshold_) : (windows >> tile & 1U) != 0) {
        bits |= 1U << tile;
      } else {
        sums_.dropped[tile] += own_share;
      }
      max_share = fmaxf(max_share, fmaf(weight, reach, weight));
      sums_.range = fmaxf(sums_.range, relative);
      sums_.excess[tile] = fmaf(fminf(weight, 1.0F) * steep, bound_excess(to_guess + below), sums_.excess[tile]);
    }
    // Largest u and v where a component matters; they are sums of terms in coordinates from the block's middle.
    const float range = root(fmaxf(local.peak - block_least_, 0.0F) + 10);
    const float terms = fmaf(0.5F * block_side, local.across + skewed + local.down, 2 * range);
    sums_.rounding = fmaxf(sums_.rounding, __saturatef(minor * max_share) * terms * range);
    return bits;
  }

  /// Upper bound of a component's weight, 1 at first, times the excess of its r over the guess of B, over `steep`: with
  /// a from there on as in max_away, (above + a) 2^(-2 steepest_at a) at most.
  __device__ static __forceinline__ float bound_excess(float above) {
    return fmaxf(above, 0.0F) + 0.3123F * power_of_two(1.69F * fminf(above, 0.0F));
  }

  /// Rounding error of a colour over the mean of r: by exponents, and the fraction of that by components of small
  /// weight.
  struct Rounding {
    float exponents;
    float minors;
  };

  /// Joins the lanes' sums; false if a tile's bound exceeds its share of the tolerance.
  __device__ bool judge() {
    float excess = 0;
#pragma unroll
    for (const float value : sums_.excess) excess = fmaxf(excess, sum_of_lanes(value));
    const float spread = (area_.spread + excess) * 1.0001F;
    const float range = max_of_lanes(sums_.range);
    // Shares were computed with a guess of B.
    const float wider = fmaxf(1.0F, spread / spread_);
    const Rounding rounding = set_rounding(range);
    if constexpr (!Bounded) return true;
    float dropped = 0;
#pragma unroll
    for (const float value : sums_.dropped) dropped = fmaxf(dropped, sum_of_lanes(value));
    const float unseen = not_seen_ * fmaxf(1.0F, (area_.away + spread) / colour_);
    const float all = (dropped * wider + unseen) * 1.0001F;
    spread_ = fmaxf(spread_, spread);
    precision_.room -= all;
    precision_.checked = !(precision_.rounding * spread <= precision_.room);
    // If even a usual mean is too large, sums in float32 are not tried.
    precision_.exact = precision_.exact || !(0.25F * precision_.rounding * area_.spread <= precision_.room);
    set_halves(range, rounding);
    const float allowed = dropped_share * area_.settings.tolerance;
    threshold_ *= fminf(fmaxf(0.5F * allowed / all, 1.0F / 64), 0.25F);  // threshold of the next try
    return all <= allowed;
  }

  /// Sets the precision of sums in float32 for a range of log2 densities; `room` does not yet account for dropped
  /// components.
  __device__ __forceinline__ Rounding set_rounding(float range) {
    const float count = chunks_.components();
    precision_.above = fmaxf(range - max_power, 0.0F);
    // Errors of u and v: three roundings of their terms; of their squares: 2 u and 2 v times that. Other errors: some
    // roundings of exponents, which are at least -126. Both are multiplied by |m_k - y|.
    const float exponents = 0.7F * 3.6e-7F * max_of_lanes(sums_.rounding);
    const float minors = count / minor;
    // Four lanes share a unit's components, units are added one by one; m_k and y are relative to c.
    const float depth = fminf(count, max_in_unit) / 4 + static_cast<float>(chunks_.parts()) + 8;
    precision_.rounding =
        exponents * (2 + minors) + 0.7F * 2.4e-7F * (range + 126 + fabsf(block_least_)) * 2 + 1.2e-7F * depth;
    precision_.room = area_.settings.tolerance - exponents * minors - 1.2e-7F * (area_.away + 0.5F);
    precision_.exact = area_.settings.exact || !(range <= widest_range);
    return {exponents, minors};
  }

  /// Determines whether weights in half precision are precise enough.
  __device__ __forceinline__ void set_halves(float range, const Rounding& rounding) {
    precision_.half_above = fmaxf(range - max_half_power, 0.0F);
    precision_.half_spread = __fdividef(precision_.room - (in_halves - 1) * rounding.exponents * rounding.minors,
                                        half_rounding + in_halves * rounding.exponents + 1.7e-7F * fabsf(block_least_));
    precision_.halves = chunks_.parts() == 0 && !precision_.exact && range <= max_half_range &&
                        area_.settings.channels <= max_half_channels && precision_.half_spread > 0.5F * area_.spread;
  }

  __device__ void write_units() {
    chunks_.close();
    if (precision_.exact) return finish(BlockSum::exact_list);
    if (chunks_.parts() == 0) return finish(precision_.halves ? BlockSum::halves : BlockSum::floats);
    if (lane_ == 0) slot_ = atomicAdd(&store_.counts->slots, bundle_.pictures);
    slot_ = __shfl_sync(all_lanes, slot_, 0);
    if (slot_ + bundle_.pictures > store_.max_slots) return finish(BlockSum::exact_list);
    if (lane_ == 0) {
      unsigned unit = atomicAdd(&store_.counts->units, bundle_.pictures * (chunks_.parts() + 1));
      for (unsigned picture = 0; picture < bundle_.pictures; ++picture) {
        unsigned chunk = block_;
        for (unsigned part = 0; part <= chunks_.parts(); ++part) {
          const Chunk piece = store_.chunk[chunk];
          store_.unit[unit++] = {(block_ << bundle_log2_) + picture, chunk * max_in_unit, piece.count, part};
          chunk = piece.next;
        }
      }
    }
    finish(BlockSum::units);
  }

  __device__ void finish(BlockSum sum) {
    Block& block = store_.block[block_];
    if (lane_ != 0) return;
#pragma unroll
    for (int tile = 0; tile < tiles_a_block; ++tile) block.shift[tile] = least_[tile] + precision_.above;
#pragma unroll
    for (int c = 0; c < max_smoe_channels; ++c) block.reference[c] = area_.reference[c];
    block.pictures = bundle_.pictures;
    block.order = bundle_.order;
    block.place = {bundle_.first, area_.part.first_row + first_row(), area_.part.first_column + first_column()};
    block.checked = precision_.checked;
    block.max_spread = __fdividef(precision_.room, precision_.rounding);
    block.half_spread = precision_.half_spread;
    block.half_above = precision_.half_above;
    block.sum = sum;
    block.units = chunks_.parts() + 1;
    block.slot = slot_;
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
  BlockChunks chunks_;
  const int lane_;
  float least_[tiles_a_block];
  float block_least_;
  float spread_;  ///< guess of B
  float threshold_;
  float not_seen_ = 0;  ///< shares of components that are not visited
  float colour_ = 0;    ///< guess of |y - 1/2| in not_seen_
  TrySums sums_;
  unsigned slot_ = 0;
  Precision precision_;
};

}  // namespace holotone::smoe
