#pragma once
// Not for users.
#include <cstdint>
#include <functional>
#include <holotone/bands/ranks.hpp>
#include <mutex>
#include <optional>
#include <vector>

namespace holotone {

/// Bands of rows that devices and processes take in turn: whoever is free takes the next. The first process holds the
/// queue and hands bands out to the others.
class BandQueue {
 public:
  /// `bands`: their first rows; used in the first process. `written`: called there for each band that another process
  /// has written, in the thread of serve().
  BandQueue(Ranks& ranks, std::vector<std::int64_t> bands, std::function<void(std::int64_t)> written);

  /// The next band; nothing once all are taken or a process has failed. From any thread.
  std::optional<std::int64_t> next();
  /// A band that this process has written to the file.
  void done(std::int64_t band);
  /// Hands out no further band: something failed.
  void stop();

  /// In the first process: answers the others until all have left.
  void serve();
  /// In the others: no further call follows.
  void leave();

 private:
  std::optional<std::int64_t> take();

  Ranks& ranks_;
  std::vector<std::int64_t> bands_;
  std::function<void(std::int64_t)> written_;
  std::mutex mutex_;   ///< of the queue
  std::mutex asking_;  ///< a request waits for its answer
  std::size_t taken_ = 0;
  bool stopped_ = false;
};

}  // namespace holotone
