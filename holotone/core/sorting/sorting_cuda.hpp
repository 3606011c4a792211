#pragma once
// Sorts and sums on CUDA, by CUB, compiled here alone: CUB costs each file that includes it 4 s. Calls enqueue on a
// stream and allocate nothing. Not for users.
#include <cstddef>
#include <cstdint>
#include <cuda_runtime.h>

namespace holotone::cuda {

/// Bits of keys that a sort compares: first <= bit < end.
struct KeyBits {
  int first = 0;
  int end = 32;
};

/// Bits of keys 0 to `last`.
KeyBits key_bits(std::uint64_t last);

/// An array, and another of the same size for a sort's passes to alternate between. A sort exchanges both if the last
/// pass wrote the other.
struct SortedArray {
  std::uint32_t* current = nullptr;
  std::uint32_t* other = nullptr;
};

/// Sorts keys, and values with them, stably. `count` is below 2^32, `bytes` at least those of sort_pairs_bytes.
void sort_pairs(void* scratch, std::size_t bytes, SortedArray& keys, SortedArray& values, std::int64_t count,
                KeyBits bits, cudaStream_t stream);
std::size_t sort_pairs_bytes(std::int64_t count, KeyBits bits);

/// The same, for arrays that keep their contents: the scratch memory holds copies.
void sort_pairs_into(void* scratch, std::size_t bytes, const std::uint32_t* keys, std::uint32_t* sorted_keys,
                     const std::uint32_t* values, std::uint32_t* sorted_values, std::int64_t count, KeyBits bits,
                     cudaStream_t stream);
std::size_t sort_pairs_into_bytes(std::int64_t count, KeyBits bits);

/// sums[i] = numbers[0] + ... + numbers[i - 1] for 0 <= i < count. Number: int, std::uint32_t or std::int64_t; `count`
/// is below 2^32.
template <class Number>
void exclusive_sum(void* scratch, std::size_t bytes, const Number* numbers, Number* sums, std::int64_t count,
                   cudaStream_t stream);
template <class Number>
std::size_t exclusive_sum_bytes(std::int64_t count);

}  // namespace holotone::cuda
