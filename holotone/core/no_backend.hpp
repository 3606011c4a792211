#pragma once
// Errors of plans for a queue on a device that they cannot use. Not for users.
#include <holotone/core/device.hpp>
#include <string_view>

namespace holotone {

/// Throws unsupported: this build has no such backend, or the operation is not made for it.
[[noreturn]] void throw_no_backend(std::string_view where, Device device);

}  // namespace holotone
