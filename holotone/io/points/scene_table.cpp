#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <holotone/core/error.hpp>
#include <holotone/core/length_names.hpp>
#include <holotone/core/units.hpp>
#include <holotone/io/column_comment_detail.hpp>
#include <holotone/io/comment_unit_detail.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/logarithm_unit_detail.hpp>
#include <holotone/io/points/scene_formats_detail.hpp>
#include <holotone/io/table_text_detail.hpp>
#include <holotone/io/text_reader_detail.hpp>
#include <optional>
#include <string>
#include <vector>

namespace holotone::io {
namespace {

enum Column : std::size_t { x, y, z, amplitude, intensity, red, green, blue, phase, nx, ny, nz, column_count };

constexpr std::array<std::array<std::string_view, 3>, column_count> column_names = {{
    {"x", "", ""},
    {"y", "", ""},
    {"z", "", ""},
    {"amplitude", "amp", "a"},
    {"intensity", "i", ""},
    {"red", "r", ""},
    {"green", "g", ""},
    {"blue", "b", ""},
    {"phase", "phase_rad", ""},
    {"nx", "", ""},
    {"ny", "", ""},
    {"nz", "", ""},
}};

std::size_t column_named(std::string_view name) {
  std::string lower(trim(name));
  std::erase(lower, '"');
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (lower.empty()) return column_count;
  for (std::size_t column = 0; column < column_count; ++column) {
    const auto& names = column_names[column];
    if (std::find(names.begin(), names.end(), lower) != names.end()) return column;
  }
  return column_count;
}

/// Meaning of a column, and what its numbers are multiplied by.
struct Meaning {
  std::size_t column = column_count;
  double scale = 1;
  bool is_unit_known = true;
  bool has_unit = false;
};

/// Size of a unit of lengths or of angles; none for another word.
std::optional<double> size_of_unit(std::string_view unit, bool is_angle) {
  const auto one = one_of_unit(unit);
  try {
    const double size = is_angle ? parse_angle("unit", one) : parse_length("unit", one);
    return size > 0 ? std::optional(size) : std::nullopt;
  } catch (const Error&) {
    return is_angle ? std::nullopt : named_length_m(unit);
  }
}

/// "x [mm]", "x (mm)", "x/mm" and "x_mm" are x in millimetres. Brackets after the name of a number without unit are a
/// remark.
Meaning meaning_of(std::string_view word) {
  const auto known = column_named(word);
  std::string text(trim(word));
  std::erase(text, '"');
  const auto bracket = text.find_first_of("[(");
  const auto slash = text.find('/');
  const auto at = std::min({bracket, slash, text.rfind('_')});
  if (known < column_count || at == std::string::npos) return {known};
  Meaning meaning{column_named(std::string_view(text).substr(0, at))};
  const bool has_unit = meaning.column <= z || meaning.column == phase;
  const auto end = text.find_first_of("])", at);
  const auto unit = trim(std::string_view(text).substr(at + 1, end - at - 1));
  if ((meaning.column == amplitude || meaning.column == intensity) && is_logarithm(unit)) {
    meaning.is_unit_known = false;
    return meaning;
  }
  if (!has_unit) return at == bracket ? meaning : Meaning{};
  const auto size = size_of_unit(unit, meaning.column == phase);
  if (!size && at != bracket && at != slash) return {};
  meaning.scale = size.value_or(1);
  meaning.is_unit_known = size.has_value();
  meaning.has_unit = true;
  return meaning;
}

// Reads the fields of a line: blank-separated words, or the text between separators.
class Fields {
 public:
  explicit Fields(char separator) : separator_(separator) {}
  void start(std::string_view line) {
    rest_ = line;
    done_ = trim(line).empty();
  }
  bool next(std::string_view& field) {
    if (done_) return false;
    if (separator_ == ' ') {
      field = take_word(rest_);
      done_ = trim(rest_).empty();
      return true;
    }
    const auto end = rest_.find(separator_);
    field = trim(rest_.substr(0, end));
    done_ = end == std::string_view::npos;
    if (!done_) rest_.remove_prefix(end + 1);
    return true;
  }

 private:
  char separator_;
  std::string_view rest_;
  bool done_ = true;
};

char separator_of(std::string_view line) {
  if (line.find(',') != std::string_view::npos) return ',';
  if (line.find(';') != std::string_view::npos) return ';';
  return is_split_at_tabs(line) ? '\t' : ' ';
}

std::vector<std::string_view> split(std::string_view line, char separator) {
  Fields fields(separator);
  fields.start(line);
  std::vector<std::string_view> result;
  for (std::string_view field; fields.next(field);) {
    const bool is_unit = separator == ' ' && !result.empty() && (field.front() == '[' || field.front() == '(');
    if (is_unit) {  // of the name before
      const char* const begin = result.back().data();
      result.back() = {begin, static_cast<std::size_t>(field.data() + field.size() - begin)};
    } else {
      result.push_back(field);
    }
  }
  return result;
}

bool is_number(std::string_view text) {
  double value = 0;
  return parse_number(text, value);
}

class TableReader {
 public:
  TableReader(std::string_view bytes, std::string_view path, const Origin& origin)
      : bytes_(bytes), lines_(bytes), path_(path), origin_(origin) {}

  Mesh read() {
    std::string_view line = find_first_row();
    Fields fields(separator_);
    rows_.reserve(count_filled_lines(bytes_) * used_.size());
    do {
      if (is_comment(line)) {
        refuse_logarithm(trim(line));
        merge_comment_unit(unit_, find_comment_unit(trim(line).substr(1)), path_);
        require_applied_unit();
      } else {
        read_row(fields, line);
      }
    } while (lines_.next_filled(line));
    return build();
  }

 private:
  static bool is_comment(std::string_view line) {
    line = trim(line);
    return line.starts_with('#') || line.starts_with("//");
  }

  void refuse_logarithm(std::string_view comment) const {
    if (!names_logarithm(comment)) return;
    throw_io(path_, fmt::format("{} in its comments (line {})", linear_numbers, lines_.number()), in_quotes(comment));
  }

  // Skips comments and the line of column names (which may be a comment), and sets the meaning of each column.
  std::string_view find_first_row() {
    std::string_view line;
    while (lines_.next_filled(line)) {
      std::string_view names = trim(line);
      refuse_percent(line);
      const bool comment = is_comment(line);
      CommentUnit stated;
      if (comment) {
        names.remove_prefix(names.starts_with('#') ? 1 : 2);
        if (take_fields(names)) continue;
        if (!names_columns(split(names, separator_of(names)))) refuse_logarithm(names);
        stated = find_comment_unit(names);
        merge_comment_unit(unit_, stated, path_);
        names = skip_heading(stated.rest);
        if (columns_.empty() && !names_columns(split(names, separator_of(names)))) note_comment(line, names);
      }
      char separator = separator_of(names);
      if (columns_.empty() && separator == '\t' && !names_columns(split(names, separator))) separator = ' ';
      const auto words = split(names, separator);
      if (!comment && !words.empty() && is_number(words.front())) {
        separator_ = separator;
        if (columns_.empty()) require_no_names(words.size());
        if (columns_.empty()) refuse_labels(words, path_);
        if (columns_.empty()) assume_columns(words, line);
        if (words.size() != columns_.size()) fail_width(words.size(), line);
        apply_unit();
        return line;
      }
      if (names_columns(words)) {
        set_columns(words);
      } else if (!comment) {
        refuse_decimal_commas(line);
        if (!columns_.empty()) {
          throw_io(path_,
                   fmt::format("numbers behind the names of columns, which may have units, as x_mm (line {})",
                               lines_.number()),
                   in_quotes(line));
        }
        throw_io(path_, fmt::format("numbers, or column names with x, y and z (line {})", lines_.number()),
                 in_quotes(line));
      }
    }
    throw_io(path_, "at least 1 point", "0");
  }

  /// Takes the columns that a comment of rapidSTORM names; false for other comments.
  bool take_fields(std::string_view comment) {
    const auto fields = list_field_names(comment);
    const std::vector<std::string_view> words(fields.begin(), fields.end());
    if (words.empty()) return false;
    if (!names_columns(words)) {
      throw_io(path_, fmt::format("columns x, y and z in the fields of its comment (line {})", lines_.number()),
               in_quotes(fmt::format("{}", fmt::join(fields, ", "))));
    }
    set_columns(words);
    return true;
  }

  /// Keeps the first comment that may name columns.
  void note_comment(std::string_view comment, std::string_view names) {
    if (!comment_.empty() || !may_name_columns(names)) return;
    comment_ = trim(comment);
    const auto words = split(names, separator_of(names));
    const auto has = [&](std::size_t column) {
      return std::ranges::any_of(words, [&](auto word) { return meaning_of(word).column == column; });
    };
    comment_words_ = has(x) && has(y) ? words.size() : 0;
  }

  /// Throws for a comment with a name of each column, of which none is z.
  void require_no_names(std::size_t columns) const {
    if (comment_words_ == columns) throw_io(path_, "columns x, y and z in the comment before", in_quotes(comment_));
  }

  /// Multiplies by the unit of the comments, unless the columns' names have it.
  void apply_unit() {
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (columns_[i] > z || !unit_.metres) continue;
      if (has_lengths_ && scales_[i] != *unit_.metres) {
        throw_io(path_, "one unit of x, y and z",
                 fmt::format("{} and a comment's {}", in_quotes(names_[i]), in_quotes(unit_.text)));
      }
      scales_[i] = *unit_.metres;
    }
  }

  /// Throws for a unit that a comment states behind rows.
  void require_applied_unit() const {
    if (!unit_.metres ||
        scales_[static_cast<std::size_t>(std::ranges::find(columns_, x) - columns_.begin())] == *unit_.metres)
      return;
    throw_io(path_, "the unit of its comments before the first point",
             fmt::format("{} (line {})", in_quotes(unit_.text), lines_.number()));
  }

  static bool names_columns(const std::vector<std::string_view>& words) {
    std::array<bool, 3> found{};
    for (auto word : words) {
      const auto column = meaning_of(word).column;
      if (column <= z) found[column] = true;
    }
    return found[0] && found[1] && found[2];
  }

  void set_columns(const std::vector<std::string_view>& words) {
    columns_.clear();
    scales_.clear();
    names_.clear();
    std::size_t lengths = 0;  // of x, y and z: those with a unit
    for (auto word : words) {
      auto meaning = meaning_of(word);
      const auto has_come = [&](std::size_t column) { return std::ranges::find(columns_, column) != columns_.end(); };
      const bool is_alpha = trim(word).size() == 1 && has_come(red) && has_come(green) && has_come(blue);
      if (meaning.column == amplitude && is_alpha) meaning = {};  // R G B A
      if (!meaning.is_unit_known) {
        const auto known = meaning.column == phase ? "rad or deg"
                           : meaning.column <= z   ? "m, mm or um"
                                                   : linear_numbers;
        throw_io(path_, fmt::format("{} as a column's unit (line {})", known, lines_.number()), in_quotes(word));
      }
      if (meaning.column < column_count && std::ranges::find(columns_, meaning.column) != columns_.end()) {
        throw_io(path_, fmt::format("one column '{}' (line {})", column_names[meaning.column][0], lines_.number()),
                 in_quotes(word));
      }
      lengths += meaning.has_unit && meaning.column <= z ? 1 : 0;
      columns_.push_back(meaning.column);
      scales_.push_back(meaning.scale);
      names_.emplace_back(trim(word));
      std::erase(names_.back(), '"');
    }
    if (lengths != 0 && lengths != 3) {
      throw_io(path_, fmt::format("units of x, y and z, or of none (line {})", lines_.number()),
               fmt::format("{} of them", lengths));
    }
    has_lengths_ = lengths == 3;
    note_used();
  }

  void assume_columns(const std::vector<std::string_view>& words, std::string_view line) {
    if (words.size() != 3 && words.size() != 4 && words.size() != 6) {
      refuse_decimal_commas(line);
      const bool is_count = words.size() == 1 && words[0].find_first_not_of("0123456789") == std::string_view::npos;
      throw_io(path_, "3 columns (x y z), 4 (x y z amplitude), 6 (x y z r g b), or a line of column names",
               is_count ? fmt::format("a line with the number of points alone (line {}); remove it", lines_.number())
                        : counted(words.size(), "column"));
    }
    columns_ = {x, y, z};
    if (words.size() == 4) columns_.push_back(amplitude);
    if (words.size() == 6) columns_.insert(columns_.end(), {red, green, blue});
    assumed_colour_ = words.size() == 6;
    scales_.assign(columns_.size(), 1);
    note_used();
  }

  void note_used() {
    used_.clear();
    slot_.fill(std::nullopt);
    for (auto column : columns_) {
      if (column == column_count || slot_[column]) continue;
      slot_[column] = used_.size();
      used_.push_back(column);
    }
  }

  void read_row(Fields& fields, std::string_view line) {
    fields.start(line);
    const std::size_t row = rows_.size();
    rows_.resize(row + used_.size());
    std::size_t count = 0;
    for (std::string_view field; fields.next(field); ++count) {
      if (count >= columns_.size() || columns_[count] == column_count) continue;
      double value = 0;
      if (!parse_number(field, value)) {
        refuse_percent(line);
        refuse_decimal_commas(line);
        throw_io(path_, fmt::format("a number in column {} (line {})", count + 1, lines_.number()), in_quotes(field));
      }
      rows_[row + *slot_[columns_[count]]] = value * scales_[count];
    }
    if (count != columns_.size()) fail_width(count, line);
  }

  void refuse_decimal_commas(std::string_view line) const {
    if (!has_decimal_commas(line)) return;
    throw_io(path_, fmt::format("numbers with a decimal point (line {})", lines_.number()), in_quotes(trim(line)));
  }

  void refuse_percent(std::string_view line) const {
    if (!trim(line).starts_with('%')) return;
    throw_io(path_, fmt::format("comments that begin with # or // (line {})", lines_.number()),
             fmt::format("the comment sign % in {}", in_quotes(trim(line))));
  }

  [[noreturn]] void fail_width(std::size_t got, std::string_view line) const {
    refuse_percent(line);
    refuse_decimal_commas(line);
    throw_io(path_, fmt::format("{} (line {})", counted(columns_.size(), "column"), lines_.number()),
             counted(got, "column"));
  }

  [[nodiscard]] bool has_three(Column first) const { return slot_[first] && slot_[first + 1] && slot_[first + 2]; }
  [[nodiscard]] double at(std::size_t row, std::size_t column) const {
    return rows_[row * used_.size() + *slot_[column]];
  }
  [[nodiscard]] Vec3f three(std::size_t row, std::size_t first) const {
    return {static_cast<float>(at(row, first)), static_cast<float>(at(row, first + 1)),
            static_cast<float>(at(row, first + 2))};
  }

  /// Throws for six columns without names that may be normals: MeshLab's XYZ has those.
  [[noreturn]] void ask_for_names(std::string_view got) const {
    throw_io(path_,
             "a line of column names before six columns, 'x y z nx ny nz' or 'x y z r g b', unless they are whole "
             "colours up to 255 or 65535",
             got);
  }

  /// Names of the columns without use.
  [[nodiscard]] std::string ignored_names() const {
    std::vector<std::string> ignored;
    for (std::size_t i = 0; i < names_.size(); ++i) {
      const std::size_t column = columns_[i];
      const bool alone =
          (column >= nx && column <= nz && !has_three(nx)) || (column >= red && column <= blue && !has_three(red));
      const bool beaten = column == intensity && slot_[amplitude];
      if (column == column_count || alone || beaten) ignored.push_back(names_[i].empty() ? "''" : names_[i]);
    }
    if (names_.empty() && !comment_.empty()) {
      ignored.push_back(fmt::format("the comment {} (columns are taken as x, y, z{})", in_quotes(comment_),
                                    slot_[amplitude] ? ", amplitude"
                                    : slot_[red]     ? ", r, g, b"
                                                     : ""));
    }
    if (!unit_.text.empty() && !unit_.metres) ignored.push_back(fmt::format("the unit {}", in_quotes(unit_.text)));
    return list_names(ignored);
  }

  // Colours are codes (sRGB) of 8 bits if any is above 1, of 16 bits if any is above 255, else linear light.
  void build_colours(std::size_t count, Mesh& mesh) const {
    double largest = 0;
    for (std::size_t row = 0; row < count; ++row) {
      for (std::size_t column : {red, green, blue}) {
        const double value = at(row, column);
        const bool acceptable = value >= 0 && value <= 65535 && (!assumed_colour_ || value == std::floor(value));
        if (!acceptable && assumed_colour_) ask_for_names(fmt::format("{:g} (point {})", value, row));
        if (!acceptable) {
          throw_io(path_, "colours of 0 to 1, 255 or 65535", fmt::format("{:g} (point {})", value, row));
        }
        largest = std::max(largest, value);
      }
    }
    if (assumed_colour_ && largest <= 1) ask_for_names("numbers of 0 and 1 alone");
    const auto light = [&](double value) {
      const double most = assumed_colour_ ? largest_code_of(std::max(largest, 255.0)) : largest_code_of(largest);
      return most > 1 ? linear_of_code(value, most) : static_cast<float>(value);
    };
    mesh.colour.reserve(count);
    for (std::size_t row = 0; row < count; ++row) {
      mesh.colour.push_back({light(at(row, red)), light(at(row, green)), light(at(row, blue))});
    }
  }

  [[nodiscard]] Mesh build() const {
    const std::size_t count = rows_.size() / used_.size();
    Mesh mesh;
    mesh.position.reserve(count);
    for (std::size_t row = 0; row < count; ++row) {
      mesh.position.push_back(relative_to(origin_, at(row, x), at(row, y), at(row, z)));
      if (slot_[amplitude]) {
        mesh.amplitude.push_back(static_cast<float>(at(row, amplitude)));
      } else if (slot_[intensity]) {
        mesh.amplitude.push_back(static_cast<float>(std::sqrt(at(row, intensity))));
      }
      if (slot_[phase]) mesh.phase_rad.push_back(static_cast<float>(at(row, phase)));
      if (has_three(nx)) mesh.normal.push_back(three(row, nx));
    }
    if (has_three(red)) build_colours(count, mesh);
    mesh.ignored = ignored_names();
    return mesh;
  }

  std::string_view bytes_;
  LineReader lines_;
  std::string_view path_;
  Origin origin_;
  char separator_ = ' ';
  bool assumed_colour_ = false;
  CommentUnit unit_;                                             // of x, y and z, as comments state
  bool has_lengths_ = false;                                     // in the columns' names
  std::vector<std::size_t> columns_;                             // meaning of each column of the file
  std::vector<double> scales_;                                   // of each column: its unit
  std::vector<std::string> names_;                               // of each column, if the file has them
  std::string comment_;                                          // the first that may name columns
  std::size_t comment_words_ = 0;                                // names in it, if x and y are among them
  std::vector<std::size_t> used_;                                // known columns, in the order of rows_
  std::array<std::optional<std::size_t>, column_count> slot_{};  // position in a row of rows_
  std::vector<double> rows_;
};

}  // namespace

Mesh read_table(std::string_view bytes, std::string_view path, const Origin& origin) {
  const TableText text(bytes, path);
  return TableReader(text.get(), path, origin).read();
}

}  // namespace holotone::io
