#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <holotone/core/error.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/logarithm_unit_detail.hpp>
#include <holotone/io/table_text_detail.hpp>
#include <holotone/io/text_reader_detail.hpp>
#include <optional>

namespace holotone::io {
namespace {

/// The value of Octave's line "# key: value".
std::optional<std::string_view> octave_value(std::string_view line, std::string_view key) {
  line = trim(line);
  if (!line.starts_with('#')) return std::nullopt;
  line = trim(line.substr(1));
  if (!line.starts_with(key) || !line.substr(key.size()).starts_with(':')) return std::nullopt;
  return trim(line.substr(key.size() + 1));
}

/// True if a name and a type stand in the comments at the beginning.
bool is_octave(std::string_view bytes) {
  LineReader lines(bytes);
  bool has_name = false;
  for (std::string_view line; lines.next_filled(line) && trim(line).starts_with('#');) {
    if (has_name && octave_value(line, "type")) return true;
    has_name = octave_value(line, "name").has_value();
  }
  return false;
}

/// Replaces the lines for which `change` returns text; keeps the others.
template <class Change>
std::string change_lines(std::string_view bytes, Change change) {
  std::string text;
  text.reserve(bytes.size() + 100);
  LineReader lines(bytes);
  std::size_t begin = 0;
  for (std::string_view line; lines.next(line); begin = lines.position()) {
    if (const std::optional<std::string> changed = change(line)) {
      text += *changed + '\n';
    } else {
      text += bytes.substr(begin, lines.position() - begin);
    }
  }
  return text;
}

std::string read_octave(std::string_view bytes, std::string_view path) {
  std::vector<std::string_view> names;
  std::string other;  // what is no matrix of two dimensions
  std::string text = change_lines(bytes, [&](std::string_view line) -> std::optional<std::string> {
    if (!trim(line).starts_with('#')) return std::nullopt;
    if (const auto name = octave_value(line, "name")) {
      names.push_back(*name);
      return names_logarithm(*name) ? std::nullopt : std::optional<std::string>("#");
    }
    if (const auto type = octave_value(line, "type"); type && *type != "matrix" && other.empty()) other = *type;
    if (octave_value(line, "ndims") && other.empty()) other = "array of several dimensions";
    return "#";
  });
  if (names.size() > 1) {
    throw_io(path, "one variable of Octave", fmt::format("{}, {}; save one", names.size(), fmt::join(names, " and ")));
  }
  if (!other.empty()) throw_io(path, "a variable of Octave of type matrix", in_quotes(other));
  return text;
}

/// Words between delimiters, without quotes.
std::vector<std::string> split_names(std::string_view line, char delimiter) {
  std::vector<std::string> names(1);
  bool is_quoted = false;
  for (const char c : trim(line)) {
    if (c == '"') is_quoted = !is_quoted;
    if (c == '"') continue;
    if (c == delimiter && !is_quoted) {
      names.emplace_back();
    } else {
      names.back() += is_blank(c) ? '_' : c;
    }
  }
  return names;
}

std::string name_with_unit(const std::string& name, std::string unit) {
  std::erase_if(unit, [](char c) { return is_blank(c) || c == ',' || c == ';' || c == '"'; });
  return unit.empty() || name.ends_with("_" + unit) ? name : fmt::format("{}[{}]", name, unit);
}

std::string read_ecsv(std::string_view bytes, std::string_view path) {
  std::vector<std::string_view> header;
  LineReader lines(bytes);
  char delimiter = ' ';
  for (std::string_view line; lines.next_filled(line) && line.starts_with('#');) {
    header.push_back(line.substr(1));
    if (octave_value(line, "delimiter")) delimiter = line.find(',') != std::string_view::npos ? ',' : ' ';
  }
  const auto columns = list_ecsv_columns(header);
  bool has_names = false;
  return change_lines(bytes, [&](std::string_view line) -> std::optional<std::string> {
    if (has_names || trim(line).empty()) return std::nullopt;
    if (line.starts_with('#') || line.starts_with(byte_order_mark)) return "#";
    has_names = true;
    auto names = split_names(line, delimiter);
    if (names.size() != columns.size()) {
      throw_io(path, fmt::format("{} of its header's datatype in its line of names", counted(columns.size(), "column")),
               counted(names.size(), "name"));
    }
    for (auto& name : names) {
      const auto same = std::ranges::find_if(
          columns, [&](const EcsvColumn& column) { return split_names(column.name, '\0').front() == name; });
      if (same == columns.end()) throw_io(path, "names of columns as its header's datatype has them", in_quotes(name));
      name = name_with_unit(name, same->unit);
    }
    return fmt::format("{}", fmt::join(names, std::string(1, delimiter)));
  });
}

/// Throws for the points of COLMAP, whose lines end with a list of pairs.
void refuse_colmap(std::string_view bytes, std::string_view path) {
  LineReader lines(bytes);
  for (std::string_view line; lines.next_filled(line) && line.starts_with('#');) {
    if (line.find("TRACK[] as (IMAGE_ID") == std::string_view::npos) continue;
    throw_io(path, "a PLY file of COLMAP's points (colmap model_converter --output_type PLY)",
             "its points3D.txt, whose lines end with lists");
  }
}

}  // namespace

TableText::TableText(std::string_view bytes, std::string_view path) : bytes_(bytes) {
  std::string_view first = bytes;
  if (first.starts_with(byte_order_mark)) first.remove_prefix(byte_order_mark.size());
  refuse_colmap(bytes, path);
  if (first.starts_with("# %ECSV ")) {
    changed_ = read_ecsv(bytes, path);
  } else if (is_octave(bytes)) {
    changed_ = read_octave(bytes, path);
  }
}

bool may_be_labels(const std::vector<std::string_view>& words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] != std::to_string(i)) return false;
  }
  return words.size() > 1;
}

void refuse_labels(const std::vector<std::string_view>& words, std::string_view path) {
  if (!may_be_labels(words)) return;
  throw_io(path, "names of columns, or numbers with a point such as 0.0 in its first line",
           fmt::format("{}, which may be a header", fmt::join(words, ",")));
}

}  // namespace holotone::io
