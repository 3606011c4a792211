#pragma once
#include <cli/common/console.hpp>
#include <holotone/core/metadata.hpp>
#include <nlohmann/json.hpp>
#include <string>

namespace holotone::cli {

/// Metadata as JSON: numbers as numbers, whole ones without a fraction.
nlohmann::json json_of(const Metadata& metadata);

/// A metadata value for display: lengths and angles with units.
std::string readable(const std::string& key, const std::string& text);

/// Prints one line per key, lengths and angles with units.
void tell_metadata(const ConsoleOptions& console, const Metadata& metadata);

}  // namespace holotone::cli
