#pragma once
// What the CPU's ways of error diffusion share. Not for users. Their files are compiled with -ffp-contract=off: see
// phase_math.h.
#include <algorithm>
#include <holotone/quantize/error_diffusion_engine.hpp>

namespace holotone::diffusion {

/// A row of complex numbers, real and imaginary parts apart.
struct Parts {
  float* re;
  float* im;
};

/// h of a row, in the units of the job.
void read_row(const Complex* field, const Job& job, Parts sum, std::int64_t count);

/// A hogel's pixels.
struct HogelPlace {
  std::int64_t number;
  std::int64_t top;
  std::int64_t left;
  std::int64_t width;
  std::int64_t height;

  static HogelPlace of(const Job& job, std::int64_t number);
};

/// The code of a phase in turns or of an amplitude by the levels' boundaries.
inline std::uint8_t code_within(const Levels& levels, float place) {
  const auto above = std::upper_bound(levels.boundary.begin(), levels.boundary.end(), place);
  return levels.code[static_cast<std::size_t>(above - levels.boundary.begin())];
}

/// Whether rows can go side by side: raster order, taps that reach not too far.
bool skewed_can(const Job& job);

void diffuse_skewed(const Job& job, View<const Complex, 2> field, View<std::uint8_t, 2> codes);

}  // namespace holotone::diffusion
