#include <fstream>
#include <holotone/core/device_backends.hpp>
#include <holotone/core/parallel.hpp>
#include <string>
#include <unistd.h>

namespace holotone::cpu {

DeviceInfo describe() {
  DeviceInfo info;
  info.units = thread_count();
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  info.memory_bytes = page * static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES));
  info.free_bytes = page * static_cast<std::size_t>(sysconf(_SC_AVPHYS_PAGES));
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
