#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/core/parallel.hpp>
#include <holotone/io/images/few_bits_detail.hpp>
#include <type_traits>
#include <variant>

namespace holotone::io {

void keep_low_bits(std::uint8_t* codes, std::int64_t count, int bits) {
  const auto mask = static_cast<std::uint8_t>((1 << bits) - 1);
  for (std::int64_t i = 0; i < count; ++i) codes[i] &= mask;
}

int palette_bits(const Palette& palette, int index_bits) {
  if (index_bits >= 8) return 8;
  const std::uint32_t mask = (1U << index_bits) - 1;
  const auto is_step = [&](const std::array<std::uint8_t, 3>& entry) {
    return entry[0] == entry[1] && entry[1] == entry[2] && scaled_code(entry[0] & mask, index_bits, 8) == entry[0];
  };
  return std::ranges::all_of(palette, is_step) ? index_bits : 8;
}

std::vector<std::uint8_t> packed_row(const std::uint8_t* codes, std::int64_t count, int bits) {
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>((count * bits + 7) / 8), 0);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t bit = i * bits;
    bytes[static_cast<std::size_t>(bit / 8)] |= static_cast<std::uint8_t>(codes[i] << (8 - bits - bit % 8));
  }
  return bytes;
}

void scale_codes(std::string_view where, const std::uint8_t* codes, std::uint8_t* scaled, std::int64_t count,
                 int bits) {
  std::array<std::uint8_t, 256> table{};
  const std::uint32_t most = (1U << bits) - 1;
  for (std::uint32_t code = 0; code <= most; ++code) {
    table[code] = static_cast<std::uint8_t>(scaled_code(code, bits, 8));
  }
  parallel_blocks(count, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      if (codes[i] > most) {
        throw_argument(where, "image", fmt::format("codes of {} bits, at most {}", bits, most),
                       fmt::format("{}", codes[i]));
      }
      scaled[i] = table[codes[i]];
    }
  });
}

void state_scaled_codes(Metadata& metadata) { metadata.insert_or_assign("scaled_codes", std::string(1, '1')); }

Array<std::uint16_t, 3> widened(std::string_view where, const Image& image) {
  const int bits = code_bits(image);
  Array<std::uint16_t, 3> wide(shape_of(image));
  std::visit(
      [&](const auto& pixels) {
        using T = std::remove_cvref_t<decltype(*pixels.data())>;
        if constexpr (std::is_integral_v<T>) {
          std::ranges::transform(pixels.host(), wide.data(), [&](T code) {
            if (code >> bits != 0) {
              throw_argument(where, "image", fmt::format("codes of {} bits", bits), fmt::format("{}", code));
            }
            return static_cast<std::uint16_t>(scaled_code(code, bits, 16));
          });
        }
      },
      image.pixels);
  return wide;
}

std::optional<Image> rescaled(std::string_view where, const Image& image, const ImageWriteOptions& options,
                              bool packs) {
  const auto* const pixels = std::get_if<Array<std::uint8_t, 3>>(&image.pixels);
  require_range(where, "scaled_bits", options.scaled_bits, 0, 7);
  if (image.bits == 0 && options.scaled_bits == 0) return std::nullopt;
  if (options.scaled_bits == 0 && std::holds_alternative<Array<std::uint16_t, 3>>(image.pixels)) {
    return Image{widened(where, image), image.metadata};
  }
  if (pixels == nullptr || (image.bits != 0 && options.scaled_bits != 0)) {
    throw_argument(where, options.scaled_bits != 0 ? "scaled_bits" : "image.bits", "8-bit pixels without other bits",
                   fmt::format("{} bits", pixels == nullptr ? code_bits(image) : image.bits));
  }
  if (image.bits < 0 || image.bits > 8) throw_argument(where, "image.bits", "0 to 8", fmt::format("{}", image.bits));
  const int bits = options.scaled_bits != 0 ? options.scaled_bits : image.bits;
  if (bits == 8) return std::nullopt;
  Array<std::uint8_t, 3> scaled(pixels->shape());
  scale_codes(where, pixels->data(), scaled.data(), pixels->size(), bits);
  const bool packed = bits == 1 || bits == 2 || bits == 4;
  if (options.scaled_bits == 0 && packs && packed && pixels->shape()[2] == 1) return std::nullopt;  // in range
  Image result{std::move(scaled), image.metadata};
  if (options.scaled_bits != 0) state_scaled_codes(result.metadata);
  return result;
}

}  // namespace holotone::io
