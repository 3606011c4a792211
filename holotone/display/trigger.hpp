#pragma once
#include <cstdint>
#include <holotone/core/array.hpp>

namespace holotone {

/// Squares in the lower right corner of a panel that photodiodes of a laser's controller look at: one for each field of
/// a sequence, side by side. The lit one has the highest code, the others have code 0.
struct Trigger {
  std::int64_t side_px = 32;
  std::int64_t fields = 1;  ///< squares; the last is in the corner
  std::int64_t lit = 0;     ///< -1: none
};

/// Draws the squares over codes {ny, nx} or {ny, nx, channels} in host memory. Throws invalid_argument if they do not
/// fit.
void draw_trigger(View<std::uint8_t, 2> codes, const Trigger& trigger);
void draw_trigger(View<std::uint16_t, 2> codes, const Trigger& trigger);
void draw_trigger(View<std::uint8_t, 3> codes, const Trigger& trigger);

}  // namespace holotone
