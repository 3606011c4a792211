#pragma once
#include <cli/options/values.hpp>
#include <string>
#include <string_view>

namespace holotone::cli {

inline constexpr double longest_s = 1e6;

/// "10ms", "2s" or "1min" in seconds.
inline double parse_time(std::string_view option, const std::string& text) {
  constexpr Choice<double> units[] = {{"us", 1e-6}, {"ms", 1e-3}, {"min", 60}, {"s", 1}};
  for (const auto& unit : units) {
    if (!text.ends_with(unit.name)) continue;
    return unit.value *
           number_between(option, text.substr(0, text.size() - unit.name.size()), 0, longest_s / unit.value);
  }
  reject(option, "a time with its unit, such as 10ms, 2s or 1min", text);
}

}  // namespace holotone::cli
