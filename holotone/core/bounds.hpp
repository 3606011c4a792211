#pragma once
#include <holotone/core/error.hpp>
#include <limits>
#include <string_view>

// The values that the members of options accept.
namespace holotone {

/// Values that a parameter accepts, both ends included; NaN is never accepted.
struct Bounds {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
};

/// Bounds of a member of an aggregate. A specialization beside the aggregate is their only declaration: the plan's
/// check, the command line's help and its errors read it.
template <auto Member>
inline constexpr Bounds bounds_of{};

/// Throws invalid_argument unless the value lies within the bounds.
inline void require_bounds(std::string_view where, std::string_view argument, double value, const Bounds& bounds) {
  require_range(where, argument, value, bounds.low, bounds.high);
}

}  // namespace holotone
