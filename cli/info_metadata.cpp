#include "info_metadata.hpp"
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <holotone/core/units.hpp>

namespace holotone::cli {
namespace {

/// A metadata value as people read it: lengths and angles with their units.
std::string readable(const std::string& key, const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  const bool number = !text.empty() && end == text.c_str() + text.size() && std::isfinite(value);
  const auto ends_with = [&](std::string_view suffix) {
    return key.size() > suffix.size() && key.compare(key.size() - suffix.size(), suffix.size(), suffix) == 0;
  };
  if (number && ends_with("_m")) return format_length(value);
  if (number && ends_with("_rad")) return fmt::format("{:.6g} rad", value);
  if (number && text.find_first_of(".e") != std::string::npos) return fmt::format("{:.6g}", value);
  return text.size() > 100 ? text.substr(0, 100) + "..." : text;
}

}  // namespace

nlohmann::json json_of(const Metadata& metadata) {
  auto object = nlohmann::json::object();
  for (const auto& [key, text] : metadata) {
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    const bool number = !text.empty() && end == text.c_str() + text.size() && std::isfinite(value);
    const bool whole = number && std::abs(value) < 9e15 && text.find_first_not_of("-0123456789") == std::string::npos;
    if (whole) {
      object[key] = static_cast<std::int64_t>(value);  // a count is 437645, not 437645.0
    } else {
      object[key] = number ? nlohmann::json(value) : nlohmann::json(text);
    }
  }
  return object;
}

void tell_metadata(const ConsoleOptions& console, const Metadata& metadata) {
  for (const auto& [key, text] : metadata)
    report(console, fmt::format("  {:<22} {}", key.substr(0, 100), readable(key, text)));
}

}  // namespace holotone::cli
