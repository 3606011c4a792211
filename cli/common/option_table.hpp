#pragma once
#include <cli/common/values.hpp>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace CLI {  // NOLINT(readability-identifier-naming): the library's own name
class App;
}

// The options of every command, each said once: parsing, help and the wording of errors read these tables.
namespace holotone::cli {

/// Where what was typed goes: text, a list of texts, or a flag.
using OptionTarget = std::variant<std::string*, std::vector<std::string>*, bool*>;

/// One option ("--pitch", "-o,--output") or positional argument ("IN") of a command.
struct OptionRow {
  std::string_view names;        ///< separated by commas; the first long one is the option's name in messages
  OptionTarget target;           ///< a text that is not empty is the default
  std::string_view value{};      ///< placeholder in help: "N", "LENGTH"; none for a flag
  std::string_view help{};       ///< a noun phrase (a verb for flags), without default, range and exclusions
  std::optional<Range> range{};  ///< that the checked job holds the number to; help appends "(1 to 8)"
  std::string_view otherwise{};  ///< the default in words, where there is no text for it: "the file's"
  bool common = false;           ///< shown by --help; --help-all shows every row
  bool required = false;
  bool one_each = false;          ///< a list that takes one value each time the option is given
  std::string_view excludes{};    ///< names of options above it that it cannot be combined with, separated by spaces
  std::string_view needs{};       ///< name of an option above it that it needs
  std::string_view instead_of{};  ///< the required positional argument whose place it takes
  /// Arguments of the library that it sets, separated by '|': "PointCloudPlan.pitch_m". An error about an argument that
  /// begins so is an error of this option; of several such options, of the last one that was given.
  std::string_view feeds{};
};

/// Rows under one heading; the first group of a command has none.
struct OptionGroup {
  std::string_view heading;
  std::vector<OptionRow> rows;
};

/// Options that were given, by their names in messages.
using GivenOptions = std::set<std::string, std::less<>>;

/// A command: what help shows, what its line may hold, and what runs then.
struct Command {
  std::string_view name;                     ///< "hologram"
  std::string_view purpose;                  ///< begins with a verb
  std::vector<std::string_view> examples{};  ///< whole lines, for --help
  std::vector<OptionGroup> groups{};
  std::function<int()> run{};       ///< returns the exit code; empty where a subcommand must follow
  std::vector<Command> commands{};  ///< subcommands
  GivenOptions* given = nullptr;    ///< filled before `run`
};

/// Appends rows.
void append(std::vector<OptionRow>& rows, const std::vector<OptionRow>& more);

/// "--output" of "-o,--output".
std::string message_name(const OptionRow& row);

/// What a line chose and gave.
struct ParsedLine {
  const Command* command = nullptr;
  GivenOptions given;
  std::map<std::string, std::string, std::less<>> alias;  ///< of options that were given by another name: that name
};

/// Adds the tables of `root` and its subcommands to `application`; both must outlive the parsing. When the line is
/// parsed, `line` says which command it chose and what it gave.
void add_tables(CLI::App& application, const Command& root, ParsedLine& line);

/// Finds the names by which options were given, where they have several.
void note_aliases(ParsedLine& line, int argc, const char* const* argv);

/// The text of --help, or of --help-all. `path`: "holotone smoe fit".
std::string help_text(const Command& command, std::string_view path, bool all);

}  // namespace holotone::cli
