#include <algorithm>
#include <bit>
#include <holotone/smoe/render_sums.hpp>
#include <holotone/smoe/select_pruner.hpp>
#include <numeric>

namespace holotone::smoe {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
// Loops over lanes are kept as loops (unroll 1) for the vectoriser; conditions are numbers, since it moves no arithmetic out of branches.
constexpr std::size_t lanes = 16;

constexpr double smaller(double a, double b) { return a < b ? a : b; }
constexpr double larger(double a, double b) { return a > b ? a : b; }

/// most_density without branches. The point of an edge that faces the centre is in the box wherever the centre is, and the nearer of
/// both edges' points is the nearest of the box.
HOLOTONE_SIMD_CLONES void most_densities(const Candidates& at, std::size_t count, const PixelBox& box,
                                         double* __restrict most) {
  const PixelBox own = box;
  for (std::size_t i = 0; i < count; ++i) {
    const double left = own.left - at.x[i];
    const double right = own.right - at.x[i];
    const double top = own.top - at.y[i];
    const double bottom = own.bottom - at.y[i];
    const double dx = smaller(larger(left, 0), right);
    const double dy = smaller(larger(top, 0), bottom);
    const double along_y = smaller(larger(-at.skew[i] / at.down[i] * dx, top), bottom);
    const double along_x = smaller(
        larger(-at.skew[i] * at.down[i] / (at.across[i] * at.across[i] + at.skew[i] * at.skew[i]) * dy, left), right);
    const double u0 = at.across[i] * dx;
    const double v0 = at.skew[i] * dx + at.down[i] * along_y;
    const double u1 = at.across[i] * along_x;
    const double v1 = at.skew[i] * along_x + at.down[i] * dy;
    const double density = at.peak[i] - smaller(u0 * u0 + v0 * v0, u1 * u1 + v1 * v1);
    most[i] = density + 1e-12 * std::abs(density);
  }
}

/// The largest, lane by lane.
HOLOTONE_SIMD_CLONES void largest_of(const double* number, std::size_t count, double* __restrict largest) {
  for (std::size_t i = 0; i < count; i += lanes) {
#pragma GCC unroll 1
    for (std::size_t lane = 0; lane < lanes; ++lane) largest[lane] = larger(number[i + lane], largest[lane]);
  }
}

/// The largest least_density, lane by lane.
HOLOTONE_SIMD_CLONES void best_densities(const Candidates& at, std::size_t count, const PixelBox& box,
                                         double* __restrict best) {
  const PixelBox own = box;
  for (std::size_t i = 0; i < count; i += lanes) {
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      const std::size_t j = i + lane;
      const double left = own.left - at.x[j];
      const double right = own.right - at.x[j];
      const double above = at.down[j] * (own.top - at.y[j]);
      const double below = at.down[j] * (own.bottom - at.y[j]);
      const double u0 = at.across[j] * left;
      const double u1 = at.across[j] * right;
      const double v0 = larger(std::abs(at.skew[j] * left + above), std::abs(at.skew[j] * left + below));
      const double v1 = larger(std::abs(at.skew[j] * right + above), std::abs(at.skew[j] * right + below));
      best[lane] = larger(at.peak[j] - larger(u0 * u0 + v0 * v0, u1 * u1 + v1 * v1), best[lane]);
    }
  }
}

/// One channel's part of reach_of: how far experts are from `reference` in the box around (x, y).
HOLOTONE_SIMD_CLONES void reach_in(const double* origin, const double* slope_x, const double* slope_y,
                                   std::size_t count, const PixelBox& box, double reference, double* __restrict reach) {
  const double x = 0.5 * (box.left + box.right);
  const double y = 0.5 * (box.top + box.bottom);
  const double half_width = 0.5 * (box.right - box.left);
  const double half_height = 0.5 * (box.bottom - box.top);
  for (std::size_t i = 0; i < count; ++i) {
    const double middle = origin[i] + slope_x[i] * x + slope_y[i] * y - reference;
    const double own = std::abs(middle) + std::abs(slope_x[i]) * half_width + std::abs(slope_y[i]) * half_height;
    reach[i] = larger(own, reach[i]);
  }
}

/// Weights at most.
HOLOTONE_SIMD_CLONES void weights_above(const double* most, std::size_t count, double least, float* __restrict weight) {
  for (std::size_t i = 0; i < count; ++i) {
    const auto above = static_cast<float>(most[i] - least);
    // The lesser of it and 0, without a branch. The factor pays for rounding: 2^-18 of an exponent of 126, and the polynomial's.
    weight[i] = power_of_two(0.5F * (above - std::abs(above))) * 1.00001F;
  }
}

/// B, lane by lane: the largest reach of those that may have weight, and of the others the sum of weights times reach.
HOLOTONE_SIMD_CLONES void bound_colours(const double* most, const double* reach, const float* weight, std::size_t count,
                                        double least, double* __restrict major, double* __restrict rest) {
  for (std::size_t i = 0; i < count; i += lanes) {
#pragma GCC unroll 1
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      const double counts = most[i + lane] - least >= minor_weight ? 1 : 0;
      const double far = reach[i + lane];
      major[lane] = larger(counts * far, major[lane]);
      rest[lane] += (1 - counts) * static_cast<double>(weight[i + lane]) * far;
    }
  }
}

/// A component's share of the error in place of its weight; beyond any budget if it may be the best.
HOLOTONE_SIMD_CLONES void costs_of(const double* most, const double* reach, std::size_t count, double least,
                                   double spread, float* __restrict weight) {
  for (std::size_t i = 0; i < count; ++i) {
    const double best = most[i] >= least ? infinity : 0;
    weight[i] = static_cast<float>(best + 1.000001 * static_cast<double>(weight[i]) * (reach[i] + spread));
  }
}

/// The sum of costs up to `limit`, lane by lane.
HOLOTONE_SIMD_CLONES void sum_up_to(const float* cost, std::size_t count, float limit, float* __restrict sum) {
  for (std::size_t i = 0; i < count; i += lanes) {
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      const float own = cost[i + lane];
      sum[lane] += own <= limit ? own : 0.0F;
    }
  }
}

std::size_t whole_vectors(std::size_t count) { return (count + lanes - 1) / lanes * lanes; }

}  // namespace

void Pruner::reserve(std::size_t padded) {
  padded_ = padded;
  if (padded <= capacity_) return;
  capacity_ = padded;
  for (auto& most_of_box : most_) most_of_box = std::make_unique_for_overwrite<double[]>(capacity_);
  for (auto& reach_of_box : reach_) reach_of_box = std::make_unique_for_overwrite<double[]>(capacity_);
  costs_ = std::make_unique_for_overwrite<float[]>(capacity_);
  kept_ = std::make_unique_for_overwrite<std::uint32_t[]>(capacity_);
}

void Pruner::load_places(std::size_t begin, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const ImageComponent& own = components_[candidates_[std::min(begin + i, candidates_.size() - 1)]];
    at_.x[i] = own.x;
    at_.y[i] = own.y;
    at_.across[i] = own.across;
    at_.skew[i] = own.skew;
    at_.down[i] = own.down;
    at_.peak[i] = own.peak;
  }
}

void Pruner::load_experts(std::size_t begin, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const ImageComponent& own = components_[candidates_[std::min(begin + i, candidates_.size() - 1)]];
    for (std::size_t c = 0; c < static_cast<std::size_t>(channels_); ++c) {
      const auto slope_x = static_cast<double>(own.slope_x[c]);
      const auto slope_y = static_cast<double>(own.slope_y[c]);
      at_.origin[c][i] = static_cast<double>(own.colour[c]) - slope_x * own.x - slope_y * own.y;
      at_.slope_x[c][i] = slope_x;
      at_.slope_y[c][i] = slope_y;
    }
  }
}

double Pruner::best_of(std::span<const std::uint32_t> candidates, const PixelBox& box) {
  candidates_ = candidates;
  padded_ = whole_vectors(candidates.size());
  double best[lanes];
  std::fill_n(best, lanes, -infinity);
  for (std::size_t begin = 0; begin < padded_; begin += Candidates::most) {
    const std::size_t count = std::min(Candidates::most, padded_ - begin);
    load_places(begin, count);
    best_densities(at_, count, box, best);
  }
  return *std::max_element(best, best + lanes);
}

void Pruner::locate(std::span<const std::uint32_t> candidates, std::span<const PixelBox> boxes) {
  candidates_ = candidates;
  reserve(whole_vectors(candidates.size()));
  double best[most_boxes][lanes];
  std::fill_n(best[0], most_boxes * lanes, -infinity);
  for (std::size_t begin = 0; begin < padded_; begin += Candidates::most) {
    const std::size_t count = std::min(Candidates::most, padded_ - begin);
    load_places(begin, count);
    for (std::size_t b = 0; b < boxes.size(); ++b) {
      most_densities(at_, count, boxes[b], most_[b].get() + begin);
      best_densities(at_, count, boxes[b], best[b]);
    }
  }
  for (std::size_t b = 0; b < boxes.size(); ++b) best_[b] = *std::max_element(best[b], best[b] + lanes);
  for (std::size_t b = 0; b < boxes.size(); ++b) {
    double* const own = most_[b].get();
    double largest[lanes];
    std::fill_n(largest, lanes, -infinity);
    largest_of(own, padded_, largest);
    largest_[b] = *std::max_element(largest, largest + lanes);
    const auto i = static_cast<std::size_t>(std::find(own, own + candidates.size(), largest_[b]) - own);
    densest_[b] = &components_[candidates[std::min(i, candidates.size() - 1)]];
    std::fill(own + candidates.size(), own + padded_, -infinity);
  }
}

std::vector<std::uint32_t> Pruner::reaching(std::size_t box, double limit) {
  const double* const own = most_[box].get();
  std::size_t number = 0;
  for (std::size_t i = 0; i < candidates_.size(); ++i) {
    kept_[number] = candidates_[i];
    number += own[i] < limit ? 0 : 1;
  }
  return {kept_.get(), kept_.get() + number};
}

void Pruner::measure(std::span<const std::uint32_t> candidates, std::span<const PixelBox> boxes) {
  locate(candidates, boxes);
  for (std::size_t begin = 0; begin < padded_; begin += Candidates::most) {
    const std::size_t count = std::min(Candidates::most, padded_ - begin);
    load_experts(begin, count);
    for (std::size_t b = 0; b < boxes.size(); ++b) {
      double* const reach = reach_[b].get() + begin;
      std::fill_n(reach, count, 0.0);
      for (int channel = 0; channel < channels_; ++channel) {
        // Colours are measured from that of a box's densest component.
        const auto c = static_cast<std::size_t>(channel);
        reach_in(at_.origin[c], at_.slope_x[c], at_.slope_y[c], count, boxes[b],
                 colour_amid(*densest_[b], channel, boxes[b]), reach);
      }
    }
  }
}

void Pruner::weigh(std::size_t box, double least) {
  const double* const own = most_[box].get();
  const double* const reach = reach_[box].get();
  most = largest_[box];
  weights_above(own, padded_, least, costs_.get());
  double major[lanes] = {};
  double rest[lanes] = {};
  bound_colours(own, reach, costs_.get(), padded_, least, major, rest);
  spread = *std::max_element(major, major + lanes) + std::accumulate(rest, rest + lanes, 0.0);
  costs_of(own, reach, padded_, least, spread, costs_.get());
}

float Pruner::largest_dropped(double budget) const {
  // The largest limit, up to an eighth of its power of two, whose sum is within the budget. That of budget / count is.
  constexpr int steps = 8;
  const auto limit_at = [&](int step) { return static_cast<float>(budget * std::exp2(-1.0 / steps * step)); };
  int below = steps * static_cast<int>(std::bit_width(padded_));
  for (int above = -1; below - above > 1;) {
    const int middle = (below + above) / 2;
    float sums[lanes] = {};
    sum_up_to(costs_.get(), padded_, limit_at(middle), sums);
    // Added up in float32, which may have lost a rounding for each summand.
    const double sum = std::accumulate(sums, sums + lanes, 0.0) * (1 + 0x1p-23 * static_cast<double>(padded_ / lanes));
    (sum <= budget ? below : above) = middle;
  }
  return limit_at(below);
}

std::vector<std::uint32_t> Pruner::kept(double budget) {
  const float dropped = largest_dropped(budget);
  std::size_t number = 0;
  for (std::size_t i = 0; i < candidates_.size(); ++i) {
    kept_[number] = candidates_[i];
    number += costs_[i] <= dropped ? 0 : 1;
  }
  return {kept_.get(), kept_.get() + number};
}

}  // namespace holotone::smoe
