#pragma once
#include <cli/common/console.hpp>
#include <string>

namespace holotone::cli {

/// What `holotone info` says of a model's file. Throws io.
void tell_model(const std::string& path, const ConsoleOptions& console);

}  // namespace holotone::cli
