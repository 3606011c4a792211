#pragma once
// Loops that the compiler vectorises for the processor found at run time. Not for users.

/// Attribute of a function of plain loops. The function is compiled for AVX-512, AVX2 with FMA and the baseline. The
/// best version for the processor is bound at program start. Inline functions it calls are compiled with each version.
/// Empty for compilers without the feature and under sanitizers, which must run before such a binding.
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define HOLOTONE_SIMD_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define HOLOTONE_SIMD_CLONES
#endif

/// Forces inlining of a function into such a loop at any size, so that the loop is vectorised as a whole.
#define HOLOTONE_ALWAYS_INLINE __attribute__((always_inline)) inline
