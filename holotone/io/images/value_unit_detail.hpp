#pragma once
// Units that a picture's file states of its values. Not for users.
#include <holotone/io/images/image.hpp>
#include <string_view>

namespace holotone::io {

/// Key of Image::metadata.
inline constexpr std::string_view unit_key = "text:unittype";

/// Writes a unit such as "ft" into the metadata, if there is one. A map of depths takes it up; a note says of other
/// images that it is not applied, unless it is radians.
void state_unit(Image& image, std::string_view unit, bool as_depth, std::string_view path);

/// Adds the note that the unit is not applied.
void note_unit(std::vector<std::string>& notes, std::string_view unit, std::string_view path);

}  // namespace holotone::io
