#include <holotone/io/fields/hdf5_coordinates_detail.hpp>

#if HOLOTONE_HDF5
#include <algorithm>
#include <cctype>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/length_names.hpp>
#include <holotone/io/fields/hdf5_attributes_detail.hpp>
#include <holotone/io/fields/hdf5_storage_detail.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/text_reader_detail.hpp>
#include <span>

namespace holotone::io {
namespace {

constexpr std::size_t longest_name = 256;
constexpr double max_aside = 0.05;  // steps from an even place

std::string to_small(std::string_view text) {
  std::string small(trim(text));
  std::ranges::transform(small, small.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return small;
}

/// The only text of an attribute, in small letters; empty without one.
std::string small_text(hid_t object, const char* name) {
  const auto texts = read_attribute_texts(object, name);
  return texts.size() == 1 ? to_small(texts.front()) : std::string();
}

extern "C" {
/// Called by libhdf5 before it opens the file of an external link.
static herr_t refuse_link(const char*, const char*, const char*, const char*, unsigned*, hid_t, void*) { return -1; }
}

constexpr std::string_view coordinates_here = "coordinates in the file itself";

/// An object of a group, or the one of the file that a soft link leads to; not valid without one. Throws io for a link
/// to another file.
Hdf5Handle open_member(hid_t group, const std::string& name, const std::string& path) {
  H5L_info_t info{};
  const bool is_here = !name.empty() && name.size() < longest_name && name.find('/') == std::string::npos &&
                       H5Lexists(group, name.c_str(), H5P_DEFAULT) > 0 &&
                       H5Lget_info(group, name.c_str(), &info, H5P_DEFAULT) >= 0;
  if (!is_here) return {-1, H5Oclose};
  if (info.type == H5L_TYPE_EXTERNAL) throw_io(path, coordinates_here, fmt::format("the link {}", in_quotes(name)));
  const Hdf5Handle access(H5Pcreate(H5P_LINK_ACCESS), H5Pclose);
  const bool is_safe = access.valid() && H5Pset_elink_cb(access.get(), refuse_link, nullptr) >= 0;
  return {is_safe ? H5Oopen(group, name.c_str(), access.get()) : -1, H5Oclose};
}

bool is_dataset(const Hdf5Handle& object) { return object.valid() && H5Iget_type(object.get()) == H5I_DATASET; }

/// Throws io for values that lie in another file, before what would open it.
void require_values_here(hid_t dataset, const std::string& path) {
  const Hdf5Handle list(H5Dget_create_plist(dataset), H5Pclose);
  const bool is_here =
      list.valid() && H5Pget_layout(list.get()) != H5D_VIRTUAL && H5Pget_external_count(list.get()) == 0;
  if (!is_here) throw_io(path, coordinates_here, "external or virtual ones");
}

/// The numbers of a dataset of one dimension and as many values as `suits` accepts; empty for another, and for one that
/// was not written.
template <class Suits>
std::vector<double> read_places(hid_t dataset, const Suits& suits, const std::string& path) {
  require_values_here(dataset, path);
  const Hdf5Handle space(H5Dget_space(dataset), H5Sclose);
  const Hdf5Handle type(H5Dget_type(dataset), H5Tclose);
  hsize_t count = 0;
  if (!space.valid() || !type.valid() || H5Sget_simple_extent_ndims(space.get()) != 1 ||
      H5Sget_simple_extent_dims(space.get(), &count, nullptr) != 1 || !suits(count)) {
    return {};
  }
  const auto kind = H5Tget_class(type.get());
  const auto names = read_attribute_texts(dataset, "NAME");
  const bool is_unwritten = !names.empty() && names.front().starts_with("This is a netCDF dimension but not");
  if ((kind != H5T_FLOAT && kind != H5T_INTEGER) || is_unwritten || H5Dget_storage_size(dataset) == 0) return {};
  check_hdf5_storage(dataset, {count}, path);
  std::vector<double> places(count);
  if (H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, places.data()) < 0) {
    throw_io(path, "readable coordinates", "damaged ones");
  }
  if (std::ranges::all_of(places, [](double place) { return place == 0; })) return {};
  const auto scale = read_attribute_numbers(dataset, "scale_factor");
  for (double& place : places) place *= scale.size() == 1 ? scale.front() : 1;
  return places;
}

/// The step of evenly spaced places, none for less than two.
std::optional<double> find_step(const std::vector<double>& places, std::string_view name, const std::string& path) {
  constexpr double rounding = 2.5e-7;  // of float32
  if (places.size() < 2) return std::nullopt;
  for (const double place : places) {
    if (!std::isfinite(place)) {
      throw_io(path, fmt::format("finite coordinates {}", in_quotes(name)), fmt::format("{:g}", place));
    }
  }
  const double step = (places.back() - places.front()) / static_cast<double>(places.size() - 1);
  const double slack =
      max_aside * std::abs(step) + rounding * std::max(std::abs(places.front()), std::abs(places.back()));
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (step != 0 && std::abs(places[i] - (places.front() + step * static_cast<double>(i))) <= slack) continue;
    double low = places[1] - places[0];
    double high = low;
    for (std::size_t j = 1; j < places.size(); ++j) {
      low = std::min(low, places[j] - places[j - 1]);
      high = std::max(high, places[j] - places[j - 1]);
    }
    throw_io(path, fmt::format("evenly spaced coordinates {}", in_quotes(name)),
             fmt::format("steps from {:g} to {:g}", low, high));
  }
  return step;
}

/// Reads what the attributes of a coordinate's dataset say: units, and axis, standard_name and positive of CF.
void read_meaning(hid_t dataset, Hdf5Coordinate& coordinate) {
  const auto units = read_attribute_texts(dataset, "units");
  if (units.size() == 1) coordinate.unit = trim(units.front());
  const auto axis = small_text(dataset, "axis");
  const auto name = small_text(dataset, "standard_name");
  const auto positive = small_text(dataset, "positive");
  if (axis == "x" || axis == "y") coordinate.axis = axis == "x" ? Hdf5Axis::x : Hdf5Axis::y;
  if (coordinate.axis == Hdf5Axis::other) coordinate.axis = hdf5_axis_named(name);
  const bool is_north = to_small(coordinate.unit).starts_with("degree") && coordinate.unit.ends_with("_north");
  if (axis == "y" || hdf5_axis_named(name) == Hdf5Axis::y || is_north || positive == "up") {
    coordinate.upright = Hdf5Upright::up;
  }
  if (positive == "down") coordinate.upright = Hdf5Upright::down;
}

/// Coordinates of one dataset, gathered from all that declares them.
class CoordinateReader {
 public:
  CoordinateReader(const Hdf5Choice& choice, const std::string& path)
      : choice_(choice), path_(path), group_(open_hdf5_group(choice)), coordinates_(choice.extents.size()) {}

  std::vector<Hdf5Coordinate> read() {
    read_scales();
    read_igor_axes();
    if (group_.valid()) {
      read_named_axes();
      for (std::size_t i = 0; i < coordinates_.size(); ++i) {
        read_hyperspy_axis(i);
        read_emd_dimension(i);
      }
    }
    return std::move(coordinates_);
  }

 private:
  [[nodiscard]] bool is_of_picture(std::size_t index) const { return index + 2 >= coordinates_.size(); }

  /// Sets what is not known of dimension `index` by a dataset, whose places may be the edges of pixels.
  void take_dataset(std::size_t index, hid_t dataset, const std::string& name) {
    auto& coordinate = coordinates_[index];
    if (coordinate.name.empty()) coordinate.name = name;
    if (coordinate.step) return;
    const auto suits = [&](hsize_t count) {
      return count == choice_.extents[index] || count == choice_.extents[index] + 1;
    };
    read_meaning(dataset, coordinate);
    if (is_of_picture(index)) coordinate.step = find_step(read_places(dataset, suits, path_), name, path_);
  }

  /// Dimension scales that are attached to the dataset (DIMENSION_LIST).
  void read_scales() {
    const hid_t dataset = choice_.dataset.get();
    const std::size_t rank = coordinates_.size();
    if (!has_hdf5_attribute(dataset, "DIMENSION_LIST")) return;
    const Hdf5Handle attribute(H5Aopen(dataset, "DIMENSION_LIST", H5P_DEFAULT), H5Aclose);
    const Hdf5Handle type(attribute.valid() ? H5Aget_type(attribute.get()) : -1, H5Tclose);
    const Hdf5Handle space(attribute.valid() ? H5Aget_space(attribute.get()) : -1, H5Sclose);
    if (!type.valid() || !space.valid() || H5Tget_class(type.get()) != H5T_VLEN ||
        H5Sget_simple_extent_npoints(space.get()) != static_cast<hssize_t>(rank)) {
      return;
    }
    const Hdf5Handle item(H5Tget_super(type.get()), H5Tclose);
    const Hdf5Handle memory(H5Tvlen_create(H5T_STD_REF_OBJ), H5Tclose);
    if (!item.valid() || !memory.valid() || H5Tequal(item.get(), H5T_STD_REF_OBJ) <= 0) return;
    std::vector<hvl_t> lists(rank, hvl_t{0, nullptr});
    if (H5Aread(attribute.get(), memory.get(), lists.data()) < 0) return;
    std::vector<std::vector<hobj_ref_t>> references(rank);
    for (std::size_t i = 0; i < rank; ++i) {
      if (lists[i].len == 0 || lists[i].p == nullptr) continue;
      const auto* const first = static_cast<const hobj_ref_t*>(lists[i].p);
      references[i].assign(first, first + std::min<std::size_t>(lists[i].len, 8));
    }
    H5Dvlen_reclaim(memory.get(), space.get(), H5P_DEFAULT, lists.data());
    for (std::size_t i = 0; i < rank; ++i) {
      for (const auto& reference : references[i]) read_scale(i, reference);
    }
  }

  void read_scale(std::size_t index, const hobj_ref_t& reference) {
    const Hdf5Handle scale(H5Rdereference2(choice_.dataset.get(), H5P_DEFAULT, H5R_OBJECT, &reference), H5Oclose);
    if (!is_dataset(scale)) return;
    std::string name(longest_name, '\0');
    const auto size = H5Iget_name(scale.get(), name.data(), name.size());
    if (size <= 0) return;
    name.resize(std::min(static_cast<std::size_t>(size), longest_name - 1));
    take_dataset(index, scale.get(), name.substr(name.rfind('/') + 1));
  }

  /// Names that a NeXus group gives its signal's dimensions, or the dataset's own attribute: a list, or "y:x".
  [[nodiscard]] std::vector<std::string> axis_names() const {
    const auto signal = read_attribute_texts(group_.get(), "signal");
    const auto dataset_name = choice_.name.substr(choice_.name.rfind('/') + 1);
    auto names = read_attribute_texts(choice_.dataset.get(), "axes");
    if (names.empty()) names = read_attribute_texts(choice_.dataset.get(), "_ARRAY_DIMENSIONS");
    if (names.empty() && signal == std::vector<std::string>{dataset_name}) {
      names = read_attribute_texts(group_.get(), "axes");
    }
    if (names.size() != 1) return names;
    std::string joined = std::move(names.front());
    std::erase_if(joined, [](char c) { return c == '[' || c == ']'; });
    std::ranges::replace_if(
        joined, [](char c) { return c == ':' || c == ','; }, ' ');
    names.clear();
    std::string_view rest = joined;
    for (auto word = take_word(rest); !word.empty(); word = take_word(rest)) names.emplace_back(word);
    return names;
  }

  void read_named_axes() {
    const auto names = axis_names();
    if (names.size() > coordinates_.size()) return;
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (names[i].empty() || names[i] == ".") continue;
      const auto stated = read_attribute_numbers(group_.get(), (names[i] + "_indices").c_str());
      const bool is_stated =
          stated.size() == 1 && stated[0] >= 0 && stated[0] < static_cast<double>(coordinates_.size());
      const std::size_t index = is_stated ? static_cast<std::size_t>(stated[0]) : i;
      const auto axis = open_member(group_.get(), names[i], path_);
      if (is_dataset(axis)) take_dataset(index, axis.get(), names[i]);
      if (coordinates_[index].name.empty()) coordinates_[index].name = names[i];
    }
  }

  /// HyperSpy's group axis-N of attributes, of dimension index_in_array or N.
  void read_hyperspy_axis(std::size_t number) {
    const auto axis = open_member(group_.get(), fmt::format("axis-{}", number), path_);
    if (!axis.valid() || H5Iget_type(axis.get()) != H5I_GROUP) return;
    const auto stated = read_attribute_numbers(axis.get(), "index_in_array");
    const bool is_stated = stated.size() == 1 && stated[0] >= 0 && stated[0] < static_cast<double>(coordinates_.size());
    const std::size_t index = is_stated ? static_cast<std::size_t>(stated[0]) : number;
    auto& coordinate = coordinates_[index];
    const auto names = read_attribute_texts(axis.get(), "name");
    const auto units = read_attribute_texts(axis.get(), "units");
    if (names.size() == 1 && coordinate.name.empty() && !names.front().starts_with('<'))
      coordinate.name = names.front();
    if (units.size() == 1 && !units.front().starts_with('<')) coordinate.unit = trim(units.front());
    coordinate.upright = Hdf5Upright::down;
    if (coordinate.step || !is_of_picture(index)) return;
    const std::string name = coordinate.name.empty() ? fmt::format("axis-{}", number) : coordinate.name;
    const auto scale = read_attribute_numbers(axis.get(), "scale");
    const auto places = open_member(axis.get(), "axis", path_);
    if (has_hdf5_attribute(axis.get(), "expression")) {
      throw_io(path_, fmt::format("evenly spaced coordinates {}", in_quotes(name)),
               "the function " + in_quotes(small_text(axis.get(), "expression")));
    }
    if (is_dataset(places)) {
      const auto suits = [&](hsize_t count) { return count == choice_.extents[index]; };
      coordinate.step = find_step(read_places(places.get(), suits, path_), name, path_);
    } else if (const auto listed = read_attribute_numbers(axis.get(), "axis"); listed.size() > 1) {
      coordinate.step = find_step(listed, name, path_);
    } else if (scale.size() == 1 && std::isfinite(scale[0]) && scale[0] != 0) {
      coordinate.step = scale[0];
    }
  }

  /// Igor Pro's IGORWaveScaling {1 + rank, 2}: step and start of each dimension, behind a row of the values, in units
  /// of IGORWaveUnits, of which the first is the values'.
  void read_igor_axes() {
    const auto scaling = read_attribute_numbers(choice_.dataset.get(), "IGORWaveScaling");
    const auto units = read_attribute_texts(choice_.dataset.get(), "IGORWaveUnits");
    if (scaling.size() != 2 * (coordinates_.size() + 1)) return;
    for (std::size_t i = 0; i < coordinates_.size(); ++i) {
      auto& coordinate = coordinates_[i];
      const double step = scaling[2 * (i + 1)];
      if (coordinate.step || !is_of_picture(i) || !std::isfinite(step) || step == 0) continue;
      if (units.size() == coordinates_.size() + 1) coordinate.unit = trim(units[i + 1]);
      coordinate.step = std::abs(step);
      coordinate.upright = Hdf5Upright::down;
    }
  }

  /// EMD's dataset dim1, or dim0 of emdfile, of the first dimension: all places, or the first two.
  void read_emd_dimension(std::size_t index) {
    const std::size_t first = open_member(group_.get(), "dim0", path_).valid() ? 0 : 1;
    const std::string number = fmt::format("dim{}", index + first);
    const auto dimension = open_member(group_.get(), number, path_);
    const bool is_described = is_dataset(dimension) && (has_hdf5_attribute(dimension.get(), "name") ||
                                                        has_hdf5_attribute(dimension.get(), "units"));
    if (!is_described && !has_hdf5_attribute(group_.get(), "emd_group_type")) return;
    if (!is_dataset(dimension)) return;
    const auto names = read_attribute_texts(dimension.get(), "name");
    const std::string name = names.size() == 1 && !trim(names.front()).empty() ? names.front() : number;
    auto& coordinate = coordinates_[index];
    if (!coordinate.step && is_of_picture(index)) {
      const auto suits = [&](hsize_t count) { return count == choice_.extents[index] || count == 2; };
      coordinate.step = find_step(read_places(dimension.get(), suits, path_), name, path_);
    }
    if (coordinate.name.empty()) coordinate.name = name;
    read_meaning(dimension.get(), coordinate);
    if (coordinate.upright == Hdf5Upright::unstated) coordinate.upright = Hdf5Upright::down;
  }

  const Hdf5Choice& choice_;
  const std::string& path_;
  Hdf5Handle group_;
  std::vector<Hdf5Coordinate> coordinates_;
};

}  // namespace

Hdf5Axis hdf5_axis_named(std::string_view label) {
  static constexpr std::string_view x_names[] = {"x",     "nx",         "ix",      "rx",        "qx",
                                                 "kx",    "column",     "columns", "col",       "cols",
                                                 "width", "horizontal", "lon",     "longitude", "easting"};
  static constexpr std::string_view y_names[] = {"y",    "ny",     "iy",       "ry",  "qy",       "ky",      "row",
                                                 "rows", "height", "vertical", "lat", "latitude", "northing"};
  static constexpr std::string_view before[] = {"r",         "q",        "k",          "axis",  "dim",
                                                "dimension", "pixel",    "image",      "coord", "coordinate",
                                                "pos",       "position", "projection", "grid"};
  const auto is_among = [](std::string_view word, std::span<const std::string_view> names) {
    return std::ranges::find(names, word) != names.end();
  };
  const std::string small = to_small(label);
  for (std::size_t at = 0; at < small.size();) {
    const auto is_part = [&](std::size_t i) { return std::isalnum(static_cast<unsigned char>(small[i])) != 0; };
    while (at < small.size() && !is_part(at)) ++at;
    std::size_t end = at;
    while (end < small.size() && is_part(end)) ++end;
    const auto word = std::string_view(small).substr(at, end - at);
    if (is_among(word, x_names)) return Hdf5Axis::x;
    if (is_among(word, y_names)) return Hdf5Axis::y;
    if (!is_among(word, before)) return Hdf5Axis::other;
    at = end;
  }
  return Hdf5Axis::other;
}

std::vector<Hdf5Coordinate> read_hdf5_coordinates(const Hdf5Choice& choice, const std::string& path) {
  return CoordinateReader(choice, path).read();
}

std::optional<double> hdf5_length_m(std::string_view unit) {
  std::string plain(trim(unit));
  if (plain.starts_with('[') || plain.starts_with('(')) {
    plain = plain.substr(1, plain.find_first_of("])") - 1);
    std::erase(plain, '_');
  }
  return named_length_m(plain);
}

}  // namespace holotone::io
#endif
