#pragma once
#include <array>
#include <holotone/core/enum_names.hpp>
#include <string>
#include <vector>

namespace holotone {

/// What a file holds.
enum class FileContent { picture, scene, field, dots, model, depth, map, page };
template <>
inline constexpr auto enum_names<FileContent> =
    std::array{EnumName{FileContent::picture, "picture"}, EnumName{FileContent::scene, "scene"},
               EnumName{FileContent::field, "field"},     EnumName{FileContent::dots, "dots"},
               EnumName{FileContent::model, "model"},     EnumName{FileContent::depth, "depth"},
               EnumName{FileContent::map, "map"},         EnumName{FileContent::page, "page"}};

/// What Holotone reads and writes of one format. A format that holds several contents has a row for each.
struct FormatSupport {
  std::string name{};                     ///< "TIFF, BigTIFF"
  FileContent content{};                  ///< pictures or holograms, points or meshes, complex fields, ...
  std::vector<std::string> extensions{};  ///< in lower case, with their dot
  bool by_content = false;                ///< recognised by its first bytes; otherwise by the extension
  std::string read{};                     ///< kinds that are read; empty: none
  std::string written{};                  ///< kinds that are written; empty: none
  std::string honoured{};                 ///< what a file declares and is applied
  std::string not_honoured{};             ///< what is refused, or ignored and named
  std::string library{};                  ///< optional library; empty: always there
  bool is_built = true;                   ///< false if this build lacks the library: the format is refused
};

/// Returns every format that is read or written, in the order of `holotone formats` and docs/files.md.
const std::vector<FormatSupport>& file_formats();

}  // namespace holotone
