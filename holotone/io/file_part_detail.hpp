#pragma once
// The names of parts of files, FILE:PART. Not for users.
#include <cstdint>
#include <string>
#include <string_view>

namespace holotone::io {

/// A file, and the part of it that a name states: page 2 of "s.tif:2", dataset /a of "f.h5:/a".
struct FilePart {
  std::string file;
  std::string part{};  ///< empty: none is stated
};

/// Splits FILE:PART at the first colon that ends the name of an existing file. A file of the whole name comes first.
/// Without either the whole name is the file's.
FilePart split_part(const std::string& path);

/// Index from 0 of a part that counts from 1: "2" of 5 "pages". Throws io, naming `path`, for other parts than 1 to
/// `count`.
std::int64_t part_index(std::string_view part, std::int64_t count, std::string_view things, std::string_view path);

/// Throws io if a name states a part of a file that has none, or that is to be written.
void require_no_part(const std::string& path);

}  // namespace holotone::io
