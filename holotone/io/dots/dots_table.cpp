#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/core/length_names.hpp>
#include <holotone/io/atomic_file.hpp>
#include <holotone/io/column_comment_detail.hpp>
#include <holotone/io/comment_unit_detail.hpp>
#include <holotone/io/dots/dots_formats_detail.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/metadata_text_detail.hpp>
#include <holotone/io/npy_detail.hpp>
#include <holotone/io/table_text_detail.hpp>
#include <holotone/io/text_reader_detail.hpp>
#include <optional>

namespace holotone::io {
namespace {

enum Column : std::size_t { x, y, radius, colour_class, column_count };

constexpr std::array<std::array<std::string_view, 3>, column_count> column_names = {{
    {"x", "", ""},
    {"y", "", ""},
    {"r", "radius", ""},
    {"class", "colour_class", "ink"},
}};

/// Beginning of Holotone's own comment, and the words that state the page in it.
constexpr std::string_view own_comment = "Holotone dots";
constexpr std::string_view page_words[] = {"width_px", "height_px", "pixel_m"};

/// Meaning of a column's name, and its unit: "x [px]", "x (px)" and "x_px" are x in pixels.
struct NamedColumn {
  std::size_t column = column_count;
  std::string unit{};
};

std::size_t column_named(std::string_view lower) {
  for (std::size_t column = 0; column < column_count && !lower.empty(); ++column) {
    const auto& names = column_names[column];
    if (std::find(names.begin(), names.end(), lower) != names.end()) return column;
  }
  return column_count;
}

NamedColumn parse_column_name(std::string_view name) {
  std::string lower(trim(name));
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  NamedColumn whole{column_named(lower)};
  const auto bracket = lower.find_first_of("[(");
  const auto at = std::min(bracket, lower.rfind('_'));
  if (whole.column < column_count || at == std::string::npos) return whole;
  constexpr std::string_view units[] = {"px", "pix", "pixel", "pixels", "m",    "cm",
                                        "mm", "um",  "nm",    "in",     "inch", "pt"};
  NamedColumn parsed{column_named(trim(std::string_view(lower).substr(0, at))),
                     std::string(trim(std::string_view(lower).substr(at + 1, lower.find_first_of("])", at) - at - 1)))};
  if (parsed.column > radius) return {};
  if (at != bracket && std::ranges::find(units, parsed.unit) == std::end(units)) return {};
  return parsed;
}

bool is_pixels(const NamedColumn& column) {
  return column.unit.empty() || column.unit == "px" || column.unit == "pix" || column.unit == "pixel" ||
         column.unit == "pixels";
}

bool is_comment(std::string_view line) { return line.starts_with('#') || line.starts_with("//"); }

/// Removes quotes, which many tools write around numbers.
std::string_view unquoted(std::string_view field) {
  const bool quoted = field.size() >= 2 && field.front() == '"' && field.back() == '"';
  return quoted ? trim(field.substr(1, field.size() - 2)) : field;
}

/// Splits a line at ; if it contains one, else at , if it contains one, else at blanks.
void split(std::string_view line, std::vector<std::string_view>& fields) {
  fields.clear();
  const char separator = line.find(';') != std::string_view::npos   ? ';'
                         : line.find(',') != std::string_view::npos ? ','
                         : is_split_at_tabs(line)                   ? '\t'
                                                                    : ' ';
  if (separator == ' ') {
    for (auto word = take_word(line); !word.empty(); word = take_word(line)) fields.push_back(word);
    return;
  }
  for (;;) {
    const auto end = line.find(separator);
    fields.push_back(unquoted(trim(line.substr(0, end))));
    if (end == std::string_view::npos) return;
    line.remove_prefix(end + 1);
  }
}

class DotsTableReader {
 public:
  DotsTableReader(std::string_view bytes, std::string_view path)
      : bytes_(bytes), lines_(bytes), path_(path), builder_(path) {}

  DotsFile read() {
    builder_.dots().position.reserve(2 * count_filled_lines(bytes_));
    for (std::string_view line; lines_.next_filled(line);) {
      line = trim(line);
      line_ = line;
      if (is_comment(line)) {
        read_comment(line.substr(line.starts_with('#') ? 1 : 2));
        continue;
      }
      split(line, fields_);
      if (rows_ == 0 && !stated_count_ && take_heading(line)) continue;
      read_row();
      ++rows_;
    }
    if (stated_count_ && *stated_count_ != static_cast<double>(rows_)) {
      throw_io(path_, fmt::format("{:g} dots, as line {} states", *stated_count_, stated_at_), counted(rows_, "line"));
    }
    if (!ignored_.empty()) {
      builder_.file().notes.push_back(fmt::format("{}: ignored: {}", path_, fmt::join(ignored_, ", ")));
    }
    return builder_.take();
  }

 private:
  /// Reads a line of column names or the count of dots. Returns false if the line is neither.
  bool take_heading(std::string_view line) {
    double value = 0;
    if (fields_.size() == 1 && parse_number(fields_[0], value)) {
      if (!(value >= 0 && value == std::floor(value))) fail("x and y, or a count of dots", fields_[0]);
      stated_count_ = value;
      stated_at_ = lines_.number();
      return true;
    }
    if (parse_number(fields_[0], value)) return false;
    if (!take_names()) fail("numbers, or column names with x and y", line);
    return true;
  }

  bool take_names() {
    std::array<bool, column_count + 1> found{};
    for (const auto field : fields_) found[parse_column_name(field).column] = true;
    if (!found[x] || !found[y]) return false;
    names_at_ = lines_.number();
    columns_.clear();
    ignored_.clear();
    for (const auto field : fields_) {
      const auto named = parse_column_name(field);
      if (!is_pixels(named)) fail("columns in pixels", field);
      if (named.column < column_count && std::ranges::find(columns_, named.column) != columns_.end()) {
        fail(fmt::format("one column '{}'", column_names[named.column][0]), field);
      }
      columns_.push_back(named.column);
      if (named.column == column_count) ignored_.push_back(in_quotes(field));
    }
    return true;
  }

  /// True for names of columns in lengths: "x [mm] y [mm]", "x y (mm)", "X/mm Y/mm".
  static bool names_lengths(std::string_view text) {
    std::string words(text);
    std::ranges::replace_if(
        words, [](char c) { return std::string_view("[](),;/").find(c) != std::string_view::npos; }, ' ');
    bool has_length = false;
    bool has_place = false;
    std::string_view rest = words;
    for (auto word = take_word(rest); !word.empty(); word = take_word(rest)) {
      const bool is_length = named_length_m(word).has_value();
      if (!is_length && parse_column_name(word).column == column_count) return false;
      has_place = has_place || !is_length;
      has_length = has_length || is_length;
    }
    return has_place && has_length;
  }

  /// Reads column names, or the page and the metadata of Holotone's own comment.
  void read_comment(std::string_view text) {
    if (!own_ && (find_comment_unit(text).metres || names_lengths(text))) fail("places in pixels", text);
    if (rows_ > 0) return;
    const auto colon = text.find(": ");
    if (own_ && colon != std::string_view::npos) {
      builder_.file().metadata.merge(parse_metadata_line(trim(text)));
      return;
    }
    own_ = own_ || trim(text).starts_with(own_comment);
    split(text, fields_);
    // Other words than the known ones make it a sentence.
    const bool names =
        std::ranges::all_of(fields_, [](auto field) { return parse_column_name(field).column < column_count; });
    if (names && take_names()) return;
    note_comment(text);
    for (const auto field : fields_) {
      std::string_view rest = field;
      const auto name = take_word(rest);
      const auto known = std::find(std::begin(page_words), std::end(page_words), name);
      if (known == std::end(page_words)) continue;
      double value = 0;
      if (!parse_number(trim(rest), value) || !(value >= 0 && value <= 1e9)) {
        fail(fmt::format("{} from 0 to 1e9", name), rest);
      }
      Dots& dots = builder_.dots();
      (known == page_words ? dots.width : known == page_words + 1 ? dots.height : dots.pixel_m) = value;
    }
  }

  /// Keeps the first comment that may name columns, not all of them known.
  void note_comment(std::string_view text) {
    if (own_ || !columns_.empty() || !comment_.empty() || !may_name_columns(text)) return;
    comment_ = trim(text);
    split(skip_heading(text), comment_fields_);
  }

  /// Takes the names of a comment, if there is one for each column, x and y among them; else notes that it is not read.
  void take_comment() {
    if (comment_.empty()) return;
    if (comment_fields_.size() == fields_.size()) {
      std::swap(fields_, comment_fields_);
      const bool taken = take_names();
      std::swap(fields_, comment_fields_);
      if (taken) return;
    }
    builder_.file().notes.push_back(fmt::format("{}: columns are taken as x, y{}; its comment is not read: {}", path_,
                                                fields_.size() > 3   ? ", radius, class"
                                                : fields_.size() > 2 ? ", radius"
                                                                     : "",
                                                in_quotes(comment_)));
  }

  void read_row() {
    if (columns_.empty()) take_comment();
    if (columns_.empty()) note_labels();
    if (columns_.empty()) {
      if (fields_.size() < 2 || fields_.size() > 4) {
        fail_width("2 to 4 columns (x y radius class), or a line of column names");
      }
      for (std::size_t i = 0; i < fields_.size(); ++i) columns_.push_back(i);
    }
    if (fields_.size() != columns_.size()) {
      const std::string of_names = names_at_ == 0 ? "" : fmt::format(" as line {} names", names_at_);
      fail_width(counted(columns_.size(), "column") + of_names);
    }
    std::array<double, column_count> value{};
    std::array<bool, column_count> has{};
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (columns_[i] == column_count) continue;
      if (!parse_number(fields_[i], value[columns_[i]])) fail(fmt::format("a number in column {}", i + 1), fields_[i]);
      has[columns_[i]] = true;
    }
    const std::string where = at_line();
    builder_.add(value[x], value[y], where);
    if (has[radius]) builder_.add_radius(value[radius], where);
    if (has[colour_class]) builder_.add_class(value[colour_class], where);
  }

  /// Names a first row of 0 and 1 as the next one has whole numbers too: pixels may lie there. Refuses other labels.
  void note_labels() {
    if (!may_be_labels(fields_)) return;
    LineReader lines(bytes_.substr(lines_.position()));
    std::string_view next;
    const bool is_whole = lines.next_filled(next) && next.find_first_of(".eEn") == std::string_view::npos;
    if (fields_.size() > 2 || !is_whole) refuse_labels(fields_, path_);
    builder_.file().notes.push_back(
        fmt::format("{}: its first line, {}, may be a header; it is read as a dot", path_, in_quotes(line_)));
  }

  [[nodiscard]] std::string at_line() const { return fmt::format("line {}", lines_.number()); }
  [[noreturn]] void fail(std::string_view expected, std::string_view got) const {
    refuse_decimal_commas();
    throw_io(path_, fmt::format("{} ({})", expected, at_line()), in_quotes(got));
  }
  void refuse_decimal_commas() const {
    if (!has_decimal_commas(line_)) return;
    throw_io(path_, fmt::format("numbers with a decimal point ({})", at_line()), in_quotes(line_));
  }
  [[noreturn]] void fail_width(std::string_view expected) const {
    refuse_decimal_commas();
    throw_io(path_, fmt::format("{} ({})", expected, at_line()), counted(fields_.size(), "column"));
  }

  std::string_view bytes_;
  LineReader lines_;
  std::string_view line_;
  std::string_view path_;
  DotsBuilder builder_;
  std::size_t names_at_ = 0;  ///< line of the columns' names; 0: none
  std::vector<std::string_view> fields_;
  std::vector<std::size_t> columns_;              // meaning of each column of the file
  std::vector<std::string> ignored_;              // names of columns without use
  std::string_view comment_;                      // the first that may name columns
  std::vector<std::string_view> comment_fields_;  // its words
  std::optional<double> stated_count_;
  std::size_t stated_at_ = 0;
  std::size_t rows_ = 0;
  bool own_ = false;  // the file has Holotone's own comment
};

}  // namespace

void append_number(std::string& text, float value) {
  char digits[32];
  const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  text.append(digits, end);
}

bool begins_as_dots(std::string_view bytes) {
  LineReader lines(bytes);
  std::vector<std::string_view> fields;
  double number = 0;
  for (std::string_view line; lines.next_filled(line);) {
    line = trim(line);
    if (is_comment(line)) continue;
    split(line, fields);
    const bool numbers = std::ranges::all_of(fields, [&](auto field) { return parse_number(field, number); });
    if (numbers && fields.size() == 1) continue;  // a count
    if (numbers) return fields.size() == 2;
    const auto names = [&](Column column) {
      return std::ranges::any_of(fields, [&](auto field) { return parse_column_name(field).column == column; });
    };
    const auto is_depth = [](std::string_view field) { return field.starts_with('z') || field.starts_with('Z'); };
    return names(x) && names(y) && std::ranges::none_of(fields, is_depth);
  }
  return false;
}

DotsFile read_dots_table(std::string_view bytes, std::string_view path) {
  const TableText text(bytes, path);
  return DotsTableReader(text.get(), path).read();
}

DotsFile read_dots_npy(std::string_view bytes, std::string_view path) {
  const NpyHeader header = parse_npy_header(bytes, path);
  const auto& shape = header.shape;
  if (header.kind == 'c' || shape.size() != 2 || shape[1] < 2 || shape[1] > 4) {
    throw_io(path, "real numbers of shape {n, 2} (x y), {n, 3} (x y radius) or {n, 4} (x y radius class)",
             header.type + " of shape " + header.shape_text());
  }
  const auto count = static_cast<std::size_t>(shape[0]);  // agrees with the file's length
  const auto columns = static_cast<std::size_t>(shape[1]);
  const auto value = [&](std::size_t row, std::size_t column) {
    const std::size_t at = header.fortran_order ? column * count + row : row * columns + column;
    return load_npy_number(bytes.data() + header.data_begin + at * header.item_bytes, header.kind, header.item_bytes,
                           header.order);
  };
  DotsBuilder builder(path);
  builder.dots().position.reserve(2 * count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::string where = fmt::format("row {}", i);
    builder.add(value(i, 0), value(i, 1), where);
    if (columns > 2) builder.add_radius(value(i, 2), where);
    if (columns > 3) builder.add_class(value(i, 3), where);
  }
  return builder.take();
}

void write_dots_table(const std::string& path, const DotsToWrite& job, char separator, Progress& progress) {
  const Dots& dots = job.dots;
  const bool classes = !dots.colour_class.empty();
  const bool radii = classes || !dots.radius.empty();
  std::size_t i = 0;
  write_file(path, [&](std::string& bytes) {
    if (i == 0) {
      bytes = fmt::format("# {}, width_px {}, height_px {}{}\n", own_comment, dots.width, dots.height,
                          job.size_known ? fmt::format(", pixel_m {}", job.pixel_m) : std::string());
      for (const auto& [key, value] : job.metadata) bytes += "# " + metadata_line(key, value) + "\n";
      bytes += fmt::format("{}x{}y", separator == ' ' ? "# " : "", separator);
      if (radii) bytes += fmt::format("{}r", separator);
      if (classes) bytes += fmt::format("{}class", separator);
      bytes += '\n';
    }
    progress.step("writing dots", static_cast<std::int64_t>(i), static_cast<std::int64_t>(job.count()));
    for (const auto end = std::min(i + dots_a_piece, job.count()); i < end; ++i) {
      append_number(bytes, dots.position[2 * i]);
      bytes += separator;
      append_number(bytes, dots.position[2 * i + 1]);
      if (radii) append_number(bytes += separator, job.radius_of(i));
      if (classes) bytes += fmt::format("{}{}", separator, dots.colour_class[i]);
      bytes += '\n';
    }
    return i < job.count();
  });
}

void write_dots_npy(const std::string& path, const DotsToWrite& job, Progress& progress) {
  const Dots& dots = job.dots;
  const bool classes = !dots.colour_class.empty();
  const bool radii = classes || !dots.radius.empty();
  std::size_t i = 0;
  write_file(path, [&](std::string& bytes) {
    if (i == 0) bytes = npy_header("<f4", {dots.count(), 2 + (radii ? 1 : 0) + (classes ? 1 : 0)});
    progress.step("writing dots", static_cast<std::int64_t>(i), static_cast<std::int64_t>(job.count()));
    for (const auto end = std::min(i + dots_a_piece, job.count()); i < end; ++i) {
      store(bytes, dots.position[2 * i]);
      store(bytes, dots.position[2 * i + 1]);
      if (radii) store(bytes, job.radius_of(i));
      if (classes) store(bytes, static_cast<float>(dots.colour_class[i]));
    }
    return i < job.count();
  });
}

}  // namespace holotone::io
