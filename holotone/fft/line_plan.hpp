#pragma once
// How a group of work items transforms lines in registers and local memory. Not for users.
#include <cstdint>
#include <optional>
#include <vector>

namespace holotone::fft {

/// Steps of an FFT of one line (Stockham 1966, see Van Loan, "Computational Frameworks for the Fast Fourier
/// Transform", 1992): each takes radix-point transforms, values change places between steps.
struct LinePlan {
  int length = 0;
  std::vector<int> radices;  ///< their product is the length
  int items = 0;             ///< work items a line
  int values = 0;            ///< values that an item holds at most
};

inline constexpr int max_steps = 6;

/// The plan of least estimated time with at most `max_items` items of at most `max_values` values; none if the length
/// has a prime factor above 7 or is too long.
std::optional<LinePlan> plan_line(std::int64_t length, int max_items, int max_values);

}  // namespace holotone::fft
