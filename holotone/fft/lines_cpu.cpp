// What lines need, in every library.
#include <fmt/format.h>
#include <holotone/fft/lines_cpu.hpp>

namespace holotone::fft {

void require_lines(std::int64_t length, std::int64_t distance) {
  if (length < 1 || length > (std::int64_t{1} << 30)) {
    throw_argument("LinePlan", "length", "1 to 2^30", fmt::format("{}", length));
  }
  if (distance != line_distance(distance)) {
    throw_argument("LinePlan", "distance", "a multiple of 8", fmt::format("{}", distance));
  }
}

void require_aligned(const void* data) {
  if (reinterpret_cast<std::uintptr_t>(data) % line_alignment != 0) {
    throw_argument("LinePlan", "data", fmt::format("lines at multiples of {} bytes", line_alignment), "others");
  }
}

}  // namespace holotone::fft
