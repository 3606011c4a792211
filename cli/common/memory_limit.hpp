#pragma once
#include <holotone/core/device.hpp>
#include <string_view>

namespace holotone::cli {

/// Free host memory in bytes, within the limit of the address space.
double free_memory();

/// Throws out_of_memory, "who: expected 3 GiB of memory for what, got 2 GiB free", if less is free. Otherwise the
/// system would kill the program. `remedy` follows after a semicolon.
void require_memory(std::string_view who, double bytes, std::string_view what, std::string_view remedy = {},
                    Device device = {});

}  // namespace holotone::cli
