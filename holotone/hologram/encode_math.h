#pragma once
// Code of a pixel; the CPU, CUDA and OpenCL compile this one text. float32 with every rounding fixed (turns_math.h), so
// that all three give the same bits: C++ files that include this are compiled with -ffp-contract=off. Not for users.

#if defined(__OPENCL_C_VERSION__)
#define HOLOTONE_DEVICE_MEMORY __global
#define HOLOTONE_TO_INT(value) ((int)(value))
typedef struct PhaseLevels PhaseLevels;
typedef struct AmplitudeRange AmplitudeRange;
#else
#include <holotone/core/turns_math.h>
#define HOLOTONE_DEVICE_MEMORY
#define HOLOTONE_TO_INT(value) static_cast<int>(value)

namespace holotone::encoding {

using turns_math::add;
using turns_math::Complex32;
using turns_math::divide;
using turns_math::magnitude;
using turns_math::multiply;
using turns_math::Octant;
using turns_math::octant_of;
using turns_math::square_root;
using turns_math::turns_of;
using turns_math::turns_of_octant;
#endif

#define HOLOTONE_ENCODE_INLINE HOLOTONE_TURNS_INLINE

/// |u| without overflow of the squares; relative error 3 ulp.
HOLOTONE_ENCODE_INLINE float absolute(Octant octant) {
  return multiply(octant.larger, square_root(add(1.0f, multiply(octant.ratio, octant.ratio))));
}

/// a + b modulo 1 for a, b in [0, 1).
HOLOTONE_ENCODE_INLINE float add_turns(float a, float b) {
  const float sum = add(a, b);
  const float wrapped = add(sum, -1.0f);
  return sum >= 1 ? wrapped : sum;
}

/// Mapping of phases to codes: equal steps, or (boundary not null) a sorted table with a bucket index.
struct PhaseLevels {
  float scale;      ///< codes per turn
  float last;       ///< last code used
  float threshold;  ///< phase, in codes, from which on code 0 is nearer than the last
  float buckets;    ///< number of buckets, a power of two
  /// Rising, {count}, in turns; null for equal steps.
  const HOLOTONE_DEVICE_MEMORY float* boundary;
  /// {count + 1}: code[r] of a phase with r boundaries at or below it.
  const HOLOTONE_DEVICE_MEMORY unsigned short* code;
  /// {buckets + 1}: number of boundaries at or below bucket / buckets.
  const HOLOTONE_DEVICE_MEMORY int* bucket;
};

HOLOTONE_ENCODE_INLINE int equal_step_code(float t, PhaseLevels levels) {
  const float q = multiply(t, levels.scale);
  float rounded = add(q, 0.5f);
  rounded = rounded > levels.last ? levels.last : rounded;
  return HOLOTONE_TO_INT(q < levels.threshold ? rounded : 0.0f);  // the comparison fails for NaN
}

HOLOTONE_ENCODE_INLINE int table_code(float t, PhaseLevels levels) {
  if (!(t >= 0)) return levels.code[0];  // NaN: as phase 0
  const int bucket = HOLOTONE_TO_INT(multiply(t, levels.buckets));
  int low = levels.bucket[bucket];
  int high = levels.bucket[bucket + 1];
  while (low < high) {  // almost always zero or one step: at least four buckets per boundary
    const int middle = (low + high) / 2;
    if (levels.boundary[middle] <= t) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return levels.code[low];
}

/// Half the angle between double_phase's two phases in turns: arccos(|u| / peak) / 2 pi in [0, 1/4].
HOLOTONE_ENCODE_INLINE float half_angle(Octant octant, float peak) {
  float a = divide(absolute(octant), peak);
  a = a > 1 ? 1.0f : a;
  const float sine = square_root(multiply(add(1.0f, -a), add(1.0f, a)));
  const Complex32 direction = {a, sine};
  return turns_of(direction);
}

/// +1 on the even squares of the checkerboard, -1 on the odd ones.
HOLOTONE_ENCODE_INLINE float checkerboard(int row_plus_column) { return (row_plus_column & 1) != 0 ? -1.0f : 1.0f; }

/// double_phase: arg u + sign half_angle in [0, 1). Without branches, for the vector units.
HOLOTONE_ENCODE_INLINE float double_phase_turns(Complex32 u, float peak, float sign) {
  const Octant octant = octant_of(u);
  const float sum = add(turns_of_octant(u, octant), multiply(sign, half_angle(octant, peak)));
  const float above = add(sum, 1.0f);
  const float below = add(sum, -1.0f);
  float t = sum < 0 ? above : sum;
  t = sum >= 1 ? below : t;
  return t >= 1 ? 0.0f : t;
}

/// Re(u conj(column row)).
HOLOTONE_ENCODE_INLINE float beam_real_part(Complex32 u, Complex32 column, Complex32 row) {
  const float re = add(multiply(column.re, row.re), -multiply(column.im, row.im));
  const float im = add(multiply(column.re, row.im), multiply(column.im, row.re));
  return add(multiply(u.re, re), multiply(u.im, im));
}

/// p_k - min p of p_j = 2/3 Re(u exp(+2 pi i j / 3)), k = column mod 3. The three p_j, times exp(-2 pi i j / 3), sum to
/// u, and so do the p_j - min p, since the three directions cancel.
HOLOTONE_ENCODE_INLINE float burckhardt_amplitude(Complex32 u, int column) {
  const float third = multiply(u.re, -0x1.555556p-2f);
  const float side = multiply(u.im, 0x1.279a74p-1f);  // 1 / sqrt(3)
  const float p0 = multiply(u.re, 0x1.555556p-1f);
  const float p1 = add(third, -side);
  const float p2 = add(third, side);
  const float least12 = p1 < p2 ? p1 : p2;
  const float least = p0 < least12 ? p0 : least12;
  const int k = column % 3;
  const float own12 = k == 1 ? p1 : p2;
  return add(k == 0 ? p0 : own12, -least);
}

/// Mapping of values to codes: floor((v - centre) gain + levels / 2), clamped; 0 is exactly mid-level if centre is 0.
struct AmplitudeRange {
  float centre, gain, half_levels, top;
};

HOLOTONE_ENCODE_INLINE AmplitudeRange amplitude_range(float low, float high, float levels) {
  const AmplitudeRange range = {multiply(add(low, high), 0.5f), divide(add(levels, -1.0f), add(high, -low)),
                                multiply(levels, 0.5f), add(levels, -1.0f)};
  return range;
}

HOLOTONE_ENCODE_INLINE int amplitude_code(float v, AmplitudeRange range) {
  const float q = add(multiply(add(v, -range.centre), range.gain), range.half_levels);
  const float below = q > 0 ? q : 0.0f;  // 0 for NaN
  return HOLOTONE_TO_INT(below > range.top ? range.top : below);
}

#if !defined(__OPENCL_C_VERSION__)
}  // namespace holotone::encoding
#endif
