#pragma once
#include <cli/common/console.hpp>
#include <string>

namespace holotone::cli {

/// True if a file can hold nothing but dots: SVG, DAT, XY, a table that Holotone wrote.
bool is_dots_file(const std::string& path);

/// Prints the properties of a dot file. Throws as read_dots_file.
void tell_dots(const std::string& path, const ConsoleOptions& console);

}  // namespace holotone::cli
