#include <algorithm>
#include <cli/common/paths.hpp>
#include <cli/options/values.hpp>
#include <cli/view/control.hpp>
#include <cli/view/folder_document.hpp>
#include <filesystem>
#include <holotone/core/parallel.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/file_format_detail.hpp>
#include <holotone/io/named_file_detail.hpp>
#include <holotone/recipes/file_kind_detail.hpp>

namespace holotone::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_entries = 10'000;
constexpr std::uintmax_t max_thumbnail_bytes = std::uintmax_t{64} << 20;
constexpr int thumbnail_quality = 80;

/// What the list calls a file, by its name alone; empty for a file that holotone does not read, and for .txt, .json and
/// .npz, which more often hold notes, settings and other arrays than points or a model: they open by name.
std::string_view listed_kind(const std::string& name) {
  const auto format = io::file_format(name);
  if (io::includes(io::FileFormat::txt | io::FileFormat::json | io::FileFormat::npz, format)) return {};
  const std::pair<io::FileFormat, std::string_view> kinds[] = {
      {io::formats::pictures, "picture"}, {io::formats::fields | io::FileFormat::mat, "field"},
      {io::FileFormat::smoe, "model"},    {io::formats::dots_alone, "dots"},
      {io::formats::meshes, "mesh"},      {io::formats::scenes, "points"}};
  for (const auto& [formats, kind] : kinds) {
    if (io::includes(formats, format)) return kind;
  }
  return {};
}

bool is_utf8(const std::string& text) {
  try {
    return !nlohmann::json(text).dump().empty();
  } catch (const nlohmann::json::exception&) {
    return false;
  }
}

/// What the first bytes of a file tell beyond its name.
std::string seen_kind(const std::string& path, const std::string& kind) try {
  const auto format = io::file_format(path);
  if (format == io::FileFormat::npy) {
    const auto seen = file_kind(path);
    return seen == FileKind::points ? "points" : seen == FileKind::dots ? "dots" : "field";
  }
  if (io::includes(io::formats::tables_of_either, format) && file_kind(path) == FileKind::dots) return "dots";
  constexpr std::size_t metadata_bytes = 16384;
  const bool hologram = format == io::FileFormat::png &&
                        io::read_first_bytes(path, metadata_bytes).find("holotone:encoding") != std::string::npos;
  return hologram ? "hologram" : kind;
} catch (const Error&) {
  return kind;
}

}  // namespace

bool leads_out(const fs::path& file) {
  std::error_code failed;
  if (!fs::is_symlink(file, failed)) return false;
  const auto folder = fs::canonical(file.parent_path(), failed);
  const auto target = fs::canonical(file, failed);
  return !io::lies_beneath(folder, target);
}

void require_inside(const std::string& entry) {
  if (!leads_out(entry)) return;
  throw_io(entry, fmt::format("a file in {}", fs::path(entry).parent_path().string()), "a link that leads out of it");
}

FolderDocument::FolderDocument(std::string path, Open open) : path_(std::move(path)), open_(std::move(open)) {
  std::error_code failed;
  fs::directory_iterator files(path_, failed);
  if (failed) throw_io(path_, "a readable folder", failed.message());
  for (const auto& file : files) {
    std::error_code unreadable;
    const auto name = file.path().filename().string();
    if (name.starts_with('.') || listed_kind(name).empty() || !file.is_regular_file(unreadable)) continue;
    if (!is_utf8(name)) continue;  // JSON could not name it
    if (leads_out(file.path())) continue;
    entries_.push_back({name, std::string(listed_kind(name)), file.file_size(unreadable)});
  }
  std::ranges::sort(entries_, {}, &Entry::name);
  if (entries_.size() > max_entries) {
    more_ = entries_.size() - max_entries;
    entries_.resize(max_entries);
  }
  parallel_for(0, std::ssize(entries_), [&](std::int64_t i) {
    auto& entry = entries_[static_cast<std::size_t>(i)];
    entry.kind = seen_kind((fs::path(path_) / entry.name).string(), entry.kind);
  });
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
    entries.push_back({{"name", entry.name},
                       {"kind", entry.kind},
                       {"bytes", entry.bytes},
                       {"thumbnail", entry.bytes <= max_thumbnail_bytes}});
  }
  return answer_of({{"entries", entries}, {"more", more_}}, {}, {});
}

ViewAnswer FolderDocument::entry_thumbnail(const ViewRequest& request, Progress& progress) const {
  const auto path = path_of(request.state);
  require_inside(path);
  Image image = open_(path)->thumbnail(progress);
  const auto shape = shape_of(image);
  const auto factor = std::max<std::int64_t>(1, std::max(shape[0], shape[1]) / thumbnail_side);
  const Image small = factor > 1 ? reduced(image, factor) : displayable(std::move(image));
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
