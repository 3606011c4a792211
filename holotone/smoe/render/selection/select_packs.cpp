// Components in groups of neighbours with bounds.
#include <algorithm>
#include <cmath>
#include <holotone/core/parallel.hpp>
#include <holotone/core/simd.hpp>
#include <holotone/smoe/render/selection/select_packs.hpp>
#include <limits>

namespace holotone::smoe {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
/// Packs of a bundle.
constexpr std::size_t bundle_packs = 16;

std::size_t count_parts(std::size_t count, std::size_t part) { return (count + part - 1) / part; }

constexpr double smaller(double a, double b) { return a < b ? a : b; }
constexpr double larger(double a, double b) { return a > b ? a : b; }

HOLOTONE_SIMD_CLONES void max_of_groups(const GroupBounds& groups, std::size_t first, std::size_t count,
                                        const PixelBox& box, double* __restrict most) {
  const PixelBox area = box;
  const double* const left = groups.left.data() + first;
  const double* const right = groups.right.data() + first;
  const double* const top = groups.top.data() + first;
  const double* const bottom = groups.bottom.data() + first;
  const double* const across = groups.across.data() + first;
  const double* const height = groups.height.data() + first;
  const double* const peak = groups.peak.data() + first;
  for (std::size_t i = 0; i < count; ++i) {
    const double u = across[i] * larger(larger(area.left - right[i], left[i] - area.right), 0);
    const double v = height[i] * larger(larger(area.top - bottom[i], top[i] - area.bottom), 0);
    const double below = larger(u * u, v * v);
    // 1e-12 is for rounding.
    most[i] = peak[i] - below + 1e-12 * (std::abs(peak[i]) + below);
  }
}

}  // namespace

void Pack::set(std::size_t lane, const ImageComponent& component, std::size_t channels) {
  const double from_x = component.x - place_x;
  const double from_y = component.y - place_y;
  const double largest =
      std::max({std::abs(from_x), std::abs(from_y), component.across, std::abs(component.skew), component.down});
  const bool fits = largest < max_of_float && std::min(component.across, component.down) > 1 / max_of_float &&
                    std::abs(component.peak) < max_of_float;
  x[lane] = fits ? static_cast<float>(from_x) : 0;
  y[lane] = fits ? static_cast<float>(from_y) : 0;
  across[lane] = fits ? static_cast<float>(component.across) : beyond_float;
  skew[lane] = fits ? static_cast<float>(component.skew) : 0;
  down[lane] = fits ? static_cast<float>(component.down) : 1;
  peak[lane] = static_cast<float>(std::max(component.peak, -max_of_float));
  for (std::size_t c = 0; c < channels; ++c) {
    colour[c][lane] = component.colour[c];
    slope_x[c][lane] = component.slope_x[c];
    slope_y[c][lane] = component.slope_y[c];
  }
}

GroupBounds::GroupBounds(std::size_t count)
    : left(count, infinity),
      right(count, -infinity),
      top(count, infinity),
      bottom(count, -infinity),
      across(count, infinity),
      height(count, infinity),
      peak(count, -infinity) {}

void GroupBounds::add(std::size_t group, const ImageComponent& component) {
  left[group] = std::min(left[group], component.x);
  right[group] = std::max(right[group], component.x);
  top[group] = std::min(top[group], component.y);
  bottom[group] = std::max(bottom[group], component.y);
  across[group] = std::min(across[group], component.across);
  const double own_height =
      component.down / std::sqrt(1 + component.skew / component.across * (component.skew / component.across));
  height[group] = std::min(height[group], own_height);
  peak[group] = std::max(peak[group], component.peak);
}

void GroupBounds::add(std::size_t group, const GroupBounds& others, std::size_t other) {
  left[group] = std::min(left[group], others.left[other]);
  right[group] = std::max(right[group], others.right[other]);
  top[group] = std::min(top[group], others.top[other]);
  bottom[group] = std::max(bottom[group], others.bottom[other]);
  across[group] = std::min(across[group], others.across[other]);
  height[group] = std::min(height[group], others.height[other]);
  peak[group] = std::max(peak[group], others.peak[other]);
}

void GroupBounds::most(std::size_t first, std::size_t count, const PixelBox& box, double* most) const {
  max_of_groups(*this, first, count, box, most);
}

bool GroupBounds::meets(std::size_t group, const PixelBox& box) const {
  return left[group] <= box.right && right[group] >= box.left && top[group] <= box.bottom && bottom[group] >= box.top;
}

Packs::Packs(std::span<const ImageComponent> components, int channels)
    : components_(components.size()),
      packs_(std::make_unique_for_overwrite<Pack[]>(count_parts(components_, Pack::lanes))),
      bounds_(count_parts(components_, Pack::lanes)),
      bundles_(count_parts(bounds_.count(), bundle_packs)) {
  parallel_for(0, static_cast<std::int64_t>(bundles_.count()), [&](std::int64_t i) {
    const auto bundle = static_cast<std::size_t>(i);
    for (std::size_t p = bundle * bundle_packs; p < end_of(bundle); ++p) {
      Pack& pack = packs_[p];
      const std::size_t first = p * Pack::lanes;
      pack.place_x = components[first].x;
      pack.place_y = components[first].y;
      for (std::size_t lane = 0; lane < Pack::lanes; ++lane) {
        // The last component pads the last pack.
        const auto& component = components[std::min(first + lane, components_ - 1)];
        pack.set(lane, component, static_cast<std::size_t>(channels));
        bounds_.add(p, component);
      }
      bundles_.add(bundle, bounds_, p);
    }
  });
}

std::size_t Packs::end_of(std::size_t bundle) const { return std::min((bundle + 1) * bundle_packs, bounds_.count()); }

void Packs::around(const PixelBox& box, std::vector<std::uint32_t>& packs) const {
  packs.clear();
  for (std::size_t bundle = 0; bundle < bundles_.count(); ++bundle) {
    if (!bundles_.meets(bundle, box)) continue;
    for (std::size_t p = bundle * bundle_packs; p < end_of(bundle); ++p) {
      if (bounds_.meets(p, box)) packs.push_back(static_cast<std::uint32_t>(p));
    }
  }
}

void Packs::reaching(const PixelBox& box, double limit, std::vector<std::uint32_t>& packs) const {
  packs.clear();
  constexpr std::size_t at_once = 256;
  double most[at_once];
  for (std::size_t first = 0; first < bundles_.count(); first += at_once) {
    const std::size_t count = std::min(at_once, bundles_.count() - first);
    bundles_.most(first, count, box, most);
    for (std::size_t i = 0; i < count; ++i) {
      if (most[i] < limit) continue;
      double max_of_packs[bundle_packs];
      const std::size_t first_pack = (first + i) * bundle_packs;
      const std::size_t number = end_of(first + i) - first_pack;
      bounds_.most(first_pack, number, box, max_of_packs);
      for (std::size_t p = 0; p < number; ++p) {
        if (!(max_of_packs[p] < limit)) packs.push_back(static_cast<std::uint32_t>(first_pack + p));
      }
    }
  }
}

void Packs::densest(const PixelBox& box, std::vector<std::uint32_t>& packs) const {
  std::vector<double> most(bundles_.count());
  bundles_.most(0, most.size(), box, most.data());
  const auto bundle = static_cast<std::size_t>(std::max_element(most.begin(), most.end()) - most.begin());
  packs.clear();
  for (std::size_t p = bundle * bundle_packs; p < end_of(bundle); ++p) packs.push_back(static_cast<std::uint32_t>(p));
}

}  // namespace holotone::smoe
