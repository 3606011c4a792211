#pragma once
#include <cli/options/option_table.hpp>
#include <holotone/core/error.hpp>
#include <string>

namespace holotone::cli {

/// Replaces an option's name at the beginning of `text` by the name by which it was given.
std::string by_typed_name(std::string text, const ParsedLine& line);

/// Error with a remark appended.
Error with_remark(const Error& error, const std::string& remark);

/// Throws the error about something in a file or what a command gave.
[[noreturn]] void throw_of(const std::string& name, const Error& error);

/// Error message in the terms of the command line. Instead of the library's function and argument it names the option
/// that the argument came from, as typed, or the file. Of several options it names the last given one of the table. If
/// none was given, it names the first, or the file for an error of a file.
std::string error_line(const Error& error, const ParsedLine& line);

}  // namespace holotone::cli
