#pragma once
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace holotone {

/// What kind of thing went wrong; the command line maps it to an exit code, Python to an exception type.
enum class ErrorCode {
  invalid_argument,  ///< a value the caller gave is out of its range
  unsupported,       ///< this build, device or method cannot do it
  io,                ///< a file is missing, malformed or cannot be written
  out_of_memory,     ///< host or device memory is not enough
  cancelled,         ///< Progress::update returned false
  device,            ///< a driver or device library call failed
};

/// The only exception type of the library. what() reads `function: argument: expected ..., got ...`.
class Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& what) : std::runtime_error(what), code_(code) {}
  [[nodiscard]] ErrorCode code() const noexcept { return code_; }

 private:
  ErrorCode code_;
};

/// Throws Error{invalid_argument, "where: argument: expected <expected>, got <got>"}.
[[noreturn]] void throw_argument(std::string_view where, std::string_view argument, std::string_view expected,
                                 std::string_view got);

/// Throws Error{io, "path: expected <expected>, got <got>"}.
[[noreturn]] void throw_io(std::string_view path, std::string_view expected, std::string_view got);

/// Throws unless `value` is finite and > 0.
void require_positive(std::string_view where, std::string_view argument, double value);

/// Throws unless low <= value <= high (NaN throws).
void require_range(std::string_view where, std::string_view argument, double value, double low, double high);

}  // namespace holotone
