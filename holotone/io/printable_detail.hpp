#pragma once
// Not for users.
#include <string>
#include <string_view>

namespace holotone::io {

/// `text` in one line for a terminal: control characters and bytes that are not UTF-8 as escapes.
std::string printable(std::string_view text);

/// An error without the middle of a long value at its end.
std::string with_short_value(std::string_view what);

}  // namespace holotone::io
