#pragma once
// Formats of files by their extensions: the one table that readers, writers and the program consult. Not for users.
#include <cstdint>
#include <string>
#include <string_view>

namespace holotone::io {

/// A set of formats, one bit each.
enum class FileFormat : std::uint32_t {
  none = 0,
  png = 1U << 0U,
  tiff = 1U << 1U,
  bmp = 1U << 2U,
  jpeg = 1U << 3U,
  hdf5 = 1U << 4U,
  mat = 1U << 5U,
  ply = 1U << 6U,
  stl = 1U << 7U,
  xyz = 1U << 8U,
  csv = 1U << 9U,
  tsv = 1U << 10U,
  txt = 1U << 11U,
  asc = 1U << 12U,
  dat = 1U << 13U,
  xy = 1U << 14U,
  npy = 1U << 15U,
  ohc = 1U << 16U,
  obj = 1U << 17U,
  gltf = 1U << 18U,
  svg = 1U << 19U,
  pdf = 1U << 20U,
  smoe = 1U << 21U,
  json = 1U << 22U,
  npz = 1U << 23U,
  html = 1U << 24U,
  pfm = 1U << 25U,
  exr = 1U << 26U
};

constexpr FileFormat operator|(FileFormat a, FileFormat b) {
  return static_cast<FileFormat>(static_cast<std::uint32_t>(a) | static_cast<std::uint32_t>(b));
}
constexpr bool includes(FileFormat formats, FileFormat format) {
  return (static_cast<std::uint32_t>(formats) & static_cast<std::uint32_t>(format)) != 0;
}

/// What files of several formats hold. A format can stand in more than one: `.csv` holds points or dots.
namespace formats {
inline constexpr FileFormat pictures_with_metadata = FileFormat::png | FileFormat::tiff;
inline constexpr FileFormat written_pictures = pictures_with_metadata | FileFormat::bmp;
inline constexpr FileFormat light = FileFormat::pfm | FileFormat::exr;  ///< pictures of floats, linear light
inline constexpr FileFormat pictures = written_pictures | FileFormat::jpeg | light;
inline constexpr FileFormat fields_by_rows = FileFormat::hdf5 | FileFormat::npy;
inline constexpr FileFormat codes_by_rows = FileFormat::tiff | FileFormat::npy;
inline constexpr FileFormat fields = fields_by_rows | FileFormat::ohc;
inline constexpr FileFormat assimp_scenes = FileFormat::gltf;
inline constexpr FileFormat meshes = FileFormat::stl | FileFormat::obj | assimp_scenes;
inline constexpr FileFormat point_tables =
    FileFormat::xyz | FileFormat::csv | FileFormat::tsv | FileFormat::txt | FileFormat::asc;
inline constexpr FileFormat scenes = FileFormat::ply | point_tables | FileFormat::npy | meshes;
inline constexpr FileFormat dots_alone = FileFormat::svg | FileFormat::dat | FileFormat::xy;
inline constexpr FileFormat tables_of_either = FileFormat::csv | FileFormat::tsv | FileFormat::txt;  ///< points or dots
inline constexpr FileFormat dot_tables = tables_of_either | FileFormat::dat | FileFormat::xy;
inline constexpr FileFormat read_dots = dot_tables | FileFormat::npy | FileFormat::svg;
inline constexpr FileFormat written_dots =
    FileFormat::csv | FileFormat::txt | FileFormat::npy | FileFormat::svg | FileFormat::pdf | FileFormat::png;
inline constexpr FileFormat models = FileFormat::smoe | FileFormat::json | FileFormat::npz;
}  // namespace formats

/// Returns the extension in lower case, empty without one: ".ply" of "Dragon.PLY", ".tif" of "s.tif:2" if s.tif exists.
std::string extension_of(std::string_view path);

/// The same for an error: "no extension" without one.
std::string extension_or_none(std::string_view path);

/// FileFormat by the extension, in any case; none for an unknown one.
FileFormat file_format(std::string_view path);

/// True if the extension is one of `formats`.
bool has_format(std::string_view path, FileFormat formats);

/// ".h5 .hdf5 .npy": every extension of the formats.
std::string list_extensions(FileFormat formats);

/// ".h5, .hdf5 or .npy".
std::string any_extension(FileFormat formats);

/// "a name ending in .h5, .hdf5 or .npy".
std::string name_ending_in(FileFormat formats);

/// Throws unsupported: "x.gif: expected .png, .tif, .tiff or .bmp for an image, got .gif".
[[noreturn]] void throw_format(std::string_view path, FileFormat formats, std::string_view content);

}  // namespace holotone::io
