#include <algorithm>
#include <holotone/io/table_text_detail.hpp>
#include <holotone/io/text_reader_detail.hpp>
#include <utility>

namespace holotone::io {
namespace {

/// The first of `signs` at `from` or later, outside of quotes and of braces and brackets; the end without one.
std::size_t find_outside(std::string_view text, std::string_view signs, std::size_t from) {
  int open = 0;
  char quote = 0;
  for (std::size_t i = from; i < text.size(); ++i) {
    const char c = text[i];
    if (quote != 0) {
      quote = c == quote ? '\0' : quote;
    } else if (open == 0 && signs.find(c) != std::string_view::npos) {
      return i;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '{' || c == '[') {
      ++open;
    } else if (c == '}' || c == ']') {
      --open;
    }
  }
  return text.size();
}

std::string_view without_quotes(std::string_view text) {
  text = trim(text);
  const bool is_quoted = text.size() >= 2 && (text.front() == '"' || text.front() == '\'') && text.ends_with(text[0]);
  return is_quoted ? text.substr(1, text.size() - 2) : text;
}

/// "name: x" or "unit: um".
void take_pair(std::string_view pair, EcsvColumn& column) {
  const auto colon = find_outside(pair, ":", 0);
  if (colon == pair.size()) return;
  const auto key = without_quotes(pair.substr(0, colon));
  auto value = trim(pair.substr(colon + 1));
  if (key == "name") column.name = without_quotes(value);
  if (key != "unit") return;
  if (value.starts_with('!')) {  // !astropy.units.Unit {unit: um}
    const auto brace = value.find('{');
    if (brace == std::string_view::npos) return;
    value.remove_prefix(brace + 1);
    take_pair(value.substr(0, find_outside(value, ",}", 0)), column);
    return;
  }
  column.unit = without_quotes(value);
}

}  // namespace

std::vector<EcsvColumn> list_ecsv_columns(const std::vector<std::string_view>& header) {
  std::vector<std::vector<std::string_view>> items;  // their lines, the first without "- "
  bool is_inside = false;
  std::size_t of_items = 0;  // blanks before "- "
  for (const auto line : header) {
    const auto text = trim(line);
    const auto indent = line.find_first_not_of(' ');
    if (text.empty()) continue;
    if (indent <= 1 && !text.starts_with("- ")) {  // a key of the header; '#' and a blank come before
      is_inside = text == "datatype:";
    } else if (is_inside && text.starts_with("- ") && (items.empty() || indent == of_items)) {
      of_items = indent;
      items.push_back({text.substr(2)});
    } else if (is_inside && !items.empty()) {
      items.back().push_back(line);
    }
  }
  std::vector<EcsvColumn> columns;
  for (const auto& lines : items) {
    EcsvColumn column;
    if (const auto first = trim(lines.front()); first.starts_with('{')) {
      std::string all;
      for (const auto line : lines) all += std::string(trim(line)) + ' ';
      auto rest = trim(all);
      rest.remove_prefix(1);
      if (rest.ends_with('}')) rest.remove_suffix(1);
      while (!rest.empty()) {
        const auto end = find_outside(rest, ",", 0);
        take_pair(rest.substr(0, end), column);
        rest.remove_prefix(std::min(end + 1, rest.size()));
      }
    } else {
      take_pair(first, column);
      const auto indent = lines.size() > 1 ? lines[1].find_first_not_of(' ') : 0;
      for (std::size_t i = 1; i < lines.size(); ++i) {
        if (lines[i].find_first_not_of(' ') == indent) take_pair(lines[i], column);
      }
    }
    columns.push_back(std::move(column));
  }
  return columns;
}

}  // namespace holotone::io
