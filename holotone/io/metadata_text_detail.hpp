#pragma once
// Metadata as text inside image files. Not for users.
#include <holotone/core/metadata.hpp>
#include <string>
#include <string_view>

namespace holotone::io {

/// Begins the names of Holotone's own text chunks in a PNG file, and of nobody else's.
inline constexpr std::string_view own_prefix = "holotone:";
/// Begins the key of text that another program left under some keyword.
inline constexpr std::string_view foreign_prefix = "text:";

/// Throws invalid_argument for a key that is empty or holds a control character or ": ", or a value with a
/// zero byte.
void require_metadata(std::string_view where, const Metadata& metadata);

/// Begins our metadata among text.
inline constexpr std::string_view metadata_first_line = "Holotone metadata\n";

/// That, then a line "key: value" each; backslash and line break in a value are "\\" and "\n".
std::string metadata_lines(const Metadata& metadata);

/// A line "key: value"; and back, empty for a line of another kind.
std::string metadata_line(const std::string& key, std::string_view value);
Metadata parse_metadata_line(std::string_view line);

/// Inverse of metadata_lines. Text of another kind is returned under "text:<keyword>".
Metadata parse_metadata_lines(std::string_view text, std::string_view keyword);

}  // namespace holotone::io
