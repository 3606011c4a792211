#include <algorithm>
#include <cli/common/module_check.hpp>
#include <cli/common/ranks.hpp>
#include <climits>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <vector>

namespace holotone::cli {
namespace {

/// A number that mpirun (Open MPI) sets for each process.
int from_environment(const char* name, int otherwise) {
  const char* const text = std::getenv(name);
  if (text == nullptr) return otherwise;
  const long value = std::strtol(text, nullptr, 10);
  return value >= 0 && value <= INT_MAX ? static_cast<int>(value) : otherwise;
}

/// The module beside the program, or where it is installed.
std::vector<std::filesystem::path> module_paths() {
  std::error_code error;
  const auto folder = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  return {folder / "holotone_mpi.so", folder / ".." / HOLOTONE_MODULE_FOLDER / "holotone_mpi.so"};
}

/// Throws unsupported if there is no whole module.
std::filesystem::path found_module() {
  std::string reason = "none of that name";
  for (const auto& path : module_paths()) {
    if (!std::filesystem::exists(path)) continue;
    reason = why_not_whole(path);
    if (reason.empty()) return path;
    break;
  }
  throw Error(ErrorCode::unsupported,
              fmt::format("mpirun: expected holotone_mpi.so beside the program (HOLOTONE_MPI=ON), got {}", reason));
}

}  // namespace

int Ranks::stated_count() { return std::max(1, from_environment("OMPI_COMM_WORLD_SIZE", 1)); }

int Ranks::stated_rank() { return from_environment("OMPI_COMM_WORLD_RANK", 0); }

Ranks& Ranks::all() {
  static Ranks ranks = stated_count() == 1 ? Ranks()
                                           : Ranks(found_module(), from_environment("OMPI_COMM_WORLD_LOCAL_RANK", 0),
                                                   std::max(1, from_environment("OMPI_COMM_WORLD_LOCAL_SIZE", 1)));
  return ranks;
}

std::string of_this_rank() {
  if (Ranks::stated_count() == 1) return {};
  return fmt::format(" of rank {} on {}", Ranks::stated_rank(), host_name());
}

}  // namespace holotone::cli
