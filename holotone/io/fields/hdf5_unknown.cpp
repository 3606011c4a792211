#include <holotone/io/fields/hdf5_unknown_detail.hpp>

#if HOLOTONE_HDF5
#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <holotone/io/fields/field_units_detail.hpp>
#include <holotone/io/fields/hdf5_attributes_detail.hpp>
#include <holotone/io/fields/hdf5_beside_detail.hpp>
#include <holotone/io/name_list_detail.hpp>
#include <vector>

namespace holotone::io {
namespace {

/// Attributes that the reader follows or refuses, or that concern the grid or the time alone.
constexpr std::string_view known[] = {
    "scale_factor", "add_offset", "unitSI", "unitDimension", "gridUnitSI",    "gridGlobalOffset", "timeUnitSI",
    "timeOffset",   "conversion", "offset", "scale",         "IGORWaveUnits", "IGORWaveScaling",  "time_units"};

/// Words of a factor, which 1 leaves as it is, of an addend, which 0 does, and of a unit.
constexpr std::string_view factors[] = {"scale",      "scaling",    "scalefactor", "slope",       "factor", "gain",
                                        "conversion", "multiplier", "calibration", "sensitivity", "slp"};
constexpr std::string_view addends[] = {"offset", "intercept", "bias", "baseline", "shift", "shifted", "inverted"};
constexpr std::string_view units[] = {"unit", "units", "bunit", "zunits", "egu"};

/// "ScaleFactor", "data_units", "scale factor": their words in small letters.
std::vector<std::string> split_words(std::string_view name) {
  std::vector<std::string> words{""};
  bool was_small = false;
  for (const char c : name) {
    const auto letter = static_cast<unsigned char>(c);
    if (std::isalpha(letter) == 0) {
      words.emplace_back();
      was_small = false;
      continue;
    }
    if (std::isupper(letter) != 0 && was_small) words.emplace_back();
    was_small = std::islower(letter) != 0;
    words.back() += static_cast<char>(std::tolower(letter));
  }
  return words;
}

template <std::size_t N>
bool has_word(const std::vector<std::string>& words, const std::string_view (&list)[N]) {
  return std::ranges::any_of(words, [&](const auto& word) { return std::ranges::find(list, word) != std::end(list); });
}

bool may_concern_numbers(hid_t object, const std::string& name) {
  if (std::ranges::find(known, name) != std::end(known) || is_unit_key(name)) return false;
  const auto words = split_words(name);
  const auto numbers = read_attribute_numbers(object, name.c_str());
  const auto is_other = [&](double none) {
    return !numbers.empty() && std::ranges::any_of(numbers, [&](double value) { return value != none; });
  };
  if (has_word(words, factors)) return is_other(1);
  if (has_word(words, addends)) return is_other(0);
  return has_word(words, units) && numbers.empty() && !read_attribute_texts(object, name.c_str()).empty();
}

void add_attributes(hid_t object, std::vector<std::string>& names) {
  for (const auto& name : list_hdf5_attributes(object)) {
    if (may_concern_numbers(object, name) && std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
}

/// Datasets beside, which CXI and NeXus relate to the data.
std::vector<std::string> list_beside(hid_t group, const std::string& name) {
  std::vector<std::string> found;
  for (const auto& member : list_hdf5_members(group)) {
    const bool is_general = (member == "mask" || member == "errors") && name == "data";
    const bool is_of_data =
        member.size() > name.size() && member.starts_with(name) &&
        std::ranges::any_of(std::initializer_list<std::string_view>{"_errors", "_error", "_uncertainties", "_mask",
                                                                    "_weights", "_std", "_calibration", "_gain"},
                            [&](std::string_view end) { return std::string_view(member).substr(name.size()) == end; });
    if (is_general || is_of_data) found.push_back(member);
  }
  return found;
}

}  // namespace

std::string note_hdf5_unknown(const Hdf5Choice& choice, const std::string& path) {
  const Hdf5Handle group = open_hdf5_group(choice);
  std::vector<std::string> attributes;
  add_attributes(choice.dataset.get(), attributes);
  std::vector<std::string> datasets;
  if (group.valid()) {
    add_attributes(group.get(), attributes);
    datasets = list_beside(group.get(), choice.name.substr(choice.name.rfind('/') + 1));
  }
  if (attributes.empty() && datasets.empty()) return {};
  const std::string between = attributes.empty() || datasets.empty() ? "" : "; ";
  return fmt::format("{}: ignored: {}{}{}", path, attributes.empty() ? "" : list_unknown("attribute", attributes),
                     between, datasets.empty() ? "" : list_unknown("dataset", datasets));
}

}  // namespace holotone::io
#endif
