#include <algorithm>
#include <atomic>
#include <cli/common/cancel.hpp>
#include <cli/common/output_check.hpp>
#include <cli/hologram/points/ordered_queue.hpp>
#include <cli/hologram/points/points_pipeline.hpp>
#include <exception>
#include <holotone/bands/bounded_queue_detail.hpp>
#include <holotone/core/parallel.hpp>
#include <limits>
#include <mutex>
#include <thread>
#include <utility>

namespace holotone::cli {
namespace {

/// The failure of the earliest frame. Frames are begun in order, and those begun are finished: it does not depend on
/// the threads' timing.
class EarliestFailure {
 public:
  void keep_current(std::int64_t frame) {
    const std::lock_guard lock(mutex_);
    if (frame >= frame_) return;
    failure_ = std::current_exception();
    frame_ = frame;
  }
  void rethrow() {
    const std::lock_guard lock(mutex_);
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  std::mutex mutex_;
  std::exception_ptr failure_;
  std::int64_t frame_ = std::numeric_limits<std::int64_t>::max();
};

struct NumberedHologram {
  std::int64_t index = 0;  ///< of the frame
  PointsHologram made;
};

/// Threads that prepare frames of so many points, besides those that compute and write. Each holds a frame.
int preparing_threads(std::size_t points) {
  constexpr std::size_t points_at_once = 32'000'000;
  const auto most = static_cast<int>(std::max<std::size_t>(points_at_once / std::max<std::size_t>(points, 1), 1));
  return std::clamp(thread_count() / 2, 1, std::min(most, 16));
}

class Pipeline {
 public:
  Pipeline(const HologramJob& job, FrameSource& source)
      : job_(job),
        source_(source),
        first_(source.prepare(0)),
        preparers_(preparing_threads(first_.points.cloud.size())),
        prepared_(preparers_ + 1) {}

  std::vector<PointsRow> operator()() {
    const int cores = thread_count();
    {
      std::vector<std::jthread> threads;
      const int writers = std::clamp(cores / 2, 1, 8);
      threads.reserve(static_cast<std::size_t>(preparers_ + writers));
      prepared_.push(0, std::move(first_));
      try {
        start(threads, writers, cores);
      } catch (...) {
        fail(0);
      }
      compute();
    }
    failure_.rethrow();
    return std::move(rows_);
  }

 private:
  void start(std::vector<std::jthread>& threads, int writers, int cores) {
    for (int i = 0; i < preparers_; ++i) {
      threads.emplace_back([this, cores] {
        if (preparers_ > 1) limit_threads(std::max(1, cores / 2 / preparers_));
        prepare();
      });
    }
    for (int i = 0; i < writers; ++i) {
      threads.emplace_back([this] {
        limit_threads(1);  // a frame each is faster than all at one
        write();
      });
    }
  }

  void fail(std::int64_t frame) {
    failure_.keep_current(frame);
    stopped_ = true;
    prepared_.abandon();
    made_.abandon();
  }

  void prepare() {
    while (!stopped_) {
      const std::int64_t index = next_++;
      if (index >= source_.count()) return;
      try {
        check_cancelled("reading");
        if (!prepared_.push(index, source_.prepare(index))) return;
      } catch (...) {
        fail(index);
      }
    }
  }

  void compute() {
    std::int64_t index = 0;
    try {
      ProgressBar bar(job_.console);
      QuietProgress quiet;
      auto makers = makers_of(job_);
      for (; index < source_.count(); ++index) {
        const auto frame = prepared_.pop();
        if (!frame) return;
        bar.step("making holograms", index, source_.count());
        for (std::size_t c = 0; c < makers.size(); ++c) {
          PointsHologram made = makers[c]->make(*frame, quiet);
          made.output = source_.output(frame->number, job_.channels[c]);
          rows_.push_back(row_of(*frame, c, made));
          if (!made_.push({index, std::move(made)})) return;
        }
      }
      made_.close();
    } catch (...) {
      fail(index);
    }
  }

  void write() {
    while (const auto own = made_.pop()) {
      try {
        check_cancelled("writing");
        put_out(job_, 0, own->made);
      } catch (...) {
        fail(own->index);
      }
    }
  }

  const HologramJob& job_;
  FrameSource& source_;
  PreparedFrame first_;  ///< its size sets the number of threads
  int preparers_;
  OrderedQueue<PreparedFrame> prepared_;
  BoundedQueue<NumberedHologram> made_{4};
  std::atomic<std::int64_t> next_{1};
  std::atomic<bool> stopped_{false};
  EarliestFailure failure_;
  std::vector<PointsRow> rows_;
};

}  // namespace

std::vector<PointsRow> make_frames(const HologramJob& job, FrameSource& source) { return Pipeline(job, source)(); }

}  // namespace holotone::cli
