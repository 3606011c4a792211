#pragma once
#include <string_view>

namespace holotone::cli {

/// Bytes of host memory that this process can still have.
double free_memory();

/// Throws out_of_memory, "who: expected 3 GiB of memory for what, got 2 GiB free", where the host has less: before the
/// system ends the program for trying. `remedy` follows after a semicolon.
void require_memory(std::string_view who, double bytes, std::string_view what, std::string_view remedy = {});

}  // namespace holotone::cli
