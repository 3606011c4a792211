#pragma once
#include <cli/options/option_table.hpp>
#include <optional>

namespace holotone::cli {

/// --compression of commands that write pictures; no level: auto.
/// With the name of the output, the option is refused for one that is neither PNG nor TIFF.
OptionRow compression_option(std::optional<int>& level, const std::string* output = nullptr);

}  // namespace holotone::cli
