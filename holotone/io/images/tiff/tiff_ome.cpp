#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/images/pixel_aspect_detail.hpp>
#include <holotone/io/images/tiff/tiff_ome_detail.hpp>
#include <type_traits>
#include <variant>

namespace holotone::io {
namespace {

bool is_ome(std::string_view description) {
  return description.find("<OME") != std::string_view::npos || description.find(":OME ") != std::string_view::npos;
}

/// The text of the next tag Pixels from `at` on, which is moved behind it; empty without one.
std::string_view next_pixels(std::string_view description, std::size_t& at) {
  constexpr std::string_view name = "Pixels ";
  for (at = description.find(name, at); at != std::string_view::npos; at = description.find(name, at + 1)) {
    if (at == 0 || (description[at - 1] != '<' && description[at - 1] != ':')) continue;
    const auto tag = description.substr(at, description.find('>', at) - at);
    at += tag.size();
    return tag;
  }
  return {};
}

std::string_view find_value(std::string_view tag, std::string_view name) {
  const auto at = tag.find(fmt::format(" {}=\"", name));
  if (at == std::string_view::npos) return {};
  tag.remove_prefix(at + name.size() + 3);
  return tag.substr(0, tag.find('"'));
}

double number_of_tag(std::string_view tag, std::string_view name) {
  const auto text = find_value(tag, name);
  double number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

}  // namespace

std::int64_t ome_pictures(std::string_view description, int samples) {
  if (!is_ome(description)) return 0;
  constexpr double most = 1e6;
  double planes = 0;
  for (std::size_t at = 0;;) {
    const auto tag = next_pixels(description, at);
    if (tag.empty()) break;
    const double channels = std::max(1.0, std::floor(number_of_tag(tag, "SizeC") / samples));
    planes += std::clamp(number_of_tag(tag, "SizeZ") * number_of_tag(tag, "SizeT") * channels, 0.0, most);
  }
  return static_cast<std::int64_t>(std::min(planes, most));
}

void note_ome_companion(std::string_view description, Image& image, std::string_view path) {
  const auto at = description.find("BinaryOnly ");
  if (!is_ome(description) || at == std::string_view::npos) return;
  const auto file = find_value(description.substr(at, description.find('>', at) - at), "MetadataFile");
  image.notes.push_back(fmt::format("{}: its OME-XML stands in {}, which is not read", path, in_quotes(file)));
}

bool note_ome_aspect(std::string_view description, Image& image, std::string_view path) {
  std::size_t at = 0;
  const auto tag = is_ome(description) ? next_pixels(description, at) : std::string_view{};
  if (find_value(tag, "PhysicalSizeXUnit") != find_value(tag, "PhysicalSizeYUnit")) return false;
  return note_pixel_aspect(image, 1 / number_of_tag(tag, "PhysicalSizeX"), 1 / number_of_tag(tag, "PhysicalSizeY"),
                           path);
}

std::optional<int> ome_significant_bits(std::string_view description) {
  constexpr std::string_view key = " SignificantBits=\"";
  if (!is_ome(description)) return std::nullopt;
  std::optional<int> bits;
  for (auto at = description.find(key); at != std::string_view::npos; at = description.find(key, at)) {
    at += key.size();
    int stated = 0;
    std::from_chars(description.data() + at, description.data() + description.size(), stated);
    if (bits && *bits != stated) return 0;
    bits = stated;
  }
  return bits;
}

void take_significant_bits(Image& image, int bits, bool direct, std::string_view source, std::string_view path) {
  const int stored = code_bits(image);
  if (stored == 0 || bits == stored) return;
  std::uint32_t largest = 0;
  std::visit(
      [&](const auto& pixels) {
        using T = std::remove_cvref_t<decltype(*pixels.data())>;
        if constexpr (std::is_integral_v<T>) {
          for (const T code : pixels.host()) largest = std::max<std::uint32_t>(largest, code);
        }
      },
      image.pixels);
  if (direct && bits >= 1 && bits < stored && largest >> bits == 0) {
    image.bits = bits;
    return;
  }
  const std::string stated = bits == 0 ? fmt::format("significant bits ({}), which differ,", source)
                                       : fmt::format("{} significant bits ({})", bits, source);
  image.notes.push_back(
      fmt::format("{}: its {} are not taken: codes up to {} are read as of {} bits", path, stated, largest, stored));
}

}  // namespace holotone::io
