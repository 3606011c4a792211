#pragma once
// Spots that are near each other. Not for users.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

namespace holotone::spots {

/// A place in widths of a spot.
using PlaceInWidths = std::array<double, 3>;

/// Calls use(i, j) once for every pair of places less than a width apart. Cost O(n) for spots apart.
template <class Use>
void for_each_near_pair(std::span<const PlaceInWidths> places, const Use& use) {
  using Cell = std::array<std::int64_t, 2>;
  constexpr auto none = static_cast<std::size_t>(-1);
  std::vector<Cell> cells(places.size());
  std::vector<std::size_t> last(std::bit_ceil(2 * places.size() + 1), none);  // of the cells with a hash
  std::vector<std::size_t> before(places.size());                             // the one before with that hash
  const auto hash = [&](const Cell& cell) {
    const auto key = static_cast<std::uint64_t>(cell[0]) * 0x9E3779B97F4A7C15U +
                     static_cast<std::uint64_t>(cell[1]) * 0xC2B2AE3D27D4EB4FU;
    return static_cast<std::size_t>(key >> 32U) & (last.size() - 1);
  };
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto& place = places[i];
    // Beyond 1e15 widths a cell has no number; SpotPlan refuses such spots.
    for (std::size_t axis = 0; axis < 2; ++axis) {
      cells[i][axis] = static_cast<std::int64_t>(std::floor(std::clamp(place[axis], -1e15, 1e15)));
    }
    for (std::int64_t n = 0; n < 9; ++n) {
      const Cell near{cells[i][0] + n % 3 - 1, cells[i][1] + n / 3 - 1};
      for (std::size_t j = last[hash(near)]; j != none; j = before[j]) {
        if (cells[j] != near) continue;
        const double x = places[j][0] - place[0];
        const double y = places[j][1] - place[1];
        const double z = places[j][2] - place[2];
        if (x * x + y * y + z * z < 1) use(j, i);
      }
    }
    auto& head = last[hash(cells[i])];
    before[i] = head;
    head = i;
  }
}

}  // namespace holotone::spots
