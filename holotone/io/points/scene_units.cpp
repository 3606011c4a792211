#include <fmt/format.h>
#include <holotone/io/comment_unit_detail.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/logarithm_unit_detail.hpp>
#include <holotone/io/points/scene_formats_detail.hpp>
#include <holotone/io/text_reader_detail.hpp>

namespace holotone::io {
namespace {

constexpr std::size_t stl_header = 80;

/// Comments of the lines before the first vertex.
CommentUnit unit_of_obj(std::string_view bytes, std::string_view path) {
  CommentUnit unit;
  LineReader lines(bytes);
  for (std::string_view line; lines.next_filled(line);) {
    line = trim(line);
    if (line.starts_with("v ") || line.starts_with("v\t")) break;
    if (line.starts_with('#')) merge_comment_unit(unit, find_comment_unit(line.substr(1)), path);
  }
  return unit;
}

CommentUnit unit_of_ply(std::string_view bytes, std::string_view path) {
  CommentUnit unit;
  LineReader lines(bytes);
  for (std::string_view line; lines.next_filled(line) && !trim(line).starts_with("end_header");) {
    const auto word = take_word(line);
    if (word != "comment" && word != "obj_info") continue;
    if (names_logarithm(line)) {
      throw_io(path, fmt::format("{} in its comments", linear_numbers), in_quotes(trim(line)));
    }
    merge_comment_unit(unit, find_comment_unit(line), path);
  }
  return unit;
}

/// The line of the first solid's name, or the header of a binary file.
CommentUnit unit_of_stl(std::string_view bytes) {
  const auto head = bytes.substr(0, stl_header);
  return find_comment_unit(head.substr(0, head.find_first_of("\r\n")));
}

}  // namespace

void apply_stated_unit(Mesh& mesh, FileFormat format, std::string_view bytes, std::string_view path) {
  const auto unit = format == FileFormat::ply   ? unit_of_ply(bytes, path)
                    : format == FileFormat::obj ? unit_of_obj(bytes, path)
                    : format == FileFormat::stl ? unit_of_stl(bytes)
                                                : CommentUnit{};
  if (unit.text.empty()) return;
  if (!unit.metres) {
    mesh.ignored += fmt::format("{}the unit {}", mesh.ignored.empty() ? "" : ", ", in_quotes(unit.text));
    return;
  }
  const double metres = *unit.metres;
  for (auto& position : mesh.position) {
    for (float& value : position) value = static_cast<float>(metres * static_cast<double>(value));
  }
  for (double& value : mesh.origin) value *= metres;
}

}  // namespace holotone::io
