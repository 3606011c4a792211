#include <algorithm>
#include <array>
#include <bit>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/io/atomic_file.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/images/bmp_colours_detail.hpp>
#include <holotone/io/images/image_formats_detail.hpp>
#include <holotone/io/images/light_codes_detail.hpp>
#include <holotone/io/images/pixel_aspect_detail.hpp>
#include <holotone/io/images/tag_words_detail.hpp>

namespace holotone::io {
namespace {

constexpr std::uint32_t uncompressed = 0;
constexpr std::uint32_t bit_fields = 3;
constexpr std::uint32_t alpha_bit_fields = 6;

struct BmpHeader {
  std::uint32_t data_begin = 0;
  std::uint64_t nx = 0;
  std::uint64_t ny = 0;
  bool top_down = false;
  unsigned bits = 0;
  std::uint32_t compression = uncompressed;
  std::array<std::uint32_t, 4> masks = {0x00ff0000, 0x0000ff00, 0x000000ff, 0};  // red, green, blue, alpha
  Palette palette;
  std::array<std::int32_t, 2> density{};  // columns and rows a metre
};

void take_palette(ByteReader& reader, std::uint32_t colours, std::size_t entry_bytes, BmpHeader& header,
                  std::string_view path) {
  const std::uint32_t most = std::uint32_t{1} << header.bits;
  if (colours == 0) colours = most;
  if (colours > most) throw_io(path, fmt::format("at most {} colours", most), fmt::format("{}", colours));
  for (std::uint32_t i = 0; i < colours; ++i) {
    const auto entry = reader.take_bytes(entry_bytes, "palette entry");
    header.palette.push_back({static_cast<std::uint8_t>(entry[2]), static_cast<std::uint8_t>(entry[1]),
                              static_cast<std::uint8_t>(entry[0])});
  }
}

// Reads Windows' structure of 40 bytes or more; the file has `size` bytes of it. Returns the number of palette colours.
std::uint32_t take_information(ByteReader& reader, std::uint32_t size, BmpHeader& header, std::string_view path) {
  const auto width = reader.take<std::int32_t>("width");
  const auto height = reader.take<std::int32_t>("height");
  if (width <= 0 || height == 0 || height == INT32_MIN) {
    throw_io(path, "a width above 0 and a height other than 0", fmt::format("{} x {}", width, height));
  }
  header.nx = static_cast<std::uint64_t>(width);
  header.top_down = height < 0;
  header.ny = static_cast<std::uint64_t>(std::abs(std::int64_t{height}));
  reader.take<std::uint16_t>("planes");
  header.bits = reader.take<std::uint16_t>("bits");
  header.compression = reader.take<std::uint32_t>("compression");
  reader.take_bytes(4, "sizes");
  for (auto& density : header.density) density = reader.take<std::int32_t>("sizes");
  const auto colours = reader.take<std::uint32_t>("colours");
  reader.take<std::uint32_t>("important colours");
  const bool has_masks = header.compression == bit_fields || header.compression == alpha_bit_fields;
  std::size_t taken = 40;
  if (has_masks || size >= 52) {
    // A 40-byte header is followed by the masks.
    const std::size_t count = size >= 56 || header.compression == alpha_bit_fields ? 4 : 3;
    for (std::size_t i = 0; i < count; ++i) {
      const auto mask = reader.take<std::uint32_t>("colour mask");
      if (has_masks) header.masks[i] = mask;
    }
    if (size > 40) taken += 4 * count;
  }
  if (size > taken) reader.take_bytes(size - taken, "header");
  return colours;
}

BmpHeader take_header(std::string_view bytes, std::string_view path) {
  ByteReader reader(bytes, path, std::endian::little);
  BmpHeader header;
  reader.take_bytes(10, "BMP signature");
  header.data_begin = reader.take<std::uint32_t>("data offset");
  const auto size = reader.take<std::uint32_t>("header size");
  std::uint32_t colours = 0;
  if (size == 12) {  // OS/2
    header.nx = reader.take<std::uint16_t>("width");
    header.ny = reader.take<std::uint16_t>("height");
    reader.take<std::uint16_t>("planes");
    header.bits = reader.take<std::uint16_t>("bits");
  } else if (size >= 40 && size <= 256) {
    colours = take_information(reader, size, header, path);
  } else {
    throw_io(path, "a BMP header of 12 or 40 to 256 bytes", fmt::format("{}", size));
  }
  constexpr std::array<unsigned, 5> known_bits = {1, 4, 8, 24, 32};
  if (std::find(known_bits.begin(), known_bits.end(), header.bits) == known_bits.end()) {
    throw_io(path, "1, 4, 8, 24 or 32 bits a pixel", fmt::format("{}", header.bits));
  }
  const bool has_masks = header.compression == bit_fields || header.compression == alpha_bit_fields;
  if (header.compression != uncompressed && !(has_masks && header.bits == 32)) {
    throw_io(path, "an uncompressed BMP", describe_bmp_compression(header.compression));
  }
  if (header.bits <= 8) take_palette(reader, colours, size == 12 ? 3 : 4, header, path);
  return header;
}

// Returns the bit shift of each mask. Throws io unless each mask is a whole byte.
std::array<unsigned, 4> mask_shifts(const BmpHeader& header, std::size_t channels, std::string_view path) {
  std::array<unsigned, 4> shifts{};
  for (std::size_t c = 0; c < channels; ++c) {
    const auto shift = static_cast<unsigned>(std::countr_zero(header.masks[c]));
    if (shift % 8 != 0 || header.masks[c] != std::uint64_t{0xff} << shift) {
      throw_io(path, "colour masks of one byte", fmt::format("{:#010x}", header.masks[c]));
    }
    shifts[c] = shift;
  }
  return shifts;
}

/// Programs that know no alpha write 0 there: nothing but transparent pixels are opaque, as Windows shows them.
void drop_empty_alpha(Image& image, std::string_view path) {
  const auto& stored = std::get<Array<std::uint8_t, 3>>(image.pixels);
  const auto [ny, nx, channels] = stored.shape();
  for (std::int64_t i = channels - 1; i < stored.size(); i += channels) {
    if (stored.data()[i] != 0) return;
  }
  Array<std::uint8_t, 3> colours({ny, nx, 3});
  std::uint8_t* target = colours.data();
  for (std::int64_t i = 0; i < stored.size(); i += channels) target = std::copy_n(stored.data() + i, 3, target);
  image.pixels = std::move(colours);
  image.notes.push_back(fmt::format("{}: its alpha is 0 everywhere: taken as opaque", path));
}

Image read_direct(const BmpHeader& header, std::string_view rows, std::size_t stride, std::string_view path) {
  const std::size_t channels = header.bits == 32 && header.masks[3] != 0 ? 4 : 3;
  const auto shifts = mask_shifts(header, channels, path);
  auto pixels = make_pixels<std::uint8_t>(header.ny, header.nx, channels);
  const std::size_t step = header.bits / 8;
  std::uint8_t* target = pixels.data();
  for (std::uint64_t row = 0; row < header.ny; ++row) {
    const char* source = rows.data() + (header.top_down ? row : header.ny - 1 - row) * stride;
    for (std::uint64_t col = 0; col < header.nx; ++col, source += step) {
      for (std::size_t c = 0; c < channels; ++c) *target++ = static_cast<std::uint8_t>(source[shifts[c] / 8]);
    }
  }
  Image image{std::move(pixels), {}};
  if (channels == 4) drop_empty_alpha(image, path);
  return image;
}

Image read_indexed(const BmpHeader& header, std::string_view rows, std::size_t stride, std::string_view path) {
  auto indices = make_pixels<std::uint8_t>(header.ny, header.nx, 1);
  const unsigned per_byte = 8 / header.bits;
  const unsigned mask = (1u << header.bits) - 1;
  std::uint8_t* target = indices.data();
  for (std::uint64_t row = 0; row < header.ny; ++row) {
    const char* source = rows.data() + (header.top_down ? row : header.ny - 1 - row) * stride;
    for (std::uint64_t col = 0; col < header.nx; ++col) {
      const auto byte = static_cast<std::uint8_t>(source[col / per_byte]);
      const unsigned shift = 8 - header.bits * static_cast<unsigned>(col % per_byte + 1);
      *target++ = static_cast<std::uint8_t>((byte >> shift) & mask);
    }
  }
  Image image{std::move(indices), {}};
  expand_palette(image, header.palette, static_cast<int>(header.bits), path);
  return image;
}

void store_header(std::string& bytes, std::int64_t nx, std::int64_t ny, unsigned bits, std::size_t stride) {
  const std::uint32_t palette_bytes = bits == 8 ? 1024 : 0;
  const auto data_bytes = static_cast<std::uint32_t>(stride * static_cast<std::size_t>(ny));
  bytes += "BM";
  store(bytes, 54 + palette_bytes + data_bytes);
  store(bytes, std::uint32_t{0});
  store(bytes, 54 + palette_bytes);
  store(bytes, std::uint32_t{40});
  store(bytes, static_cast<std::int32_t>(nx));
  store(bytes, static_cast<std::int32_t>(ny));  // positive: the bottom row comes first
  store(bytes, std::uint16_t{1});
  store(bytes, static_cast<std::uint16_t>(bits));
  store(bytes, uncompressed);
  store(bytes, data_bytes);
  store(bytes, std::int32_t{2835});  // 72 dots an inch
  store(bytes, std::int32_t{2835});
  store(bytes, std::uint32_t{bits == 8 ? 256u : 0u});
  store(bytes, std::uint32_t{0});
  for (unsigned i = 0; bits == 8 && i < 256; ++i) {
    const char grey = static_cast<char>(i);
    bytes.append({grey, grey, grey, '\0'});
  }
}

}  // namespace

bool is_bmp(std::string_view bytes) { return bytes.starts_with("BM"); }

Image read_bmp(std::string_view bytes, std::string_view path, const ImageReadOptions& options) {
  const BmpHeader header = take_header(bytes, path);
  const std::uint64_t available = header.data_begin < bytes.size() ? bytes.size() - header.data_begin : 0;
  check_extents(header.ny, header.nx, header.bits == 32 ? 4 : 3, 1, available, header.bits < 24 ? 24 : 2, path);
  const std::size_t stride = (header.nx * header.bits + 31) / 32 * 4;
  if (available / stride < header.ny) {
    throw_io(path, fmt::format("{} rows of {} bytes", header.ny, stride), counted(available, "byte"));
  }
  const std::int64_t channels = header.bits <= 8 ? 1 : header.bits == 32 ? 4 : 3;
  require_accepted({static_cast<std::int64_t>(header.ny), static_cast<std::int64_t>(header.nx), channels},
                   header.bits <= 8 ? 4 : 1, options, path);
  const auto rows = bytes.substr(header.data_begin);
  Image image = header.bits <= 8 ? read_indexed(header, rows, stride, path) : read_direct(header, rows, stride, path);
  take_colours(image, bmp_colours(bytes), options, path);
  note_pixel_aspect(image, header.density[0], header.density[1], path);
  return image;
}

void write_bmp(const std::string& path, const Image& image) {
  const auto* pixels = std::get_if<Array<std::uint8_t, 3>>(&image.pixels);
  const auto [ny, nx, channels] = shape_of(image);
  if (pixels == nullptr || (channels != 1 && channels != 3)) {
    throw Error(ErrorCode::unsupported, path + ": expected 8-bit pixels of 1 or 3 channels for BMP, got " +
                                            (pixels == nullptr ? "more bits" : to_string<3>(pixels->shape())));
  }
  const std::size_t row_bytes = static_cast<std::size_t>(nx * channels);
  const std::size_t stride = (row_bytes + 3) / 4 * 4;
  if (stride > (UINT32_MAX - 2048) / static_cast<std::size_t>(ny)) {
    throw Error(ErrorCode::unsupported, path + ": expected less than 4 GiB of pixels for BMP, got more");
  }
  std::string bytes;
  bytes.reserve(2048 + stride * static_cast<std::size_t>(ny));
  store_header(bytes, nx, ny, channels == 1 ? 8 : 24, stride);
  for (std::int64_t row = ny - 1; row >= 0; --row) {
    const std::uint8_t* source = pixels->data() + row * nx * channels;
    for (std::int64_t col = 0; col < nx; ++col) {
      for (std::int64_t c = channels - 1; c >= 0; --c) bytes += static_cast<char>(source[col * channels + c]);
    }
    bytes.append(stride - row_bytes, '\0');
  }
  write_file(path, bytes);
}

}  // namespace holotone::io
