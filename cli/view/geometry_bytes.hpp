#pragma once
#include <bit>
#include <string>
#include <type_traits>
#include <vector>

namespace holotone::cli {

static_assert(std::endian::native == std::endian::little, "the page reads little-endian numbers");

/// Appends an array's bytes to a payload.
template <class T>
void append_bytes(std::string& payload, const std::vector<T>& values) {
  static_assert(std::is_trivially_copyable_v<T>);
  payload.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

}  // namespace holotone::cli
