#include <algorithm>
#include <bit>
#include <cctype>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <holotone/core/error.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/images/exr_header_detail.hpp>

namespace holotone::io {
namespace {

constexpr std::int64_t max_coordinate = std::int64_t{1} << 30;
constexpr std::size_t longest_name = 255;

std::string take_name(ByteReader& reader, std::string_view path) {
  std::string name;
  for (char c = reader.take<char>("a name"); c != '\0'; c = reader.take<char>("a name")) {
    name += c;
    if (name.size() > longest_name) throw_io(path, "names of at most 255 bytes in its header", "a longer one");
  }
  return name;
}

ExrWindow take_window(ByteReader& reader, std::string_view name, std::string_view path) {
  ExrWindow window;
  for (auto* corner : {&window.min_x, &window.min_y, &window.max_x, &window.max_y}) {
    *corner = reader.take<std::int32_t>(name);
    if (std::abs(*corner) > max_coordinate) {
      throw_io(path, fmt::format("a {} within {} pixels", name, max_coordinate), fmt::format("{}", *corner));
    }
  }
  if (window.nx() < 1 || window.ny() < 1) {
    throw_io(path, fmt::format("a {} of 1 pixel or more", name), fmt::format("{} x {}", window.nx(), window.ny()));
  }
  return window;
}

std::vector<ExrChannel> take_channels(ByteReader& reader, std::string_view path) {
  std::vector<ExrChannel> channels;
  for (std::string name = take_name(reader, path); !name.empty(); name = take_name(reader, path)) {
    ExrChannel channel{std::move(name)};
    channel.type = reader.take<std::int32_t>("a channel's type");
    (void)reader.take_bytes(4, "a channel");  // a hint for compression, and three reserved bytes
    const auto x = reader.take<std::int32_t>("a channel's sampling");
    const auto y = reader.take<std::int32_t>("a channel's sampling");
    channel.subsampled = x != 1 || y != 1;
    channels.push_back(std::move(channel));
  }
  return channels;
}

void check_version(ByteReader& reader, std::string_view path) {
  constexpr std::uint32_t deep = 0x800;
  constexpr std::uint32_t multipart = 0x1000;
  constexpr std::uint32_t known = 0x200 | 0x400 | deep | multipart;  // tiles, long names
  (void)reader.take_bytes(4, "its first bytes");
  const auto version = reader.take<std::uint32_t>("its version");
  if ((version & 0xff) != 2) throw_io(path, "OpenEXR of version 2", fmt::format("version {}", version & 0xff));
  if ((version & deep) != 0) throw_io(path, "an OpenEXR picture of one value a pixel", "a deep one");
  if ((version & multipart) != 0) throw_io(path, "an OpenEXR file of one part", "one of several parts");
  if ((version >> 8 & ~(known >> 8)) != 0) throw_io(path, "known flags of OpenEXR", fmt::format("{:#x}", version >> 8));
}

std::string_view layer_of(std::string_view channel) {
  const auto dot = channel.rfind('.');
  return dot == std::string_view::npos ? std::string_view() : channel.substr(0, dot);
}

std::string_view last_part(std::string_view channel) { return channel.substr(channel.rfind('.') + 1); }

/// "Depth", "zdepth", "VRayZDepth", "depth_pass".
bool is_depth_word(std::string_view word) {
  std::string letters;
  for (const char c : word) {
    if (c != '_' && c != '-' && c != ' ') letters += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  }
  return letters.ends_with("depth") || letters == "depthz" || letters == "depthpass" || letters == "zpass";
}

class Choice {
 public:
  Choice(const ExrHeader& header, bool as_depth, std::string_view path)
      : header_(header), as_depth_(as_depth), path_(path) {}

  [[nodiscard]] std::vector<std::string> names() const {
    if (as_depth_) {
      if (auto found = depths(); !found.empty()) return found;
    }
    if (auto found = of_layer(""); !found.empty()) return found;
    if (header_.channels.size() == 1) return {header_.channels.front().name};
    std::vector<std::string> layers;
    for (const auto& red : ending_in("R")) {
      if (!of_layer(std::string(layer_of(red)) + '.').empty()) layers.push_back(std::string(layer_of(red)) + '.');
    }
    if (layers.size() == 1) return of_layer(layers.front());
    fail(as_depth_ ? "a channel Z or Depth, or Y, R or one alone" : "channels R, G and B, or Y, or one alone");
  }

 private:
  [[nodiscard]] bool has(const std::string& name) const {
    return std::ranges::any_of(header_.channels, [&](const auto& channel) { return channel.name == name; });
  }

  /// The channels of depths; none if no name says so.
  [[nodiscard]] std::vector<std::string> depths() const {
    for (const std::string name : {"Z", "z"}) {
      if (has(name) && !is_of_vector(name)) return {name};
    }
    std::vector<std::vector<std::string>> named;
    for (const auto& channel : header_.channels) {
      if (!is_depth_channel(channel.name) || is_of_vector(channel.name)) continue;
      std::vector<std::string> found = {channel.name};
      if (!is_depth_word(last_part(channel.name))) found = depths_of_layer(channel.name);
      if (!found.empty() && std::ranges::find(named, found) == named.end()) named.push_back(std::move(found));
    }
    if (named.size() == 1) return named.front();
    if (named.size() > 1) fail("one channel or layer of depths");
    auto others = ending_in("Z");
    std::erase_if(others, [&](const auto& name) { return is_of_vector(name); });
    if (others.size() > 1) fail("one channel Z of depths");
    return others;
  }

  [[nodiscard]] std::vector<std::string> depths_of_layer(std::string_view channel) const {
    const std::string layer = std::string(layer_of(channel)) + '.';
    for (const char* const component : {"Z", "z", "V"}) {
      if (has(layer + component)) return {layer + component};
    }
    return of_layer(layer);
  }

  [[nodiscard]] bool is_of_vector(const std::string& name) const {
    return has_beside(name, 'X') || has_beside(name, 'x');
  }

  /// True if the layer of a channel has another of this last letter.
  [[nodiscard]] bool has_beside(std::string name, char letter) const {
    name.back() = letter;
    return has(name);
  }

  [[nodiscard]] std::vector<std::string> ending_in(std::string_view last) const {
    std::vector<std::string> found;
    for (const auto& channel : header_.channels) {
      if (last_part(channel.name) == last) found.push_back(channel.name);
    }
    return found;
  }

  /// R, G, B or Y, and A if it is there; R alone; else none.
  [[nodiscard]] std::vector<std::string> of_layer(const std::string& layer) const {
    std::vector<std::string> found;
    if (has(layer + "R") && has(layer + "G") && has(layer + "B")) {
      found = {layer + "R", layer + "G", layer + "B"};
    } else if (has(layer + "Y") && !has(layer + "RY") && !has(layer + "BY") && !has(layer + "X")) {
      found = {layer + "Y"};
    } else if (has(layer + "R") && !has(layer + "G") && !has(layer + "B")) {
      return {layer + "R"};
    }
    if (!found.empty() && !as_depth_ && has(layer + "A")) found.push_back(layer + "A");
    return found;
  }

  [[noreturn]] void fail(std::string_view expected) const {
    std::vector<std::string> all;
    for (const auto& channel : header_.channels) all.push_back(channel.name);
    constexpr std::size_t most = 12;
    const std::string more = all.size() > most ? fmt::format(" and {} more", all.size() - most) : "";
    if (all.size() > most) all.resize(most);
    throw_io(path_, expected, in_quotes(fmt::format("{}{}", fmt::join(all, " "), more)));
  }

  const ExrHeader& header_;
  bool as_depth_;
  std::string_view path_;
};

/// Attributes of the standard (OpenEXR 3.4, ImfStandardAttributes.h) that are read, or do not change what pixels mean:
/// cameras, times, places, how the file is stored.
constexpr std::string_view known_attributes[] = {"channels",
                                                 "compression",
                                                 "dataWindow",
                                                 "displayWindow",
                                                 "lineOrder",
                                                 "pixelAspectRatio",
                                                 "screenWindowCenter",
                                                 "screenWindowWidth",
                                                 "chromaticities",
                                                 "colorInteropID",
                                                 "envmap",
                                                 "tiles",
                                                 "name",
                                                 "type",
                                                 "version",
                                                 "chunkCount",
                                                 "view",
                                                 "multiView",
                                                 "preview",
                                                 "maxSamplesPerPixel",
                                                 "dwaCompressionLevel",
                                                 "zipCompressionLevel",
                                                 "originalDataWindow",
                                                 "whiteLuminance",
                                                 "xDensity",
                                                 "longitude",
                                                 "latitude",
                                                 "altitude",
                                                 "focus",
                                                 "expTime",
                                                 "aperture",
                                                 "isoSpeed",
                                                 "utcOffset",
                                                 "keyCode",
                                                 "timeCode",
                                                 "framesPerSecond",
                                                 "imageCounter",
                                                 "reelName",
                                                 "shutterAngle",
                                                 "nominalFocalLength",
                                                 "effectiveFocalLength",
                                                 "pinholeFocalLength",
                                                 "tStop",
                                                 "sensorCenterOffset",
                                                 "sensorOverallDimensions",
                                                 "sensorPhotositePitch",
                                                 "sensorAcquisitionRectangle",
                                                 "entrancePupilOffset",
                                                 "worldToCamera",
                                                 "worldToNDC",
                                                 "nearClip",
                                                 "farClip",
                                                 "ImageInfo",
                                                 "frame",
                                                 "fps"};

/// True for an attribute that may concern the numbers: one of numbers that is not known, or any whose name says a scale
/// or a space of colours. Names of a program's own ("nuke/node", "cycles.samples") describe its work.
bool may_concern_numbers(std::string_view name, std::string_view type) {
  if (std::ranges::find(known_attributes, name) != std::end(known_attributes)) return false;
  std::string small(name);
  std::ranges::transform(small, small.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const std::string_view word : {"scale", "offset", "unit", "gain", "gamma", "colorspace", "colourspace",
                                      "transfer", "lookmod", "rendering", "neutral", "encoding", "normaliz"}) {
    if (small.find(word) != std::string::npos) return true;
  }
  if (name.find_first_of("/.:") != std::string_view::npos) return false;
  constexpr std::string_view numbers[] = {"int", "float", "double", "v2i",  "v2f",  "v2d",  "v3i",
                                          "v3f", "v3d",   "m33f",   "m33d", "m44f", "m44d", "rational"};
  return std::ranges::find(numbers, type) != std::end(numbers);
}

}  // namespace

ExrHeader parse_exr_header(std::string_view bytes, std::string_view path) {
  ByteReader reader(bytes, path, std::endian::little);
  check_version(reader, path);
  ExrHeader header;
  bool data = false;
  bool display = false;
  bool compression = false;
  for (std::string name = take_name(reader, path); !name.empty(); name = take_name(reader, path)) {
    const std::string type = take_name(reader, path);
    const auto size = reader.take<std::uint32_t>("an attribute's size");
    ByteReader value(reader.take_bytes(size, "an attribute"), path, std::endian::little);
    if (name == "channels") header.channels = take_channels(value, path);
    if (name == "dataWindow") header.data = take_window(value, name, path), data = true;
    if (name == "displayWindow") header.display = take_window(value, name, path), display = true;
    if (name == "compression") header.compression = value.take<std::uint8_t>(name), compression = true;
    if (name == "pixelAspectRatio") header.pixel_aspect = static_cast<double>(value.take<float>(name));
    if (name == "chromaticities") {
      auto& primaries = header.primaries.emplace();
      for (double& number : primaries) number = static_cast<double>(value.take<float>(name));
    }
    if (name == "envmap") header.environment = value.take<std::uint8_t>(name);
    const bool is_space = name == "oiio:ColorSpace" && header.colours.empty();
    if (name == "colorInteropID" || is_space) header.colours = value.take_bytes(value.remaining(), name);
    if (!is_space && may_concern_numbers(name, type)) header.unknown.push_back(name);
    if (name == "type" && type == "string") {
      const auto kind = value.take_bytes(value.remaining(), name);
      if (kind.starts_with("deep")) throw_io(path, "an OpenEXR picture of one value a pixel", "a deep one");
    }
  }
  if (!data || !display || !compression || header.channels.empty()) {
    throw_io(path, "channels, compression, dataWindow and displayWindow in its header", "a header without one of them");
  }
  return header;
}

bool is_depth_channel(std::string_view channel) {
  if (channel == "Z" || channel == "z" || is_depth_word(last_part(channel))) return true;
  return is_depth_word(last_part(layer_of(channel))) && last_part(channel) != "A";
}

std::vector<std::string> exr_channels(const ExrHeader& header, bool as_depth, std::string_view path) {
  auto names = Choice(header, as_depth, path).names();
  for (const auto& channel : header.channels) {
    if (std::ranges::find(names, channel.name) == names.end()) continue;
    if (channel.type != 1 && channel.type != 2) {
      throw_io(path, fmt::format("half or float in channel {}", in_quotes(channel.name)),
               channel.type == 0 ? "integers" : fmt::format("type {}", channel.type));
    }
    if (channel.subsampled) {
      throw_io(path, fmt::format("channel {} at every pixel", in_quotes(channel.name)), "one at fewer");
    }
  }
  return names;
}

}  // namespace holotone::io
