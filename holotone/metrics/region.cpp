#include <cmath>
#include <holotone/metrics/region.hpp>
#include <limits>
#include <numbers>

namespace holotone {

Region interior(const Dots& dots, double fraction) {
  require_positive("interior", "dots.width", dots.width);
  require_positive("interior", "dots.height", dots.height);
  require_positive("interior", "fraction", fraction);
  require_range("interior", "fraction", fraction, 0, 1);
  // Half open, but includes dots that rounding moved onto the far edge.
  const double edge = fraction == 1 ? 1 + static_cast<double>(std::numeric_limits<float>::epsilon()) : 1;
  return {dots.width * (1 - fraction) / 2, dots.height * (1 - fraction) / 2, dots.width * fraction * edge,
          dots.height * fraction * edge};
}

View<const float, 2> positions_of(const Dots& dots) { return {dots.position.data(), {dots.count(), 2}}; }

std::vector<double> positions_in(View<const float, 2> position, const Region& region) {
  std::vector<double> inside;
  const auto values = position.host();
  for (std::size_t i = 0; i + 1 < values.size(); i += 2) {
    const auto x = static_cast<double>(values[i]);
    const auto y = static_cast<double>(values[i + 1]);
    if (!region.holds(x, y)) continue;
    inside.push_back(x - region.x);
    inside.push_back(y - region.y);
  }
  return inside;
}

std::int64_t count_off_page(const Dots& dots) {
  const Region page = interior(dots);
  std::int64_t count = 0;
  for (std::size_t i = 0; i < dots.position.size(); i += 2) {
    count += !page.holds(static_cast<double>(dots.position[i]), static_cast<double>(dots.position[i + 1]));
  }
  return count;
}

void require_region(std::string_view where, const Region& region) {
  require_positive(where, "region.width", region.width);
  require_positive(where, "region.height", region.height);
  constexpr double far = 1e12;
  require_range(where, "region.x", region.x, -far, far);
  require_range(where, "region.y", region.y, -far, far);
}

void require_positions(std::string_view where, View<const float, 2> position) {
  if (position.shape()[1] != 2 || position.shape()[0] < 0) {
    throw_argument(where, "position", "shape {count, 2}", to_string<2>(position.shape()));
  }
  const auto values = position.host();
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) {
      throw_argument(where, "position", "finite coordinates",
                     std::to_string(values[i]) + " (dot " + std::to_string(i / 2) + ")");
    }
  }
}

double hexagonal_distance(double density) { return std::sqrt(2 / (std::numbers::sqrt3 * density)); }

double principal_frequency(double density) { return std::sqrt(density); }

double hexagonal_frequency(double density) { return std::sqrt(2 * density / std::numbers::sqrt3); }

}  // namespace holotone
