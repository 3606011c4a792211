// Counter-based random numbers: the same bits as core/random.hpp.
static ulong random_bits(ulong seed, ulong counter) {
  ulong z = counter * 0x9e3779b97f4a7c15UL + (seed ^ 0xd1b54a32d192ed03UL) * 0xbf58476d1ce4e5b9UL;
  for (int round = 0; round < 2; ++round) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9UL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebUL;
    z ^= z >> 31;
  }
  return z;
}

// Uniform in [0, 1), 24 bits.
static float random_uniform(ulong seed, ulong counter) { return (float)(random_bits(seed, counter) >> 40) * 0x1p-24f; }
