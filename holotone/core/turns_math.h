#pragma once
// Phases in turns by float32 arithmetic with every rounding fixed; the CPU, CUDA and OpenCL compile this one text.
// No operation is fused: C++ files that include this are compiled with -ffp-contract=off, CUDA uses the _rn intrinsics,
// OpenCL has a pragma. Division and square root are correctly rounded on all three (OpenCL: opencl::exact_division),
// so all give the same bits. Not for users.

#if defined(__OPENCL_C_VERSION__)
#pragma OPENCL FP_CONTRACT OFF
#define HOLOTONE_TURNS_INLINE static
typedef struct Complex32 Complex32;
typedef struct Octant Octant;
#else
#if defined(__CUDACC__)
#define HOLOTONE_TURNS_INLINE __host__ __device__ __forceinline__
#else
#define HOLOTONE_TURNS_INLINE __attribute__((always_inline)) inline
#endif
namespace holotone::turns_math {
#endif

#if defined(__CUDA_ARCH__)
HOLOTONE_TURNS_INLINE float multiply(float a, float b) { return __fmul_rn(a, b); }
HOLOTONE_TURNS_INLINE float add(float a, float b) { return __fadd_rn(a, b); }
HOLOTONE_TURNS_INLINE float divide(float a, float b) { return __fdiv_rn(a, b); }
HOLOTONE_TURNS_INLINE float square_root(float a) { return __fsqrt_rn(a); }
#else
HOLOTONE_TURNS_INLINE float multiply(float a, float b) { return a * b; }
HOLOTONE_TURNS_INLINE float add(float a, float b) { return a + b; }
HOLOTONE_TURNS_INLINE float divide(float a, float b) { return a / b; }
#if defined(__OPENCL_C_VERSION__)
HOLOTONE_TURNS_INLINE float square_root(float a) { return sqrt(a); }
#else
HOLOTONE_TURNS_INLINE float square_root(float a) { return __builtin_sqrtf(a); }
#endif
#endif
HOLOTONE_TURNS_INLINE float magnitude(float a) { return a < 0 ? -a : a; }

struct Complex32 {
  float re, im;
};

/// Ratio of the smaller to the larger of |re| and |im| (0 for zero), and the larger.
struct Octant {
  float ratio, larger;
};

HOLOTONE_TURNS_INLINE Octant octant_of(Complex32 u) {
  const float a = magnitude(u.re);
  const float b = magnitude(u.im);
  const float larger = a > b ? a : b;
  const float smaller = a > b ? b : a;
  const Octant octant = {divide(smaller, larger == 0 ? 1.0f : larger), larger};
  return octant;
}

/// arg(u) / 2 pi in [0, 1) from its octant; 0 for zero, NaN for NaN. arctan(r) / 2 pi = r P(r^2) on [0, 1], P of
/// degree 8 by Chebyshev interpolation: error 1.4e-8, exact at r = 0 and 1. Total error at most 6e-8 turns.
HOLOTONE_TURNS_INLINE float turns_of_octant(Complex32 u, Octant octant) {
  const float s = multiply(octant.ratio, octant.ratio);
  float p = 0x1.cda776p-12f;
  p = add(multiply(p, s), -0x1.482a70p-9f);
  p = add(multiply(p, s), 0x1.b782e8p-8f);
  p = add(multiply(p, s), -0x1.84e39cp-7f);
  p = add(multiply(p, s), 0x1.14e252p-6f);
  p = add(multiply(p, s), -0x1.723894p-6f);
  p = add(multiply(p, s), 0x1.04a74ap-5f);
  p = add(multiply(p, s), -0x1.b2985ep-5f);
  p = add(multiply(p, s), 0x1.45f306p-3f);
  p = multiply(p, octant.ratio);
  const float steep = add(0.25f, -p);
  p = magnitude(u.im) > magnitude(u.re) ? steep : p;
  const float left = add(0.5f, -p);
  p = u.re < 0 ? left : p;
  const float below = add(1.0f, -p);
  p = u.im < 0 ? below : p;
  return p >= 1 ? 0.0f : p;
}

HOLOTONE_TURNS_INLINE float turns_of(Complex32 u) { return turns_of_octant(u, octant_of(u)); }

#if !defined(__OPENCL_C_VERSION__)
}  // namespace holotone::turns_math
#endif
