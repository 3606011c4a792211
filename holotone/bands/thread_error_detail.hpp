#pragma once
// Not for users.
#include <exception>
#include <string>

namespace holotone {

/// Error message of std::thread or std::async for a thread that the system did not start; empty for other errors.
std::string thread_error_line(const std::exception& error);

}  // namespace holotone
