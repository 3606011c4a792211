#pragma once
// Bytes of PFM and OpenEXR files, written without the library.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <vector>
#include <zlib.h>

namespace io_fixtures {

/// The nearest half of a number of up to 11 bits that is normal, 0, infinite or NaN.
inline std::uint16_t half_of(float number) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &number, 4);
  const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000);
  const int exponent = static_cast<int>(bits >> 23 & 255);
  const auto fraction = static_cast<std::uint16_t>(bits >> 13 & 1023);
  if (exponent == 0) return sign;
  if (exponent == 255) return static_cast<std::uint16_t>(sign | 0x7c00 | fraction);
  return static_cast<std::uint16_t>(sign | (exponent - 112) << 10 | fraction);
}

template <class T>
void append_number(std::string& bytes, T number) {
  bytes.append(reinterpret_cast<const char*>(&number), sizeof number);  // little-endian, as all machines of the tests
}

/// A PFM of rows from the top; `scale` < 0: little-endian.
inline std::string pfm_of(std::int64_t nx, std::int64_t ny, std::int64_t channels, const std::vector<float>& values,
                          const std::string& scale = "-1", const std::string& line = "\n") {
  std::string bytes =
      (channels == 3 ? "PF" : "Pf") + line + std::to_string(nx) + " " + std::to_string(ny) + line + scale + line;
  for (std::int64_t row = ny - 1; row >= 0; --row) {
    for (std::int64_t i = row * nx * channels; i < (row + 1) * nx * channels; ++i) {
      std::string number;
      append_number(number, values[static_cast<std::size_t>(i)]);
      if (scale[0] != '-') std::ranges::reverse(number);
      bytes += number;
    }
  }
  return bytes;
}

/// What an OpenEXR file of lines states.
struct Exr {
  struct Channel {
    std::string name;
    std::uint32_t type = 2;  ///< 1 half, 2 float
    std::uint32_t sampling = 1;
  };
  std::vector<Channel> channels;  ///< in alphabetical order
  std::array<std::int32_t, 4> data{};
  std::array<std::int32_t, 4> display{};
  int compression = 0;  ///< 0 none, 2 zip of single lines
  std::uint32_t version = 2;
  std::string more{};  ///< further attributes
};

inline std::string exr_attribute(const std::string& name, const std::string& type, const std::string& value) {
  std::string bytes = name + '\0' + type + '\0';
  append_number(bytes, static_cast<std::uint32_t>(value.size()));
  return bytes + value;
}

/// ZIP of OpenEXR: even bytes before odd ones, differences plus 128, zlib.
inline std::string exr_zip(const std::string& line) {
  std::string parted;
  for (std::size_t i = 0; i < line.size(); i += 2) parted += line[i];
  for (std::size_t i = 1; i < line.size(); i += 2) parted += line[i];
  for (std::size_t i = parted.size() - 1; i > 0; --i) parted[i] = static_cast<char>(parted[i] - parted[i - 1] + 128);
  uLongf size = compressBound(parted.size());
  std::string packed(size, '\0');
  compress(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(parted.data()),
           parted.size());
  packed.resize(size);
  return packed.size() < line.size() ? packed : line;
}

/// `value(channel, x, y)` of each pixel of the data window.
inline std::string exr_of(const Exr& exr, const std::function<float(std::size_t, int, int)>& value) {
  std::string list;
  for (const auto& channel : exr.channels) {
    list += channel.name + '\0';
    append_number(list, channel.type);
    append_number(list, std::uint32_t{0});
    append_number(list, channel.sampling);
    append_number(list, channel.sampling);
  }
  list += '\0';
  const auto window = [](const std::array<std::int32_t, 4>& corners) {
    std::string bytes;
    for (const auto corner : corners) append_number(bytes, corner);
    return bytes;
  };
  std::string one;
  append_number(one, 1.0F);
  std::string bytes = "\x76\x2f\x31\x01";
  append_number(bytes, exr.version);
  bytes += exr_attribute("channels", "chlist", list);
  bytes += exr_attribute("compression", "compression", std::string(1, static_cast<char>(exr.compression)));
  bytes += exr_attribute("dataWindow", "box2i", window(exr.data));
  bytes += exr_attribute("displayWindow", "box2i", window(exr.display));
  bytes += exr_attribute("lineOrder", "lineOrder", std::string(1, '\0'));
  if (exr.more.find("pixelAspectRatio") == std::string::npos) bytes += exr_attribute("pixelAspectRatio", "float", one);
  bytes += exr_attribute("screenWindowCenter", "v2f", std::string(8, '\0'));
  bytes += exr_attribute("screenWindowWidth", "float", one);
  bytes += exr.more + '\0';
  std::vector<std::string> lines;
  for (int y = exr.data[1]; y <= exr.data[3]; ++y) {
    std::string line;
    for (std::size_t c = 0; c < exr.channels.size(); ++c) {
      for (int x = exr.data[0]; x <= exr.data[2]; ++x) {
        const float number = value(c, x, y);
        if (exr.channels[c].type == 1) {
          append_number(line, half_of(number));
        } else {
          append_number(line, number);
        }
      }
    }
    if (exr.compression == 2) line = exr_zip(line);
    std::string head;
    append_number(head, static_cast<std::int32_t>(y));
    append_number(head, static_cast<std::uint32_t>(line.size()));
    lines.push_back(head + line);
  }
  std::uint64_t at = bytes.size() + 8 * lines.size();
  for (const auto& line : lines) {
    append_number(bytes, at);
    at += line.size();
  }
  for (const auto& line : lines) bytes += line;
  return bytes;
}

}  // namespace io_fixtures
