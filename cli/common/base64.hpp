#pragma once
#include <string>
#include <string_view>

namespace holotone::cli {

/// Base64 with padding (RFC 4648, section 4), for data in HTML.
std::string base64(std::string_view bytes);

}  // namespace holotone::cli
