#pragma once
// Merges equal vertices. Not for users.
#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace holotone::io {

/// Numbers vertices of N floats in order of first occurrence; vertices with the same bits (zero has one sign) share a
/// number.
template <std::size_t N>
class Welder {
 public:
  /// Returns the vertex's number, and true if it is new. At most 2^32 - 1 vertices.
  std::pair<std::uint32_t, bool> weld(std::array<float, N> vertex) {
    for (auto& value : vertex) value += 0.0f;  // -0 becomes 0
    const Bits bits = std::bit_cast<Bits>(vertex);
    if (2 * vertices_.size() >= slots_.size()) grow();
    const std::size_t slot = find_slot(bits);
    if (slots_[slot] != none) return {slots_[slot], false};
    slots_[slot] = static_cast<std::uint32_t>(vertices_.size());
    vertices_.push_back(bits);
    return {slots_[slot], true};
  }
  [[nodiscard]] std::size_t size() const { return vertices_.size(); }

 private:
  using Bits = std::array<std::uint32_t, N>;
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

  static std::size_t hash(const Bits& bits) {
    std::uint64_t hash = 0;
    for (auto word : bits) {
      hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
      hash ^= hash >> 29;
    }
    return hash;
  }

  /// The slot of an equal vertex, or the free one where it belongs.
  [[nodiscard]] std::size_t find_slot(const Bits& bits) const {
    std::size_t slot = hash(bits) & (slots_.size() - 1);
    while (slots_[slot] != none && vertices_[slots_[slot]] != bits) slot = (slot + 1) & (slots_.size() - 1);
    return slot;
  }

  void grow() {
    constexpr std::size_t first_slots = 1024;
    slots_.assign(std::max(first_slots, 2 * slots_.size()), none);
    for (std::uint32_t i = 0; i < vertices_.size(); ++i) slots_[find_slot(vertices_[i])] = i;
  }

  std::vector<Bits> vertices_;
  std::vector<std::uint32_t> slots_;  // numbers of vertices by their hash; 2^k of them, at most half of them in use
};

}  // namespace holotone::io
