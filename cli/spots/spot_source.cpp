#include <algorithm>
#include <cli/common/picture_file.hpp>
#include <cli/options/values.hpp>
#include <cli/spots/spot_source.hpp>
#include <fmt/format.h>
#include <holotone/core/length_names.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/recipes/retrieval/target_picture.hpp>
#include <holotone/recipes/spot_picture.hpp>

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

SpotList find_in_picture(const SpotSource& source, const ConsoleOptions& console) {
  constexpr double nearly_all = 0.98;
  const auto& path = source.picture;
  if (!source.pixel_m) reject("--pixel", "a length for --from, from pixel to pixel of the picture", "none");
  const auto image = read_picture_file(console, path);
  const auto light = picture_intensity(path, image, -1);
  auto found = spots_in_picture(light.view(), *source.pixel_m, source.threshold, source.array.centre_m);
  const auto count = counted(std::ssize(found.spots.position_m), "spot");
  const bool is_linear = std::holds_alternative<Array<float, 3>>(image.pixels);
  remark(console,
         fmt::format("{}: {}, in regions of up to {} across; its {}", path, count, counted(found.widest_px, "pixel"),
                     is_linear ? "numbers are light" : "codes became light as sRGB has them"));
  if (found.light_share < nearly_all) {
    warn(console, fmt::format("{}: {:.2g} % of its light is in no spot: of dots below {:g} of the brightest pixel "
                              "(--threshold), or a background",
                              path, 100 * (1 - found.light_share), source.threshold));
  }
  if (8 * found.widest_px > std::max(light.shape()[0], light.shape()[1])) {
    warn(console, fmt::format("{}: a region of {} became one spot in its middle; --from is for dots", path,
                              counted(found.widest_px, "pixel")));
  }
  return std::move(found.spots);
}

}  // namespace

double unit_size(const SpotSource& source) {
  if (source.unit.empty()) return 0;
  const double size_m = parse_length("--unit", one_of_unit(source.unit));
  if (!(size_m > 0)) reject("--unit", "a unit such as um or 10um", source.unit);
  return size_m;
}

CameraMap read_map(const SpotSource& source, const SpotLens& lens) {
  if (source.camera_map.empty()) return {};
  io::require_input(source.camera_map);
  return read_camera_map(source.camera_map, lens);
}

SpotList spots_of(const SpotSource& source, const SpotLens& lens, const CameraMap& map, const ConsoleOptions& console) {
  const auto& array = source.array;
  const bool has_file = !source.file.empty();
  std::vector<std::string_view> sources;
  if (has_file) sources.emplace_back(source.file);
  if (array.shape) sources.emplace_back("--array");
  if (source.ring.count) sources.emplace_back("--ring");
  if (!source.picture.empty()) sources.emplace_back("--from");
  if (sources.size() != 1) {
    reject("SPOTS", "a file of spots, --array COLUMNSxROWS, --ring N or --from PICTURE",
           sources.empty() ? "neither" : fmt::format("{}", fmt::join(sources, " and ")));
  }
  if (has_file) {
    io::require_input(source.file);
    auto spots = read_spots(source.file, unit_size(source), lens, map);
    if (!source.unit.empty() && spots.has_units) {
      reject("--unit", "no unit beside those that the file states", source.file);
    }
    return spots;
  }
  if (!source.picture.empty()) return find_in_picture(source, console);
  if (source.ring.count) {
    if (!source.ring.radius_m) reject("--radius", "a length for --ring", "none");
    return spot_ring(*source.ring.count, *source.ring.radius_m, array.centre_m);
  }
  if (!array.spacing_m) reject("--spacing", "a length for --array", "none");
  return spot_lattice((*array.shape)[0], (*array.shape)[1], *array.spacing_m, array.lattice, array.centre_m);
}

std::vector<OptionRow> source_options(SpotSource& source) {
  const auto of_array = [&source] {
    return Applies{[&source] { return source.array.shape.has_value(); }, "--array",
                   [] { return std::string("a file"); }};
  };
  const auto of_ring = [&source] {
    return Applies{[&source] { return source.ring.count.has_value(); }, "--ring",
                   [] { return std::string("no ring"); }};
  };
  const auto of_picture = [&source] {
    return Applies{[&source] { return !source.picture.empty(); }, "--from", [] { return std::string("no picture"); }};
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
      {.names = "--ring",
       .target = number(source.ring.count, ValueUnit::count, {1, 1e6}),
       .value = "N",
       .help = "A ring of spots in place of a file, the first to the right of its middle, then anticlockwise",
       .common = true,
       .feeds = "spot_ring.count"},
      {.names = "--radius",
       .target = number(source.ring.radius_m, ValueUnit::length, {min_length_m, max_length_m}),
       .value = "LENGTH",
       .help = "Of --ring",
       .common = true,
       .feeds = "spot_ring.radius_m",
       .applies = of_ring()},
      {.names = "--centre",
       .target = parsed(source.array.centre_m, parse_centre, "0um,0um"),
       .value = "X,Y[,Z]",
       .help = "Middle of --array, --ring or --from",
       .common = true,
       .applies = {[&source] { return source.array.shape || source.ring.count || !source.picture.empty(); },
                   "--array, --ring or --from", [] { return std::string("a file"); }}},
      {.names = "--from",
       .target = &source.picture,
       .value = "PICTURE",
       .help = "Spots from a picture of dots: each region of bright pixels becomes one at its centre, with its light",
       .common = true,
       .feeds = "spots_in_picture.light"},
      {.names = "--pixel",
       .target = number(source.pixel_m, ValueUnit::length, {min_length_m, max_length_m}),
       .value = "LENGTH",
       .help = "From pixel to pixel of --from, in the spots' plane",
       .feeds = "spots_in_picture.pixel_m",
       .applies = of_picture()},
      {.names = "--threshold",
       .target = number(source.threshold, ValueUnit::none, {1e-3, 1}),
       .value = "SHARE",
       .help = "Of the brightest pixel's light that makes a pixel of --from bright",
       .feeds = "spots_in_picture.threshold",
       .applies = of_picture()},
      {.names = "--camera-map",
       .target = &source.camera_map,
       .value = "FILE",
       .help =
           "Map from pixels of a camera to the spots' plane: rows x and y of three numbers, or slmsuite's M, b and a"}};
}

}  // namespace holotone::cli
