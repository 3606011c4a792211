#pragma once
#include <cstdint>
#include <exception>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holotone {

/// The processes of a job that mpirun has started, by their ranks; without mpirun one process. All make the same calls.
class Ranks {
 public:
  enum class Tag { request, answer, status, verdict };

  /// One process.
  Ranks();
  /// Joins the job that mpirun has started, by messages of the module holotone_mpi, which is built with HOLOTONE_MPI.
  /// `local_rank`, `local_count`: this process among those of its host; they share its processors unless they are bound
  /// to some. Throws unsupported for a module of another version or that cannot be loaded, device if MPI cannot start.
  Ranks(const std::filesystem::path& module, int local_rank, int local_count);

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int count() const { return count_; }
  [[nodiscard]] bool first() const { return rank_ == 0; }
  [[nodiscard]] bool several() const { return count_ > 1; }
  /// This process's number among those on its host, and their count.
  [[nodiscard]] int local_rank() const { return local_rank_; }
  [[nodiscard]] int local_count() const { return local_count_; }

  void send(int to, Tag tag, std::string_view text);
  /// A message of this tag that has arrived, with its sender.
  std::optional<std::pair<int, std::string>> poll(Tag tag);
  /// Waits for the next message of this tag; without taking the processor from threads that compute.
  std::pair<int, std::string> wait(Tag tag);

  /// Throws the same error in all processes unless every process calls it without one: that of the first that has one.
  void agree(const std::exception_ptr& error);
  /// Runs `work` in every process, and throws the first error among them in all.
  void together(const std::function<void()>& work);
  /// Throws io in all processes, naming the rank, unless all have the same text. `what`: "files and options".
  void require_same(std::string_view what, const std::string& text);

  /// The texts of all processes by rank, in the first; nothing in the others.
  std::vector<std::string> gather(const std::string& text);
  /// The largest of the values of all processes, in all.
  float largest(float value);

  /// True after an error that all processes throw: the first prints it.
  [[nodiscard]] bool agreed_on_error() const { return agreed_on_error_; }
  /// Leaves the job. If the others do not know of a failure, ends them too.
  void leave(int exit_code) const;

 private:
  struct Module;

  std::shared_ptr<Module> module_;  ///< none: one process
  int rank_ = 0;
  int count_ = 1;
  int local_rank_ = 0;
  int local_count_ = 1;
  bool agreed_on_error_ = false;
};

/// Name of this machine.
std::string host_name();

}  // namespace holotone
