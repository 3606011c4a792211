#pragma once
// Warp-wide loads and stores and the hardware's power of two, for the kernels of mixtures. Not for users.

namespace holotone::smoe {

inline constexpr unsigned all_lanes = 0xFFFFFFFFU;

/// Reads a value by independent loads of 16 bytes.
template <class Value>
__device__ __forceinline__ Value load_words(const Value* from) {
  static_assert(sizeof(Value) % sizeof(uint4) == 0 && alignof(Value) == sizeof(uint4));
  constexpr int count = sizeof(Value) / sizeof(uint4);
  struct alignas(16) Words {
    uint4 word[count];
  } words;
#pragma unroll
  for (int i = 0; i < count; ++i) words.word[i] = reinterpret_cast<const uint4*>(from)[i];
  return __builtin_bit_cast(Value, words);
}

/// Writes the lanes' values one after another by coalesced stores. All lanes call it; `room`: shared memory for a
/// warp's values.
template <class Value>
__device__ __forceinline__ void store_side_by_side(const Value& value, Value* to, uint4* room) {
  constexpr int count = sizeof(Value) / sizeof(uint4);
  struct alignas(16) Words {
    uint4 word[count];
  };
  static_assert(sizeof(Words) == sizeof(Value));
  const auto words = __builtin_bit_cast(Words, value);
  const unsigned lane = threadIdx.x % 32;
  __syncwarp();
#pragma unroll
  for (int i = 0; i < count; ++i) room[lane * count + i] = words.word[i];
  __syncwarp();
#pragma unroll
  for (int i = 0; i < count; ++i) reinterpret_cast<uint4*>(to)[i * 32 + lane] = room[i * 32 + lane];
}

/// 2^x within two units in the last place; 0 below 2^-126.
__device__ __forceinline__ float power_of_two(float x) {
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}

}  // namespace holotone::smoe
