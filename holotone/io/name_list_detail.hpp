#pragma once
// Names of what a file states and a reader does not know, in one line. Not for users.
#include <string>
#include <string_view>
#include <vector>

namespace holotone::io {

/// "attributes a, b" or "attribute a"; of more than eight "attributes a, ... and 3 more". Names are made printable.
std::string list_unknown(std::string_view what, const std::vector<std::string>& names);

}  // namespace holotone::io
