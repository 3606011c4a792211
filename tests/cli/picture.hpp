#pragma once
#include <algorithm>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <holotone/io/images/image.hpp>
#include <stdexcept>
#include <string>
#include <vector>

// Reads pictures written by the program.
namespace holotone::test {

/// The pixels of a file's first channel as numbers.
struct Pixels {
  std::int64_t nx = 0;
  std::int64_t ny = 0;
  std::int64_t channels = 0;
  std::vector<double> value;  ///< all channels, interleaved
  [[nodiscard]] double at(std::int64_t row, std::int64_t col, std::int64_t channel = 0) const {
    return value[static_cast<std::size_t>((row * nx + col) * channels + channel)];
  }
};

/// A float32 .npy file {ny, nx} or {ny, nx, channels}, read without the library.
inline Pixels pixels_of_npy(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string start(10, '\0');
  file.read(start.data(), 10);
  std::string header(static_cast<std::size_t>(static_cast<unsigned char>(start[8])) +
                         256 * static_cast<std::size_t>(static_cast<unsigned char>(start[9])),
                     '\0');
  file.read(header.data(), static_cast<std::streamsize>(header.size()));
  if (header.find("'<f4'") == std::string::npos) throw std::runtime_error(path + ": not float32");
  Pixels pixels{0, 0, 1, {}};
  const char* at = header.c_str() + header.find('(') + 1;
  if (std::sscanf(at, "%" SCNd64 ", %" SCNd64 ", %" SCNd64, &pixels.ny, &pixels.nx, &pixels.channels) < 2) {
    throw std::runtime_error(path + ": no shape");
  }
  std::vector<float> values(static_cast<std::size_t>(pixels.ny * pixels.nx * pixels.channels));
  file.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(values.size() * sizeof(float)));
  if (!file) throw std::runtime_error(path + ": too short");
  pixels.value.assign(values.begin(), values.end());
  return pixels;
}

inline Pixels pixels_of(const std::string& path) {
  if (path.ends_with(".npy")) return pixels_of_npy(path);
  const Image image = read_image(path);
  const auto shape = shape_of(image);
  const auto plain = to_float(image);
  Pixels pixels{shape[1], shape[0], shape[2], {}};
  for (const float value : plain.host()) pixels.value.push_back(static_cast<double>(value));
  return pixels;
}

struct Spot {
  std::int64_t row = 0;
  std::int64_t col = 0;
};

inline Spot brightest(const Pixels& pixels) {
  Spot spot;
  for (std::int64_t row = 0; row < pixels.ny; ++row) {
    for (std::int64_t col = 0; col < pixels.nx; ++col) {
      if (pixels.at(row, col) > pixels.at(spot.row, spot.col)) spot = {row, col};
    }
  }
  return spot;
}

/// The pixel that shows a point of the scene: docs/conventions.md.
inline Spot pixel_of(double x_m, double y_m, std::int64_t nx, std::int64_t ny, double pitch_m) {
  return {static_cast<std::int64_t>(static_cast<double>(ny - 1) / 2 - y_m / pitch_m + 0.5),
          static_cast<std::int64_t>(x_m / pitch_m + static_cast<double>(nx - 1) / 2 + 0.5)};
}

}  // namespace holotone::test
