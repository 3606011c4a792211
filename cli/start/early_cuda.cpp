#include <algorithm>
#include <cli/start/early_cuda.hpp>
#include <csignal>
#include <dlfcn.h>
#include <pthread.h>
#include <string_view>
#include <sys/resource.h>

namespace holotone::start {
namespace {

/// True if the value of --device names no CUDA device.
bool excludes_cuda(std::string_view device) { return device.starts_with("cpu") || device.starts_with("opencl"); }

bool may_use_cuda(int count_of_arguments, char** arguments) {
  // A limited address space has no room for CUDA's, which is asked for only where a device is.
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) return false;
  if (count_of_arguments < 3) return false;
  if (std::ranges::find(commands_on_devices, std::string_view(arguments[1])) == commands_on_devices.end()) return false;
  for (int i = 2; i < count_of_arguments; ++i) {
    const std::string_view word = arguments[i];
    if (word == "--help" || word == "--help-all" || word == "-h") return false;
    if (word == "--device" && i + 1 < count_of_arguments && excludes_cuda(arguments[i + 1])) return false;
    if (word.starts_with("--device=") && excludes_cuda(word.substr(9))) return false;
  }
  return true;
}

void* initialize(void* /*unused*/) {
  // The library stays loaded: the CUDA runtime opens the same.
  void* const library = dlopen("libcuda.so.1", RTLD_NOW);
  void* const function = library == nullptr ? nullptr : dlsym(library, "cuInit");
  if (function != nullptr) reinterpret_cast<int (*)(unsigned)>(function)(0);
  return nullptr;
}

}  // namespace

void start_cuda_early(int count_of_arguments, char** arguments) {
#if HOLOTONE_CUDA
  if (!may_use_cuda(count_of_arguments, arguments)) return;
  // Signals are for the program's own threads.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread{};
  if (pthread_create(&thread, nullptr, &initialize, nullptr) == 0) pthread_detach(thread);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
#else
  (void)count_of_arguments, (void)arguments, (void)&may_use_cuda, (void)&initialize;
#endif
}

}  // namespace holotone::start
