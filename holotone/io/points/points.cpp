#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/io/atomic_file.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/file_format_detail.hpp>
#include <holotone/io/npy_detail.hpp>
#include <holotone/io/points/points.hpp>
#include <holotone/io/points/scene_formats_detail.hpp>
#include <holotone/io/text_reader_detail.hpp>

namespace holotone {
namespace {

using io::store;

template <class T>
void require_length(std::string_view name, const std::vector<T>& values, std::size_t expected) {
  if (values.size() != expected) {
    throw_argument("write_points", name, fmt::format("{} values", expected), fmt::format("{}", values.size()));
  }
}

std::string ply_header(const PointCloud& cloud) {
  std::string header = fmt::format(
      "ply\nformat binary_little_endian 1.0\nelement vertex {}\n"
      "property float x\nproperty float y\nproperty float z\nproperty float amplitude\n",
      cloud.size());
  if (!cloud.normal.empty()) header += "property float nx\nproperty float ny\nproperty float nz\n";
  if (!cloud.colour.empty()) header += "property float red\nproperty float green\nproperty float blue\n";
  if (!cloud.phase_rad.empty()) header += "property float phase\n";
  return header + "end_header\n";
}

}  // namespace

namespace {

bool is_ply(std::string_view bytes) {
  if (bytes.starts_with(io::byte_order_mark)) bytes.remove_prefix(io::byte_order_mark.size());
  return bytes.starts_with("ply") && (bytes.size() == 3 || bytes[3] == '\n' || bytes[3] == '\r' || bytes[3] == ' ');
}
// Decides by the first bytes; a file of another kind is not read further.
bool is_signed(std::string_view first) { return is_ply(first) || io::is_npy(first); }
bool is_text_or_signed(std::string_view first) {
  return is_signed(first) || first.find('\0') == std::string_view::npos;
}
bool is_anything(std::string_view) { return true; }
constexpr std::size_t first_bytes = 512;  // of read_bytes_if

}  // namespace

bool is_assimp_scene(std::string_view path) { return io::has_format(path, io::formats::assimp_scenes); }

Mesh read_scene(const std::string& path, Coordinates coordinates) {
  if (is_assimp_scene(path)) {
    throw Error(ErrorCode::unsupported, path + ": expected a format of Holotone's own readers, got " +
                                            io::extension_of(path) + " (use read_scene_assimp)");
  }
  const auto format = io::file_format(path);
  const bool stl = format == io::FileFormat::stl;
  const bool table = io::includes(io::formats::point_tables, format);
  const bool text = table || format == io::FileFormat::obj;
  const std::string bytes = io::read_bytes_if(path, stl ? is_anything : text ? is_text_or_signed : is_signed);
  const bool npy = io::is_npy(bytes) || format == io::FileFormat::npy;
  const bool ply = is_ply(bytes) || (format == io::FileFormat::ply && !npy);
  if (text && !is_signed(bytes)) io::require_text(path, std::string_view(bytes).substr(0, first_bytes));
  const auto read = ply     ? io::read_ply
                    : npy   ? io::read_npy_points
                    : stl   ? io::read_stl
                    : table ? io::read_table
                    : text  ? io::read_obj
                            : nullptr;
  if (read != nullptr) {
    Mesh mesh = io::read_around(coordinates, [&](const io::Origin& origin) { return read(bytes, path, origin); });
    io::apply_stated_unit(mesh, ply ? io::FileFormat::ply : npy ? io::FileFormat::npy : format, bytes, path);
    return mesh;
  }
  throw_io(path, "a scene: " + io::list_extensions(io::formats::scenes), io::extension_or_none(path));
}

void write_points(const std::string& path, const PointCloud& cloud, Progress& progress) {
  if (cloud.size() == 0) throw_argument("write_points", "cloud", "at least 1 point", "0");
  require_length("amplitude", cloud.amplitude, cloud.size());
  if (!cloud.colour.empty()) require_length("colour", cloud.colour, cloud.size());
  if (!cloud.normal.empty()) require_length("normal", cloud.normal, cloud.size());
  if (!cloud.phase_rad.empty()) require_length("phase_rad", cloud.phase_rad, cloud.size());
  constexpr std::size_t points_a_piece = 65536;
  std::size_t i = 0;
  write_file(path, [&](std::string& bytes) {
    if (i == 0) bytes = ply_header(cloud);
    progress.step("writing points", static_cast<std::int64_t>(i), static_cast<std::int64_t>(cloud.size()));
    const auto store_three = [&](const Vec3f& values) {
      for (float value : values) store(bytes, value);
    };
    for (const std::size_t end = std::min(i + points_a_piece, cloud.size()); i < end; ++i) {
      store_three(cloud.position[i]);
      store(bytes, cloud.amplitude[i]);
      if (!cloud.normal.empty()) store_three(cloud.normal[i]);
      if (!cloud.colour.empty()) store_three(cloud.colour[i]);
      if (!cloud.phase_rad.empty()) store(bytes, cloud.phase_rad[i]);
    }
    return i < cloud.size();
  });
}

}  // namespace holotone
