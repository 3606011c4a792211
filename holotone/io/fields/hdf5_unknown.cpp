#include <holotone/io/fields/hdf5_unknown_detail.hpp>

#if HOLOTONE_HDF5
#include <algorithm>
#include <fmt/format.h>
#include <holotone/io/fields/field_units_detail.hpp>
#include <holotone/io/fields/hdf5_attributes_detail.hpp>
#include <holotone/io/fields/hdf5_beside_detail.hpp>
#include <holotone/io/name_list_detail.hpp>
#include <holotone/io/printable_detail.hpp>
#include <holotone/io/stated_numbers_detail.hpp>
#include <holotone/io/text_reader_detail.hpp>
#include <vector>

namespace holotone::io {
namespace {

/// Attributes that the reader follows or refuses, or that concern the grid or the time alone.
constexpr std::string_view known[] = {
    "scale_factor", "add_offset", "unitSI", "unitDimension", "gridUnitSI",    "gridGlobalOffset", "timeUnitSI",
    "timeOffset",   "conversion", "offset", "scale",         "IGORWaveUnits", "IGORWaveScaling",  "time_units"};

/// Attributes of numbers that are followed elsewhere or say nothing of the numbers and pixels: of HDF5, its images,
/// openPMD, NeXus, netCDF, MATLAB, Julia, Python and its pandas.
constexpr std::string_view quiet[] = {"DIMENSION_LIST",
                                      "REFERENCE_LIST",
                                      "PALETTE",
                                      "IMAGE_MINMAXRANGE",
                                      "IMAGE_WHITE_IS_ZERO",
                                      "_FillValue",
                                      "_Unsigned",
                                      "missing_value",
                                      "valid_range",
                                      "valid_min",
                                      "valid_max",
                                      "position",
                                      "gridSpacing",
                                      "openPMDextension",
                                      "gridUnitDimension",
                                      "_Netcdf4Coordinates",
                                      "_Netcdf4Dimid",
                                      "nblocks",
                                      "ndim",
                                      "signal",
                                      "axis",
                                      "rank",
                                      "element_size_um",
                                      "MATLAB_empty",
                                      "MATLAB_global",
                                      "MATLAB_class",
                                      "MATLAB_int_decode",
                                      "OCTAVE_NEW_FORMAT",
                                      "OCTAVE_GLOBAL",
                                      "is_fft_shifted",
                                      "index_in_array",
                                      "dt",
                                      "primary",
                                      "emd_group_type",
                                      "IGORWaveType",
                                      "block_first_row",
                                      "block_of_rows"};
constexpr std::string_view quiet_words[] = {
    "time",   "date", "timestamp", "version",   "id",          "index",    "indices",  "number", "count", "frame",
    "frames", "seed", "exposure",  "iteration", "temperature", "pressure", "humidity", "year",   "month", "day"};

/// Words of a factor, which 1 leaves as it is, of an addend, which 0 does, and of a unit.
constexpr std::string_view factors[] = {"scale",      "scaling",    "scalefactor", "slope",       "factor", "gain",
                                        "conversion", "multiplier", "calibration", "sensitivity", "slp"};
constexpr std::string_view addends[] = {"offset", "intercept", "bias", "baseline", "shift", "shifted", "inverted"};
constexpr std::string_view units[] = {"unit", "units", "bunit", "zunits", "egu"};

template <std::size_t N>
bool has_word(const std::vector<std::string>& words, const std::string_view (&list)[N]) {
  return std::ranges::any_of(words, [&](const auto& word) { return std::ranges::find(list, word) != std::end(list); });
}

bool may_concern_numbers(hid_t object, const std::string& name) {
  if (std::ranges::find(known, name) != std::end(known) || is_unit_key(name)) return false;
  const auto words = split_name_words(name);
  auto numbers = read_attribute_numbers(object, name.c_str());
  double number = 0;
  if (numbers.empty() && parse_number(trim(read_attribute_word(object, name)), number)) numbers.push_back(number);
  const auto is_other = [&](double none) {
    return !numbers.empty() && std::ranges::any_of(numbers, [&](double value) { return value != none; });
  };
  if (has_word(words, factors)) return is_other(1);
  if (has_word(words, addends)) return is_other(0);
  return has_word(words, units) && numbers.empty() && !read_attribute_texts(object, name.c_str()).empty();
}

/// True of numbers under another name than those that are followed or say nothing.
bool has_other_numbers(hid_t object, const std::string& name) {
  if (std::ranges::find(known, name) != std::end(known) || std::ranges::find(quiet, name) != std::end(quiet))
    return false;
  if (name.ends_with("_m") || name.ends_with("_rad")) return false;  // metadata of this program, by others too
  const auto words = split_name_words(name);
  if (has_word(words, quiet_words) || has_word(words, factors) || has_word(words, addends)) return false;
  return !read_attribute_numbers(object, name.c_str()).empty();
}

/// "properties (intensity_calibration.scale 0.25)": of an attribute of JSON, XML or lines; empty without such numbers.
std::string stated_in_text(hid_t object, const std::string& name) {
  std::string list;
  for (const auto& text : read_attribute_texts(object, name.c_str())) {
    if (!is_structured(text)) continue;
    for (const auto& one : list_stated_numbers(text)) list += fmt::format("{}{}", list.empty() ? "" : ", ", one);
  }
  return list.empty() ? list : fmt::format("{} ({})", name, list);
}

void add_attributes(hid_t object, std::vector<std::string>& names) {
  const bool is_of_program = read_attribute_word(object, "software").starts_with("holotone");
  for (const auto& name : list_hdf5_attributes(object)) {
    const bool is_named = may_concern_numbers(object, name) || (!is_of_program && has_other_numbers(object, name));
    const auto found = is_named ? name : stated_in_text(object, name);
    if (!found.empty() && std::ranges::find(names, found) == names.end()) names.push_back(found);
  }
}

/// True of few numbers beside the dataset, such as Spacing or _psize: coordinates, scales and offsets are followed.
bool has_few_numbers(hid_t group, const std::string& member, const Hdf5Choice& choice, const std::string& name) {
  const bool is_scale = member == "scaling_factor" || member == "offset";
  if (is_scale && read_attribute_texts(group, "signal") == std::vector<std::string>{name}) return false;
  if (member == name || member == name + "_scaling_factor" || member == name + "_offset") return false;
  if (std::ranges::find(quiet, member) != std::end(quiet) || member.starts_with("dim")) return false;
  if (has_word(split_name_words(member), quiet_words)) return false;
  const auto extents = find_member_extents(group, member);
  if (!extents) return false;
  constexpr std::uint64_t longest = 16;
  constexpr std::uint64_t largest_matrix = 4;
  const auto is_within = [&](std::uint64_t most) {
    return std::ranges::all_of(*extents, [&](auto extent) { return extent >= 1 && extent <= most; });
  };
  if (extents->size() >= 2) return extents->size() == 2 && is_within(largest_matrix) && *extents != choice.extents;
  const auto is_coordinate = [&](std::uint64_t extent) {
    return extent > 1 && !extents->empty() && (extents->front() == extent || extents->front() == extent + 1);
  };
  return is_within(longest) && std::ranges::none_of(choice.extents, is_coordinate);
}

/// Names of the members of a group that belong to its dataset, or may say what its numbers and pixels are.
std::vector<std::string> list_beside(hid_t group, const Hdf5Choice& choice) {
  const auto name = choice.name.substr(choice.name.rfind('/') + 1);
  auto found = list_hdf5_members(group);
  std::erase_if(found, [&](const auto& member) {
    return !belongs_to_array(member, name) && !has_few_numbers(group, member, choice, name);
  });
  return found;
}

}  // namespace

std::string note_hdf5_unknown(const Hdf5Choice& choice, const std::string& path) {
  std::vector<std::string> attributes;
  std::vector<std::string> datasets;
  add_attributes(choice.dataset.get(), attributes);
  const Hdf5Handle group = open_hdf5_group(choice);
  if (group.valid()) datasets = list_beside(group.get(), choice);
  for (const auto& above : open_hdf5_groups(choice)) add_attributes(above.get(), attributes);
  if (attributes.empty() && datasets.empty()) return {};
  const std::string between = attributes.empty() || datasets.empty() ? "" : "; ";
  return fmt::format("{}: ignored: {}{}{}", path, attributes.empty() ? "" : list_unknown("attribute", attributes),
                     between, datasets.empty() ? "" : list_unknown("dataset", datasets));
}

std::string note_hdf5_padding(const Hdf5Choice& choice, const std::string& path) {
  const auto find_size = [](hid_t group, const char* name) {
    double size = 0;
    return parse_number(trim(read_attribute_word(group, name)), size) && size >= 1 ? size : 0;
  };
  const auto extent = [&](std::size_t from_last) {
    return static_cast<double>(choice.extents[choice.extents.size() - from_last]);
  };
  for (const auto& group : open_hdf5_groups(choice)) {
    const double columns = find_size(group.get(), "ImageSizeX");
    const double rows = find_size(group.get(), "ImageSizeY");
    const double planes = find_size(group.get(), "ImageSizeZ");
    if (columns == 0 || rows == 0) continue;
    if (choice.slice && planes >= 1 && static_cast<double>(*choice.slice) >= planes) {
      return fmt::format("{}: array {} of {} is padding: its group states {:g} (ImageSizeZ)", path, *choice.slice + 1,
                         printable(choice.name), planes);
    }
    if (columns >= extent(1) && rows >= extent(2)) return {};
    return fmt::format("{}: {} of {:g} x {:g} pixels is padded: its group states {:g} x {:g} (ImageSizeX, ImageSizeY)",
                       path, printable(choice.name), extent(1), extent(2), columns, rows);
  }
  return {};
}

}  // namespace holotone::io
#endif
