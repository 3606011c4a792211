#pragma once
// What a TIFF directory states and the reader does not know. Empty if HOLOTONE_TIFF is off. Not for users.
#if HOLOTONE_TIFF
#include <holotone/io/images/image.hpp>
#include <holotone/io/images/tiff/tiff_input_detail.hpp>
#include <string_view>

namespace holotone::io {

/// Adds notes of scales and sides of pixels in the private tags of instruments: JPK (scale and offset), Gatan
/// DigitalMicrograph and FEI (also sides), of a GrayResponseCurve, and one line of all other tags that are neither
/// known nor harmless.
void note_unknown_tags(const TiffInput& input, Image& image, std::string_view path);

/// Adds a note of what a tag's text, of no known dialect, states of numbers (list_stated_numbers): lines of Octopus and
/// mantidimaging, YAML of HoloPy, JSON, XML.
void note_text_numbers(std::string_view text, std::string_view tag, Image& image, std::string_view path);

}  // namespace holotone::io
#endif
