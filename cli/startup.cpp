#include "command.hpp"
#include <cstring>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

// OpenBLAS maps its buffers when it is loaded, before main, and tries again for ever where the address space is too
// small for them (ulimit -v). What runs here runs before any library's own start: it refuses what cannot work and
// lets OpenBLAS have fewer threads where there is room for a few only. Sanitizers reserve far more address space than
// any limit allows, and intercept calls before they are ready.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HOLOTONE_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define HOLOTONE_SANITIZED 1
#endif
#endif

#if !defined(HOLOTONE_SANITIZED) && defined(__linux__)
namespace holotone::cli {
namespace {

constexpr rlim_t bytes_to_start = rlim_t{512} << 20;  ///< beyond the libraries themselves: measured 430 MiB
constexpr rlim_t bytes_a_thread = rlim_t{128} << 20;  ///< OpenBLAS's buffer, the stack and the heap of one
constexpr std::size_t most_variables = 4096;
char one_thread[] = "OPENBLAS_NUM_THREADS=1";

/// The address space taken by the program and its libraries; 0 if the system does not say.
rlim_t mapped_bytes() {
  char text[64] = {};
  const int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  const ssize_t count = read(file, text, sizeof text - 1);
  close(file);
  rlim_t pages = 0;
  for (ssize_t i = 0; i < count && text[i] >= '0' && text[i] <= '9'; ++i) {
    pages = 10 * pages + static_cast<rlim_t>(text[i] - '0');
  }
  return pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE));
}

void say(const char* text) { (void)!write(STDERR_FILENO, text, std::strlen(text)); }

/// No C++ library yet: constructors have not run.
void check_address_space(int count_of_arguments, char** arguments, char** environment) {
  // The child that parses a file has its limits from its parent, which also ends it.
  if (count_of_arguments > 1 && std::strncmp(arguments[1], "__read-", 7) == 0) return;
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
  const rlim_t mapped = mapped_bytes();
  if (limit.rlim_cur < mapped + bytes_to_start) {
    say("holotone: memory: expected an address space that holds the program (ulimit -v 1000000 or more), "
        "got a smaller limit\n");
    _exit(exit_bad_input);
  }
  const long processors = sysconf(_SC_NPROCESSORS_ONLN);
  const rlim_t room = (limit.rlim_cur - mapped - bytes_to_start) / bytes_a_thread;
  if (processors <= 1 || room >= static_cast<rlim_t>(processors)) return;
  static char* variables[most_variables + 2];
  std::size_t count = 0;
  for (; environment[count] != nullptr; ++count) {
    if (count == most_variables || std::strncmp(environment[count], "OPENBLAS_NUM_THREADS=", 21) == 0) return;
    variables[count] = environment[count];
  }
  variables[count] = one_thread;
  execve("/proc/self/exe", arguments, variables);  // if it fails, all goes on as it would have
}

using Hook = void (*)(int, char**, char**);
[[gnu::section(".preinit_array"), gnu::used]] const Hook hook = &check_address_space;

}  // namespace
}  // namespace holotone::cli
#endif
