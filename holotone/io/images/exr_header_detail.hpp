#pragma once
// The header of OpenEXR files, read without the library: what is honoured and what is refused. Not for users.
#include <array>
#include <cstdint>
#include <holotone/core/array.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holotone::io {

/// Corners of a window in pixels, x to the right and y down; both ends are inside.
struct ExrWindow {
  std::int64_t min_x = 0;
  std::int64_t min_y = 0;
  std::int64_t max_x = -1;
  std::int64_t max_y = -1;
  [[nodiscard]] std::int64_t nx() const { return max_x - min_x + 1; }
  [[nodiscard]] std::int64_t ny() const { return max_y - min_y + 1; }
  bool operator==(const ExrWindow&) const = default;
};

struct ExrChannel {
  std::string name;
  std::int32_t type = 1;  ///< 0 integers, 1 half, 2 float
  bool subsampled = false;
};

struct ExrHeader {
  std::vector<ExrChannel> channels;
  ExrWindow data;
  ExrWindow display;
  int compression = 0;
  double pixel_aspect = 1;
  std::optional<std::array<double, 8>> primaries;  ///< x, y of red, green, blue and white
  std::string colours;                             ///< colorInteropID, else oiio:ColorSpace; empty: not stated
  std::optional<int> environment;                  ///< envmap: 0 latitudes and longitudes, 1 cube
  std::vector<std::string> unknown;                ///< attributes that may concern the numbers
};

/// Parses and checks the header. Throws io for deep files, several parts, and what is damaged.
ExrHeader parse_exr_header(std::string_view bytes, std::string_view path);

/// Names of the channels that are the picture, or the map of depths: R, G, B and A; Y and A; R; or the only one. For
/// depths before these: Z, a channel or layer by the name of a depth, another Z that is no vector's. Throws io naming
/// all channels if there are none, several alike, or not of half or float.
std::vector<std::string> exr_channels(const ExrHeader& header, bool as_depth, std::string_view path);

/// True of Z, Depth, depth.R, ViewLayer.Depth.Z, VRayZDepth and the like: its values are depths.
bool is_depth_channel(std::string_view channel);

/// Decodes channels {rows and columns of the data window, channels} by the library, in this process. Throws io, or
/// unsupported in a build without OpenEXR.
Array<float, 3> exr_pixels(std::string_view bytes, const ExrHeader& header, const std::vector<std::string>& channels,
                           const std::string& path);

/// The same in a child process, if the program begins main with guarded_child (in guarded/).
Array<float, 3> exr_pixels_guarded(std::string_view bytes, const ExrHeader& header,
                                   const std::vector<std::string>& channels, bool as_depth, const std::string& path);

}  // namespace holotone::io
