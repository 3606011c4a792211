#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cli/common/cancel.hpp>
#include <cli/common/command.hpp>
#include <cli/common/console.hpp>
#include <cli/common/device_option.hpp>
#include <cli/common/ranks.hpp>
#include <cli/options/error_words.hpp>
#include <cli/options/values.hpp>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <exception>
#include <fmt/format.h>
#include <holotone/bands/thread_error_detail.hpp>
#include <holotone/core/crc32.hpp>
#include <holotone/core/error.hpp>
#include <holotone/io/atomic_file.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/guarded/guarded.hpp>
#include <holotone/io/printable_detail.hpp>
#include <new>
#include <span>
#include <sstream>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

namespace holotone::cli {
namespace {

bool joined_ranks = false;  ///< of mpirun

/// Prints an error as one line. Under mpirun the first process does, and after three seconds in which it may do so and
/// end the others, any that fails alone.
void print_error(std::string_view what) {
  const bool first = Ranks::stated_rank() == 0;
  if (!first && joined_ranks && Ranks::all().agreed_on_error()) return;
  if (!first) std::this_thread::sleep_for(std::chrono::seconds(3));
  if (!first && cancelled()) return;
  put(stderr, fmt::format("holotone{}: {}\n", first ? "" : of_this_rank(), printable(io::with_short_value(what))));
}

/// The innermost subcommand on the command line, or the program itself.
const CLI::App& named_command(const CLI::App& application) {
  const auto chosen = application.get_subcommands();
  return chosen.empty() ? application : named_command(*chosen.front());
}

/// "smoe render"; "" for the program itself.
std::string full_name(const CLI::App& command) {
  const CLI::App* const parent = command.get_parent();
  if (parent == nullptr) return "";
  const std::string before = full_name(*parent);
  return before.empty() ? command.get_name() : before + " " + command.get_name();
}

/// The file from which this code was loaded.
std::string path_of_module() {
  Dl_info info{};
  return dladdr(reinterpret_cast<const void*>(&path_of_module), &info) != 0 ? info.dli_fname : "/proc/self/exe";
}

/// Joins the processes of mpirun for a command that shares its work among them.
void join_ranks(const ParsedLine& line, const CLI::App& command) {
  if (Ranks::stated_count() == 1) return;
  if (!line.command->by_ranks) {
    throw Error(ErrorCode::unsupported, fmt::format("mpirun: expected one process for `holotone {}`, got {}",
                                                    full_name(command), Ranks::stated_count()));
  }
  auto& ranks = Ranks::all();
  joined_ranks = true;
  if (!ranks.first()) be_silent();
  const auto program = io::read_bytes(path_of_module());
  ranks.require_same("program", fmt::format("{:x}", crc32(std::as_bytes(std::span(program)))));
  // Each may have a device of its own; that they are of one kind is checked with the files.
  std::string words;
  for (std::size_t i = 1; i < line.words.size(); ++i) {
    if (line.words[i] == "--device") {
      ++i;
    } else if (!line.words[i].starts_with("--device=")) {
      words += fmt::format("{}\n", line.words[i]);
    }
  }
  ranks.require_same("command", words);
}

int exit_code_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument:
    case ErrorCode::unsupported:
    case ErrorCode::io:
    case ErrorCode::out_of_memory:
    case ErrorCode::device: return exit_bad_input;
    case ErrorCode::cancelled: return exit_cancelled;
  }
  return exit_internal;
}

/// True if the command has subcommands.
bool takes_subcommand(const CLI::App& command) { return !command.get_subcommands({}).empty(); }

/// Rejects empty values, as most code treats an empty value as an option not given, and options in place of values.
void refuse_empty_values(const CLI::App& command) {
  for (const auto* option : command.get_options()) {
    if (option->get_items_expected_max() == 0) continue;
    for (const auto& result : option->results()) {
      const bool is_option = result.starts_with("--") && command.get_option_no_throw(result) != nullptr;
      if (result.empty() || is_option) reject(option->get_name(), "a value", is_option ? result : "''");
    }
  }
}

int run(const ParsedLine& line, const CLI::App& command) {
  try {
    refuse_empty_values(command);
    store_values(line);
    join_ranks(line, command);
    return line.command->run();
  } catch (const Error& error) {
    // A child process or a library call interrupted by the signal reports its own failure.
    const bool stopped = error.code() == ErrorCode::cancelled || cancelled();
    if (stopped) stopped_in_time();
    const bool failed = error.code() == ErrorCode::device;
    print_error(stopped  ? "cancelled"
                : failed ? fmt::format("{}: {}; the device or its driver failed: try again, or another --device",
                                       to_string(device_in_use()), error.what())
                         : error_line(error, line));
    return stopped ? exit_cancelled : exit_code_of(error.code());
  } catch (const std::bad_alloc&) {
    print_error("out of memory: use fewer points, a smaller panel or smaller pictures");
    return exit_bad_input;
  } catch (const std::exception& error) {
    if (const auto line_of_thread = thread_error_line(error); !line_of_thread.empty()) {
      print_error(line_of_thread);
      return exit_bad_input;
    }
    print_error(fmt::format("internal error: {}", error.what()));
    return exit_internal;
  }
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
  for (const auto* subcommand : command.get_subcommands({})) known.push_back(subcommand->get_name());
  const std::vector<std::string_view> names(known.begin(), known.end());
  return suggestion(word, names);
}

/// "IN and --output are required": all missing arguments, not only the first.
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

/// "hologram, quantize, ..."
std::string command_names(const CLI::App& command) {
  std::string names;
  for (const auto* subcommand : command.get_subcommands({})) {
    names += fmt::format("{}{}", names.empty() ? "" : ", ", subcommand->get_name());
  }
  return names;
}

/// An option given more often than allowed; "" if none.
std::string given_too_often(const CLI::App& command) {
  for (const auto* option : command.get_options()) {
    if (option->get_expected_max() == 1 && option->get_items_expected_max() == 1 && option->count() > 1) {
      return option->get_name();
    }
  }
  return {};
}

/// Arguments in reverse, as CLI11 takes them. It reads "[a,b]" as a list, but a file of that name is meant, and takes
/// the next argument as the value of "--name=".
std::vector<std::string> reversed_arguments(int argc, char** argv) {
  std::vector<std::string> arguments(argv + 1, argv + argc);
  if (!arguments.empty() && arguments.front() == "help") {
    arguments.erase(arguments.begin());
    arguments.emplace_back("--help");
  }
  for (auto& word : arguments) {
    if (word == "--") break;
    if (word.starts_with("--") && word.find('=') == word.size() - 1) {
      reject(word.substr(0, word.size() - 1), "a value behind =", "none");
    }
    if (word.starts_with('[') && word.ends_with(']')) word.insert(0, "./");
  }
  std::ranges::reverse(arguments);
  return arguments;
}

int report_parse_error(const CLI::App& application, const CLI::ParseError& error, const ParsedLine& line) {
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) {
    std::ostringstream text;
    const int code = application.exit(error, text, text);
    put(stdout, text.str());
    return code;
  }
  const CLI::App& command = named_command(application);
  const std::string own_name = full_name(command);
  const std::string name = own_name.empty() ? "" : own_name + ": ";
  std::string what = error.what();
  const auto words = application.remaining(true);
  const bool nothing_chosen = takes_subcommand(command) && !words.empty();
  const bool is_missing = dynamic_cast<const CLI::RequiredError*>(&error) != nullptr;
  const bool unknown = is_missing && !words.empty() && words.front().starts_with('-');
  if (nothing_chosen || unknown || dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    const std::string word = words.empty() ? "" : words.front();
    const bool is_command = takes_subcommand(command) && word.rfind('-', 0) != 0;
    what = fmt::format("expected {}, got '{}'{}",
                       is_command                ? "a command"
                       : word.rfind('-', 0) == 0 ? "a known option"
                                                 : "no further argument",
                       word, hint(application, word));
  }
  if (is_missing && !unknown) {
    const auto missing = what_is_missing(command);
    if (takes_subcommand(command) && words.empty()) {
      what = fmt::format("expected a command: {}", command_names(command));
    } else if (!missing.empty()) {
      what = missing;
    }
  }
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
    if (const auto option = given_too_often(command); !option.empty()) {
      what = fmt::format("{}: expected once, got it {} times", option, command.get_option(option)->count());
    } else if (const auto end = what.find(" was given a disallowed flag override"); end != std::string::npos) {
      const std::string flag = fmt::format("--{}=", what.substr(0, end));
      const auto typed =
          std::ranges::find_if(line.words, [&](std::string_view word) { return word.starts_with(flag); });
      const std::string value = typed == line.words.end() ? "one" : fmt::format("'{}'", typed->substr(flag.size()));
      what = fmt::format("{}: expected no value, got {}", flag.substr(0, flag.size() - 1), value);
    } else {
      what = fmt::format("{}: expected a value, got none", what.substr(0, what.find(':')));
    }
  }
  what = by_typed_name(what, line);
  print_error(fmt::format("{}{}; see `holotone {}--help`", name, what, own_name.empty() ? "" : own_name + " "));
  return exit_bad_input;
}

Command program() {
  Command root{.name = "holotone",
               .purpose =
                   "Compute holograms and halftones, quantize them for displays and printers, and reconstruct what "
                   "a viewer sees",
               .examples = {"holotone sample teapot -o teapot.ply", "holotone hologram teapot.ply -o teapot.png",
                            "holotone reconstruct teapot.png -o focus.png"}};
  root.commands = {hologram_command(), optimize_command(), spots_command(), quantize_command(), reconstruct_command(),
                   halftone_command(), measure_command(),  smoe_command(),  info_command(),     devices_command(),
                   formats_command(),  panels_command(),   panel_command(), sample_command(),   scene_command(),
                   display_command(),  view_command(),     join_command(),  propagate_command()};
  return root;
}

int main_of(int argc, char** argv) {
  const Command root = program();
  CLI::App application{std::string(root.purpose), std::string(root.name)};
  application.set_version_flag("--version", "holotone " HOLOTONE_VERSION);
  application.add_flag_callback("--options", [&root] { throw CLI::CallForVersion(options_json(root), 0); });
  ParsedLine line;
  line.words.assign(argv, argv + argc);
  add_tables(application, root, line);
  try {
    application.parse(reversed_arguments(argc, argv));
  } catch (const CLI::ParseError& error) {
    note_aliases(line, argc, argv);
    return report_parse_error(application, error, line);
  } catch (const Error& error) {
    print_error(error.what());
    return exit_bad_input;
  }
  note_aliases(line, argc, argv);
  return run(line, named_command(application));
}

void leave_ranks(int code) {
  if (joined_ranks) Ranks::all().leave(code);
}

/// The exit code, or an error code if standard output could not be written.
int checked(int code) {
  try {
    check_output();
  } catch (const Error& error) {
    if (code != exit_ok) return code;
    print_error(error.what());
    return exit_bad_input;
  }
  return code;
}

}  // namespace
}  // namespace holotone::cli

/// All of the program but its start (cli/start/main.cpp).
extern "C" int holotone_main(int argc, char** argv) {
  // Before any thread starts: this process may be the child that parses an untrusted file.
  if (const auto code = holotone::guarded_child(argc, argv)) return *code;
  holotone::cli::install_signal_handlers();
  // A library that ends the process by itself, as OpenMP's without threads, leaves no half file.
  (void)std::atexit([] { holotone::remove_pending_files(); });
  if (holotone::cli::Ranks::stated_rank() > 0) holotone::cli::end_silently();
  const int code = holotone::cli::checked(holotone::cli::main_of(argc, argv));
  holotone::cli::leave_ranks(code);
  holotone::cli::end_program(code);
}
