#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/images/exr_header_detail.hpp>
#include <holotone/io/images/image_formats_detail.hpp>
#include <holotone/io/name_list_detail.hpp>

namespace holotone::io {
namespace {

/// Bytes to which any compressed file may expand, and its largest ratio beyond.
constexpr std::uint64_t repetitive_bytes = std::uint64_t{1} << 25;
constexpr std::uint64_t max_ratio = 2000;

/// Rec. 709: x, y of red, green, blue and white.
constexpr std::array<double, 8> srgb_primaries{0.64, 0.33, 0.30, 0.60, 0.15, 0.06, 0.3127, 0.3290};

void check_sizes(const ExrHeader& header, std::size_t channels, std::uint64_t file_bytes, std::string_view path) {
  const bool packed = header.compression != 0;
  const auto size = [](std::int64_t side) { return static_cast<std::uint64_t>(side); };
  // Halves become floats, and a layer of many may be one that is read.
  check_extents(size(header.data.ny()), size(header.data.nx()), channels, sizeof(float), file_bytes,
                packed ? max_ratio : 2, path, packed ? repetitive_bytes : 64);
  // A display window without pixels costs memory, too.
  const auto pixels = size(header.data.ny()) * size(header.data.nx());
  check_extents(size(header.display.ny()), size(header.display.nx()), channels, sizeof(float),
                pixels * channels * sizeof(float), 16, path, repetitive_bytes);
}

/// The pixels of the display window, `outside` where there are no data.
Array<float, 3> shown(Array<float, 3> pixels, const ExrHeader& header, float outside) {
  if (header.data == header.display) return pixels;
  const std::int64_t channels = pixels.shape()[2];
  Array<float, 3> all({header.display.ny(), header.display.nx(), channels});
  std::ranges::fill(all.host(), outside);
  const auto& data = header.data;
  const auto& display = header.display;
  const std::int64_t left = std::max(data.min_x, display.min_x);
  const std::int64_t right = std::min(data.max_x, display.max_x);
  for (std::int64_t y = std::max(data.min_y, display.min_y); y <= std::min(data.max_y, display.max_y); ++y) {
    if (left > right) break;
    std::copy_n(pixels.data() + ((y - data.min_y) * data.nx() + left - data.min_x) * channels,
                (right - left + 1) * channels,
                all.data() + ((y - display.min_y) * display.nx() + left - display.min_x) * channels);
  }
  return all;
}

/// Divides colours by alpha and returns the number of pixels whose light has no alpha.
std::int64_t divide_colours(Array<float, 3>& pixels) {
  const std::int64_t channels = pixels.shape()[2];
  std::int64_t lost = 0;
  for (std::int64_t i = 0; i < pixels.size(); i += channels) {
    const float* const pixel = pixels.data() + i;
    if (pixel[channels - 1] == 0 && std::any_of(pixel, pixel + channels - 1, [](float c) { return c != 0; })) ++lost;
  }
  divide_by_alpha(pixels);
  return lost;
}

/// True of names of the Color Interop Forum, OpenImageIO and OpenColorIO for linear light, in colours of sRGB; of greys
/// for any linear light. What is not stated, or not known, is taken as such.
bool is_linear_srgb(std::string_view name, bool is_colour) {
  constexpr std::string_view linear[] = {
      "",       "unknown", "lin_rec709_scene",      "lin_rec709",  "lin_rec709_display", "lin_srgb",
      "Linear", "linear",  "Linear Rec.709 (sRGB)", "scene_linear"};
  if (std::ranges::find(linear, name) != std::end(linear)) return true;
  return !is_colour && (name.starts_with("lin_") || name == "ACEScg" || name == "lin_ap1_scene");
}

std::vector<std::string> notes_on(const ExrHeader& header, const std::vector<std::string>& channels,
                                  const ImageReadOptions& options, std::string_view path) {
  std::vector<std::string> notes;
  const bool is_plain = options.as_depth && is_depth_channel(channels.front());
  if (!is_plain && channels.size() < header.channels.size()) {
    std::vector<std::string> others;
    for (const auto& channel : header.channels) {
      if (std::ranges::find(channels, channel.name) == channels.end()) others.push_back(channel.name);
    }
    constexpr std::size_t most = 6;
    const std::string more = others.size() > most ? fmt::format(" and {} more", others.size() - most) : "";
    if (others.size() > most) others.resize(most);
    notes.push_back(fmt::format("{}: read {}; ignored: {}", path,
                                in_quotes(fmt::format("{}", fmt::join(channels, " "))),
                                in_quotes(fmt::format("{}{}", fmt::join(others, " "), more))));
  }
  if (std::abs(header.pixel_aspect - 1) > 1e-3) {
    notes.push_back(fmt::format("{}: pixelAspectRatio {:g} ignored: pixels are square", path, header.pixel_aspect));
  }
  const bool is_colour = channels.size() >= 3;
  const bool is_light = options.as_light || options.as_measured;
  if (is_light && !is_linear_srgb(header.colours, is_colour)) {
    notes.push_back(fmt::format("{}: its colours {} are ignored: taken as {}", path, in_quotes(header.colours),
                                is_colour ? "linear light of sRGB" : "linear light"));
  }
  if (header.environment) {
    notes.push_back(fmt::format("{}: a picture of all directions (envmap {}) is read as a flat one", path,
                                *header.environment == 0   ? "latlong"
                                : *header.environment == 1 ? "cube"
                                                           : "of another kind"));
  }
  if (!header.unknown.empty()) {
    notes.push_back(fmt::format("{}: ignored: {}", path, list_unknown("attribute", header.unknown)));
  }
  if (is_light && is_colour && header.primaries) {
    bool same = true;
    for (std::size_t i = 0; i < srgb_primaries.size(); ++i) {
      same = same && std::abs((*header.primaries)[i] - srgb_primaries[i]) < 1e-3;
    }
    if (!same) notes.push_back(fmt::format("{}: chromaticities ignored: colours are those of sRGB", path));
  }
  return notes;
}

}  // namespace

bool is_exr(std::string_view bytes) { return bytes.starts_with("\x76\x2f\x31\x01"); }

Image read_exr(std::string_view bytes, const std::string& path, const ImageReadOptions& options) {
  const ExrHeader header = parse_exr_header(bytes, path);
  const auto channels = exr_channels(header, options.as_depth, path);
  check_sizes(header, channels.size(), bytes.size(), path);
  require_accepted({header.display.ny(), header.display.nx(), static_cast<std::int64_t>(channels.size())},
                   2 * sizeof(float), options, path);
  const float outside = options.as_depth ? std::numeric_limits<float>::quiet_NaN() : 0.0F;
  auto pixels = shown(exr_pixels_guarded(bytes, header, channels, options.as_depth, path), header, outside);
  auto notes = notes_on(header, channels, options, path);
  if (channels.size() % 2 == 0) {
    if (const auto lost = divide_colours(pixels); lost > 0) {
      notes.push_back(fmt::format("{}: light of {} whose alpha is 0 is left out", path,
                                  counted(static_cast<std::uint64_t>(lost), "pixel")));
    }
  }
  return {std::move(pixels), {}, std::move(notes)};
}

}  // namespace holotone::io
