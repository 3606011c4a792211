#pragma once
// Not for users. Tables of numbers that belong to spots at places.
#include <holotone/recipes/spots.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace holotone::spots {

/// Rows of a file.
struct PlacedValues {
  SpotList spots;
  std::vector<float> value;        ///< of each row; empty for a list
  std::vector<std::string> place;  ///< "line 3"
  bool has_depths = false;
};

/// Reads places as read_spots does, and the numbers >= 0 of the column `name`; others are ignored. Without a name a
/// list, whose other columns are refused, as are places beyond the diffraction order of a lens that has all of it.
PlacedValues read_placed_values(const std::string& path, std::string_view name, double unit_m, const SpotLens& lens,
                                const CameraMap& camera);

}  // namespace holotone::spots
