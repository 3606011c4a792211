#pragma once
#include <cstdint>
#include <holotone/core/array.hpp>
#include <holotone/core/metadata.hpp>
#include <holotone/hologram/encode.hpp>
#include <holotone/io/images/image.hpp>
#include <holotone/optics/field.hpp>
#include <string>

// Writes the file of a hologram with all that read_hologram needs.
namespace holotone {

struct HologramWriteOptions {
  Metadata metadata{};        ///< more keys, such as distance_m (metadata_keys); they replace those of the encoding
  bool packed16 = false;      ///< true: 16-bit codes in the layout of pack_16bit
  ImageWriteOptions image{};  ///< of a picture of codes
};

/// Writes a complex field, by the extension of `path`: as it is to HDF5, NPY or OHC (is_field_name), otherwise encoded
/// to a PNG, TIFF or BMP of codes. `field`: on any device. `encoding`: of the codes; bits up to 8 are stored in 8. A
/// BMP and an NPY have no metadata: read_hologram needs them as overrides. The file appears when it is complete. Throws
/// invalid_argument for options out of range and for a field of another shape than its grid's; io; unsupported. Cost
/// and memory: those of encode and write_image or write_field.
void write_hologram(const std::string& path, const Field& field, const EncodeOptions& encoding = {},
                    const HologramWriteOptions& options = {});

/// Writes codes {ny, nx}, in host memory, that were made with `encoding`. `report`: the range of their amplitudes
/// (encode, EncodePlan::report), which every encoding but phase needs. Throws as above; also invalid_argument for a
/// code of more than encoding.bits, with its pixel, and for a path that names a complex field.
void write_hologram(const std::string& path, View<const std::uint16_t, 2> codes, const FieldGrid& grid,
                    const EncodeOptions& encoding = {}, const EncodeReport& report = {},
                    const HologramWriteOptions& options = {});

}  // namespace holotone
