#pragma once
// The work of one call, which Ctrl-C ends, and the calls of Python that it asks for.
#include "turn.hpp"
#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace holotone::python {

namespace nb = nanobind;

/// Work that a call of Python waits for. Python handles signals in its main thread alone, so the work of a call in that
/// thread runs in another one, while the caller looks for signals. The work's calls of Python come back to the caller.
class Job : public std::enable_shared_from_this<Job> {
 public:
  /// With the interpreter's lock. `starts`: as of Work.
  explicit Job(std::string function, bool starts = true);
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;
  ~Job() = default;

  /// The work uses an object of the library.
  void use(Turn& turn, Turn::By by, bool looks = false) { wanted_.push_back({&turn, by, looks}); }
  /// The work may ask for calls of Python.
  void calls_python() { calls_python_ = true; }

  /// With the interpreter's lock, which the work does not have. Throws what the work threw, what a call of Python threw
  /// that it asked for, or what a signal's handler raised, half a second after it at most: work that has not ended by
  /// then continues alone, so `work` owns all that it uses. `is_short`: the work ends soon; it runs in this thread.
  void run(std::function<void()> work, bool is_short = false);

  /// Of any thread of the library, without the interpreter's lock: returns when `question` has been called with it, by
  /// the thread that runs `job` or, if that has ended, the present one. Throws cancelled if one has thrown.
  static void ask(const std::shared_ptr<Job>& job, const std::function<void()>& question);

  /// True when the work shall end.
  [[nodiscard]] bool stops() const { return stops_; }

  /// Of a thread that works for others.
  void work_here(const std::function<void()>& before_end);

 private:
  struct Wanted {
    Turn* turn;
    Turn::By by;
    bool looks;
  };
  struct Asked {
    const std::function<void()>& question;
    bool answered = false;
  };
  void take_turns();
  void give_turns();
  void ask_here(const std::function<void()>& question);
  void serve(std::unique_lock<std::mutex>& lock);
  void look_for_signals(std::unique_lock<std::mutex>& lock);
  void abandon();
  void drop(std::exception_ptr& error);

  std::string function_;
  std::optional<Work> counted_;
  std::vector<Wanted> wanted_;
  std::deque<std::unique_ptr<TurnScope>> turns_;
  bool calls_python_ = false;
  std::atomic<std::thread::id>
      server_{};  ///< who makes the calls of Python; none: the work runs in the caller's thread
  std::atomic<bool> stops_{false};

  std::mutex mutex_;
  std::condition_variable changed_;
  std::function<void()> work_;
  int threads_ = 0;
  std::deque<Asked*> asked_;
  std::exception_ptr failure_;  ///< of a call of Python, or a signal
  std::exception_ptr own_;      ///< of the work
  bool signalled_ = false;
  bool ended_ = false;
  bool abandoned_ = false;
};

}  // namespace holotone::python
