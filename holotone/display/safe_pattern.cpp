#include <algorithm>
#include <holotone/display/safe_pattern.hpp>

namespace holotone {

Array<std::uint8_t, 2> safe_pattern(const SafePattern& pattern, Shape<2> shape) {
  const int period = pattern.period_px;
  if (period != 0) require_bounds("safe_pattern", "period_px", period, bounds_of<&SafePattern::period_px>);
  require_bounds("safe_pattern", "level", pattern.level, bounds_of<&SafePattern::level>);
  Array<std::uint8_t, 2> codes(shape);
  for (std::int64_t x = 0; x < shape[1] && shape[0] > 0; ++x) {
    codes(0, x) = static_cast<std::uint8_t>(period == 0 ? pattern.level : 256 * (x % period) / period);
  }
  for (std::int64_t y = 1; y < shape[0]; ++y) std::copy_n(&codes(0, 0), shape[1], &codes(y, 0));
  return codes;
}

}  // namespace holotone
