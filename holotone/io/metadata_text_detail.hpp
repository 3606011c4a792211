#pragma once
// Metadata as text inside image files. Not for users.
#include <holotone/core/metadata.hpp>
#include <string>
#include <string_view>

namespace holotone::io {

/// Prefix of the names of Holotone's text chunks in a PNG file.
inline constexpr std::string_view own_prefix = "holotone:";
/// Prefix of the keys of other programs' text.
inline constexpr std::string_view foreign_prefix = "text:";

/// Throws invalid_argument for a key that is empty or contains a control character or ": ", or a value with a zero
/// byte.
void require_metadata(std::string_view where, const Metadata& metadata);

/// First line of Holotone's metadata in a text.
inline constexpr std::string_view metadata_first_line = "Holotone metadata\n";

/// Returns that line, then a line "key: value" for each key; backslash and line break in a value are "\\" and "\n".
std::string metadata_lines(const Metadata& metadata);

/// Formats a line "key: value". The inverse returns an empty map for other lines.
std::string metadata_line(const std::string& key, std::string_view value);
Metadata parse_metadata_line(std::string_view line);

/// Inverse of metadata_lines. Other text is returned under "text:<keyword>".
Metadata parse_metadata_lines(std::string_view text, std::string_view keyword);

}  // namespace holotone::io
