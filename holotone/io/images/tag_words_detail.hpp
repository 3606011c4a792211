#pragma once
// Words for numbers in the tags of picture files, for errors. Not for users.
#include <cstdint>
#include <string>

namespace holotone::io {

/// "CMYK (PhotometricInterpretation 5)".
std::string describe_photometric(unsigned value);

/// "signed integers (SampleFormat 2)".
std::string describe_sample_format(unsigned value);

/// "JPEG 2000 (compression 34712)", of TIFF.
std::string describe_tiff_compression(unsigned value);

/// "run-length coding of 8 bits (compression 1)", of BMP.
std::string describe_bmp_compression(std::uint32_t value);

}  // namespace holotone::io
