#pragma once
// The pages of a TIFF file. Not for users.
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace holotone::io {

bool is_tiff(std::string_view bytes);

/// Directories of a TIFF file.
struct TiffPages {
  std::vector<std::uint64_t> directories;  ///< offset of each page, in order; no reduced copies, no masks
  std::vector<std::uint64_t> masks;        ///< of each page the transparency mask that follows it; 0: none
  std::int64_t others = 0;                 ///< number of reduced copies and masks
  bool damaged = false;                    ///< the list ends outside the file, or in itself
};

/// Reads `count` bytes from `position`; false if the file ends before.
using ReadAt = std::function<bool(char* target, std::uint64_t count, std::uint64_t position)>;

/// Walks the list of directories of a TIFF or BigTIFF file of `size` bytes (TIFF 6.0, section 2; NewSubfileType,
/// section 8). A file of reduced copies and masks alone has these as its pages.
TiffPages find_tiff_pages(const ReadAt& read, std::uint64_t size);

/// Pages of the file, 1 for other files than TIFF and for the name of a page. Throws io for a file that cannot be read.
std::int64_t count_pages(const std::string& path);

/// "s.tif:1" to "s.tif:12" of a TIFF file of several pages; the name itself of others.
std::vector<std::string> page_names(const std::string& path);

}  // namespace holotone::io
