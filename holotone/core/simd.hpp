#pragma once
// Loops that the compiler turns into vector code for the processor it meets at run time. Not for users.

/// Before a function of plain loops: it is compiled for AVX-512, AVX2 with FMA and the baseline, and the best
/// that the processor has is bound when the program starts. The inline functions it calls are compiled along
/// with it. Expands to nothing where the compiler or a sanitizer (which must be running before any such
/// binding) cannot do it.
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define HOLOTONE_SIMD_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define HOLOTONE_SIMD_CLONES
#endif

/// For small functions inside such loops: inlined whatever the size, so that the loop stays one.
#define HOLOTONE_ALWAYS_INLINE __attribute__((always_inline)) inline
