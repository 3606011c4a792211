#pragma once
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace holotone {

/// Category of an error; the command line maps it to an exit code, Python to an exception type.
enum class ErrorCode {
  invalid_argument,  ///< an argument is out of its range
  unsupported,       ///< the operation is not available in this build, device or method
  io,                ///< a file is missing, malformed or cannot be written
  out_of_memory,     ///< host or device memory is insufficient
  cancelled,         ///< Progress::update returned false
  device,            ///< a driver or device library call failed
};

/// Parts of an error message. Fields that do not apply are empty: a file has no function, a lost device no argument.
struct ErrorFields {
  std::string function;  ///< function or plan called: "PointCloudPlan"
  std::string argument;  ///< its argument, "pitch_m", or the path of a file
  std::string expected;  ///< "> 0"
  std::string got;       ///< "-8e-06"
};

/// The only exception type of the library. what() reads `function: argument: expected ..., got ...`. An error of
/// another form has empty fields.
class Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& what) : Error(code, what, {}) {}
  Error(ErrorCode code, ErrorFields fields);
  [[nodiscard]] ErrorCode code() const noexcept { return code_; }
  [[nodiscard]] const std::string& function() const noexcept { return fields_->function; }
  [[nodiscard]] const std::string& argument() const noexcept { return fields_->argument; }
  [[nodiscard]] const std::string& expected() const noexcept { return fields_->expected; }
  [[nodiscard]] const std::string& got() const noexcept { return fields_->got; }

 private:
  Error(ErrorCode code, const std::string& what, ErrorFields fields)
      : std::runtime_error(what), code_(code), fields_(std::make_shared<const ErrorFields>(std::move(fields))) {}

  ErrorCode code_;
  std::shared_ptr<const ErrorFields> fields_;  // shared: copying an exception must not throw
};

/// Error in the contents of a file. The fields are those of the function that rejected it; what() begins with the
/// file's path.
class FileError final : public Error {
 public:
  FileError(std::string path, const Error& error);
  [[nodiscard]] const char* what() const noexcept override { return what_.c_str(); }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
  std::string what_;
};

/// Throws Error{invalid_argument, "where: argument: expected <expected>, got <got>"}.
[[noreturn]] void throw_argument(std::string_view where, std::string_view argument, std::string_view expected,
                                 std::string_view got);

/// Throws Error{io, "path: expected <expected>, got <got>"}.
[[noreturn]] void throw_io(std::string_view path, std::string_view expected, std::string_view got);

/// Throws Error{unsupported, "where: argument: expected <expected>, got <got>"} for an operation that this build,
/// device or method lacks. Without an argument, "where: expected <expected>, got <got>".
[[noreturn]] void throw_unsupported(std::string_view where, std::string_view argument, std::string_view expected,
                                    std::string_view got);

/// Throws invalid_argument unless `value` is finite and > 0.
void require_positive(std::string_view where, std::string_view argument, double value);

/// Throws invalid_argument unless low <= value <= high (NaN throws).
void require_range(std::string_view where, std::string_view argument, double value, double low, double high);

}  // namespace holotone
