#include <bit>
#include <cstdint>
#include <fmt/format.h>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/images/exif_colours_detail.hpp>
#include <optional>

namespace holotone::io {
namespace {

constexpr std::uint16_t tag_exif = 0x8769;
constexpr std::uint16_t tag_colour_space = 0xa001;
constexpr std::uint16_t tag_interoperability = 0xa005;
constexpr std::uint16_t tag_index = 1;

/// A directory of 12-byte entries within the block.
class Directory {
 public:
  Directory(std::string_view block, std::endian order, std::size_t offset)
      : block_(block), order_(order), first_(offset + 2) {
    if (offset >= 8 && first_ <= block.size()) count_ = load<std::uint16_t>(block.data() + offset, order);
  }

  /// The four bytes of the entry's value, or of its offset.
  [[nodiscard]] std::optional<std::string_view> find(std::uint16_t tag) const {
    constexpr std::size_t entry_bytes = 12;
    for (std::size_t i = 0; i < count_ && (i + 1) * entry_bytes <= block_.size() - first_; ++i) {
      const std::string_view entry = block_.substr(first_ + i * entry_bytes, entry_bytes);
      if (load<std::uint16_t>(entry.data(), order_) == tag) return entry.substr(8);
    }
    return std::nullopt;
  }

  /// The directory whose offset the entry holds.
  [[nodiscard]] std::optional<Directory> follow(std::uint16_t tag) const {
    const auto value = find(tag);
    if (!value) return std::nullopt;
    return Directory(block_, order_, load<std::uint32_t>(value->data(), order_));
  }

 private:
  std::string_view block_;
  std::endian order_;
  std::size_t first_;
  std::size_t count_ = 0;
};

/// Adobe RGB (1998), version 2005-05.
ColourClaim adobe_rgb() {
  return {.gamma = 563.0 / 256,
          .primaries = {{0.3127, 0.3290, 0.64, 0.33, 0.21, 0.71, 0.15, 0.06}},
          .name = "Adobe RGB of its EXIF block"};
}

}  // namespace

ColourClaim claim_of_exif(std::uint16_t colour_space, std::string_view index) {
  constexpr std::uint16_t srgb = 1;
  constexpr std::uint16_t adobe = 2;
  constexpr std::uint16_t uncalibrated = 65535;
  if (colour_space == adobe) return adobe_rgb();
  if (colour_space > adobe && colour_space != uncalibrated) {
    return {.unsupported = fmt::format("ColorSpace {} (not sRGB) of its EXIF block", colour_space)};
  }
  if (colour_space != uncalibrated) return {.is_srgb = colour_space == srgb};
  if (index.starts_with("R03")) return adobe_rgb();
  return {.unsupported = "ColorSpace 65535 (not sRGB) of its EXIF block"};
}

ColourClaim exif_colours(std::string_view block) {
  const bool little = block.starts_with(std::string_view("II*\0", 4));
  if (block.size() < 8 || (!little && !block.starts_with(std::string_view("MM\0*", 4)))) return {};
  const auto order = little ? std::endian::little : std::endian::big;
  const auto exif = Directory(block, order, load<std::uint32_t>(block.data() + 4, order)).follow(tag_exif);
  const auto space = exif ? exif->find(tag_colour_space) : std::nullopt;
  if (!space) return {};
  const auto rules = exif->follow(tag_interoperability);
  const auto index = rules ? rules->find(tag_index) : std::nullopt;
  return claim_of_exif(load<std::uint16_t>(space->data(), order), index.value_or(std::string_view()));
}

}  // namespace holotone::io
