#include <algorithm>
#include <chrono>
#include <exception>
#include <fmt/format.h>
#include <holotone/bands/band_memory.hpp>
#include <holotone/bands/band_queue_detail.hpp>
#include <holotone/bands/bands_run.hpp>
#include <holotone/bands/bounded_queue_detail.hpp>
#include <holotone/bands/device_threads.hpp>
#include <holotone/bands/ranks.hpp>
#include <holotone/core/error.hpp>
#include <holotone/core/parallel.hpp>
#include <holotone/io/fields/field_rows.hpp>
#include <holotone/io/images/code_rows.hpp>
#include <limits>
#include <mutex>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>

namespace holotone {
namespace {

template <class Value>
struct WriterOf {
  using Type = CodeRowsWriter;
  static std::unique_ptr<Type> make(const BandsFile& file, const RowsOptions& options, Progress& progress) {
    return std::make_unique<Type>(file.output, file.shape, 8 * static_cast<int>(sizeof(Value)), file.metadata, options,
                                  progress);
  }
};
template <>
struct WriterOf<std::complex<float>> {
  using Type = FieldRowsWriter;
  static std::unique_ptr<Type> make(const BandsFile& file, const RowsOptions& options, Progress& progress) {
    return std::make_unique<Type>(file.output, file.shape, file.metadata, options, progress);
  }
};

using Clock = std::chrono::steady_clock;

/// Seconds since construction.
class Stopwatch {
 public:
  [[nodiscard]] double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

 private:
  Clock::time_point start_ = Clock::now();
};

/// The rows that all devices have computed, and the progress that they are reported to.
class AllRows {
 public:
  AllRows(Progress& progress, const BandsOptions& options, std::string stage, std::int64_t rows, std::int64_t columns)
      : progress_(progress), options_(options), stage_(std::move(stage)) {
    state_.missing_rows = rows;
    state_.columns = columns;
  }

  bool add(std::int64_t rows) {
    const std::scoped_lock lock(mutex_);
    state_.done_rows += rows;
    state_.seconds = watch_.seconds();
    if (options_.on_state) options_.on_state(state_);
    return progress_.update(stage_, state_.done_rows, state_.missing_rows);
  }
  void set_slowest(Device device, double rate) {
    const std::scoped_lock lock(mutex_);
    state_.slowest = device;
    state_.slowest_rate = rate;
  }
  void check_cancelled() {
    if (!add(0)) throw Error(ErrorCode::cancelled, "writing: cancelled");
  }

 private:
  Progress& progress_;
  const BandsOptions& options_;
  std::string stage_;
  Stopwatch watch_;
  std::mutex mutex_;
  BandsState state_;
};

/// Converts the progress of a device's bands to that of all rows.
class BandProgress final : public Progress {
 public:
  explicit BandProgress(AllRows& all) : all_(all) {}
  void begin(std::int64_t rows) {
    band_ = rows;
    shown_ = 0;
  }
  bool update(std::string_view, std::int64_t done, std::int64_t total) override {
    const double share = total > 0 ? std::clamp(static_cast<double>(done) / static_cast<double>(total), 0.0, 1.0) : 0;
    // Some methods process their points twice: the bar must not go back.
    const auto reached = std::max(shown_, static_cast<std::int64_t>(share * static_cast<double>(band_)));
    return all_.add(reached - std::exchange(shown_, reached));
  }

 private:
  AllRows& all_;
  std::int64_t band_ = 0;
  std::int64_t shown_ = 0;
};

/// Pixels and time of one device.
struct DeviceRate {
  std::int64_t pixels = 0;
  double seconds = 0;
  [[nodiscard]] double rate() const { return seconds > 0 ? static_cast<double>(pixels) / seconds : 0; }
};

std::size_t slowest_of(const std::vector<DeviceRate>& rates) {
  std::size_t slowest = 0;
  for (std::size_t i = 1; i < rates.size(); ++i) {
    if (rates[i].pixels > 0 && (rates[slowest].pixels == 0 || rates[i].rate() < rates[slowest].rate())) slowest = i;
  }
  return slowest;
}

/// A computed band on its way to the file.
struct MadeBand {
  std::int64_t first = 0;
  std::int64_t rows = 0;
  Buffer memory;
};

}  // namespace

template <class Value>
struct BandsRun<Value>::State {
  BandsFile file;
  BandsOptions options;
  Progress& progress;
  Ranks one_process{};
  BandMemory own_memory{};
  Ranks& ranks = options.ranks != nullptr ? *options.ranks : one_process;
  BandMemory& memory = options.memory != nullptr ? *options.memory : own_memory;
  std::unique_ptr<typename WriterOf<Value>::Type> writer{};
  std::int64_t resumed = 0;
  BandRates rates{};

  void open();
  [[nodiscard]] std::int64_t count_rows(std::int64_t band) const {
    return std::min(file.rows_at_once, file.shape[0] - band);
  }
  [[nodiscard]] std::vector<std::int64_t> missing_bands() const;
  [[nodiscard]] std::int64_t missing() const;
};

// The first process creates the file, the others join it.
template <class Value>
void BandsRun<Value>::State::open() {
  std::string identity = fmt::format("{}\n{}\n{}\n", to_string<2>(file.shape), file.rows_at_once, file.key);
  for (const auto& [name, value] : file.metadata) identity += fmt::format("{}={}\n", name, value);
  ranks.require_same("devices, files and options", identity);
  std::uint64_t token = 0;
  ranks.together([&] {
    if (!ranks.first()) return;
    writer = WriterOf<Value>::make(file, {file.key, true, false, file.checksum_key}, progress);
    if (ranks.several()) token = writer->token();
  });
  ranks.together([&] {
    if (ranks.first()) return;
    writer = WriterOf<Value>::make(file, {file.key, true, true, file.checksum_key}, progress);
    token = writer->token();
  });
  ranks.require_same(fmt::format("folder of {}", file.output), std::to_string(token));
}

template <class Value>
std::vector<std::int64_t> BandsRun<Value>::State::missing_bands() const {
  std::vector<std::int64_t> bands;
  for (std::int64_t first = 0; first < file.shape[0]; first += file.rows_at_once) {
    bool done = true;
    for (std::int64_t row = first; row < first + count_rows(first); ++row) done = done && writer->is_done(row);
    if (!done) bands.push_back(first);
  }
  return bands;
}

template <class Value>
std::int64_t BandsRun<Value>::State::missing() const {
  std::int64_t rows = 0;
  for (const auto first : missing_bands()) rows += count_rows(first);
  return rows;
}

template <class Value>
BandsRun<Value>::BandsRun(BandsFile file, const BandsOptions& options, Progress& progress)
    : state_(new State{std::move(file), options, progress}) {
  auto& state = *state_;
  constexpr std::int64_t any = std::numeric_limits<std::int64_t>::max();
  require_range("BandsRun", "rows_at_once", static_cast<double>(state.file.rows_at_once), 1, static_cast<double>(any));
  state.open();
  if (!state.ranks.first()) return;
  state.resumed = kept_rows();
  if (state.writer->discarded() && state.options.on_discarded) state.options.on_discarded(state.file.output);
}

template <class Value>
BandsRun<Value>::~BandsRun() = default;

template <class Value>
std::int64_t BandsRun<Value>::resumed() const {
  return state_->resumed;
}

template <class Value>
std::int64_t BandsRun<Value>::kept_rows() const {
  return state_->file.shape[0] - state_->missing();
}

template <class Value>
const BandRates& BandsRun<Value>::rates() const {
  return state_->rates;
}

namespace {

/// The threads of one process: devices compute bands, one thread writes them.
template <class Value, class Writer>
class BandWorkers {
 public:
  BandWorkers(const BandsFile& file, Writer& writer, const std::vector<Queue>& queues,
              const typename BandsRun<Value>::Compute& compute, BandQueue& bands, BandMemory& memory, AllRows& all)
      : file_(file),
        writer_(writer),
        queues_(queues),
        compute_(compute),
        bands_(bands),
        memory_(memory),
        all_(all),
        empty_(queues.size() + 1),
        made_(queues.size() + 1),
        rates_(queues.size()) {}

  /// Computes and writes bands until none is left or something fails. Throws the first error.
  void operator()() {
    std::jthread writer([&] { guarded([&] { write(); }); });
    guarded([&] { on_devices(queues_.size(), [&](std::size_t device) { guarded([&] { compute(device); }); }); });
    made_.close();
    writer.join();
    if (error_) std::rethrow_exception(error_);
    empty_.close();
    while (auto memory = empty_.pop()) memory_.keep(*std::move(memory));
  }

  void add_to(BandRates& rates) const {
    rates.write_seconds = write_seconds_;
    rates.write_bytes = write_bytes_;
    for (const auto& rate : rates_) rates.device_seconds = std::max(rates.device_seconds, rate.seconds);
    rates.slowest = slowest_of(rates_);
    rates.slowest_rate = rates_[rates.slowest].rate();
  }

 private:
  void guarded(const std::function<void()>& work) noexcept {
    try {
      work();
    } catch (...) {
      {
        const std::scoped_lock lock(mutex_);
        if (!error_) error_ = std::current_exception();
      }
      made_.abandon();
      empty_.abandon();
      try {
        bands_.stop();
      } catch (...) {  // the first error is reported
      }
    }
  }

  void compute(std::size_t device) {
    const std::int64_t nx = file_.shape[1];
    const Queue& queue = queues_[device];
    const bool here = queue.device() == Device{};
    Array<Value, 1> on_device;
    BandProgress progress(all_);
    for (;;) {
      std::optional<Buffer> memory;
      if (here && !(memory = empty_.pop())) return;
      all_.check_cancelled();
      const auto first = bands_.next();
      if (!first) {
        if (memory) empty_.push(*std::move(memory));
        return;
      }
      Stopwatch watch;
      if (!here && on_device.empty()) on_device = Array<Value, 1>({max_values()}, queue);
      const Shape<2> shape{std::min(file_.rows_at_once, file_.shape[0] - *first), nx};
      const auto on_host = [&] { return View<Value, 2>(static_cast<Value*>(memory->data()), shape, Device{}); };
      const View<Value, 2> band = here ? on_host() : View<Value, 2>(on_device.data(), shape, queue.device());
      progress.begin(shape[0]);
      progress.step({}, 0, 1);
      compute_(device, *first, band, progress);
      queue.synchronize();
      double seconds = watch.seconds();
      if (!here) {
        memory = empty_.pop();
        if (!memory) return;
        watch = Stopwatch();
        copy<Value, 2>(on_host(), band, queue);
        queue.synchronize();
        seconds += watch.seconds();
      }
      progress.step({}, 1, 1);
      note(device, shape[0] * nx, seconds);
      if (!made_.push({*first, shape[0], *std::move(memory)})) return;
    }
  }

  /// Counts a band, and finds the slowest of several devices.
  void note(std::size_t device, std::int64_t pixels, double seconds) {
    const std::scoped_lock lock(mutex_);
    rates_[device].pixels += pixels;
    rates_[device].seconds += seconds;
    if (rates_.size() == 1) return;
    const std::size_t slowest = slowest_of(rates_);
    all_.set_slowest(queues_[slowest].device(), rates_[slowest].rate());
  }

  [[nodiscard]] std::int64_t max_values() const {
    return std::min(file_.rows_at_once, file_.shape[0]) * file_.shape[1];
  }

  void write() {
    // One for each device that computes and one that is written. While they are allocated, the first band is computed.
    for (std::size_t i = 0; i <= queues_.size(); ++i) {
      const Device device = queues_[std::min(i, queues_.size() - 1)].device();
      empty_.push(memory_.take(device, static_cast<std::size_t>(max_values()) * sizeof(Value)));
    }
    while (auto band = made_.pop()) {
      const Stopwatch watch;
      const View<const Value, 2> rows(static_cast<const Value*>(band->memory.data()), {band->rows, file_.shape[1]});
      writer_.write(band->first, rows);
      write_seconds_ += watch.seconds();
      write_bytes_ += rows.size() * static_cast<std::int64_t>(sizeof(Value));
      bands_.done(band->first);
      empty_.push(std::move(band->memory));
    }
  }

  const BandsFile& file_;
  Writer& writer_;
  const std::vector<Queue>& queues_;
  const typename BandsRun<Value>::Compute& compute_;
  BandQueue& bands_;
  BandMemory& memory_;
  AllRows& all_;
  BoundedQueue<Buffer> empty_;
  BoundedQueue<MadeBand> made_;
  std::vector<DeviceRate> rates_;
  double write_seconds_ = 0;
  std::int64_t write_bytes_ = 0;
  std::mutex mutex_;
  std::exception_ptr error_;
};

}  // namespace

template <class Value>
void BandsRun<Value>::write(const std::vector<Queue>& queues, const Compute& compute) {
  auto& state = *state_;
  auto& ranks = state.ranks;
  const Stopwatch watch;
  const auto missing = ranks.first() ? state.missing_bands() : std::vector<std::int64_t>{};
  if (!missing.empty() && std::ssize(missing) < ranks.count() && state.options.on_idle_processes) {
    state.options.on_idle_processes(std::ssize(missing), ranks.count());
  }
  AllRows all(state.progress, state.options, state.file.stage, state.missing(), state.file.shape[1]);
  state.rates.pixels = state.missing() * state.file.shape[1];
  std::vector<std::int64_t> of_others;  // bands; the writer takes one call at a time
  BandQueue bands(ranks, missing, [&](std::int64_t band) {
    of_others.push_back(band);
    all.add(state.count_rows(band));
  });
  BandWorkers<Value, typename WriterOf<Value>::Type> workers(state.file, *state.writer, queues, compute, bands,
                                                             state.memory, all);
  std::exception_ptr error;
  const auto work = [&] {
    try {
      workers();
      all.check_cancelled();
    } catch (...) {
      error = std::current_exception();
    }
  };
  try {
    if (ranks.several() && ranks.first()) {
      {
        const std::jthread worker([&, threads = thread_count()] {
          limit_threads(threads);
          work();
        });
        bands.serve();
      }
      for (const auto band : of_others) state.writer->set_done(band, state.count_rows(band));
    } else {
      work();
      if (ranks.several()) bands.leave();
    }
    ranks.agree(error);
  } catch (const Error& failure) {
    if (ranks.first() && state.options.on_failure && kept_rows() > 0) {
      state.options.on_failure(failure, kept_rows(), state.file.shape[0]);
    }
    throw;
  }
  workers.add_to(state.rates);
  state.rates.seconds = watch.seconds();
}

template <class Value>
void BandsRun<Value>::finish() {
  auto& state = *state_;
  auto& ranks = state.ranks;
  const Stopwatch watch;
  ranks.together([&] {
    if (!ranks.first()) state.writer->finish();
  });
  ranks.together([&] {
    if (!ranks.first()) return;
    if (state.options.before_output) state.options.before_output(state.file.output);
    state.writer->finish();
  });
  state.rates.write_seconds += watch.seconds();
}

template class BandsRun<std::complex<float>>;
template class BandsRun<std::uint8_t>;
template class BandsRun<std::uint16_t>;

}  // namespace holotone
