#pragma once
// What ImageJ states in the ImageDescription of a TIFF file's first directory. Not for users.
#include <cstdint>
#include <holotone/io/images/image.hpp>
#include <string_view>

namespace holotone::io {

/// Pictures that the description states: those of a large file lie behind the first, without directories. 0 for others
/// than ImageJ's.
std::int64_t imagej_pictures(std::string_view description);

/// True for signed numbers of 16 bits, which ImageJ stores plus 32768, with c0=-32768 and c1=1.
bool is_imagej_signed(std::string_view description);

/// Adds a note of a calibration, which is not applied; without one, the unit of the values becomes metadata
/// (state_unit).
void note_imagej_calibration(std::string_view description, Image& image, bool as_depth, std::string_view path);

}  // namespace holotone::io
