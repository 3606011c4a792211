#include "cancel.hpp"
#include "command.hpp"
#include "values.hpp"
#include <algorithm>
#include <cstdio>
#include <exception>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/io/guarded.hpp>
#include <new>
#include <string>

namespace holotone::cli {
namespace {

/// The one line an error is. Control characters of a file's name must not break or colour it.
void print_error(std::string_view what) {
  std::string line(what);
  std::replace_if(
      line.begin(), line.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
  fmt::print(stderr, "holotone: {}\n", line);
}

int exit_code_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument:
    case ErrorCode::unsupported:
    case ErrorCode::io:
    case ErrorCode::out_of_memory: return exit_bad_input;
    case ErrorCode::cancelled: return exit_cancelled;
    case ErrorCode::device: return exit_internal;
  }
  return exit_internal;
}

int run(const Action& action) {
  try {
    return action();
  } catch (const Error& error) {
    // A child or a library call that the signal broke off reports a failure of its own.
    const bool stopped = error.code() == ErrorCode::cancelled || cancelled();
    print_error(stopped ? "cancelled" : error.what());
    return stopped ? exit_cancelled : exit_code_of(error.code());
  } catch (const std::bad_alloc&) {
    print_error("memory: expected enough for the points, the panel and the work, got too little");
    return exit_bad_input;
  } catch (const std::exception& error) {
    print_error(fmt::format("internal error: {}", error.what()));
    return exit_internal;
  }
}

/// The subcommand the line names, else the program itself.
const CLI::App& named_command(const CLI::App& application) {
  const auto chosen = application.get_subcommands();
  return chosen.empty() ? application : *chosen.front();
}

/// " (did you mean ...?)" for the first word that is neither option nor subcommand.
std::string hint(const CLI::App& application, const std::string& word) {
  std::vector<std::string> known;
  const CLI::App& command = named_command(application);
  if (word.size() > 2 && word.front() == '-') {
    for (const auto* option : command.get_options()) {
      for (const auto& name : option->get_lnames()) known.push_back(name);
    }
    const std::vector<std::string_view> names(known.begin(), known.end());
    const std::size_t begin = word.find_first_not_of('-');
    if (begin == std::string::npos) return {};
    const auto bare = std::string_view(word).substr(begin, word.find('=') - begin);
    const bool exact = std::find(names.begin(), names.end(), bare) != names.end();
    const std::string nearest = exact ? std::string(bare) : nearest_name(bare, names.data(), names.size());
    return nearest.empty() ? std::string() : fmt::format(" (did you mean '--{}'?)", nearest);
  }
  if (&command == &application) {
    for (const auto* subcommand : application.get_subcommands({})) known.push_back(subcommand->get_name());
  }
  const std::vector<std::string_view> names(known.begin(), known.end());
  return suggestion(word, names);
}

/// "IN and --output are required": all that the line lacks, not only the first.
std::string what_is_missing(const CLI::App& command) {
  std::string missing;
  int count = 0;
  for (const auto* option : command.get_options()) {
    if (!option->get_required() || option->count() > 0) continue;
    missing += fmt::format("{}{}", missing.empty() ? "" : " and ", option->get_name());
    ++count;
  }
  return count == 0 ? std::string() : fmt::format("{} {} required", missing, count == 1 ? "is" : "are");
}

int report_parse_error(const CLI::App& application, const CLI::ParseError& error) {
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) return application.exit(error);
  const CLI::App& command = named_command(application);
  const std::string name = &command == &application ? "" : command.get_name() + ": ";
  std::string what = error.what();
  const auto words = application.remaining(true);
  const bool nothing_chosen = &command == &application && !words.empty();
  if (nothing_chosen || dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    const std::string word = words.empty() ? "" : words.front();
    const bool is_command = &command == &application && word.rfind('-', 0) != 0;
    what = fmt::format("expected {}, got '{}'{}",
                       is_command                ? "a subcommand"
                       : word.rfind('-', 0) == 0 ? "a known option"
                                                 : "no further word",
                       word, hint(application, word));
  }
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) {
    if (const auto missing = what_is_missing(command); !missing.empty()) what = missing;
  }
  print_error(fmt::format("{}{}; see `holotone {}--help`", name, what,
                          &command == &application ? "" : command.get_name() + " "));
  return exit_bad_input;
}

int main_of(int argc, char** argv) {
  CLI::App application{"Holotone turns point clouds into holograms for light modulators and shows what will be seen.",
                       "holotone"};
  application.set_version_flag("--version", "holotone " HOLOTONE_VERSION);
  application.require_subcommand(1);
  Action action;
  add_hologram(application, action);
  add_reconstruct(application, action);
  add_info(application, action);
  add_devices(application, action);
  add_panels(application, action);
  add_sample(application, action);
  try {
    application.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return report_parse_error(application, error);
  }
  return run(action);
}

}  // namespace
}  // namespace holotone::cli

int main(int argc, char** argv) {
  // Before anything starts a thread: this process may be the child that parses a hostile file.
  if (const auto code = holotone::guarded_child(argc, argv)) return *code;
  holotone::cli::install_signal_handlers();
  return holotone::cli::main_of(argc, argv);
}
