#pragma once
// Merges equal vertices. Not for users.
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>

namespace holotone::io {

/// Numbers vertices of N floats in order of first occurrence; vertices with the same bits (zero has one sign) share a
/// number.
template <std::size_t N>
class Welder {
 public:
  /// Returns the vertex's number, and true if it is new. At most 2^32 - 1 vertices.
  std::pair<std::uint32_t, bool> weld(std::array<float, N> vertex) {
    for (auto& value : vertex) value += 0.0f;  // -0 becomes 0
    const auto next = static_cast<std::uint32_t>(index_.size());
    const auto [entry, is_new] = index_.try_emplace(std::bit_cast<Bits>(vertex), next);
    return {entry->second, is_new};
  }
  [[nodiscard]] std::size_t size() const { return index_.size(); }

 private:
  using Bits = std::array<std::uint32_t, N>;
  struct Hash {
    std::size_t operator()(const Bits& bits) const {
      std::uint64_t hash = 0;
      for (auto word : bits) {
        hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 29;
      }
      return hash;
    }
  };
  std::unordered_map<Bits, std::uint32_t, Hash> index_;
};

}  // namespace holotone::io
