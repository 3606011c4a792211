// Bounds of many components in a box at once, in vectors of float32.
#include <algorithm>
#include <bit>
#include <holotone/smoe/render/power_of_two.hpp>
#include <holotone/smoe/render/selection/select_pruner.hpp>
#include <numeric>

namespace holotone::smoe {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
// Loops over lanes are kept as loops (unroll 1) for the vectoriser; conditions are numbers, since it moves no
// arithmetic out of branches.
constexpr std::size_t lanes = Candidates::lanes;

/// Factors of q = u^2 + v^2: 2^-14 for the errors of u and v (Candidates), the rest for rounding of q and of its
/// subtraction from the peak.
constexpr float min_square = 1 - 0x1p-13F;
constexpr float max_square = 1 + 0x1p-13F;
/// Experts with a larger bound might overflow: their distance counts as infinite.
constexpr float max_rounding = 1e30F;

constexpr float smaller(float a, float b) { return a < b ? a : b; }
constexpr float larger(float a, float b) { return a > b ? a : b; }

/// A box relative to the candidates' reference pixel.
struct NearBox {
  float left;
  float right;
  float top;
  float bottom;

  NearBox(const PixelBox& box, const PixelBox& around)
      : left(static_cast<float>(box.left - around.left)),
        right(static_cast<float>(box.right - around.left)),
        top(static_cast<float>(box.top - around.top)),
        bottom(static_cast<float>(box.bottom - around.top)) {}
};

/// Destination of a pack's components.
struct PackPlaces {
  float* rows;
  std::size_t stride;
  float shift_x;
  float shift_y;
  float width;
  float height;
};

HOLOTONE_SIMD_CLONES void load_pack(const Pack& pack, const PackPlaces& at, std::size_t channels) {
  const PackPlaces places = at;
  float* __restrict const rows = places.rows;
  const std::size_t stride = places.stride;
  float largest[lanes] = {};
  float steepest_x[lanes] = {};
  float steepest_y[lanes] = {};
  for (std::size_t c = 0; c < channels; ++c) {
    float* __restrict const expert = rows + (Candidates::experts + 3 * c) * stride;
#pragma GCC unroll 1
    for (std::size_t i = 0; i < lanes; ++i) {
      expert[i] = pack.colour[c][i];
      expert[stride + i] = pack.slope_x[c][i];
      expert[2 * stride + i] = pack.slope_y[c][i];
      largest[i] = larger(std::abs(pack.colour[c][i]), largest[i]);
      steepest_x[i] = larger(std::abs(pack.slope_x[c][i]), steepest_x[i]);
      steepest_y[i] = larger(std::abs(pack.slope_y[c][i]), steepest_y[i]);
    }
  }
  float row[Candidates::experts][lanes];
#pragma GCC unroll 1
  for (std::size_t i = 0; i < lanes; ++i) {
    const float far_x = std::abs(pack.x[i]) + std::abs(places.shift_x) + places.width + 1;
    const float far_y = std::abs(pack.y[i]) + std::abs(places.shift_y) + places.height + 1;
    const float terms = pack.across[i] * far_x + std::abs(pack.skew[i]) * far_x + pack.down[i] * far_y;
    // Components that float32 does not hold: at most their peak anywhere, no lower bound.
    const float holds = terms < static_cast<float>(max_of_float) ? 1 : 0;
    const float bounded = holds * terms;
    const float slack = 0x1p-25F * bounded * bounded + 0x1p-21F * (std::abs(pack.peak[i]) + 1);
    const float across = holds * pack.across[i];
    const float skew = holds * pack.skew[i];
    const float down = holds * pack.down[i];
    // Avoids division by 0 for such components.
    const float none = 1 - holds;
    row[Candidates::x][i] = pack.x[i] + places.shift_x;
    row[Candidates::y][i] = pack.y[i] + places.shift_y;
    row[Candidates::across][i] = across;
    row[Candidates::skew][i] = skew;
    row[Candidates::down][i] = down;
    row[Candidates::along_x][i] = -skew * down / (across * across + skew * skew + none);
    row[Candidates::along_y][i] = -skew / (down + none);
    row[Candidates::above][i] = pack.peak[i] + slack;
    const float reached = pack.peak[i] - slack;
    row[Candidates::below][i] = holds > 0 ? reached : -infinity;
    const float colours = 0x1p-20F * (largest[i] + steepest_x[i] * far_x + steepest_y[i] * far_y);
    row[Candidates::rounding][i] = colours < max_rounding ? colours : infinity;
  }
  for (std::size_t r = 0; r < Candidates::experts; ++r) std::copy_n(row[r], lanes, rows + r * stride);
}

/// Gathers a row of candidates. Scalar code: vector gathers take longer.
void gather(const float* from, const std::uint32_t* which, std::size_t count, float* __restrict to) {
  for (std::size_t i = 0; i < count; ++i) to[i] = from[which[i]];
}

/// max_density without branches, and the largest min_density, lane by lane. On an edge that faces the centre, the
/// nearest point is in the box for any centre. The nearer of both edges' points is the nearest of the box.
HOLOTONE_SIMD_CLONES void bound_densities(const Candidates& at, const NearBox& box, float* __restrict most,
                                          float* __restrict best, float* __restrict largest,
                                          std::uint32_t* __restrict densest) {
  const NearBox near_box = box;
  const std::size_t count = at.padded();
  const float* const x = at[Candidates::x];
  const float* const y = at[Candidates::y];
  const float* const across = at[Candidates::across];
  const float* const skew = at[Candidates::skew];
  const float* const down = at[Candidates::down];
  const float* const along_x = at[Candidates::along_x];
  const float* const along_y = at[Candidates::along_y];
  const float* const above = at[Candidates::above];
  const float* const below = at[Candidates::below];
  for (std::size_t i = 0; i < count; i += lanes) {
#pragma GCC unroll 1
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      const std::size_t j = i + lane;
      const float left = near_box.left - x[j];
      const float right = near_box.right - x[j];
      const float top = near_box.top - y[j];
      const float bottom = near_box.bottom - y[j];
      const float dx = smaller(larger(left, 0), right);
      const float dy = smaller(larger(top, 0), bottom);
      const float u0 = across[j] * dx;
      const float v0 = skew[j] * dx + down[j] * smaller(larger(along_y[j] * dx, top), bottom);
      const float nearest_x = smaller(larger(along_x[j] * dy, left), right);
      const float u1 = across[j] * nearest_x;
      const float v1 = skew[j] * nearest_x + down[j] * dy;
      const float own_most = above[j] - min_square * smaller(u0 * u0 + v0 * v0, u1 * u1 + v1 * v1);
      most[j] = own_most;
      const auto here = static_cast<std::uint32_t>(i);
      densest[lane] = own_most > largest[lane] ? here : densest[lane];
      largest[lane] = larger(own_most, largest[lane]);
      const float u_left = across[j] * left;
      const float u_right = across[j] * right;
      const float v_left =
          larger(std::abs(skew[j] * left + down[j] * top), std::abs(skew[j] * left + down[j] * bottom));
      const float v_right =
          larger(std::abs(skew[j] * right + down[j] * top), std::abs(skew[j] * right + down[j] * bottom));
      const float square = larger(u_left * u_left + v_left * v_left, u_right * u_right + v_right * v_right);
      best[lane] = larger(below[j] - max_square * square, best[lane]);
    }
  }
}

/// Only the largest min_density, of a pack that begins at `first`.
HOLOTONE_SIMD_CLONES void best_densities(const Candidates& at, std::size_t first, const NearBox& box,
                                         float* __restrict best) {
  const NearBox near_box = box;
  const float* const x = at[Candidates::x] + first;
  const float* const y = at[Candidates::y] + first;
  const float* const across = at[Candidates::across] + first;
  const float* const skew = at[Candidates::skew] + first;
  const float* const down = at[Candidates::down] + first;
  const float* const below = at[Candidates::below] + first;
#pragma GCC unroll 1
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    const float left = near_box.left - x[lane];
    const float right = near_box.right - x[lane];
    const float top = down[lane] * (near_box.top - y[lane]);
    const float bottom = down[lane] * (near_box.bottom - y[lane]);
    const float u_left = across[lane] * left;
    const float u_right = across[lane] * right;
    const float v_left = larger(std::abs(skew[lane] * left + top), std::abs(skew[lane] * left + bottom));
    const float v_right = larger(std::abs(skew[lane] * right + top), std::abs(skew[lane] * right + bottom));
    const float square = larger(u_left * u_left + v_left * v_left, u_right * u_right + v_right * v_right);
    best[lane] = larger(below[lane] - max_square * square, best[lane]);
  }
}

/// Largest number, lane by lane.
HOLOTONE_SIMD_CLONES void largest_of(const float* number, std::size_t count, float* __restrict largest) {
  for (std::size_t i = 0; i < count; i += lanes) {
#pragma GCC unroll 1
    for (std::size_t lane = 0; lane < lanes; ++lane) largest[lane] = larger(number[i + lane], largest[lane]);
  }
}

float largest_of(const float* number, std::size_t count) {
  float largest[lanes];
  std::fill_n(largest, lanes, -infinity);
  largest_of(number, count, largest);
  return *std::max_element(largest, largest + lanes);
}

/// One channel's part of reach_of: distance of experts from `reference` in a box.
HOLOTONE_SIMD_CLONES void reach_in(const Candidates& at, std::size_t channel, const NearBox& box, float reference,
                                   float* __restrict reach) {
  const float middle_x = 0.5F * (box.left + box.right);
  const float middle_y = 0.5F * (box.top + box.bottom);
  const float half_width = 0.5F * (box.right - box.left);
  const float half_height = 0.5F * (box.bottom - box.top);
  const float* const x = at[Candidates::x];
  const float* const y = at[Candidates::y];
  const float* const rounding = at[Candidates::rounding];
  const float* const colour = at.colour(channel);
  const float* const slope_x = at.slope_x(channel);
  const float* const slope_y = at.slope_y(channel);
  const std::size_t count = at.padded();
  for (std::size_t i = 0; i < count; ++i) {
    const float middle = colour[i] + slope_x[i] * (middle_x - x[i]) + slope_y[i] * (middle_y - y[i]) - reference;
    const float sides = std::abs(slope_x[i]) * half_width + std::abs(slope_y[i]) * half_height + rounding[i];
    reach[i] = larger(std::abs(middle) + sides, reach[i]);
  }
}

/// Upper bounds of weights.
HOLOTONE_SIMD_CLONES void weights_above(const float* most, std::size_t count, float least, float* __restrict weight) {
  for (std::size_t i = 0; i < count; ++i) {
    const float above = most[i] - least;
    // min(above, 0) without a branch. The factor covers rounding: 2^-18 of an exponent of 126, and the polynomial's.
    weight[i] = power_of_two(0.5F * (above - std::abs(above))) * 1.00001F;
  }
}

/// B, lane by lane: the largest reach of candidates that may have weight, and the sum of weights times reach of the
/// others.
HOLOTONE_SIMD_CLONES void bound_colours(const float* most, const float* reach, const float* weight, std::size_t count,
                                        float least, float* __restrict major, float* __restrict rest) {
  constexpr auto minor = static_cast<float>(minor_weight);
  for (std::size_t i = 0; i < count; i += lanes) {
#pragma GCC unroll 1
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      const float counts = most[i + lane] - least >= minor ? 1 : 0;
      const float far = reach[i + lane];
      major[lane] = larger(counts * far, major[lane]);
      rest[lane] += (1 - counts) * weight[i + lane] * far;
    }
  }
}

/// Replaces a weight by the component's share of the error; infinite if it may be the densest.
HOLOTONE_SIMD_CLONES void costs_of(const float* most, const float* reach, std::size_t count, float least, float spread,
                                   float* __restrict weight) {
  for (std::size_t i = 0; i < count; ++i) {
    const float best = most[i] >= least ? infinity : 0;
    weight[i] = best + 1.000001F * weight[i] * (reach[i] + spread);
  }
}

/// Limits tested in one pass.
constexpr std::size_t trials = 3;

/// Sums of the costs up to each limit, lane by lane.
HOLOTONE_SIMD_CLONES void sum_up_to(const float* cost, std::size_t count, const float* limits, float* __restrict sum) {
  const float first = limits[0];
  const float second = limits[1];
  const float third = limits[2];
  for (std::size_t i = 0; i < count; i += lanes) {
#pragma GCC unroll 1
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      const float lane_cost = cost[i + lane];
      sum[lane] += lane_cost <= first ? lane_cost : 0.0F;
      sum[lanes + lane] += lane_cost <= second ? lane_cost : 0.0F;
      sum[2 * lanes + lane] += lane_cost <= third ? lane_cost : 0.0F;
    }
  }
}

/// 2^(-i / 8)
constexpr float eighths[] = {1,           0.91700404F, 0.84089642F, 0.77110541F,
                             0.70710678F, 0.64841978F, 0.59460356F, 0.54525387F};

}  // namespace

void Candidates::reserve(std::size_t count) {
  if (count <= capacity_) return;
  capacity_ = std::max(count + count / 2, 32 * lanes) / lanes * lanes;
  // Rows a page apart would all map to the same sets of a first-level cache.
  stride_ = capacity_ % 128 == 0 ? capacity_ + lanes : capacity_;
  numbers_ = std::make_unique_for_overwrite<float[]>(stride_ * rows);
}

void Candidates::load(const Pack& pack, std::size_t first) {
  const PackPlaces places{numbers_.get() + first,
                          stride_,
                          static_cast<float>(pack.place_x - box_.left),
                          static_cast<float>(pack.place_y - box_.top),
                          static_cast<float>(box_.right - box_.left),
                          static_cast<float>(box_.bottom - box_.top)};
  load_pack(pack, places, channels_);
}

void Candidates::load(const Packs& packs, std::span<const std::uint32_t> which, const PixelBox& box) {
  box_ = box;
  reserve(which.size() * lanes);
  index_.clear();
  for (std::size_t i = 0; i < which.size(); ++i) {
    load(packs[which[i]], i * lanes);
    const std::size_t first = which[i] * lanes;
    const std::size_t end = std::min(first + lanes, packs.components());
    for (std::size_t j = first; j < end; ++j) index_.push_back(static_cast<std::uint32_t>(j));
  }
}

void Candidates::load(std::span<const ImageComponent> components, std::span<const std::uint32_t> which,
                      const PixelBox& box) {
  box_ = box;
  index_.assign(which.begin(), which.end());
  reserve(padded());
  for (std::size_t first = 0; first < which.size(); first += lanes) {
    Pack pack;
    pack.place_x = components[which[first]].x;
    pack.place_y = components[which[first]].y;
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      pack.set(lane, components[which[std::min(first + lane, which.size() - 1)]], channels_);
    }
    load(pack, first);
  }
}

void Candidates::take_row(std::size_t row, const Candidates& from, const std::uint32_t* which) {
  float* const to = numbers_.get() + row * stride_;
  gather(from[row], which, size(), to);
  std::fill(to + size(), to + padded(), to[size() - 1]);
}

void Candidates::take_places(const Candidates& from, std::span<const std::uint32_t> which) {
  box_ = from.box_;
  index_.assign(which.begin(), which.end());
  reserve(padded());
  for (std::size_t row = 0; row < rounding; ++row) take_row(row, from, which.data());
}

void Candidates::take(const Candidates& places, std::span<const std::uint32_t> which, const Candidates& whole) {
  take_places(places, which);
  for (auto& i : index_) i = places.index_[i];
  for (std::size_t row = rounding; row < experts + 3 * channels_; ++row) take_row(row, whole, index_.data());
  for (auto& i : index_) i = whole.index_[i];
}

void Pruner::reserve(std::size_t padded) {
  if (padded <= capacity_) return;
  capacity_ = padded;
  most_ = std::make_unique_for_overwrite<float[]>(capacity_);
  reach_ = std::make_unique_for_overwrite<float[]>(capacity_);
  costs_ = std::make_unique_for_overwrite<float[]>(capacity_);
  places_ = std::make_unique_for_overwrite<std::uint32_t[]>(capacity_);
}

float Pruner::best_of(const Candidates& candidates, std::span<const std::uint32_t> packs, const PixelBox& box) {
  float best[lanes];
  std::fill_n(best, lanes, -infinity);
  const NearBox near_box(box, candidates.box());
  for (const auto pack : packs) best_densities(candidates, pack * lanes, near_box, best);
  return *std::max_element(best, best + lanes);
}

void Pruner::locate(const Candidates& candidates, const PixelBox& box) {
  candidates_ = &candidates;
  const std::size_t padded = candidates.padded();
  reserve(padded);
  float bests[lanes];
  float largest[lanes];
  std::uint32_t denser[lanes] = {};
  std::fill_n(bests, lanes, -infinity);
  std::fill_n(largest, lanes, -infinity);
  bound_densities(candidates, NearBox(box, candidates.box()), most_.get(), bests, largest, denser);
  best = *std::max_element(bests, bests + lanes);
  const auto lane = static_cast<std::size_t>(std::max_element(largest, largest + lanes) - largest);
  most = largest[lane];
  densest = std::min(denser[lane] + lane, candidates.size() - 1);
  std::fill(most_.get() + candidates.size(), most_.get() + padded, -infinity);
}

void Pruner::reach(const Candidates& candidates, const PixelBox& box, const float* reference) {
  reserve(candidates.padded());
  std::copy_n(candidates[Candidates::rounding], candidates.padded(), reach_.get());
  for (std::size_t c = 0; c < candidates.channels(); ++c) {
    reach_in(candidates, c, NearBox(box, candidates.box()), reference[c], reach_.get());
  }
}

float Pruner::farthest(const Candidates& candidates, const PixelBox& box) {
  constexpr float zero[max_smoe_channels] = {};
  reach(candidates, box, zero);
  return largest_of(reach_.get(), candidates.padded());
}

std::span<const std::uint32_t> Pruner::reaching(float limit) {
  std::size_t number = 0;
  for (std::size_t i = 0; i < candidates_->size(); ++i) {
    places_[number] = static_cast<std::uint32_t>(i);
    number += most_[i] < limit ? 0 : 1;
  }
  return {places_.get(), number};
}

void Pruner::measure(const Candidates& candidates, const PixelBox& box, std::size_t from) {
  const Candidates& at = candidates;
  const NearBox near_box(box, at.box());
  float reference[max_smoe_channels];
  for (std::size_t c = 0; c < at.channels(); ++c) {
    reference[c] = at.colour(c)[from] +
                   at.slope_x(c)[from] * (0.5F * (near_box.left + near_box.right) - at[Candidates::x][from]) +
                   at.slope_y(c)[from] * (0.5F * (near_box.top + near_box.bottom) - at[Candidates::y][from]);
  }
  reach(at, box, reference);
}

void Pruner::weigh(float least) {
  const std::size_t padded = candidates_->padded();
  weights_above(most_.get(), padded, least, costs_.get());
  float major[lanes] = {};
  float rest[lanes] = {};
  bound_colours(most_.get(), reach_.get(), costs_.get(), padded, least, major, rest);
  const float largest = *std::max_element(major, major + lanes);
  const double sum = std::accumulate(rest, rest + lanes, 0.0);
  // Summed in float32, which may lose one rounding for each summand.
  spread = static_cast<double>(largest) + sum * (1.000001 + 0x1p-23 * static_cast<double>(padded / lanes));
  costs_of(most_.get(), reach_.get(), padded, least, static_cast<float>(spread) * 1.000001F, costs_.get());
}

float Pruner::largest_dropped(double budget) const {
  // Largest limit, in steps of 2^(1/8), whose sum is within the budget. A limit of budget / count always is.
  const std::size_t padded = candidates_->padded();
  constexpr int steps = std::size(eighths);
  const auto limit_at = [&](int step) {
    return std::ldexp(static_cast<float>(budget) * eighths[step % steps], -(step / steps));
  };
  int below = steps * (static_cast<int>(std::bit_width(padded)) + 1);
  for (int above = -1; below - above > 1;) {
    int at[trials];
    float limits[trials];
    for (std::size_t i = 0; i < trials; ++i) {
      at[i] = std::clamp(above + (below - above) * static_cast<int>(i + 1) / 4, above + 1, below - 1);
      limits[i] = limit_at(at[i]);
    }
    float sums[trials * lanes] = {};
    sum_up_to(costs_.get(), padded, limits, sums);
    for (std::size_t i = 0; i < trials; ++i) {
      // Summed in float32, which may lose one rounding for each summand.
      const auto lane_sums = sums + i * lanes;
      const double sum =
          std::accumulate(lane_sums, lane_sums + lanes, 0.0) * (1 + 0x1p-23 * static_cast<double>(padded / lanes));
      if (sum <= budget) {
        below = at[i];
        break;
      }
      above = at[i];
    }
  }
  return limit_at(below);
}

std::vector<std::uint32_t> Pruner::kept(double budget) const {
  const float dropped = largest_dropped(budget);
  std::size_t number = 0;
  for (std::size_t i = 0; i < candidates_->size(); ++i) {
    places_[number] = candidates_->index()[i];
    number += costs_[i] <= dropped ? 0 : 1;
  }
  return {places_.get(), places_.get() + number};
}

}  // namespace holotone::smoe
