#pragma once
#include <cli/common/option_table.hpp>
#include <holotone/core/error.hpp>
#include <string>

namespace holotone::cli {

/// The same error with a remark at its end.
Error with_remark(const Error& error, const std::string& remark);

/// An error's line in the words of the command line: where the library names its function and argument, the line names
/// the option that the argument came from, by the name it was given by, or the file. Of several options the last that
/// was given is named; if none was, the first, or the file if the error is of one.
std::string error_line(const Error& error, const ParsedLine& line);

}  // namespace holotone::cli
