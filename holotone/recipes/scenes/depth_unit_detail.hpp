#pragma once
// Units of the values of depth maps. Not for users.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace holotone {

/// What the value 1 of a depth map stands for.
struct DepthUnit {
  enum class Of : std::uint8_t {
    length,          ///< metres
    inverse_length,  ///< 1 / metres
    pixel,           ///< pixels of disparity
  };
  double size = 1;  ///< in the unit of `of`, > 0
  Of of = Of::length;
  std::string text{};  ///< as it was typed
};

/// The unit "1mm", "1/5000 m", "1/256 px" or "1/m"; none for another text.
std::optional<DepthUnit> parse_depth_unit(std::string_view text);

/// The length that files name, such as "m", "mm", "foot" or "US survey foot" (GDAL's unittype); none for another text.
std::optional<DepthUnit> named_depth_unit(std::string_view name);

}  // namespace holotone
