#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/io/file_format_detail.hpp>
#include <holotone/io/file_part_detail.hpp>
#include <vector>

namespace holotone::io {
namespace {

struct Extension {
  std::string_view text;
  FileFormat format;
};

// In the order in which errors list them.
constexpr Extension known[] = {
    {".png", FileFormat::png},   {".tif", FileFormat::tiff},  {".tiff", FileFormat::tiff}, {".bmp", FileFormat::bmp},
    {".jpg", FileFormat::jpeg},  {".jpeg", FileFormat::jpeg}, {".pfm", FileFormat::pfm},   {".exr", FileFormat::exr},
    {".h5", FileFormat::hdf5},   {".hdf5", FileFormat::hdf5}, {".mat", FileFormat::mat},   {".ply", FileFormat::ply},
    {".stl", FileFormat::stl},   {".xyz", FileFormat::xyz},   {".csv", FileFormat::csv},   {".tsv", FileFormat::tsv},
    {".txt", FileFormat::txt},   {".asc", FileFormat::asc},   {".dat", FileFormat::dat},   {".xy", FileFormat::xy},
    {".npy", FileFormat::npy},   {".ohc", FileFormat::ohc},   {".obj", FileFormat::obj},   {".gltf", FileFormat::gltf},
    {".glb", FileFormat::gltf},  {".svg", FileFormat::svg},   {".pdf", FileFormat::pdf},   {".smoe", FileFormat::smoe},
    {".json", FileFormat::json}, {".npz", FileFormat::npz},   {".html", FileFormat::html}, {".htm", FileFormat::html}};

std::vector<std::string_view> extensions(FileFormat formats) {
  std::vector<std::string_view> found;
  for (const auto& [text, format] : known) {
    if (includes(formats, format)) found.push_back(text);
  }
  return found;
}

}  // namespace

std::string extension_of(std::string_view path) {
  const bool part = path.find(':') != std::string_view::npos;
  std::string extension =
      std::filesystem::path(part ? split_part(std::string(path)).file : std::string(path)).extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return extension;
}

std::string extension_or_none(std::string_view path) {
  auto extension = extension_of(path);
  return extension.empty() ? "no extension" : extension;
}

FileFormat file_format(std::string_view path) {
  const auto* const found = std::ranges::find(known, extension_of(path), &Extension::text);
  return found == std::end(known) ? FileFormat::none : found->format;
}

bool has_format(std::string_view path, FileFormat formats) { return includes(formats, file_format(path)); }

std::string list_extensions(FileFormat formats) { return fmt::format("{}", fmt::join(extensions(formats), " ")); }

std::string any_extension(FileFormat formats) {
  auto listed = extensions(formats);
  if (listed.size() < 2) return list_extensions(formats);
  const auto last = listed.back();
  listed.pop_back();
  return fmt::format("{} or {}", fmt::join(listed, ", "), last);
}

std::string name_ending_in(FileFormat formats) { return "a name ending in " + any_extension(formats); }

void throw_format(std::string_view path, FileFormat formats, std::string_view content) {
  throw Error(ErrorCode::unsupported, fmt::format("{}: expected {} for {}, got {}", path, any_extension(formats),
                                                  content, extension_or_none(path)));
}

}  // namespace holotone::io
