#include <chrono>
#include <exception>
#include <new>
#include <utility>
#include <web/server/client_message.hpp>
#include <web/server/worker.hpp>

namespace holotone::web {
namespace {

constexpr std::chrono::seconds idle_time{1};

/// An error's text for the page, with the request's pane and id.
Message to_error(const Request& request, const std::string& what) {
  if (request.pane.empty()) return {error_text(what, std::nullopt, std::nullopt), nullptr};
  return {error_text(what, request.pane, request.message.at("id").get<std::int64_t>()), nullptr};
}

}  // namespace

Worker::Worker(Handler& handler, std::size_t waiting_per_client, std::function<void(ClientNumber, Message)> deliver)
    : handler_(handler), deliver_(std::move(deliver)), queue_(waiting_per_client), thread_([this] { run(); }) {}

bool Worker::push(Request request) {
  const std::scoped_lock lock(mutex_);
  const bool taken = queue_.push(std::move(request));
  changed_.notify_one();
  return taken;
}

void Worker::close_pane(ClientNumber client, const std::string& pane) {
  const std::scoped_lock lock(mutex_);
  queue_.close_pane(client, pane);
}

void Worker::remove_client(ClientNumber client) {
  const std::scoped_lock lock(mutex_);
  queue_.remove_client(client);
}

void Worker::release(ClientNumber client) {
  const std::scoped_lock lock(mutex_);
  queue_.release(client);
  changed_.notify_one();
}

void Worker::cancel() {
  const std::scoped_lock lock(mutex_);
  stopping_ = true;
  queue_.cancel();
  changed_.notify_one();
}

void Worker::stop() {
  cancel();
  if (thread_.joinable()) thread_.join();
}

void Worker::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    std::optional<WorkQueue::Job> job;
    if (!changed_.wait_for(lock, idle_time, [&] { return stopping_ || (job = queue_.next()).has_value(); })) {
      if (!queue_.has_clients()) continue;
      lock.unlock();
      idle();
      lock.lock();
      continue;
    }
    if (!job) return;
    lock.unlock();
    Message message = answer(*job);
    lock.lock();
    if (!queue_.finish()) continue;
    queue_.hold(job->request.client);
    lock.unlock();
    deliver_(job->request.client, std::move(message));
    lock.lock();
  }
}

void Worker::idle() {
  try {
    handler_.idle();
  } catch (const std::exception&) {  // nobody asked
  }
}

Message Worker::answer(const WorkQueue::Job& job) {
  try {
    return job.request.pane.empty() ? handler_.opened() : handler_.answer(job.request.message, *job.cancelled);
  } catch (const std::bad_alloc&) {
    return to_error(job.request, "out of memory");
  } catch (const std::exception& error) {
    return to_error(job.request, error.what());
  }
}

}  // namespace holotone::web
