#pragma once
#include <cli/common/console.hpp>
#include <holotone/core/metadata.hpp>
#include <nlohmann/json.hpp>

namespace holotone::cli {

/// Numbers as numbers, whole ones without a fraction.
nlohmann::json json_of(const Metadata& metadata);

/// A line each, lengths and angles with their units.
void tell_metadata(const ConsoleOptions& console, const Metadata& metadata);

}  // namespace holotone::cli
