#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <holotone/io/images/tiff/tiff_ome_detail.hpp>
#include <type_traits>
#include <variant>

namespace holotone::io {

std::optional<int> ome_significant_bits(std::string_view description) {
  constexpr std::string_view key = " SignificantBits=\"";
  if (description.find("<OME") == std::string_view::npos && description.find(":OME ") == std::string_view::npos) {
    return std::nullopt;
  }
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
