#pragma once
// Errors of plans for a queue on a device that the build lacks. Not for users.
#include <holotone/core/device.hpp>
#include <holotone/core/error.hpp>
#include <string>

namespace holotone {

[[noreturn]] inline void throw_no_cuda(std::string_view where, Device device) {
  throw Error(ErrorCode::unsupported,
              std::string(where) + ": queue: expected the CPU, got " + to_string(device) + ": this build has no CUDA");
}

}  // namespace holotone
