#pragma once
// Places of samples in zero-padded lines, shared by the CPU loops and the CUDA kernels. Not for users.
#include <cstdint>
#include <holotone/core/random.hpp>  // HOLOTONE_HOST_DEVICE

namespace holotone::large_propagation {

/// Samples of a line that are kept: `head` at its begin and `tail` at its end; the others are zero. A field has no
/// tail; the tail of a spectrum holds the negative frequencies.
struct Kept {
  std::int64_t head = 0;
  std::int64_t tail = 0;
  std::int64_t length = 0;  ///< of the line
};

HOLOTONE_HOST_DEVICE inline std::int64_t kept_count(const Kept& kept) { return kept.head + kept.tail; }

/// Place in the line of kept sample i.
HOLOTONE_HOST_DEVICE inline std::int64_t kept_place(const Kept& kept, std::int64_t i) {
  return i < kept.head ? i : i + kept.length - kept.head - kept.tail;
}

/// Number of the kept sample at a place, or -1.
HOLOTONE_HOST_DEVICE inline std::int64_t kept_index(const Kept& kept, std::int64_t place) {
  if (place < kept.head) return place;
  const std::int64_t from_end = kept.length - place;
  return from_end <= kept.tail ? kept.head + kept.tail - from_end : -1;
}

/// Modulus of the frequency of kept sample i, in steps.
HOLOTONE_HOST_DEVICE inline std::int64_t kept_frequency(const Kept& kept, std::int64_t i) {
  const std::int64_t place = kept_place(kept, i);
  return 2 * place <= kept.length ? place : kept.length - place;
}

}  // namespace holotone::large_propagation
