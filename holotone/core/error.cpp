#include <cmath>
#include <fmt/format.h>
#include <holotone/core/error.hpp>

namespace holotone {

void throw_argument(std::string_view where, std::string_view argument, std::string_view expected,
                    std::string_view got) {
  throw Error(ErrorCode::invalid_argument, fmt::format("{}: {}: expected {}, got {}", where, argument, expected, got));
}

void throw_io(std::string_view path, std::string_view expected, std::string_view got) {
  throw Error(ErrorCode::io, fmt::format("{}: expected {}, got {}", path, expected, got));
}

void require_positive(std::string_view where, std::string_view argument, double value) {
  if (!(std::isfinite(value) && value > 0)) throw_argument(where, argument, "> 0", fmt::format("{:g}", value));
}

void require_range(std::string_view where, std::string_view argument, double value, double low, double high) {
  if (!(value >= low && value <= high)) {
    throw_argument(where, argument, fmt::format("{:g} to {:g}", low, high), fmt::format("{:g}", value));
  }
}

}  // namespace holotone
