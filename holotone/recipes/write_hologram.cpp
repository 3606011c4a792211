#include <algorithm>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/io/fields/field_file.hpp>
#include <holotone/recipes/hologram_file.hpp>
#include <holotone/recipes/metadata_keys.hpp>
#include <holotone/recipes/write_hologram.hpp>
#include <utility>

namespace holotone {
namespace {

constexpr const char* where = "write_hologram";

void require_shape(const char* argument, Shape<2> shape, const FieldGrid& grid) {
  if (shape == grid.shape()) return;
  throw_argument(where, argument, fmt::format("the grid's shape {}", to_string<2>(grid.shape())), to_string<2>(shape));
}

void add_metadata(Metadata& metadata, const FieldGrid& grid, const HologramWriteOptions& options) {
  set_metadata(metadata, "pitch_m", grid.pitch_m);
  set_metadata(metadata, "wavelength_m", grid.wavelength_m);
  for (const auto& [key, value] : options.metadata) metadata.insert_or_assign(key, value);
}

void require_codes(View<const std::uint16_t, 2> codes, int bits) {
  const auto values = codes.host();
  const auto bad = std::ranges::find_if(values, [&](std::uint16_t code) { return code >> bits != 0; });
  if (bad == values.end()) return;
  const auto index = bad - values.begin();
  throw_argument(where, "codes", fmt::format("codes of {} bits, below {}", bits, 1 << bits),
                 fmt::format("{} at row {}, column {}", *bad, index / codes.shape()[1], index % codes.shape()[1]));
}

Image picture_of(View<const std::uint16_t, 2> codes, int bits, bool packed16) {
  if (packed16) return {pack_16bit(codes), {}};
  const Shape<3> shape{codes.shape()[0], codes.shape()[1], 1};
  const auto values = codes.host();
  if (bits > 8) {
    Array<std::uint16_t, 3> pixels(shape);
    std::ranges::copy(values, pixels.data());
    return {std::move(pixels), {}};
  }
  Array<std::uint8_t, 3> pixels(shape);
  std::ranges::transform(values, pixels.data(), [](std::uint16_t code) { return static_cast<std::uint8_t>(code); });
  return {std::move(pixels), {}};
}

}  // namespace

void write_hologram(const std::string& path, const Field& field, const EncodeOptions& encoding,
                    const HologramWriteOptions& options) {
  require_shape("field", field.values.shape(), field.grid);
  require_grid(where, field.grid);
  if (is_field_name(path)) {
    FieldFile file{copy_of(field.values.view(), Device{}), {}};
    set_metadata(file.metadata, "encoding", "complex");
    add_metadata(file.metadata, field.grid, options);
    write_field(path, file);
    return;
  }
  EncodeReport report;
  const auto codes = encode(field.values.view(), encoding, field.grid, &report);
  write_hologram(path, codes.view(), field.grid, encoding, report, options);
}

void write_hologram(const std::string& path, View<const std::uint16_t, 2> codes, const FieldGrid& grid,
                    const EncodeOptions& encoding, const EncodeReport& report, const HologramWriteOptions& options) {
  if (is_field_name(path)) throw_argument(where, "path", "the name of a picture for codes", path);
  require_range(where, "bits", encoding.bits, 1, 16);
  require_shape("codes", codes.shape(), grid);
  require_grid(where, grid);
  require_codes(codes, encoding.bits);
  Image picture = picture_of(codes, encoding.bits, options.packed16);
  describe_encoding(picture.metadata, encoding, report, options.packed16);
  add_metadata(picture.metadata, grid, options);
  write_image(path, picture, options.image);
}

}  // namespace holotone
