#pragma once
// Not for users.
#include <nlohmann/json.hpp>
#include <string>

namespace holotone::io {

/// The text of a JSON value, in one line if `indent` is -1. Bytes of file names that are not UTF-8 become U+FFFD.
template <class Json>
std::string json_text(const Json& value, int indent = -1) {
  return value.dump(indent, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace holotone::io
