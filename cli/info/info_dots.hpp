#pragma once
#include <cli/common/console.hpp>
#include <string>

namespace holotone::cli {

/// Prints the properties of a dot file. Throws as read_dots_file.
void tell_dots(const std::string& path, const ConsoleOptions& console);

}  // namespace holotone::cli
