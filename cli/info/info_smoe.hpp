#pragma once
#include <cli/common/console.hpp>
#include <string>

namespace holotone::cli {

/// Prints the properties of a model file. Throws io.
void tell_model(const std::string& path, const ConsoleOptions& console);

}  // namespace holotone::cli
