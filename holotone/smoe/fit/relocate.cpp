// Moves of components from where they matter least to where the error is largest.
#include <algorithm>
#include <cmath>
#include <holotone/smoe/fit/steps.hpp>
#include <numeric>

namespace holotone::smoe {
namespace {

/// Distance of a half's centre from the whole's, and its width along the split axis, in standard deviations of the
/// whole.
constexpr double half_distance = 0.6;
constexpr double half_width = 0.6;
/// A component moves if its removal costs at most this fraction of the error at its new place.
constexpr double worth_moving = 1;

/// Splits a component into two halves along its longest axis in pictures; the expert's plane is unchanged.
std::array<FitComponent, 2> halves(const FitComponent& whole, const WidthLimits& pixels) {
  const auto covariance = covariance_of(whole.pixels);
  const auto [xx, xy, yy] = covariance;
  const auto [middle, half, ax, ay] = principal_axes(covariance);
  const double most = middle + half;
  const double narrower = most * (1 - half_width * half_width);
  const Triangle a = triangle_of({xx - narrower * ax * ax, xy - narrower * ax * ay, yy - narrower * ay * ay}, pixels);
  std::array<FitComponent, 2> parts{whole, whole};
  for (std::size_t side = 0; side < 2; ++side) {
    const double distance = (side == 0 ? -1 : 1) * half_distance * std::sqrt(most);
    FitComponent& part = parts[side];
    part.centre[0] += distance * ax;
    part.centre[1] += distance * ay;
    for (std::size_t k = 0; k < 2; ++k) {
      const auto shift = whole.pixels.solve(whole.shear[0][k], whole.shear[1][k]);
      const auto shear = a.times(shift[0], shift[1]);
      part.shear[0][k] = shear[0];
      part.shear[1][k] = shear[1];
    }
    part.pixels = a;
    for (std::size_t c = 0; c < part.colour.size(); ++c) {
      part.colour[c] += distance * (ax * part.slope[c][0] + ay * part.slope[c][1]);
    }
  }
  return parts;
}

/// Indices of components sorted by value(index), then by index.
template <class Value>
std::vector<std::uint32_t> sorted_by(std::size_t count, const Value& value) {
  std::vector<std::uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(),
            [&](std::uint32_t a, std::uint32_t b) { return value(a) != value(b) ? value(a) < value(b) : a < b; });
  return order;
}

std::vector<std::uint32_t> by_removal(const std::vector<FitSums>& importance) {
  return sorted_by(importance.size(), [&](std::uint32_t j) { return importance[j].extra; });
}

std::vector<std::uint32_t> by_error(const std::vector<FitSums>& importance) {
  return sorted_by(importance.size(), [&](std::uint32_t j) { return -importance[j].s; });
}

}  // namespace

void resize(FitComponents& components, const std::vector<FitSums>& importance, std::int64_t count,
            const WidthLimits& pixels) {
  const auto now = components.size();
  const auto wanted = static_cast<std::size_t>(count);
  if (wanted > now) {
    const auto worst = by_error(importance);
    for (std::size_t i = 0; i < std::min(now, wanted - now); ++i) {
      const auto parts = halves(components[worst[i]], pixels);
      components[worst[i]] = parts[0];
      components.push_back(parts[1]);
    }
    return;
  }
  const auto cheapest = by_removal(importance);
  std::vector<char> goes(now);
  for (std::size_t i = 0; i < std::min(now - wanted, now / 2); ++i) goes[cheapest[i]] = 1;
  FitComponents kept;
  for (std::size_t j = 0; j < now; ++j) {
    if (!goes[j]) kept.push_back(components[j]);
  }
  components = std::move(kept);
}

std::vector<std::uint32_t> relocate(FitComponents& components, const std::vector<FitSums>& importance,
                                    double largest_share, const WidthLimits& pixels) {
  const auto cheapest = by_removal(importance);
  const auto worst = by_error(importance);
  const auto most = static_cast<std::size_t>(largest_share * static_cast<double>(components.size()));
  std::vector<char> used(components.size());
  std::vector<std::uint32_t> changed;
  std::size_t target = 0;
  for (std::size_t i = 0; i < cheapest.size() && changed.size() < 2 * most; ++i) {
    const auto mover = cheapest[i];
    if (used[mover]) continue;
    while (target < worst.size() && used[worst[target]]) ++target;
    if (target == worst.size() || worst[target] == mover) break;
    const auto place = worst[target];
    if (importance[mover].extra > worth_moving * importance[place].s) break;
    used[mover] = used[place] = 1;
    const auto parts = halves(components[place], pixels);
    components[place] = parts[0];
    components[mover] = parts[1];
    changed.push_back(place);
    changed.push_back(mover);
  }
  return changed;
}

}  // namespace holotone::smoe
