#pragma once
// Phases for error diffusion, by float32 arithmetic with every rounding fixed. Only multiply_add is fused: on the CPU
// files that include this are compiled with -ffp-contract=off. No instruction is approximate, so the CPU and CUDA give
// the same bits. Also compiled at run time on CUDA: includes nothing. Not for users.

#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
#define HOLOTONE_PHASE_INLINE __host__ __device__ __forceinline__
#else
#define HOLOTONE_PHASE_INLINE __attribute__((always_inline)) inline
#endif

namespace holotone::phase_math {

#if defined(__CUDA_ARCH__)
HOLOTONE_PHASE_INLINE float multiply(float a, float b) { return __fmul_rn(a, b); }
HOLOTONE_PHASE_INLINE float add(float a, float b) { return __fadd_rn(a, b); }
HOLOTONE_PHASE_INLINE float multiply_add(float a, float b, float c) { return __fmaf_rn(a, b, c); }
HOLOTONE_PHASE_INLINE float divide(float a, float b) { return __fdiv_rn(a, b); }
HOLOTONE_PHASE_INLINE float square_root(float a) { return __fsqrt_rn(a); }
HOLOTONE_PHASE_INLINE int to_bits(float a) { return __float_as_int(a); }
HOLOTONE_PHASE_INLINE float float_of(int bits) { return __int_as_float(bits); }
HOLOTONE_PHASE_INLINE float magnitude(float a) { return fabsf(a); }
HOLOTONE_PHASE_INLINE float larger_of(float a, float b) { return fmaxf(a, b); }
HOLOTONE_PHASE_INLINE float smaller_of(float a, float b) { return fminf(a, b); }
/// whole - a if `mirror`, else a. One predicated subtraction; the compiler would generate a subtraction and a move.
HOLOTONE_PHASE_INLINE float mirrored(float a, float whole, bool mirror) {
  asm("{\n .reg .pred p;\n setp.ne.s32 p, %2, 0;\n @p sub.rn.f32 %0, %1, %0;\n}"
      : "+f"(a)
      : "f"(whole), "r"(static_cast<int>(mirror)));
  return a;
}
#else
HOLOTONE_PHASE_INLINE float multiply(float a, float b) { return a * b; }
HOLOTONE_PHASE_INLINE float add(float a, float b) { return a + b; }
HOLOTONE_PHASE_INLINE float multiply_add(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
HOLOTONE_PHASE_INLINE float divide(float a, float b) { return a / b; }
HOLOTONE_PHASE_INLINE float square_root(float a) { return __builtin_sqrtf(a); }
HOLOTONE_PHASE_INLINE int to_bits(float a) { return __builtin_bit_cast(int, a); }
HOLOTONE_PHASE_INLINE float float_of(int bits) { return __builtin_bit_cast(float, bits); }
HOLOTONE_PHASE_INLINE float magnitude(float a) { return __builtin_fabsf(a); }
HOLOTONE_PHASE_INLINE float larger_of(float a, float b) { return b > a ? b : a; }
HOLOTONE_PHASE_INLINE float smaller_of(float a, float b) { return b > a ? a : b; }
HOLOTONE_PHASE_INLINE float mirrored(float a, float whole, bool mirror) { return mirror ? whole - a : a; }
#endif

/// arg(re + i im) / 2 pi times `whole`, a power of two, in [-whole / 2, whole / 2]; 0 for zero. Error at most 2.5e-6
/// turns if max(|re|, |im|) is 1e-37 to 1e37; an unspecified number otherwise. smaller / larger by two Newton steps
/// from an integer subtraction (relative error 1.1e-6), arctan(t) / 2 pi = t P(t^2) on [0, 1] with the minimax
/// polynomial P of degree 4 (error 1.9e-6, Remez).
HOLOTONE_PHASE_INLINE float phase_of(float re, float im, float whole) {
  const float a = magnitude(re);
  const float b = magnitude(im);
  const bool steep = b > a;
  const float larger = larger_of(a, b);
  const float smaller = smaller_of(a, b);
  const float guess = float_of(0x7EF2A89A - to_bits(larger));
  const float nearer = multiply(guess, multiply_add(-larger, guess, 0x1.002d4ap+1f));
  const float ratio = multiply(multiply(smaller, nearer), multiply_add(-larger, nearer, 0x1.000008p+1f));
  const float s = multiply(ratio, ratio);
  float p = 0x1.b2d848p-9f * whole;
  p = multiply_add(p, s, -0x1.bc1b42p-7f * whole);
  p = multiply_add(p, s, 0x1.d5c84cp-6f * whole);
  p = multiply_add(p, s, -0x1.aea686p-5f * whole);
  p = multiply_add(p, s, 0x1.45e7e0p-3f * whole);
  p = multiply(p, ratio);
  p = mirrored(p, 0.25f * whole, steep);
  p = mirrored(p, 0.5f * whole, re < 0);
  return float_of(to_bits(p) ^ (to_bits(im) & static_cast<int>(0x80000000u)));
}

/// Integer nearest to a (ties to even), |a| < 2^21, in the lowest 21 bits.
HOLOTONE_PHASE_INLINE int rounded_bits(float a) { return to_bits(add(a, 12582912.0f)); }
/// The same modulo a power of two.
HOLOTONE_PHASE_INLINE int nearest_level(float a, int power_of_two) { return rounded_bits(a) & (power_of_two - 1); }

struct alignas(8) Parts32 {
  float re, im;
};

/// True if |value| exceeds a radius, most = radius^2, or is NaN.
HOLOTONE_PHASE_INLINE bool beyond(Parts32 value, float most) {
  return !(multiply_add(value.re, value.re, multiply(value.im, value.im)) <= most);
}

/// Scales a value beyond the radius to the modulus `radius`.
HOLOTONE_PHASE_INLINE Parts32 clipped(Parts32 value, float radius) {
  constexpr float large = 0x1p+60f;
  const float down = magnitude(value.re) > large || magnitude(value.im) > large ? 0x1p-80f : 1.0f;
  const float re = multiply(value.re, down);
  const float im = multiply(value.im, down);
  const float factor = divide(radius, square_root(multiply_add(re, re, multiply(im, im))));
  return {multiply(re, factor), multiply(im, factor)};
}

/// Amplitude of a pixel: (1 + re / scale) / 2, clipped to 0 .. 1.
HOLOTONE_PHASE_INLINE float lightness_of(float re, float scale) {
  const float part = divide(re, scale);
  const float within = part > 1 ? 1.0f : (part < -1 ? -1.0f : part);
  return multiply(add(1.0f, within), 0.5f);
}

}  // namespace holotone::phase_math
