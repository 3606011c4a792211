#pragma once
#include <cstdint>

// Counter-based random numbers. A value depends only on (seed, counter), so its bits are the same on every backend and
// number of threads.
#if defined(__CUDACC__)
#define HOLOTONE_HOST_DEVICE __host__ __device__
#else
#define HOLOTONE_HOST_DEVICE
#endif

namespace holotone {

/// 64 random bits for (seed, counter): two rounds of the SplitMix64 finaliser (Steele, Lea, Flood 2014).
HOLOTONE_HOST_DEVICE inline std::uint64_t random_bits(std::uint64_t seed, std::uint64_t counter) {
  std::uint64_t z = counter * 0x9e3779b97f4a7c15ull + (seed ^ 0xd1b54a32d192ed03ull) * 0xbf58476d1ce4e5b9ull;
  for (int round = 0; round < 2; ++round) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    z ^= z >> 31;
  }
  return z;
}

/// Uniform in [0, 1), 24 bits.
HOLOTONE_HOST_DEVICE inline float random_uniform(std::uint64_t seed, std::uint64_t counter) {
  return static_cast<float>(random_bits(seed, counter) >> 40) * 0x1p-24f;
}

/// Uniform in [0, 1), 53 bits.
HOLOTONE_HOST_DEVICE inline double random_uniform64(std::uint64_t seed, std::uint64_t counter) {
  return static_cast<double>(random_bits(seed, counter) >> 11) * 0x1p-53;
}

}  // namespace holotone
