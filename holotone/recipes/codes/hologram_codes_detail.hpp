#pragma once
// Conversion of the codes of a hologram's picture to light. Not for users.
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/hologram/encode.hpp>
#include <holotone/io/images/image.hpp>
#include <holotone/recipes/hologram_file.hpp>
#include <vector>

namespace holotone {

/// Encoding of a picture's pixels, as stated by its file and the options.
struct HologramCodes {
  EncodeOptions options;
  bool packed16 = false;
};

/// Returns the encoding stated by the metadata of `light`. `pixel_bits`: bits of a picture's channel, 8 or 16. Throws
/// io naming the file for metadata, invalid_argument for an unknown encoding or for options that the encoding lacks.
HologramCodes codes_of_picture(const HologramLight& light, const HologramReadOptions& options, int pixel_bits);

/// Computes the light of the codes, before the stop of their encoding (fourier_filter).
Array<Complex, 2> light_of_codes(const HologramLight& light, const Image& image, const HologramCodes& meant,
                                 bool zero_order, const FieldGrid& grid);

/// Light of single codes, where it does not depend on their place: of a picture without packed codes and without a
/// reference beam. Codes beyond the table, and those whose light is not a number, are none of the picture's
/// encoding.
std::vector<Complex> light_of_each_code(const HologramLight& light, const HologramCodes& meant, bool zero_order);

/// Fills `rows` with the light of the picture's rows from first_row on. False for a code without light in the table or
/// a coloured pixel, which light_of_codes refuses.
bool look_up(const Image& image, std::int64_t first_row, const std::vector<Complex>& table, View<Complex, 2> rows);

/// Returns rows [first, first + count) of a picture.
Image rows_of(const Image& image, std::int64_t first, std::int64_t count);

/// Calls call(). An invalid_argument is rethrown as a FileError of the file that states the value, unless it is about
/// the options of read_hologram.
template <class Call>
auto blame_file(const std::string& path, const Call& call) {
  try {
    return call();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::invalid_argument || error.function() == "read_hologram") throw;
    throw FileError(path, error);
  }
}

}  // namespace holotone
