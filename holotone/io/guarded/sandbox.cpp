#include <fcntl.h>
#include <holotone/io/guarded/sandbox.hpp>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/prctl.h>
#endif

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cinttypes>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/core/units.hpp>
#include <memory>
#include <thread>

extern char** environ;

namespace holotone {
namespace {

// Sanitizers reserve terabytes: under a limit the program would fail at once.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool memory_can_be_limited = false;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
constexpr bool memory_can_be_limited = false;
#else
constexpr bool memory_can_be_limited = true;
#endif
#else
constexpr bool memory_can_be_limited = true;
#endif

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

// A descriptor that exec closes. It is never one of the three standard ones, because the caller may have closed these
// and the child replaces them.
class Descriptor {
 public:
  explicit Descriptor(int descriptor) : descriptor_(fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)) {
    if (descriptor_ < 0) {
      throw Error(ErrorCode::io, fmt::format("run_guarded: descriptor: {}", std::strerror(errno)));
    }
  }
  ~Descriptor() { reset(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int get() const { return descriptor_; }
  void reset() {
    if (descriptor_ >= 0) close(descriptor_);
    descriptor_ = -1;
  }

 private:
  int descriptor_;
};

// Arguments and environment of the child, allocated before fork: after it only async-signal-safe calls are allowed.
struct Launch {
  std::vector<std::string> argument_text;
  std::vector<char*> argument;
  std::vector<std::string> environment_text;
  std::vector<char*> environment;
};

// One thread, because each OpenBLAS thread would allocate address space before main begins.
constexpr std::array<std::string_view, 2> thread_variables = {"OMP_NUM_THREADS=", "OPENBLAS_NUM_THREADS="};

std::vector<char*> pointers_to(std::vector<std::string>& text) {
  std::vector<char*> result;
  result.reserve(text.size() + 1);
  for (auto& entry : text) result.push_back(entry.data());
  result.push_back(nullptr);
  return result;
}

Launch prepare(const std::string& program, const std::vector<std::string>& arguments) {
  Launch launch;
  launch.argument_text.push_back(program);
  launch.argument_text.insert(launch.argument_text.end(), arguments.begin(), arguments.end());
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const bool replaced = std::any_of(thread_variables.begin(), thread_variables.end(),
                                      [&](std::string_view name) { return text.starts_with(name); });
    if (!replaced) launch.environment_text.emplace_back(text);
  }
  for (auto name : thread_variables) launch.environment_text.push_back(std::string(name) + "1");
  launch.argument = pointers_to(launch.argument_text);
  launch.environment = pointers_to(launch.environment_text);
  return launch;
}

// Only lowers a limit: a lower limit of the caller stays.
bool set_limit(int resource, std::uint64_t value) {
  const auto kind = static_cast<decltype(RLIMIT_DATA)>(resource);
  rlimit limit{};
  if (getrlimit(kind, &limit) != 0) return false;
  limit.rlim_max = std::min(limit.rlim_max, static_cast<rlim_t>(value));
  limit.rlim_cur = std::min(limit.rlim_cur, limit.rlim_max);
  return setrlimit(kind, &limit) == 0;
}

// Runs the child between fork and exec. Writes errno to `report` if exec fails; exec closes `report`.
[[noreturn]] void become(const Launch& launch, const GuardLimits& limits, int output, int report) {
  if (limits.command) setpgid(0, 0);
#if defined(__linux__)
  prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  const int nothing = open("/dev/null", O_RDWR);
  bool ready = nothing >= 0 && dup2(nothing, STDIN_FILENO) >= 0 && dup2(nothing, STDERR_FILENO) >= 0 &&
               dup2(output, STDOUT_FILENO) >= 0;
  ready = ready && set_limit(RLIMIT_CORE, 0) && set_limit(RLIMIT_FSIZE, limits.output_bytes) &&
          set_limit(RLIMIT_CPU, static_cast<std::uint64_t>(std::ceil(limits.seconds)) + 1);
  if (ready) execve(launch.argument[0], launch.argument.data(), launch.environment.data());
  const int reason = errno;
  (void)!write(report, &reason, sizeof reason);
  _exit(127);
}

/// Process group of the command being waited for; 0: none.
std::atomic<pid_t> command_group = 0;
static_assert(std::atomic<pid_t>::is_always_lock_free);
/// Calls of end_guarded_command, one of which may come before the group is known.
std::atomic<int> times_ended = 0;
static_assert(std::atomic<int>::is_always_lock_free);

/// Processor time that a process has used, in seconds; 0 if the system does not report it.
double seconds_taken(pid_t process) {
  clockid_t clock{};
  timespec taken{};
  if (clock_getcpuclockid(process, &clock) != 0 || clock_gettime(clock, &taken) != 0) return 0;
  return static_cast<double>(taken.tv_sec) + 1e-9 * static_cast<double>(taken.tv_nsec);
}

// Waits for the child's end. Kills it at the deadline or when its processor time is used up, which RLIMIT_CPU counts
// only in whole seconds.
enum class Ending { by_itself, processor_time, wall_clock };
Ending wait_until(pid_t child, std::chrono::steady_clock::time_point deadline, const GuardLimits& limits, int& status) {
  auto pause = std::chrono::microseconds(200);
  auto ending = Ending::by_itself;
  for (;;) {
    const pid_t ended = waitpid(child, &status, WNOHANG);
    if (ended == child) return Ending::by_itself;
    if (ended < 0 && errno != EINTR) {
      throw Error(ErrorCode::io, fmt::format("run_guarded: waitpid: {}", std::strerror(errno)));
    }
    if (std::chrono::steady_clock::now() >= deadline) ending = Ending::wall_clock;
    if (seconds_taken(child) > limits.seconds) ending = Ending::processor_time;
    if (ending != Ending::by_itself) break;
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, std::chrono::microseconds(10000));
  }
  kill(limits.command ? -child : child, SIGKILL);
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return ending;
}

std::string read_back(std::FILE* file, std::string_view subject) {
  // The child wrote through a copy of the descriptor. The position is shared; the stream's buffer is still empty.
  const int descriptor = fileno(file);
  const off_t size = lseek(descriptor, 0, SEEK_END);
  std::string output(size > 0 ? static_cast<std::size_t>(size) : 0, '\0');
  std::size_t done = 0;
  while (done < output.size()) {
    const ssize_t count = pread(descriptor, output.data() + done, output.size() - done, static_cast<off_t>(done));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) throw_io(subject, "the reader's output to be readable", std::strerror(errno));
    done += static_cast<std::size_t>(count);
  }
  return output;
}

std::string_view reader_name(const GuardLimits& limits) { return limits.command ? "the command" : "the reader"; }

[[noreturn]] void throw_signal(int signal, const GuardLimits& limits, std::string_view subject) {
  if (signal == SIGXCPU) {
    throw Error(ErrorCode::io,
                fmt::format("{}: {} took more than {:.3g} s", subject, reader_name(limits), limits.seconds));
  }
  if (signal == SIGXFSZ) {
    rlimit lowered{};
    if (getrlimit(RLIMIT_FSIZE, &lowered) == 0 && lowered.rlim_cur < limits.output_bytes) {
      throw_io(subject, fmt::format("a limit of file sizes that holds what {} writes (ulimit -f)", reader_name(limits)),
               format_bytes(static_cast<double>(lowered.rlim_cur)));
    }
    throw Error(ErrorCode::io, fmt::format("{}: {} wrote more than {}", subject, reader_name(limits),
                                           format_bytes(static_cast<double>(limits.output_bytes))));
  }
  if (limits.command) throw Error(ErrorCode::io, fmt::format("{}: the command ended by signal {}", subject, signal));
  if (signal == SIGINT || signal == SIGTERM || signal == SIGHUP) {
    throw Error(ErrorCode::cancelled, fmt::format("{}: the reader was interrupted", subject));
  }
  throw Error(ErrorCode::io,
              fmt::format("{}: expected a file that the reader can parse, got one that crashed it (signal {})", subject,
                          signal));
}

// Returns the errno that exec reported, or 0.
int exec_failure(int report) {
  int reason = 0;
  ssize_t count = 0;
  do {
    count = read(report, &reason, sizeof reason);
  } while (count < 0 && errno == EINTR);
  return count == sizeof reason ? reason : 0;
}

}  // namespace

GuardedRun run_guarded(const std::string& program, const std::vector<std::string>& arguments, const GuardLimits& limits,
                       std::string_view subject) {
  require_range("run_guarded", "limits.seconds", limits.seconds, 1e-3, 1e6);
  require_range("run_guarded", "limits.wall_seconds", limits.wall_seconds, 0, 1e8);
  const Launch launch = prepare(program, arguments);
  const File output(std::tmpfile(), std::fclose);
  if (!output) throw Error(ErrorCode::io, fmt::format("run_guarded: tmpfile: {}", std::strerror(errno)));
  int ends[2];
  if (pipe(ends) != 0) throw Error(ErrorCode::io, fmt::format("run_guarded: pipe: {}", std::strerror(errno)));
  const Descriptor report_in(ends[0]);
  Descriptor report_out(ends[1]);
  close(ends[0]);
  close(ends[1]);
  const Descriptor child_output(fileno(output.get()));

  const double wall_seconds = limits.wall_seconds > 0 ? limits.wall_seconds : 60 + 20 * limits.seconds;
  const auto deadline =
      std::chrono::steady_clock::now() +
      std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::chrono::duration<double>(wall_seconds));
  const int ended_before = times_ended;
  const pid_t child = fork();
  if (child == 0) become(launch, limits, child_output.get(), report_out.get());
  const int fork_reason = errno;
  report_out.reset();
  const int exec_reason = child > 0 ? exec_failure(report_in.get()) : fork_reason;
  if (child < 0) throw Error(ErrorCode::io, fmt::format("run_guarded: fork: {}", std::strerror(fork_reason)));

  if (limits.command) {
    setpgid(child, child);  // here too: one of both is first
    command_group = child;
    if (times_ended != ended_before) kill(-child, SIGKILL);
  }
  int status = 0;
  const Ending ending = wait_until(child, deadline, limits, status);
  command_group = 0;
  if (exec_reason != 0) {
    throw Error(ErrorCode::io, fmt::format("run_guarded: {}: {}", program, std::strerror(exec_reason)));
  }
  if (ending == Ending::processor_time) throw_signal(SIGXCPU, limits, subject);
  if (ending == Ending::wall_clock) {
    throw Error(ErrorCode::io,
                fmt::format("{}: {} did not end within {:.3g} s", subject, reader_name(limits), wall_seconds));
  }
  if (WIFSIGNALED(status)) throw_signal(WTERMSIG(status), limits, subject);
  return {WEXITSTATUS(status), read_back(output.get(), subject)};
}

void end_guarded_command() noexcept {
  ++times_ended;
  if (const pid_t group = command_group; group > 0) kill(-group, SIGKILL);
}

void limit_memory(std::uint64_t bytes) {
  if (!memory_can_be_limited) return;
  // /proc/self/statm, in pages: size resident shared text library data. "data" is counted by RLIMIT_DATA.
  std::uint64_t pages = 0;
  if (const File statm(std::fopen("/proc/self/statm", "r"),
                       [](std::FILE* file) { return file ? std::fclose(file) : 0; });
      statm) {
    (void)!std::fscanf(statm.get(), "%*u %*u %*u %*u %*u %" SCNu64, &pages);
  }
  set_limit(RLIMIT_DATA, pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)) + bytes);
}

std::string current_program() {
  std::error_code error;
  auto path = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) throw_io("/proc/self/exe", "the running program's path", error.message());
  return path.string();
}

}  // namespace holotone
