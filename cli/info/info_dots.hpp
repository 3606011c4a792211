#pragma once
#include <cli/common/console.hpp>
#include <string>

namespace holotone::cli {

/// Whether a file can only be one of dots: SVG, DAT, XY, a table that Holotone wrote.
bool is_dots_file(const std::string& path);

/// Prints what a file of dots holds. Throws as read_dots_file.
void tell_dots(const std::string& path, const ConsoleOptions& console);

}  // namespace holotone::cli
