// The harness that reads damaged files in a child process.
#include <algorithm>
#include <csignal>
#include <cstring>
#include <fmt/format.h>
#include <new>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <tests/support/io_support.hpp>
#include <unistd.h>

namespace io_support {
namespace {

// Results of the child in shared memory, valid even after a crash.
struct Shared {
  int accepted;
  int rejected;
  int last;
  std::int64_t growth_kib;
  char failure[400];
};

std::int64_t peak_kib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

void limit_address_space() {
  std::int64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const rlim_t bytes = static_cast<rlim_t>(pages * sysconf(_SC_PAGESIZE)) + (rlim_t{512} << 20);
  const rlimit limit{bytes, bytes};
  setrlimit(RLIMIT_AS, &limit);
}

// True for the messages of libraries whose allocation failed; libtiff also reports this for empty allocations.
bool was_refused_memory(const std::string& text) {
  const auto says = [&](const char* words) { return text.find(words) != std::string::npos; };
  return says("Out of memory") || says("nsufficient memory") || (says("allocate memory") && !says("(0 elements"));
}

// Reads one file; returns a description of a failure, or "".
std::string read_one(const std::string& path, const std::function<void(const std::string&)>& read, Shared& shared) {
  try {
    read(path);
    ++shared.accepted;
    return "";
  } catch (const holotone::Error& error) {
    ++shared.rejected;
    const std::string text = error.what();
    if (text.empty() || text.find('\n') != std::string::npos) return "not one line: " + text;
    const bool wanted_memory = error.code() == holotone::ErrorCode::out_of_memory || was_refused_memory(text);
    return wanted_memory ? "asked for too much: " + text : "";
  } catch (const std::exception& error) {
    return std::string("another exception: ") + error.what();
  }
}

[[noreturn]] void run_child(const std::string& seed, const std::string& path, int count,
                            const std::function<void(const std::string&)>& read, const Repair& repair, Shared& shared) {
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  if (memory_is_limited) limit_address_space();
  alarm(100);
  const std::int64_t before = peak_kib();
  for (shared.last = 0; shared.last < count; ++shared.last) {
    std::string bytes = mutated(seed, static_cast<std::uint64_t>(shared.last));
    if (repair) repair(bytes);
    write_raw(path, bytes);
    const std::string failure = read_one(path, read, shared);
    if (!failure.empty()) {
      std::strncpy(shared.failure, failure.c_str(), sizeof shared.failure - 1);
      _exit(1);
    }
  }
  shared.growth_kib = peak_kib() - before;
  _exit(0);
}

std::uint64_t draw(std::uint64_t index, std::uint64_t& counter, std::uint64_t below) {
  return holotone::random_bits(0x5eed + index, counter++) % below;
}

// Half of the damage is in the first 400 bytes, where headers are.
std::size_t place(std::uint64_t index, std::uint64_t& counter, std::size_t size) {
  const bool front = draw(index, counter, 2) == 0;
  return static_cast<std::size_t>(draw(index, counter, front ? std::min<std::size_t>(size, 400) : size));
}

}  // namespace

std::string mutated(const std::string& seed, std::uint64_t index) {
  std::string bytes = seed;
  std::uint64_t counter = 0;
  const std::uint64_t times = 1 + draw(index, counter, 4);
  for (std::uint64_t i = 0; i < times && !bytes.empty(); ++i) {
    const std::size_t at = place(index, counter, bytes.size());
    const std::size_t length = std::min<std::size_t>(1 + draw(index, counter, 32), bytes.size() - at);
    switch (draw(index, counter, 8)) {
      case 0: bytes[at] = static_cast<char>(bytes[at] ^ (1 << draw(index, counter, 8))); break;
      case 1: bytes[at] = static_cast<char>(draw(index, counter, 256)); break;
      case 2: bytes.resize(at); break;
      case 3: bytes.erase(at, length); break;
      case 4: bytes.insert(at, bytes.substr(at, length)); break;
      case 5:
        for (std::size_t k = 0; k < length; ++k) bytes[at + k] = static_cast<char>(draw(index, counter, 256));
        break;
      case 6: {  // a number that provokes arithmetic errors
        constexpr std::uint32_t numbers[] = {0, 1, 0x7fffffff, 0x80000000, 0xffffffff, 0xfffffffe, 0x10000, 0x7f800000};
        const std::uint32_t number = numbers[draw(index, counter, std::size(numbers))];
        for (std::size_t k = 0; k < std::min<std::size_t>(length, 4); ++k) {
          bytes[at + k] = static_cast<char>(number >> (8 * k));
        }
        break;
      }
      default: {  // a digit, to change numbers written as text as well
        const auto digit = bytes.find_first_of("0123456789", at);
        if (digit != std::string::npos) bytes.replace(digit, 1, draw(index, counter, 2) == 0 ? "9" : "99999999");
      }
    }
  }
  return bytes;
}

ChildReport survive_mutations(const std::string& seed, const std::string& extension, int count,
                              const std::function<void(const std::string&)>& read, const Repair& repair) {
  const TemporaryFolder folder;
  const std::string path = folder.file("mutated" + extension);
  void* memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  auto& shared = *new (memory) Shared{0, 0, -1, 0, {}};
  const pid_t child = fork();
  if (child == 0) run_child(seed, path, count, read, repair, shared);
  int status = 0;
  waitpid(child, &status, 0);
  ChildReport report{shared.accepted, shared.rejected, shared.last, shared.growth_kib, shared.failure};
  if (report.failure.empty() && WIFSIGNALED(status)) {
    report.failure = WTERMSIG(status) == SIGALRM ? "took too long" : fmt::format("signal {}", WTERMSIG(status));
  }
  if (report.failure.empty() && WEXITSTATUS(status) != 0) {
    report.failure = fmt::format("exit code {}", WEXITSTATUS(status));  // a sanitizer's report
  }
  munmap(memory, sizeof(Shared));
  return report;
}

void expect_survival(const std::string& name, const std::string& seed, const std::string& extension, int count,
                     const std::function<void(const std::string&)>& read, const Repair& repair) {
  const ChildReport report = survive_mutations(seed, extension, count, read, repair);
  std::printf("%s: %d mutations of %zu bytes: %d read, %d refused, peak memory +%lld KiB\n", name.c_str(), count,
              seed.size(), report.accepted, report.rejected, static_cast<long long>(report.growth_kib));
  EXPECT_EQ(report.failure, "") << name << ", mutation " << report.last;
  EXPECT_EQ(report.accepted + report.rejected, count) << name;
  EXPECT_GT(report.rejected, 0) << name;
  if (memory_is_limited) {
    EXPECT_LT(report.growth_kib, 256 * 1024) << name;
  }
}

void expect_truncations_refused(const std::string& seed, const std::string& extension, bool strict,
                                const std::function<void(const std::string&)>& read) {
  const TemporaryFolder folder;
  const std::string path = folder.file("cut" + extension);
  for (std::size_t sixteenth = 0; sixteenth < 16; ++sixteenth) {
    write_raw(path, seed.substr(0, seed.size() * sixteenth / 16));
    try {
      read(path);
      EXPECT_FALSE(strict) << extension << " cut to " << sixteenth << "/16 was read";
    } catch (const holotone::Error& error) {
      EXPECT_EQ(error.code(), holotone::ErrorCode::io) << error.what();
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
      EXPECT_TRUE(std::string(error.what()).starts_with(path)) << error.what();
    }
  }
}

}  // namespace io_support
