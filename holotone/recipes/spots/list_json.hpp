#pragma once
// JSON of lists of spots. Not for users.
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace holotone::spots {

/// Throws io naming the file for text that is no JSON, and the key that an object has twice.
nlohmann::json parse_json(std::string_view text, const std::string& path);

}  // namespace holotone::spots
