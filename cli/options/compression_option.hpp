#pragma once
#include <cli/options/option_table.hpp>
#include <optional>

namespace holotone::cli {

/// --compression of commands that write pictures; no level: auto.
OptionRow compression_option(std::optional<int>& level);

}  // namespace holotone::cli
