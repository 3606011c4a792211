#include <cmath>
#include <fmt/format.h>
#include <holotone/core/error.hpp>

namespace holotone {

namespace {

std::string to_line(const ErrorFields& fields) {
  std::string line;
  for (const auto* part : {&fields.function, &fields.argument}) {
    if (!part->empty()) line += *part + ": ";
  }
  return line + "expected " + fields.expected + ", got " + fields.got;
}

}  // namespace

Error::Error(ErrorCode code, ErrorFields fields)
    : std::runtime_error(to_line(fields)),
      code_(code),
      fields_(std::make_shared<const ErrorFields>(std::move(fields))) {}

FileError::FileError(std::string path, const Error& error)
    : Error(error.code(), ErrorFields{error.function(), error.argument(), error.expected(), error.got()}),
      path_(std::move(path)),
      what_(path_ + ": " + error.what()) {}

void throw_argument(std::string_view where, std::string_view argument, std::string_view expected,
                    std::string_view got) {
  throw Error(ErrorCode::invalid_argument,
              {std::string(where), std::string(argument), std::string(expected), std::string(got)});
}

void throw_io(std::string_view path, std::string_view expected, std::string_view got) {
  throw Error(ErrorCode::io, {"", std::string(path), std::string(expected), std::string(got)});
}

void throw_unsupported(std::string_view where, std::string_view argument, std::string_view expected,
                       std::string_view got) {
  throw Error(ErrorCode::unsupported,
              {std::string(where), std::string(argument), std::string(expected), std::string(got)});
}

void require_positive(std::string_view where, std::string_view argument, double value) {
  if (!(std::isfinite(value) && value > 0)) throw_argument(where, argument, "> 0", fmt::format("{:g}", value));
}

void require_range(std::string_view where, std::string_view argument, double value, double low, double high) {
  if (!(value >= low && value <= high)) {
    throw_argument(where, argument, fmt::format("{:g} to {:g}", low, high), fmt::format("{:g}", value));
  }
}

}  // namespace holotone
