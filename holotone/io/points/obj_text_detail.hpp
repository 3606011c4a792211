#pragma once
// Statements of a Wavefront OBJ as numbers. Not for users.
#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace holotone::io {

struct ObjText {
  static constexpr std::uint32_t no_normal = std::numeric_limits<std::uint32_t>::max();

  struct Corner {
    std::uint32_t vertex;
    std::uint32_t normal;  ///< or no_normal
  };
  std::vector<std::array<double, 3>> vertex;
  std::vector<std::array<double, 3>> colour;  ///< one per vertex, as in the file, or empty; negative where it has none
  std::vector<std::array<double, 3>> normal;
  double largest_colour = 0;         ///< largest number of the colours
  std::vector<Corner> corner;        ///< of all faces, one after another
  std::vector<std::uint32_t> face;   ///< number of corners of each face, at least 3
  std::vector<std::uint32_t> point;  ///< numbers of the vertices of all statements `p`
  std::vector<std::string> ignored;  ///< keywords of statements that are not used, each once
};

/// Reads the statements `v`, `vn`, `f` and `p`; a backslash at the end of a line continues it. Throws io with file,
/// line, expected and got: for another number of coordinates than 3 (x y z), 4 (and the weight 1) or 6 (and r g b), for
/// indices of no vertex, for curves and surfaces of free form, and for words that are no keyword.
ObjText parse_obj(std::string_view bytes, std::string_view path);

}  // namespace holotone::io
