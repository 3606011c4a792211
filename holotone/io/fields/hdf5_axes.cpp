#include <holotone/io/fields/hdf5_axes_detail.hpp>

#if HOLOTONE_HDF5
#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <holotone/io/fields/hdf5_attributes_detail.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/printable_detail.hpp>

namespace holotone::io {
namespace {

constexpr std::size_t longest_name = 256;

enum class Axis : std::uint8_t { other, x, y };

/// "x", "x [mm]", "nx", "Columns".
Axis axis_named(std::string_view label) {
  std::string word;
  for (const char c : label) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) {
      if (word.empty()) continue;
      break;
    }
    word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  const auto is = [&](std::initializer_list<std::string_view> names) {
    return std::ranges::find(names, word) != names.end();
  };
  if (is({"x", "nx", "ix", "column", "columns", "col", "cols", "width", "horizontal"})) return Axis::x;
  if (is({"y", "ny", "iy", "row", "rows", "height", "vertical"})) return Axis::y;
  return Axis::other;
}

/// Name of the dataset that a reference leads to, without its group.
std::string name_of_scale(hid_t dataset, const hobj_ref_t& reference) {
  const Hdf5Handle scale(H5Rdereference2(dataset, H5P_DEFAULT, H5R_OBJECT, &reference), H5Oclose);
  std::string name(longest_name, '\0');
  const auto size = scale.valid() ? H5Iget_name(scale.get(), name.data(), name.size()) : 0;
  if (size <= 0) return {};
  name.resize(std::min(static_cast<std::size_t>(size), longest_name - 1));
  return name.substr(name.rfind('/') + 1);
}

/// Names of the dimension scales attached to a dataset (DIMENSION_LIST), one for each dimension, or empty.
std::vector<std::string> read_scales(hid_t dataset, std::size_t rank) {
  std::vector<std::string> names(rank);
  if (!has_hdf5_attribute(dataset, "DIMENSION_LIST")) return names;
  const Hdf5Handle attribute(H5Aopen(dataset, "DIMENSION_LIST", H5P_DEFAULT), H5Aclose);
  const Hdf5Handle type(attribute.valid() ? H5Aget_type(attribute.get()) : -1, H5Tclose);
  const Hdf5Handle space(attribute.valid() ? H5Aget_space(attribute.get()) : -1, H5Sclose);
  if (!type.valid() || !space.valid() || H5Tget_class(type.get()) != H5T_VLEN ||
      H5Sget_simple_extent_npoints(space.get()) != static_cast<hssize_t>(rank)) {
    return names;
  }
  const Hdf5Handle item(H5Tget_super(type.get()), H5Tclose);
  const Hdf5Handle memory(H5Tvlen_create(H5T_STD_REF_OBJ), H5Tclose);
  if (!item.valid() || !memory.valid() || H5Tequal(item.get(), H5T_STD_REF_OBJ) <= 0) return names;
  std::vector<hvl_t> lists(rank, hvl_t{0, nullptr});
  if (H5Aread(attribute.get(), memory.get(), lists.data()) < 0) return names;
  for (std::size_t i = 0; i < rank; ++i) {
    if (lists[i].len > 0 && lists[i].p != nullptr) {
      names[i] = name_of_scale(dataset, *static_cast<const hobj_ref_t*>(lists[i].p));
    }
  }
  H5Dvlen_reclaim(memory.get(), space.get(), H5P_DEFAULT, lists.data());
  return names;
}

/// openPMD's names, of a dataset or of the record around it; the fastest comes first in Fortran's order.
std::vector<std::string> read_openpmd_labels(hid_t object) {
  auto labels = read_attribute_texts(object, "axisLabels");
  if (read_attribute_texts(object, "dataOrder") == std::vector<std::string>{"F"}) std::ranges::reverse(labels);
  return labels;
}

/// The axes of a NeXus group whose signal is the dataset.
std::vector<std::string> read_nexus_labels(hid_t group, const std::string& name) {
  const auto signal = read_attribute_texts(group, "signal");
  return signal == std::vector<std::string>{name.substr(name.rfind('/') + 1)} ? read_attribute_texts(group, "axes")
                                                                              : std::vector<std::string>{};
}

/// The keys of vigra's axistags, which ilastik writes: {"axes": [{"key": "y", ...}, ...]}.
std::vector<std::string> read_axistags(hid_t dataset) {
  constexpr std::string_view key = "\"key\"";
  std::vector<std::string> labels;
  for (const std::string_view text : read_attribute_texts(dataset, "axistags")) {
    for (auto at = text.find(key); at != std::string_view::npos; at = text.find(key, at)) {
      const auto begin = text.find('"', at + key.size());
      at = begin == std::string_view::npos ? begin : text.find('"', begin + 1);
      if (at != std::string_view::npos) labels.emplace_back(text.substr(begin + 1, at - begin - 1));
    }
  }
  return labels;
}

/// Names of the dimensions, empty where there are none.
std::vector<std::string> read_labels(const Hdf5Choice& choice) {
  const hid_t dataset = choice.dataset.get();
  const std::size_t rank = choice.extents.size();
  const Hdf5Handle group = open_hdf5_group(choice);
  auto labels = read_attribute_texts(dataset, "DIMENSION_LABELS");
  if (labels.empty()) labels = read_openpmd_labels(dataset);
  if (labels.empty()) labels = read_axistags(dataset);
  if (labels.empty() && group.valid()) labels = read_openpmd_labels(group.get());
  if (labels.empty() && group.valid()) labels = read_nexus_labels(group.get(), choice.name);
  labels.resize(rank);
  const auto scales = read_scales(dataset, rank);
  for (std::size_t i = 0; i < rank; ++i) {
    if (axis_named(labels[i]) == Axis::other && !scales[i].empty()) labels[i] = scales[i];
  }
  return labels;
}

void read_origin(const Hdf5Choice& choice, const std::string& path, Hdf5Axes& axes) {
  const auto origins = read_attribute_texts(choice.dataset.get(), "DISPLAY_ORIGIN");
  if (origins.empty() || origins.front() == "UL" || origins.front().empty()) return;
  const std::string& origin = origins.front();
  if (origin != "LL" && origin != "UR" && origin != "LR") {
    throw_io(path, "UL, LL, UR or LR as DISPLAY_ORIGIN", in_quotes(origin));
  }
  axes.rows_up = origin[0] == 'L';
  axes.columns_left = origin[1] == 'R';
  axes.origin = fmt::format("{} {}", axes.rows_up ? "lower" : "upper", axes.columns_left ? "right" : "left");
}

}  // namespace

Hdf5Axes read_hdf5_axes(const Hdf5Choice& choice, const std::string& path) {
  Hdf5Axes axes;
  read_origin(choice, path, axes);
  if (!choice.reversed.empty()) {
    axes.columns_first = true;
    axes.cause = fmt::format("{} stores dimensions reversed", choice.reversed);
    return axes;
  }
  const std::size_t rank = choice.extents.size();
  const auto labels = read_labels(choice);
  const Axis row = axis_named(labels[rank - 2]);
  const Axis column = axis_named(labels[rank - 1]);
  if (rank == 3 && axis_named(labels[0]) != Axis::other) {
    throw_io(path, "dimensions n, y, x", printable(fmt::format("{}", fmt::join(labels, ", "))));
  }
  axes.columns_first = (row == Axis::x && column != Axis::x) || (column == Axis::y && row == Axis::other);
  if (axes.columns_first) {
    axes.cause = printable(fmt::format("dimensions named '{}', '{}'", labels[rank - 2], labels[rank - 1]));
  }
  return axes;
}

}  // namespace holotone::io
#endif
