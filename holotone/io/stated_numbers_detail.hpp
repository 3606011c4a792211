#pragma once
// What text in a file, such as a description, states of the numbers beside it. Not for users.
#include <string>
#include <string_view>
#include <vector>

namespace holotone::io {

/// The words of a name in small letters: "ScaleFactor", "scale_factor" and "scale factor" have two. What is no letter
/// separates words, of which some may be empty.
std::vector<std::string> split_name_words(std::string_view name);

/// Keys of a scale, an offset or a unit, each with its value: "intensity_calibration.scale 0.25". Reads JSON, mappings
/// of YAML, attributes and elements of XML, and else lines "key = value" and "key: value" (INI, YAML). A scale of 1 and
/// an offset of 0 do not count, nor those of axes, unless the last two axes have scales that differ. Text beyond 1 MiB
/// is not read.
std::vector<std::string> list_stated_numbers(std::string_view text);

/// True if text may be JSON, XML or lines of keys.
bool is_structured(std::string_view text);

}  // namespace holotone::io
