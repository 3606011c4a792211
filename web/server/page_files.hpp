#pragma once
#include <span>
#include <string_view>

namespace holotone::web {

/// A file of web/page, which the program carries.
struct PageFile {
  std::string_view name;   ///< "index.html"
  std::string_view media;  ///< "text/html; charset=utf-8"
  std::string_view text;
};

/// All of them, sorted by name.
std::span<const PageFile> page_files();

/// The file of that name; nullptr if there is none.
const PageFile* find_page_file(std::string_view name);

}  // namespace holotone::web
