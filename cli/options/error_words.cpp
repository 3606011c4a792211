#include <cli/options/error_words.hpp>
#include <fmt/format.h>
#include <string_view>

namespace holotone::cli {
namespace {

/// Length of the longest of a row's feeds that `argument` begins with; 0: none.
std::size_t match(std::string_view feeds, std::string_view argument) {
  std::size_t longest = 0;
  while (!feeds.empty()) {
    const auto end = std::min(feeds.find('|'), feeds.size());
    const auto feed = feeds.substr(0, end);
    if (argument.starts_with(feed)) longest = std::max(longest, feed.size());
    feeds.remove_prefix(std::min(end + 1, feeds.size()));
  }
  return longest;
}

/// Option to name in the error; "" for the file.
std::string option_of(std::string_view argument, const ParsedLine& line, bool of_file) {
  std::size_t longest = 0;
  std::string first;
  std::string given;
  for (const auto& group : line.command->groups) {
    for (const auto& row : group.rows) {
      const auto& value = row.target.value;
      const std::size_t length =
          std::max(match(row.feeds, argument), value != nullptr ? match(value->feeds, argument) : 0);
      if (length == 0 || length < longest) continue;
      const std::string name = message_name(row);
      if (length > longest) {
        longest = length;
        first = name;
        given.clear();
      }
      if (line.given.contains(name)) given = name;
    }
  }
  if (!given.empty()) return given;
  return of_file ? std::string() : first;
}

/// "cloud.ply: " of the positional argument; "" if the command has none or its list is empty.
std::string input_of(const Command& command) {
  for (const auto& group : command.groups) {
    for (const auto& row : group.rows) {
      if (row.names != "IN" && row.names != "FILE") continue;
      if (row.target.text != nullptr) return row.target.text->empty() ? "" : *row.target.text + ": ";
      const auto& list = *row.target.texts;
      if (!list.empty()) return list.front() + ": ";
    }
  }
  return {};
}

}  // namespace

std::string by_typed_name(std::string text, const ParsedLine& line) {
  for (const auto& [argument, typed] : line.alias) {
    const auto end = argument.size();
    if (text.starts_with(argument) && (text.size() == end || text[end] == ':' || text[end] == ' ')) {
      return text.replace(0, end, typed);
    }
  }
  return text;
}

Error with_remark(const Error& error, const std::string& remark) {
  if (error.expected().empty()) return {error.code(), fmt::format("{}; {}", error.what(), remark)};
  return {error.code(), ErrorFields{error.function(), error.argument(), error.expected(),
                                    fmt::format("{}; {}", error.got(), remark)}};
}

void throw_of(const std::string& name, const Error& error) {
  throw Error(error.code(),
              fmt::format("{}: {}: expected {}, got {}", name, error.argument(), error.expected(), error.got()));
}

std::string error_line(const Error& error, const ParsedLine& line) {
  const bool of_library = !error.function().empty() || error.argument() == "device";
  if (line.command == nullptr || !of_library) return by_typed_name(error.what(), line);
  const auto* const file = dynamic_cast<const FileError*>(&error);
  const std::string_view function(error.function());
  const std::string argument = fmt::format("{}.{}", function.substr(0, function.find("::")), error.argument());
  const std::string rest = fmt::format("expected {}, got {}", error.expected(), error.got());
  if (const auto option = option_of(argument, line, file != nullptr); !option.empty()) {
    return by_typed_name(fmt::format("{}: {}", option, rest), line);
  }
  if (error.argument() == "queue") return fmt::format("--device: {}", rest);
  const std::string subject = file != nullptr ? file->path() + ": " : input_of(*line.command);
  return fmt::format("{}{}{}{}", subject, error.argument(), error.argument().empty() ? "" : ": ", rest);
}

}  // namespace holotone::cli
