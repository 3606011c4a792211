#include <algorithm>
#include <atomic>
#include <cli/common/cancel.hpp>
#include <cli/common/error_words.hpp>
#include <cli/common/field_rows_run.hpp>
#include <cli/common/paths.hpp>
#include <exception>
#include <filesystem>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/core/parallel.hpp>
#include <mutex>
#include <thread>
#include <utility>

namespace holotone::cli {
namespace {

/// True if unfinished rows of a stopped run exist.
bool is_begun(const std::string& output) {
  const std::filesystem::path path(output);
  std::error_code error;
  return std::filesystem::exists(path.parent_path() / fmt::format(".{}.part", path.filename().string()), error);
}

}  // namespace

FieldRowsRun::FieldRowsRun(FieldRows rows, const ConsoleOptions& console, Progress& progress)
    : rows_(std::move(rows)),
      console_(console),
      begun_(is_begun(rows_.output)),
      writer_(rows_.output, rows_.shape, rows_.metadata, {rows_.key, true}, progress),
      resumed_(rows_.shape[0] - missing()) {
  if (begun_ && resumed_ == 0) {
    remark(console_, fmt::format("rows of another {} are discarded: options or files have changed", rows_.output));
  }
}

std::vector<std::int64_t> FieldRowsRun::missing_bands() const {
  const std::int64_t ny = rows_.shape[0];
  std::vector<std::int64_t> bands;
  for (std::int64_t first = 0; first < ny; first += rows_.rows_at_once) {
    bool done = true;
    for (std::int64_t row = first; row < std::min(first + rows_.rows_at_once, ny); ++row) {
      done = done && writer_.is_done(row);
    }
    if (!done) bands.push_back(first);
  }
  return bands;
}

std::int64_t FieldRowsRun::missing() const {
  std::int64_t rows = 0;
  for (const auto first : missing_bands()) rows += std::min(rows_.rows_at_once, rows_.shape[0] - first);
  return rows;
}

/// Bands that threads take in turn, and the first error among them.
class FieldRowsRun::Bands {
 public:
  Bands(FieldRowsRun& run, std::vector<std::int64_t> firsts) : run_(run), firsts_(std::move(firsts)) {}

  /// Computes bands until none is left or a thread fails.
  void work(const Queue& queue, std::size_t device, const Compute& compute) noexcept {
    try {
      const auto [ny, nx] = run_.rows_.shape;
      const std::int64_t at_once = std::min(run_.rows_.rows_at_once, ny);
      Array<Complex, 1> memory({at_once * nx}, queue);
      while (!failed_) {
        const std::size_t own = next_++;
        if (own >= firsts_.size()) return;
        check_cancelled("writing");
        const std::int64_t first = firsts_[own];
        const View<Complex, 2> part(memory.data(), {std::min(at_once, ny - first), nx}, memory.device());
        compute(device, first, part);
        queue.synchronize();
        write(first, part);
      }
    } catch (...) {
      const std::scoped_lock lock(mutex_);
      if (!error_) error_ = std::current_exception();
      failed_ = true;
    }
  }
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  void write(std::int64_t first, View<const Complex, 2> part) {
    if (part.device() == Device{}) {
      const std::scoped_lock lock(mutex_);
      run_.writer_.write(first, part);
      return;
    }
    const auto here = copy_of(part, Device{});
    const std::scoped_lock lock(mutex_);
    run_.writer_.write(first, here.view());
  }

  FieldRowsRun& run_;
  std::vector<std::int64_t> firsts_;
  std::atomic<std::size_t> next_ = 0;
  std::atomic<bool> failed_ = false;
  std::mutex mutex_;
  std::exception_ptr error_;
};

void FieldRowsRun::write(const std::vector<Queue>& queues, const Compute& compute) {
  try {
    Bands bands(*this, missing_bands());
    if (queues.size() == 1) {
      bands.work(queues.front(), 0, compute);
    } else {
      const int threads = std::max(1, thread_count() / static_cast<int>(queues.size()));
      std::vector<std::thread> workers;
      for (std::size_t i = 0; i < queues.size(); ++i) {
        workers.emplace_back([&, i] {
          limit_threads(threads);
          bands.work(queues[i], i, compute);
        });
      }
      for (auto& worker : workers) worker.join();
    }
    bands.rethrow();
    check_cancelled("writing");
  } catch (const Error& error) {
    const std::int64_t ny = rows_.shape[0];
    const std::int64_t kept_rows = ny - missing();
    if (kept_rows == 0) throw;
    const auto kept = fmt::format("{} of {} rows are kept; run the same command to resume", kept_rows, ny);
    if (error.code() != ErrorCode::cancelled) throw with_remark(error, kept);
    remark(console_, kept);
    throw;
  }
}

void FieldRowsRun::finish() {
  UnfinishedRun::will_write(rows_.output);
  writer_.finish();
}

}  // namespace holotone::cli
