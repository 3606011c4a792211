#pragma once
#include <cli/options/option_value.hpp>
#include <cli/options/values.hpp>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace CLI {  // NOLINT(readability-identifier-naming): the library's own name
class App;
}

// Option tables of all commands: the only source for parsing, help and the wording of errors.
namespace holotone::cli {

/// Destination of an option's value: one of a text, a list of texts, a flag, or a typed member of a job.
struct OptionTarget {
  OptionTarget(std::string* one) : text(one) {}                  // NOLINT(google-explicit-constructor)
  OptionTarget(std::vector<std::string>* list) : texts(list) {}  // NOLINT(google-explicit-constructor)
  OptionTarget(bool* set) : flag(set) {}                         // NOLINT(google-explicit-constructor)
  OptionTarget(OptionValue typed)                                // NOLINT(google-explicit-constructor)
      : texts(typed.several.get()), value(std::make_shared<const OptionValue>(std::move(typed))) {}

  std::string* text = nullptr;
  std::vector<std::string>* texts = nullptr;
  bool* flag = nullptr;
  std::shared_ptr<const OptionValue> value{};
};

/// When an option has an effect. It is refused otherwise: "--m: expected --split taylor, got --split ewald".
struct Applies {
  std::function<bool()> holds;         ///< called when all values are stored; empty: always
  std::string_view expected{};         ///< "--split taylor"
  std::function<std::string()> got{};  ///< what was typed instead
};

/// One option ("--pitch", "-o,--output") or positional argument ("IN") of a command.
struct OptionRow {
  std::string_view names{};      ///< separated by commas; the first long one is the option's name in messages
  OptionTarget target;           ///< a text that is not empty is the default
  std::string_view value{};      ///< placeholder in help: "N", "LENGTH"; none for a flag
  std::string_view help{};       ///< a noun phrase (a verb for flags), without default, range and exclusions
  std::string_view otherwise{};  ///< default in words if the target has no text: "the file's"
  bool common = false;           ///< shown by --help; --help-all shows every row
  bool required = false;
  bool one_each = false;          ///< a list that takes one value each time the option is given
  std::string_view excludes{};    ///< names of options above it that it cannot be combined with, separated by spaces
  std::string_view needs{};       ///< name of an option above it that it needs
  std::string_view instead_of{};  ///< required positional argument that it replaces
  /// Prefixes of the library arguments that the option sets, separated by '|': "PointCloudPlan.pitch_m". An error about
  /// such an argument names this option. Of several matching options the longest prefix decides, then the last given
  /// option of the table.
  std::string_view feeds{};
  Applies applies{};
};

/// Rows under one heading; the first group of a command has none.
struct OptionGroup {
  std::string_view heading;
  std::vector<OptionRow> rows;
  Applies applies{};  ///< of all its rows
};

/// Options that were given, by their names in messages.
using GivenOptions = std::set<std::string, std::less<>>;

/// Command: its help, its options and the function it runs.
struct Command {
  std::string_view name;                     ///< "hologram"
  std::string_view purpose;                  ///< begins with a verb
  std::vector<std::string_view> examples{};  ///< whole lines, for --help
  std::vector<OptionGroup> groups{};
  std::function<int()> run{};       ///< returns the exit code; empty if a subcommand must follow
  std::vector<Command> commands{};  ///< subcommands
  GivenOptions* given = nullptr;    ///< filled before `run`
  bool by_ranks = false;            ///< under mpirun its processes share the work
};

void append(std::vector<OptionRow>& rows, const std::vector<OptionRow>& more);

/// "--output" of "-o,--output".
std::string message_name(const OptionRow& row);

/// Options and their texts; an option without one has "".
using OptionTexts = std::vector<std::pair<std::string, std::string>>;

/// The options of rows as they were typed, or with `defaults` what applies without them.
OptionTexts option_texts(const std::vector<OptionRow>& rows, bool defaults);

/// Command and options of a parsed command line.
struct ParsedLine {
  std::vector<std::string_view> words;  ///< all that was typed, set before the parsing
  const Command* command = nullptr;
  GivenOptions given;
  std::map<std::string, std::string, std::less<>> alias;  ///< the other names by which options were given
};

/// Adds the tables of `root` and its subcommands to `application`; both must outlive the parsing. Parsing stores the
/// chosen command and the given options in `line`.
void add_tables(CLI::App& application, const Command& root, ParsedLine& line);

/// Stores the values of the typed options and refuses options without effect. Throws invalid_argument naming the
/// option.
void store_values(const ParsedLine& line);

/// Fills line.alias with the names by which options with several names were given.
void note_aliases(ParsedLine& line, int argc, const char* const* argv);

/// Text of --help, or of --help-all if `all`. `path`: "holotone smoe fit".
std::string help_text(const Command& command, std::string_view path, bool all);

/// All commands with their options as one JSON object, for tools: docs/command_line.md describes it.
std::string options_json(const Command& root);

}  // namespace holotone::cli
