#include <cli/options/values.hpp>
#include <cli/spots/spot_source.hpp>
#include <fmt/format.h>
#include <holotone/io/file_bytes_detail.hpp>

namespace holotone::cli {
namespace {

/// "10x10": columns and rows.
std::array<std::int64_t, 2> parse_array(std::string_view option, const std::string& text) {
  const auto at = text.find('x');
  if (at == std::string::npos) reject(option, "COLUMNSxROWS such as 10x10", text);
  return {whole_number(option, text.substr(0, at), 1, 1'000'000),
          whole_number(option, text.substr(at + 1), 1, 1'000'000)};
}

/// "X,Y" or "X,Y,Z".
std::array<double, 3> parse_centre(std::string_view option, const std::string& text) {
  std::array<double, 3> place{};
  std::string_view rest = text;
  for (std::size_t axis = 0;; ++axis) {
    const auto end = rest.find(',');
    if (axis == place.size() || (axis == 0 && end == std::string_view::npos)) {
      reject(option, "X,Y or X,Y,Z such as 20um,-10um", text);
    }
    place[axis] = parse_length(option, rest.substr(0, end));
    if (end == std::string_view::npos) return place;
    rest.remove_prefix(end + 1);
  }
}

}  // namespace

CameraMap read_map(const SpotSource& source, const SpotLens& lens) {
  if (source.camera_map.empty()) return {};
  io::require_input(source.camera_map);
  return read_camera_map(source.camera_map, lens);
}

SpotList spots_of(const SpotSource& source, const SpotLens& lens, const CameraMap& map) {
  const auto& array = source.array;
  const bool has_file = !source.file.empty();
  if (has_file == array.shape.has_value()) {
    reject("SPOTS", "a file of spots, or --array COLUMNSxROWS", has_file ? "both" : "neither");
  }
  if (has_file) {
    io::require_input(source.file);
    const double unit_m = source.unit.empty() ? 0 : parse_length("--unit", fmt::format("1{}", source.unit));
    return read_spots(source.file, unit_m, lens, map);
  }
  if (!array.spacing_m) reject("--spacing", "a length for --array", "none");
  return spot_lattice((*array.shape)[0], (*array.shape)[1], *array.spacing_m, array.lattice, array.centre_m);
}

std::vector<OptionRow> source_options(SpotSource& source) {
  const auto of_array = [&source] {
    return Applies{[&source] { return source.array.shape.has_value(); }, "--array",
                   [] { return std::string("a file"); }};
  };
  return {
      {.names = "--unit",
       .target = &source.unit,
       .value = "UNIT",
       .help = "Unit of x, y and z in a file that states none, such as um",
       .common = true},
      {.names = "--array",
       .target = parsed(source.array.shape, parse_array),
       .value = "COLUMNSxROWS",
       .help = "A lattice of spots in place of a file",
       .common = true,
       .feeds = "spot_lattice.columns"},
      {.names = "--spacing",
       .target = number(source.array.spacing_m, ValueUnit::length, {min_length_m, max_length_m}),
       .value = "LENGTH",
       .help = "From spot to spot of --array",
       .common = true,
       .feeds = "spot_lattice.spacing_m",
       .applies = of_array()},
      {.names = "--lattice",
       .target = choice(source.array.lattice),
       .value = "NAME",
       .help = "square or hexagonal",
       .applies = of_array()},
      {.names = "--centre",
       .target = parsed(source.array.centre_m, parse_centre, "0um,0um"),
       .value = "X,Y[,Z]",
       .help = "Middle of --array",
       .common = true,
       .applies = of_array()},
      {.names = "--camera-map",
       .target = &source.camera_map,
       .value = "FILE",
       .help = "Map from pixels of a camera to the spots' plane: rows x and y of three numbers, or slmsuite's M and b",
       .common = true}};
}

}  // namespace holotone::cli
