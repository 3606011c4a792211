#include <holotone/io/fields/hdf5_axes_detail.hpp>

#if HOLOTONE_HDF5
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/units.hpp>
#include <holotone/io/fields/hdf5_attributes_detail.hpp>
#include <holotone/io/fields/hdf5_coordinates_detail.hpp>
#include <holotone/io/fields/hdf5_packing_detail.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/printable_detail.hpp>

namespace holotone::io {
namespace {

bool is_square(double height, double width) { return width > 0 && std::abs(height - width) <= 1e-3 * width; }

/// Values of openPMD's attribute, one for each axis, in the order of the dataset's dimensions.
template <class T>
std::vector<T> in_order(hid_t object, std::vector<T> values) {
  if (read_attribute_texts(object, "dataOrder") == std::vector<std::string>{"F"}) std::ranges::reverse(values);
  return values;
}

/// openPMD's names, of a dataset or of the record around it; the fastest comes first in Fortran's order.
std::vector<std::string> read_openpmd_labels(hid_t object) {
  return in_order(object, read_attribute_texts(object, "axisLabels"));
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

/// Sets the steps of openPMD's grid where no coordinates have them.
void add_openpmd_steps(hid_t mesh, std::vector<Hdf5Coordinate>& dimensions) {
  const auto steps = in_order(mesh, read_attribute_numbers(mesh, "gridSpacing"));
  if (read_openpmd_labels(mesh).size() != dimensions.size() || steps.size() != dimensions.size()) return;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (!dimensions[i].step && std::isfinite(steps[i]) && steps[i] != 0) dimensions[i].step = steps[i];
  }
}

/// Names of the dimensions, empty where there are none, and what is known of their axes.
std::vector<Hdf5Coordinate> read_dimensions(const Hdf5Choice& choice, const std::string& path) {
  const hid_t dataset = choice.dataset.get();
  const Hdf5Handle group = open_hdf5_group(choice);
  auto labels = read_attribute_texts(dataset, "DIMENSION_LABELS");
  if (labels.empty()) labels = read_openpmd_labels(dataset);
  if (labels.empty()) labels = read_axistags(dataset);
  if (labels.empty() && group.valid()) labels = read_openpmd_labels(group.get());
  auto dimensions = read_hdf5_coordinates(choice, path);
  labels.resize(dimensions.size());
  for (std::size_t i = 0; i < labels.size(); ++i) {
    auto& dimension = dimensions[i];
    const auto named = hdf5_axis_named(labels[i]);
    if (named != Hdf5Axis::other || dimension.name.empty()) dimension.name = labels[i];
    if (dimension.axis == Hdf5Axis::other) dimension.axis = hdf5_axis_named(dimension.name);
  }
  const bool is_of_group = !has_hdf5_attribute(dataset, "gridSpacing") && group.valid();
  add_openpmd_steps(is_of_group ? group.get() : dataset, dimensions);
  return dimensions;
}

bool read_origin(const Hdf5Choice& choice, const std::string& path, Hdf5Axes& axes) {
  const auto origins = read_attribute_texts(choice.dataset.get(), "DISPLAY_ORIGIN");
  if (origins.empty() || origins.front().empty()) return false;
  const std::string& origin = origins.front();
  if (origin == "UL") return true;
  if (origin != "LL" && origin != "UR" && origin != "LR") {
    throw_io(path, "UL, LL, UR or LR as DISPLAY_ORIGIN", in_quotes(origin));
  }
  axes.rows_up = origin[0] == 'L';
  axes.columns_left = origin[1] == 'R';
  axes.origin_cause = "DISPLAY_ORIGIN";
  return true;
}

/// True for counts of pixels, which run as the rows are stored.
bool counts_pixels(const Hdf5Coordinate& y) {
  constexpr std::string_view counts[] = {"px", "pix", "pixel", "pixels", "[px]", "[pix]", "[pixel]", "[pixels]"};
  return y.name.starts_with("row") || y.name.starts_with("Row") ||
         std::ranges::find(counts, y.unit) != std::end(counts);
}

/// Which way coordinates run: x to the right, y as its file has it.
void follow_coordinates(const Hdf5Coordinate& y, const Hdf5Coordinate& x, const std::string& path, Hdf5Axes& axes) {
  axes.columns_left = x.step.value_or(1) < 0;
  axes.rows_up = y.upright == Hdf5Upright::up && y.step.value_or(-1) > 0;
  if (axes.is_mirrored()) axes.origin_cause = "coordinates";
  if (!y.step || counts_pixels(y)) return;
  const bool rises = *y.step > 0;
  if (rises ? y.upright == Hdf5Upright::unstated : y.upright == Hdf5Upright::down) {
    axes.notes.push_back(fmt::format("{}: its coordinates {} {} from row to row: the first row is read as the top",
                                     path, in_quotes(y.name), rises ? "rise" : "fall"));
  }
}

/// Height and width of a pixel, and a note of those that are not square.
void set_sides(const Hdf5Choice& choice, const Hdf5Coordinate* y, const Hdf5Coordinate* x, const std::string& path,
               Hdf5Axes& axes) {
  axes.sides_m = read_hdf5_sides(choice);
  if (y != nullptr && axes.columns_first) std::swap(axes.sides_m[0], axes.sides_m[1]);
  auto& [height, width] = axes.sides_m;
  if (!(height > 0 && width > 0) && y != nullptr && y->step && x->step) {
    const auto of_y = hdf5_length_m(y->unit);
    const auto of_x = hdf5_length_m(x->unit);
    axes.sides_m = {std::abs(*y->step) * of_y.value_or(0), std::abs(*x->step) * of_x.value_or(0)};
    if (!of_y && !of_x && y->unit == x->unit && !is_square(std::abs(*y->step), std::abs(*x->step))) {
      axes.notes.push_back(
          fmt::format("{}: its pixels of {:g} x {:g} {} (height x width) are not square: taken as square", path,
                      std::abs(*y->step), std::abs(*x->step), y->unit.empty() ? "units" : printable(y->unit)));
    }
  }
  if (height > 0 && width > 0 && !is_square(height, width)) {
    axes.notes.push_back(fmt::format("{}: its pixels of {} x {} (height x width) are not square: taken as square", path,
                                     format_length(height), format_length(width)));
  }
}

}  // namespace

bool Hdf5Axes::has_square_pixels() const { return is_square(sides_m[0], sides_m[1]); }

std::string Hdf5Axes::origin() const {
  return fmt::format("{} {}", rows_up ? "lower" : "upper", columns_left ? "right" : "left");
}

Hdf5Axes read_hdf5_axes(const Hdf5Choice& choice, const std::string& path) {
  Hdf5Axes axes;
  const bool has_origin = read_origin(choice, path, axes);
  if (!choice.reversed.empty()) {
    axes.columns_first = true;
    axes.cause = fmt::format("{} stores dimensions reversed", choice.reversed);
    set_sides(choice, nullptr, nullptr, path, axes);
    return axes;
  }
  const std::size_t rank = choice.extents.size();
  const auto dimensions = read_dimensions(choice, path);
  const auto& first = dimensions[rank - 2];
  const auto& last = dimensions[rank - 1];
  if (rank == 3 && dimensions[0].axis != Hdf5Axis::other) {
    throw_io(path, "dimensions n, y, x",
             printable(fmt::format("{}, {}, {}", dimensions[0].name, first.name, last.name)));
  }
  axes.columns_first = (first.axis == Hdf5Axis::x && last.axis != Hdf5Axis::x) ||
                       (last.axis == Hdf5Axis::y && first.axis == Hdf5Axis::other);
  if (axes.columns_first) {
    axes.cause = printable(fmt::format("dimensions named '{}', '{}'", first.name, last.name));
  }
  const auto& y = axes.columns_first ? last : first;
  const auto& x = axes.columns_first ? first : last;
  if (!has_origin) follow_coordinates(y, x, path, axes);
  set_sides(choice, &y, &x, path, axes);
  return axes;
}

}  // namespace holotone::io
#endif
