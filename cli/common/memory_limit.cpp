#include <algorithm>
#include <cli/common/address_space.hpp>
#include <cli/common/memory_limit.hpp>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/core/units.hpp>

namespace holotone::cli {

double free_memory() { return std::min(static_cast<double>(describe(Device{}).free_bytes), free_address_space()); }

void require_memory(std::string_view who, double bytes, std::string_view what, std::string_view remedy, Device device) {
  const bool host = device.backend == Backend::cpu;
  const double free = host ? free_memory() : static_cast<double>(describe(device).free_bytes);
  if (bytes <= free) return;
  throw Error(
      ErrorCode::out_of_memory,
      fmt::format("{}: expected {} of memory for {}, got {} free{}{}{}", who, format_bytes(bytes), what,
                  format_bytes(free), host ? "" : " on " + to_string(device), remedy.empty() ? "" : "; ", remedy));
}

}  // namespace holotone::cli
