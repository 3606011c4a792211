#include <atomic>
#include <cli/common/cancel.hpp>
#include <cli/hologram/points/empty_hologram.hpp>
#include <cli/hologram/points/points_panel.hpp>
#include <cli/options/values.hpp>
#include <exception>
#include <fmt/format.h>
#include <holotone/bands/bounded_queue_detail.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>
#include <utility>

namespace holotone::cli {
namespace {

/// Plans and memory of a frame: one is shown while the next is computed in another.
struct Slot {
  Makers makers;  ///< of each colour
  std::vector<View<const std::uint8_t, 2>> codes;
};

class PointsShow {
 public:
  /// Reads the first frame: what is wrong with it is said before the window opens.
  PointsShow(const HologramJob& job, FrameSource& source) : job_(job), source_(source), first_(source.prepare(0)) {
    if (!source.moving()) require_light(job, first_->input, first_->dark);
    const std::size_t slots = source.moving() ? 2 : 1;
    for (std::size_t i = 0; i < slots; ++i) {
      slots_[i].makers = makers_of(job, *first_);
      free_.push(&slots_[i]);
    }
  }

  /// Throws cancelled for a closed window or a signal, or what failed.
  void operator()() {
    std::jthread reader;
    std::jthread computer;
    try {
      reader = std::jthread([this] { guard([this] { read(); }); });
      computer = std::jthread([this] { guard([this] { compute(); }); });
      while (const auto slot = next()) {
        job_.shown->show((*slot)->codes, (*slot)->makers.front()->queue());
        if (!source_.moving()) job_.shown->stay();
        free_.push(*slot);
      }
      if (!failed_) job_.shown->finish();
    } catch (...) {
      stop();
      throw;
    }
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  /// Looks after the window while it waits.
  std::optional<Slot*> next() {
    while (!ready_.wait(std::chrono::milliseconds(50))) job_.shown->poll();
    return ready_.pop();
  }

  void stop() {
    prepared_.abandon();
    free_.abandon();
    ready_.abandon();
  }

  template <class Work>
  void guard(const Work& work) {
    try {
      work();
    } catch (...) {
      if (!failed_.exchange(true)) failure_ = std::current_exception();
      stop();
    }
  }

  void read() {
    do {
      for (std::int64_t i = 0; i < source_.count(); ++i) {
        check_cancelled("reading");
        if (!prepared_.push(first_ ? *std::exchange(first_, {}) : source_.prepare(i))) return;
      }
    } while (job_.shown->loops() && source_.moving());
    prepared_.close();
  }

  void compute() {
    QuietProgress quiet;
    while (const auto frame = prepared_.pop()) {
      const auto slot = free_.pop();
      if (!slot) return;
      (*slot)->codes.clear();
      for (const auto& maker : (*slot)->makers) (*slot)->codes.push_back(maker->codes(*frame, quiet));
      if (!ready_.push(*slot)) return;
    }
    ready_.close();
  }

  const HologramJob& job_;
  FrameSource& source_;
  std::optional<PreparedFrame> first_;
  Slot slots_[2];
  BoundedQueue<PreparedFrame> prepared_{2};
  BoundedQueue<Slot*> free_{2};
  BoundedQueue<Slot*> ready_{2};
  std::atomic<bool> failed_ = false;
  std::exception_ptr failure_;
};

}  // namespace

int show_points(const HologramJob& job, FrameSource& source) {
  PointsShow show(job, source);
  job.shown->open();
  const int code = until_closed([&] { show(); });
  const auto& player = job.shown->player();
  auto object = player.json();
  object["input"] = job.input;
  object["device"] = to_string(job.device);
  report_json(job.console, object);
  report(job.console, fmt::format("monitor {}: {} of {} on {}", player.monitor().number, player.summary(), job.input,
                                  to_string(job.device)));
  return code;
}

}  // namespace holotone::cli
