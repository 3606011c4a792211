#pragma once
#include <cli/common/console.hpp>
#include <holotone/core/metadata.hpp>
#include <nlohmann/json.hpp>
#include <string>

namespace holotone::cli {

/// Metadata as JSON: numbers as numbers, whole ones without a fraction.
nlohmann::json make_json(const Metadata& metadata);

/// A metadata value for display: lengths and angles with units.
std::string readable(const std::string& key, const std::string& text);
/// A metadata key in words: without its unit, which the value has.
std::string key_in_words(std::string key);

/// Prints one line per key, lengths and angles with units.
void tell_metadata(const ConsoleOptions& console, const Metadata& metadata);

}  // namespace holotone::cli
