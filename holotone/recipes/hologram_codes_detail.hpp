#pragma once
// Not for users. Codes of a hologram's picture to light.
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/hologram/encode.hpp>
#include <holotone/io/image.hpp>
#include <holotone/recipes/hologram_file.hpp>

namespace holotone {

/// What a picture's pixels stand for, as its file and the options say.
struct HologramCodes {
  EncodeOptions options;
  bool packed16 = false;
};

/// `pixel_bits`: 8 or 16 of a picture's channel. Throws io naming the file, and what light.path's encoding refuses.
HologramCodes codes_of_picture(const HologramLight& light, const HologramReadOptions& options, int pixel_bits);

/// The light that codes send out, without the stop that their encoding needs.
Array<Complex, 2> light_of_codes(const HologramLight& light, const Image& image, const HologramCodes& meant,
                                 bool zero_order, const FieldGrid& grid);

/// Rows of a picture.
Image rows_of(const Image& image, std::int64_t first, std::int64_t count);

/// What the library has against a value is said of the file that states it; what it has against the options is not.
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
