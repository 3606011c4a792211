#include <CLI/CLI.hpp>
#include <algorithm>
#include <cli/options/option_table.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace holotone::cli {
namespace {

constexpr std::size_t text_column = 30;
constexpr std::size_t line_width = 110;

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> pieces;
  while (!text.empty()) {
    const auto end = std::min(text.find(separator), text.size());
    if (end > 0) pieces.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return pieces;
}

bool is_positional(const OptionRow& row) { return row.names.front() != '-'; }

std::string default_text(const OptionRow& row) {
  const auto& [text, texts, flag, value] = row.target;
  if (text != nullptr && !text->empty()) return *text;
  if (row.required) return {};  // what is in the place has no effect
  return row.otherwise.empty() && value != nullptr ? value->standard : std::string(row.otherwise);
}

std::string range_text(const OptionRow& row) { return row.target.value ? row.target.value->range : std::string(); }

/// "Bits of a code (1 to 8) (default 8)". Omits options that the group's heading names.
std::string described(const OptionRow& row, std::string_view heading) {
  std::string text(row.help);
  if (const auto range = range_text(row); !range.empty()) text += fmt::format(" ({})", range);
  if (const auto standard = default_text(row); !standard.empty()) text += fmt::format(" (default {})", standard);
  if (row.required && !is_positional(row)) text += " (required)";
  const auto said = [&](std::string_view name) { return heading.find(name) != std::string_view::npos; };
  if (!row.needs.empty() && !said(row.needs)) text += fmt::format(" (with {})", row.needs);
  auto excluded = split(row.excludes, ' ');
  std::erase_if(excluded, said);
  if (!excluded.empty()) text += fmt::format(" (not with {})", alternatives(excluded));
  return text;
}

/// "-o, --output FILE"
std::string left_of(const OptionRow& row) {
  std::string text;
  for (const auto name : split(row.names, ',')) text += fmt::format("{}{}", text.empty() ? "" : ", ", name);
  if (is_positional(row)) return text;
  return row.value.empty() ? text : fmt::format("{} {}", text, row.value);
}

/// Wraps `text` after `left` in lines that begin at text_column.
std::string wrapped(std::string_view left, std::string_view text) {
  std::string result = fmt::format("  {}", left);
  const std::string margin(text_column, ' ');
  std::size_t at = result.size();
  if (at + 2 > text_column) {
    result += "\n" + margin;
  } else {
    result += margin.substr(at);
  }
  at = text_column;
  for (const auto word : split(text, ' ')) {
    if (at > text_column && at + 1 + word.size() > line_width) {
      result += "\n" + margin;
      at = text_column;
    }
    if (at > text_column) {
      result += ' ';
      ++at;
    }
    result += word;
    at += word.size();
  }
  return result + "\n";
}

std::string usage(const Command& command, std::string_view path) {
  std::string text = fmt::format("Usage: {}", path);
  if (!command.commands.empty()) return text + " COMMAND ...\n";
  bool options = false;
  for (const auto& group : command.groups) {
    for (const auto& row : group.rows) {
      if (is_positional(row)) {
        const bool several = row.target.texts != nullptr;
        text += fmt::format(" {}{}", row.names, several ? "..." : "");
      } else if (row.required) {
        text += fmt::format(" {} {}", split(row.names, ',').front(), row.value);
      } else {
        options = true;
      }
    }
  }
  return text + (options ? " [options]\n" : "\n");
}

std::size_t option_count(const Command& command) {
  std::size_t count = 0;
  for (const auto& group : command.groups) {
    count +=
        static_cast<std::size_t>(std::ranges::count_if(group.rows, [](const auto& r) { return !is_positional(r); }));
  }
  return count;
}

std::string rows_text(std::string_view heading, const std::vector<OptionRow>& rows, bool positional, bool all) {
  std::string text;
  for (const auto& row : rows) {
    if (is_positional(row) != positional || !(all || row.common || row.required)) continue;
    text += wrapped(left_of(row), described(row, heading));
  }
  return text.empty() ? text : fmt::format("\n{}:\n{}", heading, text);
}

nlohmann::ordered_json listed(const OptionRow& row) {
  const auto range = range_text(row);
  nlohmann::ordered_json object{{"names", split(row.names, ',')}};
  const auto add = [&](const char* key, std::string_view text) {
    if (!text.empty()) object[key] = text;
  };
  add("value", row.value);
  add("help", row.help);
  add("range", range);
  const std::string standard = default_text(row);
  add(row.otherwise.empty() || standard != row.otherwise ? "default" : "default_words", standard);
  object["required"] = row.required;
  object["common"] = row.common;
  object["repeats"] = row.target.texts != nullptr;
  if (!row.excludes.empty()) object["excludes"] = split(row.excludes, ' ');
  add("needs", row.needs);
  add("instead_of", row.instead_of);
  add("applies_to", row.applies.expected);
  return object;
}

void list_commands(nlohmann::ordered_json& list, const Command& command, const std::string& path) {
  auto groups = nlohmann::ordered_json::array();
  for (const auto& group : command.groups) {
    nlohmann::ordered_json one{{"heading", group.heading}};
    if (!group.applies.expected.empty()) one["applies_to"] = group.applies.expected;
    one["rows"] = nlohmann::ordered_json::array();
    for (const auto& row : group.rows) one["rows"].push_back(listed(row));
    groups.push_back(std::move(one));
  }
  list.push_back(
      {{"command", path}, {"purpose", command.purpose}, {"examples", command.examples}, {"groups", std::move(groups)}});
  for (const auto& sub : command.commands) list_commands(list, sub, fmt::format("{} {}", path, sub.name));
}

CLI::Option* add_row(CLI::App& app, const OptionRow& row) {
  const std::string names(row.names);
  const auto& [text, texts, flag, value] = row.target;
  // --flag=0 would set it.
  if (flag != nullptr) return app.add_flag(names, *flag)->disable_flag_override();
  if (value && value->flag) return app.add_flag(names)->disable_flag_override();
  CLI::Option* option = nullptr;
  if (texts != nullptr) {
    option = app.add_option(names, *texts);
    if (row.one_each) option->allow_extra_args(false);
  } else {
    option = app.add_option(names, value ? *value->typed : *text);
  }
  return option->required(row.required);
}

void add_rows(CLI::App& app, const std::vector<OptionRow>& rows) {
  for (const auto& row : rows) {
    CLI::Option* const option = add_row(app, row);
    for (const auto name : split(row.excludes, ' ')) option->excludes(app.get_option(std::string(name)));
    if (!row.needs.empty()) option->needs(app.get_option(std::string(row.needs)));
    if (!row.instead_of.empty()) option->excludes(app.get_option(std::string(row.instead_of)));
  }
}

/// Arguments that typed options replace are not required. This must be known before the parsing: a required argument
/// would get the last value of a list at the end of the line.
void release_replaced(CLI::App& app, const Command& command, const ParsedLine& line) {
  for (const auto& group : command.groups) {
    for (const auto& row : group.rows) {
      if (row.instead_of.empty()) continue;
      const std::string name = message_name(row);
      const bool typed = std::ranges::any_of(
          line.words, [&](std::string_view word) { return word == name || word.starts_with(name + "="); });
      if (typed) app.get_option(std::string(row.instead_of))->required(false);
    }
  }
}

void note_given(const CLI::App& app, const Command& command, ParsedLine& line) {
  line.command = &command;
  for (const auto& group : command.groups) {
    for (const auto& row : group.rows) {
      const std::string name = message_name(row);
      if (app.get_option(name)->count() > 0) line.given.insert(name);
    }
  }
  if (command.given != nullptr) *command.given = line.given;
}

void add_table(CLI::App& app, const Command& command, const std::string& path, ParsedLine& line) {
  app.formatter_fn([&command, path](const CLI::App*, const std::string&, CLI::AppFormatMode mode) {
    return help_text(command, path, mode == CLI::AppFormatMode::All);
  });
  for (const auto& group : command.groups) add_rows(app, group.rows);
  for (const auto& sub : command.commands) {
    const std::string name(sub.name);
    add_table(*app.add_subcommand(name, std::string(sub.purpose)), sub, fmt::format("{} {}", path, name), line);
  }
  if (!command.commands.empty()) {
    app.require_subcommand(1);
  } else {
    app.preparse_callback([&app, &command, &line](std::size_t) {
      line.command = &command;  // for errors of parsing
      release_replaced(app, command, line);
    });
    app.callback([&app, &command, &line] { note_given(app, command, line); });
  }
}

}  // namespace

void store_values(const ParsedLine& line) {
  if (line.command == nullptr) return;
  const auto each_given = [&](const auto& work) {
    for (const auto& group : line.command->groups) {
      for (const auto& row : group.rows) {
        if (const std::string name = message_name(row); line.given.contains(name)) work(group, row, name);
      }
    }
  };
  each_given([](const OptionGroup&, const OptionRow& row, const std::string& name) {
    const auto& [text, texts, flag, value] = row.target;
    if (!value) return;
    for (const auto& typed : texts == nullptr ? std::vector{*value->typed} : *texts) value->store(name, typed);
  });
  each_given([](const OptionGroup& group, const OptionRow& row, const std::string& name) {
    for (const auto* const applies : {&group.applies, &row.applies}) {
      if (!applies->holds || applies->holds()) continue;
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("{}: expected {}, got {}", name, applies->expected, applies->got()));
    }
  });
}

void append(std::vector<OptionRow>& rows, const std::vector<OptionRow>& more) {
  rows.insert(rows.end(), more.begin(), more.end());
}

std::string message_name(const OptionRow& row) {
  const auto names = split(row.names, ',');
  const auto is_long = [](std::string_view name) { return name.substr(0, 2) == "--" || name.front() != '-'; };
  const auto found = std::ranges::find_if(names, is_long);
  return std::string(found == names.end() ? names.front() : *found);
}

OptionTexts option_texts(const std::vector<OptionRow>& rows, bool defaults) {
  OptionTexts options;
  for (const auto& row : rows) {
    const std::string name = message_name(row);
    const auto& target = row.target;
    if (target.texts != nullptr) {
      for (const auto& text : *target.texts) options.emplace_back(name, text);
    } else if (target.flag != nullptr) {
      if (*target.flag) options.emplace_back(name, "");
    } else if (target.value != nullptr) {
      const bool standard = defaults && target.value->typed->empty();
      const auto& text = standard ? target.value->standard : *target.value->typed;
      if (!text.empty()) options.emplace_back(name, text);
    }
  }
  return options;
}

void add_tables(CLI::App& application, const Command& root, ParsedLine& line) {
  application.set_help_flag("-h,--help");
  application.set_help_all_flag("--help-all");
  add_table(application, root, std::string(root.name), line);
}

void note_aliases(ParsedLine& line, int argc, const char* const* argv) {
  if (line.command == nullptr) return;
  for (const auto& group : line.command->groups) {
    for (const auto& row : group.rows) {
      const std::string message = message_name(row);
      for (const auto name : split(row.names, ',')) {
        if (name == message || name.substr(0, 2) != "--") continue;
        for (int i = 1; i < argc; ++i) {
          const std::string_view word(argv[i]);
          const bool typed = word == name || (word.starts_with(name) && word.substr(name.size(), 1) == "=");
          if (typed) line.alias.insert_or_assign(message, std::string(name));
        }
      }
    }
  }
}

std::string options_json(const Command& root) {
  auto commands = nlohmann::ordered_json::array();
  for (const auto& command : root.commands) list_commands(commands, command, std::string(command.name));
  return nlohmann::ordered_json{{"program", root.name}, {"purpose", root.purpose}, {"commands", std::move(commands)}}
      .dump();
}

std::string help_text(const Command& command, std::string_view path, bool all) {
  std::string text = fmt::format("{}\n\n{}", command.purpose, usage(command, path));
  if (!command.examples.empty()) text += "\nExamples:\n";
  for (const auto example : command.examples) text += fmt::format("  {}\n", example);
  for (const auto& group : command.groups) text += rows_text("Arguments", group.rows, true, true);
  std::vector<OptionRow> common;
  for (const auto& group : command.groups) {
    if (all) {
      text += rows_text(group.heading.empty() ? "Options" : group.heading, group.rows, false, true);
    } else {
      append(common, group.rows);
    }
  }
  text += rows_text("Options", common, false, false);
  if (!command.commands.empty()) text += "\nCommands:\n";
  for (const auto& sub : command.commands) text += wrapped(sub.name, sub.purpose);
  if (!command.commands.empty()) {
    return text +
           fmt::format(
               "\n`{} COMMAND --help` shows examples and the most used options of a command,\n"
               "`{} COMMAND --help-all` all of them.\n",
               path, path) +
           (path == command.name ? fmt::format("`{} --options` prints all commands and options as JSON.\n", path) : "");
  }
  if (all) return text;
  const auto count = option_count(command);
  return text + fmt::format("\n`{} --help-all` lists all {} options.\n", path, count);
}

}  // namespace holotone::cli
