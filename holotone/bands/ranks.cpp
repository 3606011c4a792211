#include <algorithm>
#include <chrono>
#include <climits>
#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <fmt/format.h>
#include <holotone/bands/rank_transport.hpp>
#include <holotone/bands/ranks.hpp>
#include <holotone/bands/thread_error_detail.hpp>
#include <holotone/core/error.hpp>
#include <holotone/core/parallel.hpp>
#include <mutex>
#include <sched.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace holotone {

std::string host_name() {
  char name[HOST_NAME_MAX + 1] = {};
  return gethostname(name, HOST_NAME_MAX) == 0 ? name : "unknown host";
}

namespace {

/// An error as text for other processes, and back.
std::string error_text(const std::exception_ptr& error) {
  if (!error) return {};
  try {
    std::rethrow_exception(error);
  } catch (const Error& known) {
    return fmt::format("{} {}", static_cast<int>(known.code()), known.what());
  } catch (const std::bad_alloc&) {
    return fmt::format("{} out of memory", static_cast<int>(ErrorCode::out_of_memory));
  } catch (const std::exception& other) {
    if (const auto line = thread_error_line(other); !line.empty()) {
      return fmt::format("{} {}", static_cast<int>(ErrorCode::out_of_memory), line);
    }
    return fmt::format("{} {}", static_cast<int>(ErrorCode::device), other.what());
  }
}

[[noreturn]] void throw_text(const std::string& text) {
  const auto blank = text.find(' ');
  throw Error(static_cast<ErrorCode>(std::atoi(text.c_str())), text.substr(blank + 1));
}

/// Processes that are not bound to processors of their own share those of their host.
void share_processors(int processes) {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (processes < 2 || sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  if (CPU_COUNT(&allowed) < sysconf(_SC_NPROCESSORS_ONLN)) return;
  limit_threads(std::max(1, thread_count() / processes));
}

}  // namespace

struct Ranks::Module {
  void* handle = nullptr;
  const RankTransport* transport = nullptr;
  std::mutex mutex;  ///< MPI takes one call at a time

  void require(int error, std::string_view call) const {
    if (error != 0)
      throw Error(ErrorCode::device, fmt::format("MPI: expected {} to succeed, got error {}", call, error));
  }
};

Ranks::Ranks() = default;

Ranks::Ranks(const std::filesystem::path& module, int local_rank, int local_count)
    : module_(std::make_shared<Module>()), local_rank_(local_rank), local_count_(local_count) {
  // MPI's own modules use the symbols of its library.
  module_->handle = dlopen(module.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (module_->handle == nullptr) {
    throw Error(ErrorCode::unsupported, fmt::format("mpirun: expected holotone_mpi.so, got {}", dlerror()));
  }
  module_->transport = static_cast<const RankTransport*>(dlsym(module_->handle, rank_transport_name));
  if (module_->transport == nullptr || module_->transport->version != RankTransport::current_version) {
    throw Error(ErrorCode::unsupported, "mpirun: expected the holotone_mpi.so of this program, got that of another");
  }
  module_->require(module_->transport->begin(&rank_, &count_), "its start");
  share_processors(local_count_);
}

void Ranks::send(int to, Tag tag, std::string_view text) {
  const std::scoped_lock lock(module_->mutex);
  module_->require(
      module_->transport->send(to, static_cast<int>(tag), text.data(), static_cast<std::int64_t>(text.size())),
      "a message");
}

std::optional<std::pair<int, std::string>> Ranks::poll(Tag tag) {
  const std::scoped_lock lock(module_->mutex);
  int from = -1;
  std::int64_t bytes = 0;
  module_->require(module_->transport->probe(static_cast<int>(tag), &from, &bytes), "a look for messages");
  if (from < 0) return std::nullopt;
  std::string text(static_cast<std::size_t>(bytes), '\0');
  module_->require(module_->transport->receive(from, static_cast<int>(tag), text.data(), bytes), "a message");
  return std::pair{from, text};
}

std::pair<int, std::string> Ranks::wait(Tag tag) {
  for (;;) {
    if (auto message = poll(tag)) return *std::move(message);
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
}

void Ranks::agree(const std::exception_ptr& error) {
  if (!several()) {
    if (error) std::rethrow_exception(error);
    return;
  }
  std::string verdict;
  if (first()) {
    std::vector<std::string> texts(static_cast<std::size_t>(count_));
    texts[0] = error_text(error);
    for (int i = 1; i < count_; ++i) {
      auto [from, text] = wait(Tag::status);
      texts[static_cast<std::size_t>(from)] = std::move(text);
    }
    const auto failed = std::ranges::find_if(texts, [](const auto& text) { return !text.empty(); });
    if (failed != texts.end()) verdict = *failed;
    for (int to = 1; to < count_; ++to) send(to, Tag::verdict, verdict);
  } else {
    send(0, Tag::status, error_text(error));
    verdict = wait(Tag::verdict).second;
  }
  if (verdict.empty()) return;
  agreed_on_error_ = true;
  throw_text(verdict);
}

void Ranks::together(const std::function<void()>& work) {
  std::exception_ptr error;
  try {
    work();
  } catch (...) {
    error = std::current_exception();
  }
  agree(error);
}

void Ranks::require_same(std::string_view what, const std::string& text) {
  if (!several()) return;
  together([&] {
    if (!first()) {
      send(0, Tag::request, fmt::format("{}\n{}", host_name(), text));
      return;
    }
    std::string other;  // of the lowest rank that differs
    int differs = count_;
    for (int i = 1; i < count_; ++i) {
      const auto [from, message] = wait(Tag::request);
      const auto end = message.find('\n');
      if (message.substr(end + 1) == text || from > differs) continue;
      differs = from;
      other = message.substr(0, end);
    }
    if (differs == count_) return;
    throw Error(ErrorCode::io, fmt::format("mpirun: expected the same {} in all processes, got others in rank {} on {}",
                                           what, differs, other));
  });
}

std::vector<std::string> Ranks::gather(const std::string& text) {
  if (!first()) {
    send(0, Tag::request, text);
    return {};
  }
  std::vector<std::string> texts(static_cast<std::size_t>(count_));
  texts[0] = text;
  for (int i = 1; i < count_; ++i) {
    auto [from, part] = wait(Tag::request);
    texts[static_cast<std::size_t>(from)] = std::move(part);
  }
  return texts;
}

float Ranks::largest(float value) {
  if (!several()) return value;
  const auto text_of_value = [](float number) { return fmt::format("{:a}", number); };
  if (!first()) {
    send(0, Tag::request, text_of_value(value));
    return std::strtof(wait(Tag::answer).second.c_str(), nullptr);
  }
  for (int i = 1; i < count_; ++i) value = std::max(value, std::strtof(wait(Tag::request).second.c_str(), nullptr));
  for (int to = 1; to < count_; ++to) send(to, Tag::answer, text_of_value(value));
  return value;
}

void Ranks::leave(int exit_code) const {
  if (!several()) return;
  if (exit_code != 0 && !agreed_on_error_) module_->transport->end_all(exit_code);
  module_->transport->end();
}

}  // namespace holotone
