#include "job.hpp"
#include <chrono>
#include <holotone/core/parallel.hpp>
#include <utility>

namespace holotone::python {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr auto between_looks = 50ms;
/// For work to see that it shall end, and to free its memory.
constexpr auto grace = 400ms;

/// Job of a thread that works for others.
thread_local Job* current = nullptr;

/// Thread that works for others, one job at a time. It is kept, as OpenMP keeps the threads of its loops.
class Worker {
 public:
  static void start(std::shared_ptr<Job> job) {
    Worker* worker = nullptr;
    {
      const std::scoped_lock lock(idle().mutex);
      if (!idle().workers.empty()) {
        worker = idle().workers.back();
        idle().workers.pop_back();
      }
    }
    if (!worker) {
      auto made = std::make_unique<Worker>();
      std::thread([job = made.get()] { job->loop(); }).detach();
      worker = made.release();  // it lives as long as the process
    }
    const std::scoped_lock lock(worker->mutex_);
    worker->job_ = std::move(job);
    worker->given_.notify_one();
  }

 private:
  struct Idle {
    std::mutex mutex;
    std::vector<Worker*> workers;
  };
  static Idle& idle() {
    static auto* const all = new Idle;
    return *all;
  }

  void loop() {
    for (;;) {
      std::unique_lock lock(mutex_);
      given_.wait(lock, [&] { return job_ != nullptr; });
      const std::shared_ptr<Job> job = std::exchange(job_, nullptr);
      lock.unlock();
      job->work_here([this] {
        const std::scoped_lock all(idle().mutex);
        idle().workers.push_back(this);
      });
    }
  }

  std::mutex mutex_;
  std::condition_variable given_;
  std::shared_ptr<Job> job_;
};

}  // namespace

Job::Job(std::string function, bool starts)
    : function_(std::move(function)), counted_(std::in_place, function_, starts) {}

void Job::take_turns() {
  for (const Wanted& one : wanted_) {
    turns_.push_back(std::make_unique<TurnScope>(*one.turn, one.by, function_, one.looks));
  }
}

void Job::give_turns() {
  while (!turns_.empty()) turns_.pop_back();
}

void Job::run(std::function<void()> work, bool is_short) {
  const bool here = is_short || !(calls_python_ || is_main_thread());
  const nb::gil_scoped_release release;
  struct Turns {
    Job& job;
    ~Turns() {
      if (!job.abandoned_) job.give_turns();
    }
  } const turns{*this};
  take_turns();
  if (here) {
    work();
    return;
  }
  work_ = std::move(work);
  threads_ = thread_count();
  server_ = std::this_thread::get_id();
  Worker::start(shared_from_this());
  std::exception_ptr failure;
  std::exception_ptr error;
  {
    std::unique_lock lock(mutex_);
    std::optional<Clock::time_point> last;
    while (!ended_) {
      changed_.wait_for(lock, between_looks, [&] { return ended_ || !asked_.empty(); });
      if (!ended_) serve(lock);
      if (signalled_ && !last) last = Clock::now() + grace;
      if (last && !ended_ && Clock::now() >= *last) {
        abandon();
        break;
      }
    }
    server_ = std::thread::id();
    failure = std::exchange(failure_, nullptr);
    error = std::exchange(own_, nullptr);
  }
  if (!abandoned_) {
    const nb::gil_scoped_acquire lock;  // what the work owns is Python's
    work_ = nullptr;
  }
  if (failure) std::rethrow_exception(failure);
  if (error) std::rethrow_exception(error);
}

void Job::serve(std::unique_lock<std::mutex>& lock) {
  Asked* const next = asked_.empty() ? nullptr : asked_.front();
  if (next) asked_.pop_front();
  if (next && !failure_) {
    lock.unlock();
    std::exception_ptr failure;
    try {
      const nb::gil_scoped_acquire held;
      next->question();
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    failure_ = failure;
    stops_ = failure_ != nullptr;
  }
  look_for_signals(lock);
  if (next) {
    next->answered = true;
    changed_.notify_all();
  }
}

void Job::look_for_signals(std::unique_lock<std::mutex>& lock) {
  if (signalled_) return;
  lock.unlock();
  std::exception_ptr raised;
  try {
    check_signals();
  } catch (...) {
    raised = std::current_exception();
  }
  lock.lock();
  if (!raised) return;
  signalled_ = true;
  failure_ = raised;
  stops_ = true;
}

void Job::ask(const std::shared_ptr<Job>& job, const std::function<void()>& question) {
  const std::thread::id server = job ? job->server_.load() : std::thread::id();
  if (server != std::thread::id() && server != std::this_thread::get_id()) {
    job->ask_here(question);
  } else if (current) {
    current->ask_here(question);
  } else {
    const nb::gil_scoped_acquire lock;
    question();
  }
}

void Job::ask_here(const std::function<void()>& question) {
  std::unique_lock lock(mutex_);
  Asked asked{question};
  if (!stops_ && !abandoned_) {
    asked_.push_back(&asked);
    changed_.notify_all();
    changed_.wait(lock, [&] { return asked.answered; });
  }
  if (stops_) throw Error(ErrorCode::cancelled, "a function of Python failed");
}

void Job::work_here(const std::function<void()>& before_end) {
  limit_threads(threads_);
  current = this;
  std::exception_ptr error;
  try {
    work_();
  } catch (...) {
    error = std::current_exception();
  }
  current = nullptr;
  bool is_alone = false;
  {
    const std::scoped_lock lock(mutex_);
    is_alone = abandoned_;
    if (!is_alone) {
      own_ = std::exchange(error, nullptr);
      before_end();
      ended_ = true;
      changed_.notify_all();
    }
  }
  if (!is_alone) return;
  drop(error);
  before_end();
}

void Job::abandon() {
  abandoned_ = true;
  stops_ = true;
  for (Asked* const one : asked_) one->answered = true;
  asked_.clear();
  changed_.notify_all();
  for (const Wanted& one : wanted_) one.turn->disown();
  counted_->abandon();
}

void Job::drop(std::exception_ptr& error) {
  give_turns();
  const bool dropped = counted_->drop([&] {
    error = nullptr;
    work_ = nullptr;
  });
  if (!dropped) {  // the interpreter has ended, and with it what the work owns
    new std::function<void()>(std::move(work_));
    new std::exception_ptr(std::move(error));
  }
}

}  // namespace holotone::python
