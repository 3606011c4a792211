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

inline double distance_squared(const PlaceInWidths& a, const PlaceInWidths& b) {
  const double x = a[0] - b[0];
  const double y = a[1] - b[1];
  const double z = a[2] - b[2];
  return x * x + y * y + z * z;
}

/// Calls use(i, j, squared distance) once for every pair of places less than `reach` widths apart, until it is false.
/// Cost O(n) for spots that are. `order`: widths of the diffraction order along x and y, at whose opposite edges a
/// panel has the same wave.
template <class Use>
void for_each_near_pair(std::span<const PlaceInWidths> places, double reach, std::array<double, 2> order,
                        const Use& use) {
  struct Entry {
    std::int64_t column;
    std::int64_t row;
    std::int64_t before;  ///< the one before with the same hash; -1: none
  };
  std::vector<Entry> entries(places.size());
  std::vector<std::int64_t> last(std::bit_ceil(2 * places.size() + 1), -1);  // of the cells with a hash
  const auto find_head = [&](std::int64_t column, std::int64_t row) -> std::int64_t& {
    const auto key = static_cast<std::uint64_t>(column) * 0x9E3779B97F4A7C15U +
                     static_cast<std::uint64_t>(row) * 0xC2B2AE3D27D4EB4FU;
    return last[static_cast<std::size_t>(key >> 32U) & (last.size() - 1)];
  };
  // Cells of twice the reach: what is near is in the cell or in that of the nearer side, along both axes.
  const double per_cell = 0.5 / reach;
  using Cell = std::array<std::int64_t, 2>;
  const auto find_cells = [&](const PlaceInWidths& place, Cell& cell, Cell& beside) {
    for (std::size_t axis = 0; axis < 2; ++axis) {
      // Beyond 1e15 cells have no number; SpotPlan refuses such spots.
      const double at = std::clamp(place[axis] * per_cell, -1e15, 1e15);
      cell[axis] = static_cast<std::int64_t>(std::floor(at));
      beside[axis] = cell[axis] + (at - std::floor(at) < 0.5 ? -1 : 1);
    }
  };
  const auto look = [&](std::size_t i, const PlaceInWidths& place) -> bool {
    Cell cell{};
    Cell beside{};
    find_cells(place, cell, beside);
    for (const auto column : {cell[0], beside[0]}) {
      for (const auto row : {cell[1], beside[1]}) {
        for (auto j = find_head(column, row); j >= 0; j = entries[static_cast<std::size_t>(j)].before) {
          const auto& other = entries[static_cast<std::size_t>(j)];
          if (other.column != column || other.row != row) continue;
          const double square = distance_squared(places[static_cast<std::size_t>(j)], place);
          if (square < reach * reach && !use(static_cast<std::size_t>(j), i, square)) return false;
        }
      }
    }
    return true;
  };
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto& place = places[i];
    const bool is_aside[2] = {std::abs(place[0]) > 0.5 * order[0] - reach, std::abs(place[1]) > 0.5 * order[1] - reach};
    const double beyond[2] = {place[0] - std::copysign(order[0], place[0]),
                              place[1] - std::copysign(order[1], place[1])};
    if (!look(i, place)) return;
    if (is_aside[0] && !look(i, {beyond[0], place[1], place[2]})) return;
    if (is_aside[1] && !look(i, {place[0], beyond[1], place[2]})) return;
    if (is_aside[0] && is_aside[1] && !look(i, {beyond[0], beyond[1], place[2]})) return;
    Cell cell{};
    Cell beside{};
    find_cells(place, cell, beside);
    auto& head = find_head(cell[0], cell[1]);
    entries[i] = {cell[0], cell[1], head};
    head = static_cast<std::int64_t>(i);
  }
}

}  // namespace holotone::spots
