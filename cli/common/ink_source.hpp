#pragma once
#include <array>
#include <cli/options/option_table.hpp>
#include <holotone/core/array.hpp>
#include <holotone/halftone/ink.hpp>
#include <holotone/io/images/image.hpp>
#include <optional>
#include <string>
#include <vector>

namespace holotone::cli {

/// Conversion of a picture to ink. Functions on pictures name the file in their errors.
struct InkSource {
  InkOptions options;             ///< without its tone and mask
  std::optional<PixelTone> tone;  ///< none: codes are sRGB, floats linear
  std::string mask;               ///< a picture's file, or empty
};

/// Values of --tone, --gamma and --clip.
OptionValue tone_value(InkSource& source);
OptionValue gamma_value(InkSource& source);
OptionValue clip_value(InkSource& source);

/// {ny, nx}
Shape<2> page_of(const Image& image);

/// "640 x 480 pixels"
std::string size_text(const Shape<2>& shape);

/// Reads a picture as light. Throws io; cancelled.
Image read_picture(const std::string& path);

/// Mask of the picture `of` whose page is `page`; empty if there is none. Throws io for another size and for a value
/// outside 0 to 1, naming its pixel (--clip: for one that is not finite); cancelled.
Array<float, 2> read_mask(const InkSource& source, const Shape<2>& page, const std::string& of);

/// Ink of the picture `path`. Throws as ink_from_pixels.
Array<float, 2> ink_of(const std::string& path, const Image& image, const InkSource& source, View<const float, 2> mask);

/// Separation into the inks of default_inks. `apart`: FourInks::apart.
Separation separation_of(double black, double apart);

/// Four inks of the picture `path`. Throws as cmyk_inks.
std::array<Array<float, 2>, 4> inks_of(const std::string& path, const Image& image, const InkSource& source,
                                       View<const float, 2> mask, const Separation& separation);

/// Throws io for pictures without ink: names the mask if a picture has ink without it, else the first picture.
[[noreturn]] void reject_no_ink(const InkSource& source, const std::vector<std::string>& pictures);

}  // namespace holotone::cli
