#pragma once
// For _cuda.cu files only: Fourier transforms of few values in registers. Not for users.
#include <holotone/core/kernel_parts_cuda.cuh>

namespace holotone::fft::lines {

using cuda::difference;
using cuda::product;
using cuda::sum;

/// a + factor b.
__device__ __forceinline__ float2 plus(float2 a, float factor, float2 b) {
  return {a.x + factor * b.x, a.y + factor * b.y};
}
__device__ __forceinline__ float2 turned(float2 a) { return {a.y, -a.x}; }  ///< -i a
/// i conj(a). Between two of these, the forward transform is the inverse one.
__device__ __forceinline__ float2 swapped(float2 a) { return {a.y, a.x}; }

/// exp(-2 pi i k / Count), made by the compiler. Taylor's series in float64, each angle within half a turn.
template <int Count>
struct Roots {
  float cosine[Count] = {};
  float sine[Count] = {};
  constexpr Roots() {
    for (int k = 0; k < Count; ++k) {
      const double angle = -2 * 3.14159265358979323846 * (2 * k > Count ? k - Count : k) / Count;
      double term = 1;
      double sums[2] = {};
      for (int n = 0; n < 28; ++n) {
        sums[n % 2] += n % 4 < 2 ? term : -term;
        term *= angle / (n + 1);
      }
      cosine[k] = static_cast<float>(sums[0]);
      sine[k] = static_cast<float>(sums[1]);
    }
  }
};

/// v exp(-2 pi i k / Count); k is known to the compiler.
template <int Count>
__device__ __forceinline__ float2 times_root(float2 v, int k) {
  constexpr Roots<Count> roots;
  if (k == 0) return v;
  if (4 * k == Count) return turned(v);
  return product(v, {roots.cosine[k], roots.sine[k]});
}

template <int Distance>
__device__ __forceinline__ void transform3(float2* v) {
  const float2 both = sum(v[Distance], v[2 * Distance]);
  const float2 apart = turned(difference(v[Distance], v[2 * Distance]));
  const float2 even = plus(v[0], -0.5F, both);
  v[0] = sum(v[0], both);
  v[Distance] = plus(even, 0.866025404F, apart);
  v[2 * Distance] = plus(even, -0.866025404F, apart);
}

template <int Distance>
__device__ __forceinline__ void transform4(float2* v) {
  const float2 a = sum(v[0], v[2 * Distance]);
  const float2 b = difference(v[0], v[2 * Distance]);
  const float2 c = sum(v[Distance], v[3 * Distance]);
  const float2 d = turned(difference(v[Distance], v[3 * Distance]));
  v[0] = sum(a, c);
  v[Distance] = sum(b, d);
  v[2 * Distance] = difference(a, c);
  v[3 * Distance] = difference(b, d);
}

template <int Distance>
__device__ __forceinline__ void transform5(float2* v) {
  constexpr float cosine1 = 0.309016994F;
  constexpr float cosine2 = -0.809016994F;
  constexpr float sine1 = 0.951056516F;
  constexpr float sine2 = 0.587785252F;
  const float2 sum1 = sum(v[Distance], v[4 * Distance]);
  const float2 sum2 = sum(v[2 * Distance], v[3 * Distance]);
  const float2 apart1 = turned(difference(v[Distance], v[4 * Distance]));
  const float2 apart2 = turned(difference(v[2 * Distance], v[3 * Distance]));
  const float2 even1 = plus(plus(v[0], cosine1, sum1), cosine2, sum2);
  const float2 even2 = plus(plus(v[0], cosine2, sum1), cosine1, sum2);
  const float2 odd1 = plus({sine1 * apart1.x, sine1 * apart1.y}, sine2, apart2);
  const float2 odd2 = plus({sine2 * apart1.x, sine2 * apart1.y}, -sine1, apart2);
  v[0] = sum(v[0], sum(sum1, sum2));
  v[Distance] = sum(even1, odd1);
  v[4 * Distance] = difference(even1, odd1);
  v[2 * Distance] = sum(even2, odd2);
  v[3 * Distance] = difference(even2, odd2);
}

/// Transforms Radix values that lie Distance apart; input and output in natural order. Those of several factors A B are
/// B transforms of A values, factors, and A transforms of B values (Cooley and Tukey 1965).
template <int Radix, int Distance = 1>
__device__ __forceinline__ void transform(float2* v) {
  if constexpr (Radix == 2) {
    const float2 first = v[0];
    v[0] = sum(first, v[Distance]);
    v[Distance] = difference(first, v[Distance]);
  } else if constexpr (Radix == 3) {
    transform3<Distance>(v);
  } else if constexpr (Radix == 4) {
    transform4<Distance>(v);
  } else if constexpr (Radix == 5) {
    transform5<Distance>(v);
  } else {
    constexpr int a_count = Radix == 16 ? 4 : Radix % 2 == 0 && Radix != 12 ? 2 : 3;
    constexpr int b_count = Radix / a_count;
    static_assert(Distance == 1 && a_count * b_count == Radix);
#pragma unroll
    for (int b = 0; b < b_count; ++b) transform<a_count, b_count>(v + b);
#pragma unroll
    for (int a = 1; a < a_count; ++a) {
#pragma unroll
      for (int b = 1; b < b_count; ++b) v[b_count * a + b] = times_root<Radix>(v[b_count * a + b], a * b);
    }
#pragma unroll
    for (int a = 0; a < a_count; ++a) transform<b_count>(v + b_count * a);
    float2 ordered[Radix];
#pragma unroll
    for (int i = 0; i < Radix; ++i) ordered[i / b_count + a_count * (i % b_count)] = v[i];
#pragma unroll
    for (int i = 0; i < Radix; ++i) v[i] = ordered[i];
  }
}

/// v[r] exp(-2 pi i r / (2 Radix)).
template <int Radix>
__device__ __forceinline__ void multiply_half_steps(float2* v) {
#pragma unroll
  for (int r = 1; r < Radix; ++r) v[r] = times_root<2 * Radix>(v[r], r);
}

/// v[r] first step^r from step and step^4. Each factor is a product of few, so that errors do not add up; four at a
/// time, to spare registers. If `Plain`, `first` is 1.
template <int Radix, bool Plain>
__device__ __forceinline__ void multiply_powers(float2* v, float4 steps, float2 first = {1, 0}) {
  const float2 step{steps.x, steps.y};
  const float2 fourth{steps.z, steps.w};
  const float2 square = product(step, step);
  float2 factors[4] = {Plain ? fourth : first, step, square, product(square, step)};
  if constexpr (!Plain) {
#pragma unroll
    for (int r = 1; r < 4; ++r) factors[r] = product(factors[r], first);
  }
#pragma unroll
  for (int r = Plain ? 1 : 0; r < Radix; ++r) {
    v[r] = product(v[r], factors[r % 4]);
    if (r + 4 < Radix) factors[r % 4] = product(factors[r % 4], fourth);
  }
}

}  // namespace holotone::fft::lines
