#include <filesystem>
#include <holotone/bands/thread_error_detail.hpp>
#include <system_error>

namespace holotone {

std::string thread_error_line(const std::exception& error) {
  const auto* const system = dynamic_cast<const std::system_error*>(&error);
  if (system == nullptr || dynamic_cast<const std::filesystem::filesystem_error*>(&error) != nullptr) return {};
  if (system->code() != std::errc::resource_unavailable_try_again) return {};
  return "a thread could not be started: raise the limit of processes (ulimit -u) or of memory, or use fewer threads "
         "(OMP_NUM_THREADS)";
}

}  // namespace holotone
