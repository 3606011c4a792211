#pragma once
// Codes of fewer bits than an element has. Not for users.
#include <cstdint>
#include <holotone/io/images/image.hpp>
#include <holotone/io/images/image_formats_detail.hpp>
#include <optional>
#include <string_view>
#include <vector>

namespace holotone::io {

/// Code of `bits` bits as one of `stored_bits` from black to white: code (2^stored_bits - 1) / (2^bits - 1), rounded.
inline std::uint32_t scaled_code(std::uint32_t code, int bits, int stored_bits) {
  const std::uint32_t most = (1U << bits) - 1;
  return (code * ((1U << stored_bits) - 1) + most / 2) / most;
}

/// Turns codes of 1, 2 or 4 bits that are scaled to 8, whose low bits they are, into codes again.
void keep_low_bits(std::uint8_t* codes, std::int64_t count, int bits);

/// Bits of the codes that a palette of greys with `index_bits` stands for: index_bits if its entries are even steps
/// from black to white, which keep_low_bits turns into codes; 8 otherwise.
int palette_bits(const Palette& palette, int index_bits);

/// Packs codes of a row into bytes, the first into the highest bits.
std::vector<std::uint8_t> packed_row(const std::uint8_t* codes, std::int64_t count, int bits);

/// 16-bit codes from black to white of codes of any bits. Throws invalid_argument for a code beyond its bits.
Array<std::uint16_t, 3> widened(std::string_view where, const Image& image);

/// The image as it is written, if not as it is: with scaled_bits, and codes of few bits that the format does not have
/// as codes of 8. `packs`: the format has grey codes of 1, 2 and 4 bits. Throws invalid_argument for codes beyond their
/// bits, and options that do not suit the pixels.
std::optional<Image> rescaled(std::string_view where, const Image& image, const ImageWriteOptions& options, bool packs);

/// Writes into the metadata that codes are scaled.
void state_scaled_codes(Metadata& metadata);

/// Scales 8-bit codes of `bits` bits to all of the pixel. Throws invalid_argument for a code beyond its bits.
void scale_codes(std::string_view where, const std::uint8_t* codes, std::uint8_t* scaled, std::int64_t count, int bits);

}  // namespace holotone::io
