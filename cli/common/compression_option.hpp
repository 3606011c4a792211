#pragma once
#include <cli/common/option_table.hpp>
#include <holotone/io/images/image.hpp>
#include <optional>
#include <string>

namespace holotone::cli {

/// --compression of commands that write pictures.
OptionRow compression_option(std::string& text);

OptionRow compression_option(std::optional<int>& level);

/// The level of --compression; none: auto. Throws invalid_argument.
std::optional<int> compression_of(const std::string& text);

}  // namespace holotone::cli
