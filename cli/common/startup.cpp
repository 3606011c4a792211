#include <cblas.h>
#include <cli/common/command.hpp>
#include <cli/common/startup.hpp>
#include <climits>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/core/units.hpp>
#include <limits>
#include <omp.h>
#include <sys/resource.h>
#include <unistd.h>
#include <vector>

// OpenBLAS maps its buffers when it is loaded, before main. It retries forever if the address space (ulimit -v) is too
// small for them. The check below runs before the start of any library: it refuses too small limits and restarts the
// program with fewer threads if only a few fit. Not in sanitized builds: sanitizers reserve far more address space than
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

constexpr rlim_t bytes_to_start = rlim_t{640} << 20;  ///< beyond the libraries themselves: measured 560 MiB
constexpr rlim_t bytes_a_buffer = rlim_t{128} << 20;  ///< buffer of OpenBLAS: one per thread and one of the caller
constexpr rlim_t bytes_a_thread = rlim_t{272} << 20;  ///< that buffer, the stack and the heap of one thread
constexpr long most_threads = 1024;
constexpr std::size_t most_variables = 4096;
constexpr const char* blas_variable = "OPENBLAS_NUM_THREADS=";
constexpr const char* thread_variable = "OMP_NUM_THREADS=";
constexpr const char* spin_variable = "GOMP_SPINCOUNT=";
constexpr const char* wait_variable = "OMP_WAIT_POLICY=";

/// Bytes of address space used by the program and its libraries; 0 if unknown.
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

bool is_variable(const char* entry, const char* name) { return std::strncmp(entry, name, std::strlen(name)) == 0; }

/// True for numbers > 0 separated by commas, the syntax of libgomp, and for a blank text, which sets nothing.
bool are_thread_counts(const char* text) {
  const auto skip_blanks = [&] {
    while (*text == ' ' || *text == '\t') ++text;
  };
  skip_blanks();
  if (*text == '\0') return true;
  for (;; ++text) {
    skip_blanks();
    bool positive = false;
    const char* const begin = text;
    for (; *text >= '0' && *text <= '9'; ++text) positive = positive || *text != '0';
    if (text == begin || !positive) return false;
    skip_blanks();
    if (*text == '\0') return true;
    if (*text != ',') return false;
  }
}

/// Number of threads set in the environment, else the number of processors.
long wanted_threads(char** environment) {
  for (; *environment != nullptr; ++environment) {
    if (!is_variable(*environment, thread_variable)) continue;
    if (!are_thread_counts(*environment + std::strlen(thread_variable))) {
      say("holotone: OMP_NUM_THREADS: expected a number of threads from 1 to 1024, got something else\n");
      _exit(exit_bad_input);
    }
    const long count = std::strtol(*environment + std::strlen(thread_variable), nullptr, 10);
    if (count > 0) return count;
  }
  return sysconf(_SC_NPROCESSORS_ONLN);
}

/// Writes name=value to `text`; value from 1 to 1024.
void set_variable(char* text, const char* name, long value) {
  char digits[8];
  std::size_t count = 0;
  for (; value > 0; value /= 10) digits[count++] = static_cast<char>('0' + value % 10);
  while (*name != '\0') *text++ = *name++;
  while (count > 0) *text++ = digits[--count];
  *text = '\0';
}

/// Environment entry name=value that the program needs at its start. Replaces an entry of another value; a null entry
/// removes it.
struct Setting {
  const char* name;
  char* entry;
};

/// Puts a setting in the place of `_`, by which shells name a command. False if the environment has no such entry.
bool take_place_of_underscore(const Setting& setting, char** environment) {
  for (; *environment != nullptr; ++environment) {
    if (!is_variable(*environment, "_=")) continue;
    *environment = setting.entry;
    return true;
  }
  return false;
}

/// Restarts the program with these settings; if that fails, the program continues unchanged.
void restart_with(const Setting* settings, std::size_t setting_count, char** arguments, char** environment) {
  static char* variables[most_variables + 4];
  std::size_t count = 0;
  for (; *environment != nullptr; ++environment) {
    if (count == most_variables) return;
    bool replaced = false;
    for (std::size_t i = 0; i < setting_count; ++i) replaced = replaced || is_variable(*environment, settings[i].name);
    if (!replaced) variables[count++] = *environment;
  }
  for (std::size_t i = 0; i < setting_count; ++i) {
    if (settings[i].entry != nullptr) variables[count++] = settings[i].entry;
  }
  // The program's own path: it gives the process the name that ps and top show.
  static char path[PATH_MAX];
  if (readlink("/proc/self/exe", path, sizeof path - 1) > 0) execve(path, arguments, variables);
  execve("/proc/self/exe", arguments, variables);
}

bool has_variable(char** environment, const char* name) {
  for (; *environment != nullptr; ++environment) {
    if (is_variable(*environment, name)) return true;
  }
  return false;
}

/// True for a blank value: libgomp reports it twice as invalid and then ignores it.
bool has_blank_variable(char** environment, const char* name) {
  for (; *environment != nullptr; ++environment) {
    if (!is_variable(*environment, name)) continue;
    const char* text = *environment + std::strlen(name);
    while (*text == ' ' || *text == '\t') ++text;
    return *text == '\0';
  }
  return false;
}

/// Runs before all constructors: no C++ library yet.
void check_start(int count_of_arguments, char** arguments, char** environment) {
  // The child that parses a file has its limits from its parent, which also ends it.
  if (count_of_arguments > 1 && std::strncmp(arguments[1], "__read-", 7) == 0) return;
  const long threads = wanted_threads(environment);
  if (threads > most_threads) {
    say("holotone: OMP_NUM_THREADS: expected at most 1024 threads, got more\n");
    _exit(exit_bad_input);
  }
  Setting settings[3];
  std::size_t count = 0;
  bool threads_set = false;
  // Makes idle threads sleep soon. By libgomp's default they spin much longer, which beside other programs takes the
  // processors from the working threads.
  static char spin[] = "GOMP_SPINCOUNT=1000";
  if (!has_variable(environment, spin_variable) && !has_variable(environment, wait_variable)) {
    settings[count++] = {spin_variable, spin};
  }
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
    const rlim_t mapped = mapped_bytes();
    if (limit.rlim_cur < mapped + bytes_to_start) {
      say("holotone: memory: expected an address space that holds the program (ulimit -v 1000000 or more), "
          "got a smaller limit\n");
      _exit(exit_bad_input);
    }
    const rlim_t room = 1 + (limit.rlim_cur - mapped - bytes_to_start) / bytes_a_thread;
    if (room < static_cast<rlim_t>(threads)) {
      static char blas[32];
      static char own[32];
      set_variable(blas, blas_variable, static_cast<long>(room));
      set_variable(own, thread_variable, static_cast<long>(room));
      settings[count++] = {blas_variable, blas};
      settings[count++] = {thread_variable, own};
      threads_set = true;
    }
  }
  if (!threads_set && has_blank_variable(environment, thread_variable)) settings[count++] = {thread_variable, nullptr};
  // A restart loads all libraries a second time: 10 ms.
  const bool one = count == 1 && settings[0].name == spin_variable;
  if (one && take_place_of_underscore(settings[0], environment)) return;
  if (count > 0) restart_with(settings, count, arguments, environment);
}

using Hook = void (*)(int, char**, char**);
[[gnu::section(".preinit_array"), gnu::used]] const Hook hook = &check_start;

}  // namespace

double free_address_space() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
    return std::numeric_limits<double>::infinity();
  }
  return static_cast<double>(limit.rlim_cur) - static_cast<double>(mapped_bytes());
}

void take_blas_buffers(int callers) {
  const double room = free_address_space();
  if (std::isinf(room)) return;
  const int threads = omp_get_max_threads();
  const double need = static_cast<double>(bytes_a_buffer) * (threads + callers) +
                      (callers > 1 ? static_cast<double>(bytes_a_thread) * callers : 0);
  if (room < need) {
    throw Error(ErrorCode::out_of_memory, fmt::format("memory: expected {} of address space (ulimit -v) for the matrix "
                                                      "product's {} threads, got {}",
                                                      format_bytes(need), threads, format_bytes(room)));
  }
  openblas_set_num_threads(threads);
  // Large enough to avoid the path for small products, which needs no buffer.
  constexpr int extent = 256;
  const std::vector<float> zeros(std::size_t{extent} * extent);
  std::vector<float> result(zeros.size());
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, extent, extent, extent, 1, zeros.data(), extent, zeros.data(),
              extent, 0, result.data(), extent);
}

}  // namespace holotone::cli
#else
namespace holotone::cli {
double free_address_space() { return std::numeric_limits<double>::infinity(); }
void take_blas_buffers(int) {}
}  // namespace holotone::cli
#endif
