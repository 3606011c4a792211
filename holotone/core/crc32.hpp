#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace holotone {

/// CRC-32 of ISO 3309, the one of PNG, ZIP and zlib: polynomial 0xEDB88320 reflected, first and last complemented. Cost O(n).
inline std::uint32_t crc32(std::span<const std::byte> bytes) {
  static constexpr auto table = [] {
    std::array<std::uint32_t, 256> entries{};
    for (std::uint32_t i = 0; i < 256; ++i) {
      std::uint32_t value = i;
      for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) != 0 ? 0xedb88320U : 0U);
      entries[i] = value;
    }
    return entries;
  }();
  std::uint32_t value = 0xffffffff;
  for (const std::byte byte : bytes) value = table[(value ^ static_cast<std::uint32_t>(byte)) & 0xff] ^ (value >> 8);
  return ~value;
}

}  // namespace holotone
