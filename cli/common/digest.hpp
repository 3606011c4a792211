#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>

namespace holotone::cli {

inline constexpr std::uint64_t first_digest = 0xcbf29ce484222325;

/// FNV-1a over words of eight bytes, continued from `digest`. Identifies the content that unfinished rows belong to.
template <class T>
std::uint64_t digest_of(std::span<const T> values, std::uint64_t digest = first_digest) {
  constexpr std::uint64_t prime = 0x100000001b3;
  const auto* const bytes = reinterpret_cast<const char*>(values.data());
  const std::size_t count = values.size_bytes();
  for (std::size_t i = 0; i < count; i += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes + i, std::min(sizeof(word), count - i));
    digest = (digest ^ word) * prime;
  }
  return digest ^ count;
}

}  // namespace holotone::cli
