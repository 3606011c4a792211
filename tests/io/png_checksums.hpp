#pragma once
// Checksums of PNG chunks, computed without the library.
#include <cstdint>
#include <string>
#include <string_view>

namespace io_fixtures {

inline std::uint32_t compute_crc(std::string_view bytes) {
  std::uint32_t crc = 0xffffffff;
  for (char c : bytes) {
    crc ^= static_cast<std::uint8_t>(c);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ (crc % 2 != 0 ? 0xedb88320 : 0);
  }
  return ~crc;
}

inline void store_big_endian(std::string& bytes, std::size_t at, std::uint32_t value) {
  for (std::size_t k = 0; k < 4; ++k) bytes[at + k] = static_cast<char>(value >> (24 - 8 * k));
}

inline std::uint32_t load_big_endian(const std::string& bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t k = 0; k < 4; ++k) value = value << 8 | static_cast<std::uint8_t>(bytes[at + k]);
  return value;
}

// Updates every chunk's checksum to its present content, so that libpng accepts the damage.
inline void repair_checksums(std::string& bytes) {
  std::size_t at = 8;
  while (at + 12 <= bytes.size()) {
    std::uint32_t length = load_big_endian(bytes, at);
    if (length > bytes.size() - at - 12) {
      length = static_cast<std::uint32_t>(bytes.size() - at - 12);
      store_big_endian(bytes, at, length);
    }
    store_big_endian(bytes, at + 8 + length, compute_crc(std::string_view(bytes).substr(at + 4, length + 4)));
    at += 12 + length;
  }
}

/// A chunk with its checksum.
inline std::string png_chunk(std::string_view type, std::string_view data) {
  std::string bytes(4, '\0');
  store_big_endian(bytes, 0, static_cast<std::uint32_t>(data.size()));
  bytes += type;
  bytes += data;
  bytes.resize(bytes.size() + 4);
  store_big_endian(bytes, bytes.size() - 4, compute_crc(std::string_view(bytes).substr(4, data.size() + 4)));
  return bytes;
}

}  // namespace io_fixtures
