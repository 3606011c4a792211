#pragma once
// Bytes of TIFF files, written without the library.
#include <cstdint>
#include <string>

namespace io_fixtures {

/// A number of `count` bytes.
inline void append(std::string& bytes, std::uint32_t value, int count, bool little = true) {
  for (int k = 0; k < count; ++k) bytes += static_cast<char>(value >> 8 * (little ? k : count - 1 - k));
}

/// An entry of one number of type 3 (16 bits) or 4 (32 bits).
inline void append_entry(std::string& bytes, std::uint32_t tag, std::uint32_t type, std::uint32_t value,
                         bool little = true) {
  append(bytes, tag, 2, little);
  append(bytes, type, 2, little);
  append(bytes, 1, 4, little);
  append(bytes, value, type == 3 ? 2 : 4, little);
  if (type == 3) append(bytes, 0, 2, little);
}

/// A little-endian TIFF of one strip: `samples` numbers a pixel, ExtraSamples if `extra` is not negative, an ICC
/// profile unless it is empty.
inline std::string tiff_of(std::uint32_t nx, std::uint32_t ny, std::uint32_t samples, std::uint32_t bits, bool floats,
                           int extra, const std::string& pixels, const std::string& profile = {}) {
  const std::uint32_t entries = 11 + (extra >= 0 ? 1 : 0) + (profile.empty() ? 0 : 1);
  const std::uint32_t bits_at = 8 + 2 + 12 * entries + 4;
  std::string bytes = "II";
  append(bytes, 42, 2);
  append(bytes, 8, 4);
  append(bytes, entries, 2);
  append_entry(bytes, 256, 3, nx);
  append_entry(bytes, 257, 3, ny);
  append(bytes, 258, 2);
  append(bytes, 3, 2);
  append(bytes, samples, 4);
  if (samples > 2) append(bytes, bits_at, 4);
  if (samples <= 2) append(bytes, samples == 2 ? bits << 16 | bits : bits, 4);
  append_entry(bytes, 259, 3, 1);
  append_entry(bytes, 262, 3, samples > 2 ? 2 : 1);
  append_entry(bytes, 273, 4, bits_at + 2 * samples);
  append_entry(bytes, 277, 3, samples);
  append_entry(bytes, 278, 3, ny);
  append_entry(bytes, 279, 4, static_cast<std::uint32_t>(pixels.size()));
  append_entry(bytes, 284, 3, 1);
  if (extra >= 0) append_entry(bytes, 338, 3, static_cast<std::uint32_t>(extra));
  append_entry(bytes, 339, 3, floats ? 3 : 1);
  if (!profile.empty()) {
    append(bytes, 34675, 2);
    append(bytes, 7, 2);
    append(bytes, static_cast<std::uint32_t>(profile.size()), 4);
    append(bytes, static_cast<std::uint32_t>(bits_at + 2 * samples + pixels.size()), 4);
  }
  append(bytes, 0, 4);
  for (std::uint32_t k = 0; k < samples; ++k) append(bytes, bits, 2);
  return bytes + pixels + profile;
}

}  // namespace io_fixtures
