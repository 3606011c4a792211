#include <algorithm>
#include <cli/info/info_metadata.hpp>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <holotone/core/units.hpp>
#include <optional>

namespace holotone::cli {
namespace {

std::optional<double> number_in(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  const bool whole_text = !text.empty() && end == text.c_str() + text.size();
  return whole_text && std::isfinite(value) ? std::optional(value) : std::nullopt;
}

}  // namespace

std::string readable(const std::string& key, const std::string& text) {
  const auto number = number_in(text);
  if (number && key.ends_with("_m")) return format_length(*number);
  if (number && key.ends_with("_rad")) return fmt::format("{:.6g} rad", *number);
  if (number && text.find_first_of(".e") != std::string::npos) return fmt::format("{:.6g}", *number);
  return text.size() > 100 ? text.substr(0, 100) + "..." : text;
}

std::string key_in_words(std::string key) {
  for (const std::string_view unit : {"_m", "_rad"}) {
    if (key.ends_with(unit)) key.resize(key.size() - unit.size());
  }
  std::ranges::replace(key, '_', ' ');
  return key;
}

nlohmann::json make_json(const Metadata& metadata) {
  auto object = nlohmann::json::object();
  for (const auto& [key, text] : metadata) {
    const auto number = number_in(text);
    const bool whole = number && std::abs(*number) < 9e15 && text.find_first_not_of("-0123456789") == std::string::npos;
    if (whole) {
      object[key] = static_cast<std::int64_t>(*number);  // counts without a fraction: 437645, not 437645.0
    } else {
      object[key] = number ? nlohmann::json(*number) : nlohmann::json(text);
    }
  }
  return object;
}

void tell_metadata(const ConsoleOptions& console, const Metadata& metadata) {
  for (const auto& [key, text] : metadata)
    report(console, fmt::format("  {:<22} {}", key.substr(0, 100), readable(key, text)));
}

}  // namespace holotone::cli
