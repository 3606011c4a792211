#pragma once
// What the CPU's ways of error diffusion share. Not for users. Their files are compiled with -ffp-contract=off: see turns_math.h.
#include <holotone/quantize/error_diffusion_engine.hpp>
#include <span>

namespace holotone::diffusion {

/// A row of complex numbers, real and imaginary parts apart.
struct Parts {
  float* re;
  float* im;
};

/// h of a row: the field over its scale, no longer than 1.
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

/// How far taps reach.
struct Reach {
  std::int64_t columns = 0;
  std::int64_t rows = 1;  ///< their own among them

  static Reach of(const DiffusionWeights& weights);
};

/// Hogels that are worked on side by side, a lane of a vector each.
inline constexpr int lanes = 16;

/// Whether groups can do this job: levels in equal steps that do not lie on a line.
bool groups_can(const Job& job);

/// Up to `lanes` hogels of one size.
void diffuse_group(const Job& job, std::span<const HogelPlace> hogels, View<const Complex, 2> field,
                   View<std::uint8_t, 2> codes);

}  // namespace holotone::diffusion
