#include <algorithm>
#include <string>
#include <utility>
#include <vector>
#include <web/server/page_files.hpp>

namespace holotone {
std::string_view page_text(std::string_view path);  // cmake/embed.cmake
}  // namespace holotone

namespace holotone::web {
namespace {

std::string_view media_of(std::string_view name) {
  constexpr std::pair<std::string_view, std::string_view> media[] = {{".html", "text/html; charset=utf-8"},
                                                                     {".css", "text/css; charset=utf-8"},
                                                                     {".js", "text/javascript; charset=utf-8"},
                                                                     {".json", "application/json"},
                                                                     {".svg", "image/svg+xml"}};
  const auto found = std::ranges::find_if(media, [&](const auto& one) { return name.ends_with(one.first); });
  return found != std::end(media) ? found->second : "text/plain; charset=utf-8";
}

/// HOLOTONE_PAGE_FILES: the names, separated by '/'.
std::vector<PageFile> embedded() {
  std::vector<PageFile> files;
  std::string_view names = HOLOTONE_PAGE_FILES;
  while (!names.empty()) {
    const std::string_view name = names.substr(0, names.find('/'));
    files.push_back({name, media_of(name), page_text("web/page/" + std::string(name))});
    names.remove_prefix(std::min(name.size() + 1, names.size()));
  }
  std::ranges::sort(files, {}, &PageFile::name);
  return files;
}

}  // namespace

std::span<const PageFile> page_files() {
  static const std::vector<PageFile> files = embedded();
  return files;
}

const PageFile* find_page_file(std::string_view name) {
  const auto files = page_files();
  const auto found = std::ranges::find(files, name, &PageFile::name);
  return found != files.end() ? &*found : nullptr;
}

}  // namespace holotone::web
