#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace holotone {

/// CRC-32 of ISO 3309, as in PNG, ZIP and zlib. Cost O(n).
std::uint32_t crc32(std::span<const std::byte> bytes);

}  // namespace holotone
