#include <holotone/io/fields/hdf5_packing_detail.hpp>

#if HOLOTONE_HDF5
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <holotone/io/fields/hdf5_attributes_detail.hpp>
#include <holotone/io/fields/hdf5_beside_detail.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <limits>

namespace holotone::io {
namespace {

double single_number(hid_t dataset, const char* name, double otherwise, const std::string& path) {
  if (!has_hdf5_attribute(dataset, name)) return otherwise;
  const auto values = read_attribute_numbers(dataset, name);
  if (values.size() != 1) throw_io(path, fmt::format("one number as {}", name), "another attribute");
  if (!std::isfinite(values[0])) throw_io(path, fmt::format("a finite {}", name), fmt::format("{:g}", values[0]));
  return values[0];
}

/// An attribute that states a factor other than 1, or an offset other than 0, by a name without a rule.
void refuse_other(hid_t dataset, const char* name, double none, const std::string& path) {
  const auto values = read_attribute_numbers(dataset, name);
  if (values.size() != 1 || values[0] == none) return;
  throw_io(path, none == 0 ? "add_offset as the numbers' offset" : "scale_factor or unitSI as the numbers' factor",
           fmt::format("{} {:g}", name, values[0]));
}

/// NeXus: (stored + offset) * scaling factor, of fields FIELDNAME_scaling_factor and FIELDNAME_offset beside the data,
/// or without FIELDNAME for a group's signal.
void add_nexus_packing(const Hdf5Choice& choice, const std::string& path, Hdf5Packing& packing) {
  const Hdf5Handle group = open_hdf5_group(choice);
  if (!group.valid()) return;
  const std::string name = choice.name.substr(choice.name.rfind('/') + 1);
  auto scale = read_member_number(group.get(), name + "_scaling_factor", path);
  auto offset = read_member_number(group.get(), name + "_offset", path);
  if (!scale && !offset && read_attribute_texts(group.get(), "signal") == std::vector<std::string>{name}) {
    scale = read_member_number(group.get(), "scaling_factor", path);
    offset = read_member_number(group.get(), "offset", path);
  }
  const double factor = scale.value_or(1);
  const double before = offset.value_or(0);
  if (factor == 1 && before == 0) return;
  if (!packing.is_plain()) {
    throw_io(path, "one scale and offset", fmt::format("those of {}, and a scaling_factor beside", packing.source));
  }
  packing.scale = factor;
  packing.offset = factor * before;
  packing.source = "scaling_factor, offset";
}

/// Scale and offset by attributes of the dataset.
void add_attributes(hid_t dataset, const std::string& path, Hdf5Packing& packing) {
  // netCDF's, and openPMD's factor to units of the SI.
  packing.scale = single_number(dataset, "scale_factor", 1, path) * single_number(dataset, "unitSI", 1, path);
  packing.offset = single_number(dataset, "add_offset", 0, path);
  packing.source = "scale_factor or unitSI, add_offset";
  for (const auto* name : {"scale", "scaling_factor", "ScaleFactor", "slope", "Slope", "multiplier"}) {
    refuse_other(dataset, name, 1, path);
  }
  for (const auto* name : {"intercept", "Intercept", "Offset"}) refuse_other(dataset, name, 0, path);
  const bool is_nwb = packing.is_plain() && has_hdf5_attribute(dataset, "conversion") &&
                      !read_attribute_numbers(dataset, "conversion").empty();
  if (!is_nwb) return refuse_other(dataset, "offset", 0, path);
  packing.scale = single_number(dataset, "conversion", 1, path);
  packing.offset = single_number(dataset, "offset", 0, path);
  packing.source = "conversion, offset";
}

}  // namespace

void Hdf5Packing::unpack(Array<double, 2>& numbers, const std::string& path) const {
  std::int64_t gaps = 0;
  std::int64_t outside = 0;
  double gap = 0;
  for (double& value : numbers.host()) {
    const bool is_gap = std::ranges::any_of(
        missing, [&](double fill) { return value == fill || (std::isnan(value) && std::isnan(fill)); });
    if (is_gap && gaps++ == 0) gap = value;
    outside += min <= max && !is_gap && !(value >= min && value <= max) ? 1 : 0;
    value = scale * value + offset;
  }
  if (gaps > 0) {
    throw_io(path, "a number at every place",
             fmt::format("{} of {} missing (_FillValue or missing_value {:g})", gaps, numbers.size(), gap));
  }
  if (outside > 0) {
    throw_io(path, fmt::format("stored numbers of the valid range, {:g} to {:g}", min, max),
             fmt::format("{} of {} outside", outside, numbers.size()));
  }
}

Hdf5Packing read_hdf5_packing(const Hdf5Choice& choice, const std::string& path) {
  const hid_t dataset = choice.dataset.get();
  Hdf5Packing packing;
  add_attributes(dataset, path, packing);
  add_nexus_packing(choice, path, packing);
  if (choice.complex) {
    if (packing.is_plain()) return packing;
    throw_io(path, fmt::format("complex numbers without {}", packing.source),
             fmt::format("{:g} and {:g}", packing.scale, packing.offset));
  }
  for (const auto* name : {"_FillValue", "missing_value"}) {
    const auto values = read_attribute_numbers(dataset, name);
    packing.missing.insert(packing.missing.end(), values.begin(), values.end());
  }
  const auto range = read_attribute_numbers(dataset, "valid_range");
  const auto low = read_attribute_numbers(dataset, "valid_min");
  const auto high = read_attribute_numbers(dataset, "valid_max");
  constexpr double unbounded = std::numeric_limits<double>::infinity();
  if (range.size() == 2) {
    packing.min = range[0];
    packing.max = range[1];
  } else if (low.size() == 1 || high.size() == 1) {
    packing.min = low.size() == 1 ? low[0] : -unbounded;
    packing.max = high.size() == 1 ? high[0] : unbounded;
  }
  const auto is_unsigned = read_attribute_texts(dataset, "_Unsigned");
  if (choice.whole && choice.type.starts_with("int") && is_unsigned == std::vector<std::string>{"true"}) {
    throw_io(path, "unsigned numbers as an unsigned type", fmt::format("{} with the attribute _Unsigned", choice.type));
  }
  return packing;
}

std::array<double, 2> read_hdf5_sides(const Hdf5Choice& choice) {
  const hid_t dataset = choice.dataset.get();
  auto steps = read_attribute_numbers(dataset, "element_size_um");
  double unit = 1e-6;
  if (steps.empty()) {
    const Hdf5Handle group = open_hdf5_group(choice);
    const bool is_of_group = !has_hdf5_attribute(dataset, "gridSpacing") && group.valid();
    const hid_t mesh = is_of_group ? group.get() : dataset;
    steps = read_attribute_numbers(mesh, "gridSpacing");
    if (read_attribute_texts(mesh, "dataOrder") == std::vector<std::string>{"F"}) std::ranges::reverse(steps);
    const auto metres = read_attribute_numbers(mesh, "gridUnitSI");
    unit = metres.size() == 1 ? metres[0] : 1;
  }
  if (steps.size() < 2) return {};
  return {unit * steps[steps.size() - 2], unit * steps[steps.size() - 1]};
}

void erase_honoured(Metadata& metadata) {
  for (const auto* key : {"scale_factor",      "unitSI",     "add_offset",  "_FillValue",    "missing_value",
                          "valid_min",         "valid_max",  "valid_range", "_Unsigned",     "DISPLAY_ORIGIN",
                          "DIMENSION_LABELS",  "axisLabels", "dataOrder",   "axes",          "axistags",
                          "_ARRAY_DIMENSIONS", "conversion", "offset",      "IGORWaveUnits", "IGORWaveScaling",
                          "IGORWaveType"}) {
    metadata.erase(key);
  }
}

}  // namespace holotone::io
#endif
