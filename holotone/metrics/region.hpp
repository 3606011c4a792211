#pragma once
#include <cstdint>
#include <holotone/core/array.hpp>
#include <holotone/core/dots.hpp>
#include <string_view>
#include <vector>

namespace holotone {

/// Part of a page: [x, x + width) x [y, y + height), pixels.
struct Region {
  double x = 0;
  double y = 0;
  double width = 0;
  double height = 0;
  [[nodiscard]] double area() const { return width * height; }
  [[nodiscard]] bool holds(double px, double py) const {
    return px >= x && py >= y && px < x + width && py < y + height;
  }
};

/// Central part of a page: `fraction` of its width and of its height. fraction 1 is the whole page, including dots
/// exactly on its far edges, where float32 rounding can move them. Throws invalid_argument unless 0 < fraction <= 1
/// and the page is positive.
Region interior(const Dots& dots, double fraction = 1);

/// x, y of the dots as a host view {count, 2}.
View<const float, 2> positions_of(const Dots& dots);

/// Returns x, y of the positions {count, 2} inside the region, relative to its corner. Cost O(count).
std::vector<double> positions_in(View<const float, 2> position, const Region& region);

/// Number of dots outside their page. Throws as interior. Cost O(dots).
std::int64_t count_off_page(const Dots& dots);

/// Throws invalid_argument unless the region is finite and positive.
void require_region(std::string_view where, const Region& region);

/// Throws invalid_argument unless `position` is {count, 2} in host memory and finite; names the first value that is
/// not.
void require_positions(std::string_view where, View<const float, 2> position);

/// Distance of neighbours in the hexagonal lattice of a density in dots a square pixel: sqrt(2 / (sqrt(3) density)).
/// Upper bound of the smallest distance.
double hexagonal_distance(double density);

/// Principal frequency of a density, cycles a pixel (Ulichney 1987): sqrt(density) of the square lattice, and
/// sqrt(2 density / sqrt(3)) of the hexagonal one.
double principal_frequency(double density);
double hexagonal_frequency(double density);

}  // namespace holotone
