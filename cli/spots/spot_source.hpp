#pragma once
#include <cli/common/console.hpp>
#include <cli/options/option_table.hpp>
#include <holotone/recipes/spots.hpp>
#include <optional>
#include <string>

namespace holotone::cli {

/// A lattice of spots in place of a file.
struct ArrayChoice {
  std::optional<std::array<std::int64_t, 2>> shape;  ///< columns, rows
  std::optional<double> spacing_m;
  SpotLattice lattice = SpotLattice::square;
  std::array<double, 3> centre_m{};
};

/// A ring of spots in place of a file.
struct RingChoice {
  std::optional<std::int64_t> count;
  std::optional<double> radius_m;
};

/// Where the spots of `holotone spots` are from: a file, or what stands in its place.
struct SpotSource {
  std::string file;
  std::string unit;  ///< of a file that states none
  std::string camera_map;
  ArrayChoice array;  ///< its middle is that of a ring and a picture too
  RingChoice ring;
  std::string picture;
  std::optional<double> pixel_m;  ///< of the picture, in the spots' plane
  double threshold = 0.5;
};

/// Metres in --unit; 0: none.
double unit_size(const SpotSource& source);
/// The map of --camera-map; without it none.
CameraMap read_map(const SpotSource& source, const SpotLens& lens);
/// The spots; remarks on those of a picture. Throws invalid_argument or io naming the option or file.
SpotList spots_of(const SpotSource& source, const SpotLens& lens, const CameraMap& map, const ConsoleOptions& console);

std::vector<OptionRow> source_options(SpotSource& source);

}  // namespace holotone::cli
