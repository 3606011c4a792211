#pragma once
// Shared by the CPU's loops of error diffusion. Not for users. Their files are compiled with -ffp-contract=off: see
// phase_math.h.
#include <algorithm>
#include <holotone/quantize/error_diffusion_engine.hpp>

namespace holotone::diffusion {

/// A row of complex numbers, real and imaginary parts in separate arrays.
struct Parts {
  float* re;
  float* im;
};

/// Computes h of a row, in the units of the job.
void read_row(const Complex* field, const Job& job, Parts sum, std::int64_t count);

/// Pixels of a hogel in the job's part.
struct HogelPlace {
  std::int64_t number;  ///< in the panel
  std::int64_t top;
  std::int64_t left;
  std::int64_t width;
  std::int64_t height;

  static HogelPlace of(const Job& job, std::int64_t number);
};

/// Returns the code of a phase in turns or of an amplitude, by the levels' boundaries.
inline std::uint8_t code_within(const Levels& levels, float place) {
  const auto above = std::upper_bound(levels.boundary.begin(), levels.boundary.end(), place);
  return levels.code[static_cast<std::size_t>(above - levels.boundary.begin())];
}

/// True if rows can be processed side by side: raster order, and taps within the limits of diffuse_skewed.
bool skewed_can(const Job& job);

void diffuse_skewed(const Job& job, View<const Complex, 2> field, View<std::uint8_t, 2> codes);

}  // namespace holotone::diffusion
