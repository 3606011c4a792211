#pragma once
// Not for users.
#include <string>
#include <string_view>

namespace holotone::io {

/// Base64 with padding (RFC 4648, section 4), for data in HTML.
std::string base64(std::string_view bytes);

}  // namespace holotone::io
