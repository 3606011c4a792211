#pragma once
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <web/server/limits.hpp>
#include <web/server/message.hpp>
#include <web/server/work_queue.hpp>

namespace holotone::web {

/// The compute thread: takes requests from the queue and has the handler answer them.
class Worker {
 public:
  /// Calls `deliver` in the compute thread with each answer that is wanted; the client's next request waits for
  /// release(). A request without pane is "open".
  Worker(Handler& handler, std::size_t waiting_per_client, std::function<void(ClientNumber, Message)> deliver);
  ~Worker() { stop(); }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  [[nodiscard]] bool push(Request request);
  void close_pane(ClientNumber client, const std::string& pane);
  void remove_client(ClientNumber client);
  void release(ClientNumber client);
  /// Cancels what runs and takes nothing more.
  void cancel();
  /// Cancels, and waits for the end of the handler's call.
  void stop();

 private:
  void run();
  void idle();
  [[nodiscard]] Message answer(const WorkQueue::Job& job);

  Handler& handler_;
  std::function<void(ClientNumber, Message)> deliver_;
  std::mutex mutex_;
  std::condition_variable changed_;
  WorkQueue queue_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace holotone::web
