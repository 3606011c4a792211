#pragma once
// Not for users.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <holotone/core/parallel.hpp>
#include <span>
#include <vector>

namespace holotone {

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

/// The same of what is large: the digest of the digests of pieces of 1 MiB, by all CPU threads.
template <class T>
std::uint64_t digest_of_pieces(std::span<const T> values, std::uint64_t digest = first_digest) {
  constexpr std::size_t piece = (1 << 20) / sizeof(T);
  std::vector<std::uint64_t> digests((values.size() + piece - 1) / piece);
  parallel_for(0, std::ssize(digests), [&](std::int64_t i) {
    const std::size_t first = static_cast<std::size_t>(i) * piece;
    digests[static_cast<std::size_t>(i)] = digest_of(values.subspan(first, std::min(piece, values.size() - first)));
  });
  return digest_of<std::uint64_t>(digests, digest);
}

}  // namespace holotone
