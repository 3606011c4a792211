#include <algorithm>
#include <cli/common/file_kind.hpp>
#include <cli/common/paths.hpp>
#include <cli/common/values.hpp>
#include <cli/view/control.hpp>
#include <cli/view/folder_document.hpp>
#include <filesystem>

namespace holotone::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_entries = 10'000;
constexpr std::uintmax_t most_thumbnail_bytes = std::uintmax_t{64} << 20;
constexpr std::int64_t thumbnail_side = 240;
constexpr int thumbnail_quality = 80;

/// What the list calls a file, by its name alone; empty for a file that holotone does not read.
std::string_view listed_kind(const std::string& name) {
  static constexpr std::pair<std::string_view, std::string_view> kinds[] = {
      {".png", "picture"}, {".tif", "picture"}, {".tiff", "picture"}, {".jpg", "picture"}, {".jpeg", "picture"},
      {".bmp", "picture"}, {".h5", "field"},    {".hdf5", "field"},   {".ohc", "field"},   {".smoe", "model"},
      {".svg", "dots"},    {".dat", "dots"},    {".xy", "dots"},      {".ply", "points"},  {".stl", "mesh"},
      {".xyz", "points"},  {".csv", "points"},  {".npy", "field"},    {".obj", "mesh"},    {".gltf", "mesh"},
      {".glb", "mesh"}};
  const auto extension = extension_of(name);
  for (const auto& [known, kind] : kinds) {
    if (known == extension) return kind;
  }
  return {};
}

bool has_thumbnail(std::string_view kind) { return kind == "picture" || kind == "field" || kind == "model"; }

}  // namespace

FolderDocument::FolderDocument(std::string path, Open open) : path_(std::move(path)), open_(std::move(open)) {
  std::error_code failed;
  fs::directory_iterator files(path_, failed);
  if (failed) throw_io(path_, "a readable folder", failed.message());
  for (const auto& file : files) {
    std::error_code unreadable;
    const auto name = file.path().filename().string();
    if (name.starts_with('.') || listed_kind(name).empty() || !file.is_regular_file(unreadable)) continue;
    entries_.push_back({name, file.file_size(unreadable)});
  }
  std::ranges::sort(entries_, {}, &Entry::name);
  if (entries_.size() > most_entries) {
    more_ = entries_.size() - most_entries;
    entries_.resize(most_entries);
  }
}

std::string FolderDocument::path_of(const State& state) const {
  const auto name = state.text("entry", "");
  const auto entry = std::ranges::lower_bound(entries_, name, {}, &Entry::name);
  if (entry == entries_.end() || entry->name != name) reject("entry", fmt::format("a file of {}", path_), name);
  return (fs::path(path_) / name).string();
}

ViewAnswer FolderDocument::list() const {
  nlohmann::json entries = nlohmann::json::array();
  for (const auto& entry : entries_) {
    const auto kind = listed_kind(entry.name);
    entries.push_back({{"name", entry.name},
                       {"kind", kind},
                       {"bytes", entry.bytes},
                       {"thumbnail", has_thumbnail(kind) && entry.bytes <= most_thumbnail_bytes}});
  }
  return answer_of({{"entries", entries}, {"more", more_}}, {}, {});
}

ViewAnswer FolderDocument::entry_thumbnail(const ViewRequest& request, Progress& progress) const {
  const Image image = open_(path_of(request.state))->thumbnail(progress);
  const auto shape = shape_of(image);
  if (element_count(shape) == 0) reject("entry", "a file that has a picture", request.state.text("entry", ""));
  const auto factor = std::max<std::int64_t>(1, std::max(shape[0], shape[1]) / thumbnail_side);
  const Image small = factor > 1 ? reduced(image, factor) : displayable(image);
  ViewAnswer answer;
  answer.media = "image/jpeg";
  answer.payload = jpeg_bytes(small, thumbnail_quality);
  answer.header = {{"width", shape_of(small)[1]}, {"height", shape_of(small)[0]}, {"command", ""}};
  return answer;
}

ViewAnswer FolderDocument::show(const ViewRequest& request, Progress& progress) {
  if (request.view == "files") return list();
  if (request.view == "thumbnail") return entry_thumbnail(request, progress);
  reject_view(request.view);
}

nlohmann::json FolderDocument::description() const {
  return {{"name", path_},
          {"kind", "folder"},
          {"facts", Facts{{"files", std::to_string(entries_.size() + more_)}}},
          {"views", {view_json("files", "Files", "folder")}},
          {"controls", nlohmann::json::object()}};
}

}  // namespace holotone::cli
