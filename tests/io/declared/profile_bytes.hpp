#pragma once
// ICC profiles (ICC.1:2001-04) and PNG files that hold them.
#include <cmath>
#include <cstdint>
#include <string>
#include <tests/io/png_checksums.hpp>
#include <tests/io/tiff_bytes.hpp>
#include <utility>
#include <vector>

namespace io_fixtures {

inline std::string big(std::uint32_t value, int count) {
  std::string bytes;
  append(bytes, value, count, false);
  return bytes;
}

inline std::string fixed(double value) { return big(static_cast<std::uint32_t>(std::lround(65536 * value)), 4); }

/// A display profile of ICC version 2 (ICC.1:2001-04): tags of `count` colorants, one curve for all.
inline std::string profile_of(const std::string& name, const std::string& space,
                              const std::vector<std::string>& colorants, const std::string& curve) {
  std::vector<std::pair<std::string, std::string>> tags;
  std::string text = "desc" + big(0, 4) + big(static_cast<std::uint32_t>(name.size() + 1), 4) + name;
  text += std::string(12 + 67 + 3, '\0');
  text.resize((text.size() + 3) / 4 * 4);
  tags.emplace_back("desc", text);
  tags.emplace_back("wtpt", "XYZ " + big(0, 4) + fixed(0.9505) + fixed(1) + fixed(1.0891));
  for (std::size_t c = 0; c < colorants.size(); ++c) {
    tags.emplace_back(std::string(1, "rgb"[c]) + "XYZ", colorants[c]);
    tags.emplace_back(std::string(1, "rgb"[c]) + "TRC", curve);
  }
  if (colorants.empty()) tags.emplace_back("kTRC", curve);
  std::string table = big(static_cast<std::uint32_t>(tags.size()), 4);
  std::string data;
  for (const auto& [tag, bytes] : tags) {
    table += tag + big(static_cast<std::uint32_t>(128 + 4 + 12 * tags.size() + data.size()), 4) +
             big(static_cast<std::uint32_t>(bytes.size()), 4);
    data += bytes;
  }
  std::string head = big(static_cast<std::uint32_t>(128 + table.size() + data.size()), 4) + big(0, 4) +
                     big(0x02100000, 4) + "mntr" + space + "XYZ " + std::string(12, '\0') + "acsp";
  head.resize(68);
  head += fixed(0.9642) + fixed(1) + fixed(0.8249);
  head.resize(128);
  return head + table + data;
}

inline std::string xyz(double x, double y, double z) { return "XYZ " + big(0, 4) + fixed(x) + fixed(y) + fixed(z); }

inline std::string gamma_curve(double gamma) {
  return "curv" + big(0, 4) + big(1, 4) + big(static_cast<std::uint32_t>(std::lround(256 * gamma)), 2) + big(0, 2);
}

/// A zlib stream of one stored block.
inline std::string stored(const std::string& bytes) {
  std::uint32_t a = 1;
  std::uint32_t b = 0;
  for (const char c : bytes) {
    a = (a + static_cast<unsigned char>(c)) % 65521;
    b = (b + a) % 65521;
  }
  std::string result = "\x78\x01\x01";
  append(result, static_cast<std::uint32_t>(bytes.size()), 2);
  append(result, ~static_cast<std::uint32_t>(bytes.size()) & 0xffff, 2);
  return result + bytes + big(b << 16 | a, 4);
}

/// PNG of one row of 8-bit pixels of colour type 0 or 2, with `chunks` before the pixels.
inline std::string make_png(std::uint32_t nx, int type, const std::string& pixels, const std::string& chunks) {
  const std::string head = big(nx, 4) + big(1, 4) + '\x08' + static_cast<char>(type) + std::string(3, '\0');
  return "\x89PNG\r\n\x1a\n" + png_chunk("IHDR", head) + chunks + png_chunk("IDAT", stored('\0' + pixels)) +
         png_chunk("IEND", "");
}

inline std::string profile_chunk(const std::string& profile) {
  return png_chunk("iCCP", std::string("name\0\0", 6) + stored(profile));
}

}  // namespace io_fixtures
