#include <cctype>
#include <cli/common/address_space.hpp>
#include <cli/start/end.hpp>
#include <cli/start/environment.hpp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/resource.h>
#include <unistd.h>

// Without a limit on memory in sanitized builds: sanitizers reserve far more address space than any limit allows.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HOLOTONE_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define HOLOTONE_SANITIZED 1
#endif
#endif

namespace holotone::start {
namespace {

constexpr long max_threads = 1024;
constexpr const char* thread_variable = "OMP_NUM_THREADS";

const char* without_blanks(const char* text) { return text + std::strspn(text, " \t"); }

/// True for a blank text, which libgomp reports twice as invalid and then ignores.
bool is_blank(const char* text) { return *without_blanks(text) == '\0'; }

/// True for numbers > 0 separated by commas, the syntax of libgomp.
bool are_thread_counts(const char* text) {
  for (;; ++text) {
    text = without_blanks(text);
    const std::size_t digits = std::strspn(text, "0123456789");
    if (std::strspn(text, "0") == digits) return false;
    text = without_blanks(text + digits);
    if (*text != ',') return *text == '\0';
  }
}

/// Number of threads set in the environment, else the number of processors.
long wanted_threads() {
  const char* const text = std::getenv(thread_variable);
  if (text == nullptr) return sysconf(_SC_NPROCESSORS_ONLN);
  const long count = are_thread_counts(text) ? std::strtol(text, nullptr, 10) : 0;
  if (count >= 1 && count <= max_threads) return count;
  char typed[64];
  (void)std::snprintf(typed, sizeof typed, "'%.50s'%s", text, std::strlen(text) > 50 ? "..." : "");
  for (char* one = typed; *one != '\0'; ++one) {
    if (std::iscntrl(static_cast<unsigned char>(*one)) != 0) *one = '?';
  }
  end("OMP_NUM_THREADS: expected a number of threads from 1 to 1024, got ", typed);
}

/// The threads whose buffers and stacks fit under the limit of the address space. OpenBLAS maps its buffers when it is
/// loaded and would retry forever.
long threads_that_fit(long wanted) {
#if !defined(HOLOTONE_SANITIZED)
  rlimit limit{};
  if (getrlimit(RLIMIT_DATA, &limit) == 0 && limit.rlim_cur < cli::min_data_bytes) {
    end("memory: expected data that hold the program (ulimit -d 400000 or more), got a smaller limit");
  }
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return wanted;
  if (limit.rlim_cur < cli::bytes_to_start) {
    end("memory: expected an address space that holds the program (ulimit -v 1000000 or more), got a smaller limit");
  }
  const rlim_t room = 1 + (limit.rlim_cur - cli::bytes_to_start) / cli::bytes_a_thread;
  if (room < static_cast<rlim_t>(wanted)) return static_cast<long>(room);
#endif
  return wanted;
}

}  // namespace

void set_environment() {
  if (const char* const text = std::getenv(thread_variable); text != nullptr && is_blank(text)) {
    unsetenv(thread_variable);
  }
  const long wanted = wanted_threads();
  if (const long threads = threads_that_fit(wanted); threads < wanted) {
    char text[16];
    (void)std::snprintf(text, sizeof text, "%ld", threads);
    setenv(thread_variable, text, 1);
    setenv("OPENBLAS_NUM_THREADS", text, 1);
  }
  // By libgomp's default idle threads spin much longer, which beside other programs takes the processors from the
  // working threads.
  if (std::getenv("OMP_WAIT_POLICY") == nullptr) setenv("GOMP_SPINCOUNT", "1000", 0);
}

}  // namespace holotone::start
