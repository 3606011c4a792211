#pragma once
#include <string>

namespace CLI {
class App;
}

namespace holotone::cli {

/// An error's line in the words of the command line: where the library names its function and argument, the line names
/// the option that the argument came from, or the file. `command` is the subcommand that ran, with its line parsed.
std::string user_terms(const std::string& what, const CLI::App& command);

}  // namespace holotone::cli
