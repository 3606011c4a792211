#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <holotone/core/device_backends.hpp>
#include <holotone/core/parallel.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <sys/resource.h>
#include <unistd.h>

namespace holotone::cpu {
namespace {

/// A number behind `key` in a file of lines such as /proc/meminfo's, or nullopt.
std::optional<std::size_t> number_in(const char* path, std::string_view key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key)) continue;
    char* end = nullptr;
    const char* begin = line.c_str() + key.size();
    const auto value = std::strtoull(begin, &end, 10);
    if (end != begin) return static_cast<std::size_t>(value);
  }
  return std::nullopt;
}

/// Bytes left below the limit of the address space (ulimit -v), or nullopt without a limit.
std::optional<std::size_t> address_space_left() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  const auto mapped = number_in("/proc/self/statm", "").value_or(0) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const auto most = static_cast<std::size_t>(limit.rlim_cur);
  return most - std::min(most, mapped);
}

/// Bytes available for allocation: free pages and caches that the system can reclaim, within the limits of the
/// container (control groups, version 2) and of the address space.
std::size_t free_memory(std::size_t free_pages) {
  const auto available_kib = number_in("/proc/meminfo", "MemAvailable:");
  std::size_t free = available_kib ? *available_kib * 1024 : free_pages;
  const auto limit = number_in("/sys/fs/cgroup/memory.max", "");
  const auto used = number_in("/sys/fs/cgroup/memory.current", "");
  if (limit && used) {
    const auto cached = number_in("/sys/fs/cgroup/memory.stat", "inactive_file ").value_or(0);
    const std::size_t held = *used - std::min(*used, cached);
    free = std::min(free, *limit - std::min(*limit, held));
  }
  return std::min(free, address_space_left().value_or(free));
}

}  // namespace

DeviceInfo describe() {
  DeviceInfo info;
  info.units = thread_count();
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  info.memory_bytes = page * static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES));
  info.free_bytes = free_memory(page * static_cast<std::size_t>(sysconf(_SC_AVPHYS_PAGES)));
  info.name = "CPU";
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);) {
    if (line.starts_with("model name")) {
      if (const auto colon = line.find(": "); colon != std::string::npos) info.name = line.substr(colon + 2);
      break;
    }
  }
#if defined(__x86_64__)
  info.detail = __builtin_cpu_supports("avx512f") ? "AVX-512" : __builtin_cpu_supports("avx2") ? "AVX2" : "SSE2";
#endif
  return info;
}

}  // namespace holotone::cpu
