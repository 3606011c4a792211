#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <exception>
#include <fmt/format.h>
#include <holotone/core/no_backend.hpp>
#include <holotone/core/units.hpp>
#include <holotone/optics/large/large_propagation_engine.hpp>
#include <holotone/optics/large_propagation.hpp>
#include <holotone/optics/parallel_rows.hpp>
#include <holotone/optics/propagation_engine.hpp>
#include <mutex>
#include <thread>

namespace holotone {
namespace {

using large_propagation::EnginePointer;
using large_propagation::Job;
using large_propagation::Kept;
using large_propagation::kept_count;

constexpr std::string_view plan_name = "LargePropagationPlan";
/// Bands of a GPU at once: one is copied there, one computed, one copied back.
constexpr int max_lanes = 3;
/// Values of a band's or strip's padded lines. Most on GPUs: rows of a strip are then copied by 4 KiB and more, while
/// device and page-locked memory stay small; most on CPUs alone: strips for many threads. Least: transforms fill a GPU.
constexpr std::int64_t max_values = std::int64_t{1} << 26;
constexpr std::int64_t max_values_cpu = std::int64_t{1} << 28;
constexpr std::int64_t min_values = std::int64_t{1} << 20;
/// Bands and strips of a larger field: enough for several devices, and for copies to overlap with transforms.
constexpr std::int64_t min_blocks = 24;
/// Device memory for a value of padded lines: itself, its band, the workspaces of both transforms.
constexpr std::size_t bytes_a_value = 4 * sizeof(Complex);

EnginePointer make_engine(const Job& job, const Queue& queue) {
  switch (queue.device().backend) {
    case Backend::cpu: return large_propagation::engine_cpu(job);
    case Backend::cuda:
#if HOLOTONE_CUDA
      return large_propagation::engine_cuda(job, queue);
#else
      break;
#endif
    case Backend::opencl:
#if HOLOTONE_OPENCL
      return large_propagation::engine_opencl(job, queue);
#else
      break;
#endif
  }
  throw_no_backend(plan_name, queue.device());
}

bool is_gpu(Device device) { return device.backend != Backend::cpu; }

void validate(const LargePropagationOptions& options, const std::vector<Device>& devices) {
  require_grid(plan_name, options.grid);
  if (!std::isfinite(options.distance_m)) {
    throw_argument(plan_name, "distance_m", "a finite number", fmt::format("{}", options.distance_m));
  }
  if (devices.empty()) throw_argument(plan_name, "devices", "at least one", "none");
}

/// Frequencies along x at which H is not zero for every frequency along y: where it is not for fy = 0.
Kept kept_frequencies(const propagation::Transfer& transfer, std::int64_t length) {
  std::int64_t last = length / 2;
  const auto is_kept = [&](std::int64_t x) {
    const double fx = static_cast<double>(x) * transfer.step_x;
    return propagation::transfer_kept(transfer, propagation::transfer_rest(transfer, fx * fx, 0), fx * fx, 0);
  };
  while (last > 0 && !is_kept(last)) --last;
  return 2 * last + 1 >= length ? Kept{length, 0, length} : Kept{last + 1, last, length};
}

Job make_job(const LargePropagationOptions& options) {
  const auto& grid = options.grid;
  const PropagationOptions same{
      .grid = grid, .method = PropagationMethod::angular_spectrum, .band_limit = options.band_limit};
  const auto [ly, lx] = propagation::angular_spectrum_layout(same).padded;
  Job job;
  job.row = {grid.nx, 0, lx};
  job.column = {grid.ny, 0, ly};
  job.transfer = propagation::make_transfer(same, options.distance_m);
  job.spectrum = kept_frequencies(job.transfer, lx);
  return job;
}

std::size_t spectrum_bytes(const Job& job) {
  if (job.transfer.distance_m == 0) return 0;  // the field is copied
  return static_cast<std::size_t>(job.column.head * kept_count(job.spectrum)) * sizeof(Complex);
}

/// Least memory on a device: for the line of one row or column.
std::size_t min_device_bytes(const Job& job) {
  return bytes_a_value * static_cast<std::size_t>(std::max(job.row.length, job.column.length));
}

std::size_t device_limit(const LargePropagationOptions& options, const Job& job, const std::vector<Device>& devices) {
  const std::size_t least = min_device_bytes(job);
  if (options.device_memory_bytes != 0) {
    if (options.device_memory_bytes >= least) return options.device_memory_bytes;
    throw_argument(
        plan_name, "device_memory_bytes",
        fmt::format("at least {} ({} bytes) for lines of {} values", format_bytes(static_cast<double>(least)), least,
                    std::max(job.row.length, job.column.length)),
        format_bytes(static_cast<double>(options.device_memory_bytes)));
  }
  std::size_t limit = SIZE_MAX;
  for (const auto& device : devices) {
    const auto same = std::ranges::count(devices, device);
    std::size_t free = describe(device).free_bytes;
    if (!is_gpu(device)) free -= std::min(free, spectrum_bytes(job));
    limit = std::min(limit, free / 2 / static_cast<std::size_t>(same));
  }
  return std::max(limit, least);
}

/// Lines of a block: as many as fit, in blocks of equal size.
std::int64_t lines_at_once(std::int64_t count, std::int64_t length, std::int64_t values) {
  const std::int64_t wanted = std::max((count + min_blocks - 1) / min_blocks, min_values / length);
  const std::int64_t at_once = std::clamp(values / length, std::int64_t{1}, std::max(wanted, std::int64_t{1}));
  const std::int64_t blocks = (count + at_once - 1) / at_once;
  return (count + blocks - 1) / blocks;
}

/// Memory of one device, shared by its lanes.
struct Share {
  std::size_t lane_bytes = 0;
  int lanes = 1;            ///< of a GPU
  std::int64_t values = 0;  ///< most of a block's padded lines
};

Share choose_share(const LargePropagationOptions& options, const Job& job, const std::vector<Device>& devices) {
  const std::size_t limit = device_limit(options, job, devices);
  const std::size_t lanes = std::clamp<std::size_t>(limit / min_device_bytes(job), 1, max_lanes);
  const bool gpu = std::ranges::any_of(devices, is_gpu);
  return {limit / lanes, static_cast<int>(lanes), gpu ? max_values : max_values_cpu};
}

void set_blocks(Job& job, std::size_t lane_bytes, std::int64_t most) {
  const auto values = std::min(most, static_cast<std::int64_t>(lane_bytes / bytes_a_value));
  job.rows = lines_at_once(job.column.head, job.row.length, values);
  job.columns = lines_at_once(kept_count(job.spectrum), job.column.length, values);
}

/// Values of the largest band or strip: what a GPU's lane copies at once.
std::int64_t block_values(const Job& job) {
  return std::max(job.rows * std::max(job.row.head, kept_count(job.spectrum)), job.columns * job.column.head);
}

/// What a lane holds in host memory.
std::int64_t host_values(const Job& job, Device device) {
  return is_gpu(device) ? block_values(job) : job.rows * job.row.head;
}

LargePropagationInfo make_info(const Job& job, const Share& share, const std::vector<Device>& devices) {
  LargePropagationInfo info;
  info.padded = {job.column.length, job.row.length};
  info.spectrum_columns = kept_count(job.spectrum);
  info.rows_at_once = job.rows;
  info.columns_at_once = job.columns;
  info.host_bytes = spectrum_bytes(job);
  bool moves = false;
  for (const auto& device : devices) {
    const int lanes = is_gpu(device) ? share.lanes : 1;
    info.host_bytes += static_cast<std::size_t>(lanes * host_values(job, device)) * sizeof(Complex);
    moves = moves || is_gpu(device);
  }
  if (moves) {
    const auto field = static_cast<std::size_t>(job.column.head * job.row.head) * sizeof(Complex);
    if (spectrum_bytes(job) > 0) info.moved_bytes = 2 * field + 4 * spectrum_bytes(job);
    const auto lines = std::max(job.rows * job.row.length, job.columns * job.column.length);
    info.device_bytes = static_cast<std::size_t>(share.lanes * lines) * bytes_a_value;
  }
  return info;
}

/// Bands and strips that a thread has on a device one after the other.
struct Lane {
  Lane(const Job& job, Device on)
      : queue(Queue::create(on)),
        engine(make_engine(job, queue)),
        device(is_gpu(on) ? Array<Complex, 1>({block_values(job)}, queue) : Array<Complex, 1>()),
        host(Buffer::on_host_for(on, static_cast<std::size_t>(host_values(job, on)) * sizeof(Complex))) {}

  [[nodiscard]] bool is_on_gpu() const { return is_gpu(queue.device()); }
  [[nodiscard]] std::size_t device_bytes() const {
    return is_on_gpu() ? device.bytes() + engine->workspace_bytes() : 0;
  }
  [[nodiscard]] Complex* values() const { return static_cast<Complex*>(host.data()); }
  void upload(std::int64_t count) { move(device.data(), queue.device(), values(), Device{}, count); }
  void download(std::int64_t count) {
    move(values(), Device{}, device.data(), queue.device(), count);
    queue.synchronize();
  }

  Queue queue;
  EnginePointer engine;
  Array<Complex, 1> device;
  Buffer host;

 private:
  void move(Complex* to, Device to_device, const Complex* from, Device from_device, std::int64_t count) const {
    copy_bytes(to, to_device, from, from_device, static_cast<std::size_t>(count) * sizeof(Complex), queue);
  }
};

/// Copies rows of `width` values between arrays with `to_step` and `from_step` values a row, on all threads.
void copy_rows(Complex* to, std::int64_t to_step, const Complex* from, std::int64_t from_step, std::int64_t width,
               std::int64_t rows) {
  parallel_rows(rows, width, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t y = begin; y < end; ++y) std::copy_n(from + y * from_step, width, to + y * to_step);
  });
}

/// Lines that lanes take in turn, in threads, while the caller's reports to its Progress.
class Passes {
 public:
  using Step = std::function<void(Lane& lane, std::int64_t first, std::int64_t count)>;

  Passes(std::vector<Lane>& lanes, Progress& progress, std::int64_t total)
      : lanes_(lanes), progress_(progress), total_(total) {}

  /// `before` is called for blocks in order, one at a time, then `work` at the same time as that of other lanes.
  /// `units`: progress of a line.
  void operator()(std::int64_t lines, std::int64_t at_once, std::int64_t units, const Step& before, const Step& work) {
    progress_.step(stage, done_, total_);
    std::int64_t next = 0;
    const int threads = std::max(1, thread_count() / static_cast<int>(lanes_.size()));
    working_ = lanes_.size();
    {
      std::vector<std::jthread> workers;
      const auto run = [&](Lane& lane) {
        limit_threads(threads);
        while (true) {
          std::int64_t first = 0;
          std::int64_t count = 0;
          {
            const std::scoped_lock lock(order_);
            if (next >= lines || is_stopped()) return;
            first = next;
            count = std::min(at_once, lines - first);
            next += count;
            before(lane, first, count);
          }
          work(lane, first, count);
          add(count * units);
        }
      };
      try {
        for (auto& lane : lanes_) {
          workers.emplace_back([&] {
            try {
              run(lane);
            } catch (...) {
              stop(std::current_exception());
            }
            leave();
          });
        }
        wait();
      } catch (...) {
        stop(std::current_exception());
      }
    }
    if (error_) std::rethrow_exception(error_);
  }

  void finish() { progress_.step(stage, total_, total_); }

 private:
  static constexpr std::string_view stage = "propagating rows and columns";

  /// Reports until every worker has ended.
  void wait() {
    std::unique_lock lock(state_);
    while (working_ > 0) {
      changed_.wait_for(lock, std::chrono::milliseconds(50));
      const std::int64_t done = done_;
      lock.unlock();
      if (done < total_) progress_.step(stage, done, total_);
      lock.lock();
    }
  }
  bool is_stopped() {
    const std::scoped_lock lock(state_);
    return error_ != nullptr;
  }
  void stop(std::exception_ptr error) {
    const std::scoped_lock lock(state_);
    if (!error_) error_ = std::move(error);
  }
  void add(std::int64_t units) {
    const std::scoped_lock lock(state_);
    done_ += units;
  }
  void leave() {
    const std::scoped_lock lock(state_);
    --working_;
    changed_.notify_one();
  }

  std::vector<Lane>& lanes_;
  Progress& progress_;
  std::int64_t total_;
  std::mutex order_;  ///< of blocks
  std::mutex state_;  ///< of what follows
  std::condition_variable changed_;
  std::size_t working_ = 0;
  std::int64_t done_ = 0;
  std::exception_ptr error_;
};

}  // namespace

struct LargePropagationPlan::State {
  LargePropagationOptions options;
  std::vector<Device> devices;
  Job job;
  Share share;
  std::vector<Lane> lanes;
  Array<Complex, 2> spectrum;

  State(const LargePropagationOptions& given, std::vector<Device> given_devices)
      : options(given),
        devices(std::move(given_devices)),
        job(make_job(options)),
        share(choose_share(options, job, devices)) {
    if (options.distance_m != 0) spectrum = Array<Complex, 2>({job.column.head, kept_count(job.spectrum)});
    make_lanes();
  }

  /// Makes blocks smaller where a library's workspaces are larger than bytes_a_value.
  void make_lanes() {
    for (std::size_t bytes = share.lane_bytes;; bytes -= bytes / 4) {
      set_blocks(job, bytes, share.values);
      lanes.clear();
      bool fits = true;
      for (const auto& device : devices) {
        const int count = is_gpu(device) ? share.lanes : 1;
        for (int i = 0; i < count && fits; ++i) {
          lanes.emplace_back(job, device);
          fits = lanes.back().device_bytes() <= share.lane_bytes;
        }
      }
      if (fits) return;
      if (job.rows == 1 && job.columns == 1) {
        throw Error(
            ErrorCode::out_of_memory,
            ErrorFields{std::string(plan_name), "device_memory_bytes",
                        fmt::format("at least {} for each of {}",
                                    format_bytes(static_cast<double>(lanes.back().device_bytes())), share.lanes),
                        format_bytes(static_cast<double>(share.lane_bytes))});
      }
    }
  }

  void execute(const ReadRows& read, const WriteRows& write, Progress& progress) {
    if (options.distance_m == 0) return copy(read, write, progress);
    const std::int64_t ny = job.column.head;
    const std::int64_t wide = kept_count(job.spectrum);
    const std::int64_t row_units = job.row.length / 2;
    Passes pass(lanes, progress, 2 * ny * row_units + wide * job.column.length);
    pass(ny, job.rows, row_units, reading(read),
         [&](Lane& lane, std::int64_t first, std::int64_t count) { rows_there(lane, first, count); });
    pass(
        wide, job.columns, job.column.length, [](Lane&, std::int64_t, std::int64_t) {},
        [&](Lane& lane, std::int64_t first, std::int64_t count) { columns(lane, first, count); });
    const auto writes = writing(write);
    pass(
        ny, job.rows, row_units, [](Lane&, std::int64_t, std::int64_t) {},
        [&](Lane& lane, std::int64_t first, std::int64_t count) {
          rows_back(lane, first, count);
          writes(lane, first, count);
        });
    pass.finish();
  }

  [[nodiscard]] LargePropagationInfo info() const {
    auto result = make_info(job, share, devices);
    result.device_bytes = 0;
    for (const auto& lane : lanes) {
      result.device_bytes = std::max(result.device_bytes, static_cast<std::size_t>(share.lanes) * lane.device_bytes());
    }
    return result;
  }

 private:
  std::mutex writing_;

  [[nodiscard]] Passes::Step reading(const ReadRows& read) const {
    return [&read, nx = job.row.head](Lane& lane, std::int64_t first, std::int64_t count) {
      read(first, {lane.values(), {count, nx}});
    };
  }
  [[nodiscard]] Passes::Step writing(const WriteRows& write) {
    return [&write, this](Lane& lane, std::int64_t first, std::int64_t count) {
      const std::scoped_lock lock(writing_);
      write(first, {lane.values(), {count, job.row.head}});
    };
  }

  void copy(const ReadRows& read, const WriteRows& write, Progress& progress) {
    Passes pass(lanes, progress, job.column.head);
    pass(job.column.head, job.rows, 1, reading(read), writing(write));
    pass.finish();
  }

  void rows_there(Lane& lane, std::int64_t first, std::int64_t count) {
    const std::int64_t wide = kept_count(job.spectrum);
    Complex* const target = spectrum.data() + first * wide;
    if (!lane.is_on_gpu()) {
      return lane.engine->transform_rows(lane.values(), target, count, FftDirection::forward);
    }
    lane.upload(count * job.row.head);
    lane.engine->transform_rows(lane.device.data(), lane.device.data(), count, FftDirection::forward);
    lane.download(count * wide);
    copy_rows(target, wide, lane.values(), wide, wide, count);
  }

  void columns(Lane& lane, std::int64_t first, std::int64_t count) {
    const std::int64_t ny = job.column.head;
    const std::int64_t wide = kept_count(job.spectrum);
    Complex* const strip = spectrum.data() + first;
    if (!lane.is_on_gpu()) return lane.engine->propagate_columns(strip, wide, first, count);
    copy_rows(lane.values(), count, strip, wide, count, ny);
    lane.upload(ny * count);
    lane.engine->propagate_columns(lane.device.data(), count, first, count);
    lane.download(ny * count);
    copy_rows(strip, wide, lane.values(), count, count, ny);
  }

  void rows_back(Lane& lane, std::int64_t first, std::int64_t count) {
    const std::int64_t wide = kept_count(job.spectrum);
    const Complex* const source = spectrum.data() + first * wide;
    if (!lane.is_on_gpu()) {
      return lane.engine->transform_rows(source, lane.values(), count, FftDirection::inverse);
    }
    copy_rows(lane.values(), wide, source, wide, wide, count);
    lane.upload(count * wide);
    lane.engine->transform_rows(lane.device.data(), lane.device.data(), count, FftDirection::inverse);
    lane.download(count * job.row.head);
  }
};

LargePropagationPlan::LargePropagationPlan(const LargePropagationOptions& options, std::vector<Device> devices) {
  validate(options, devices);
  state_ = std::make_unique<State>(options, std::move(devices));
}

LargePropagationPlan::~LargePropagationPlan() = default;
LargePropagationPlan::LargePropagationPlan(LargePropagationPlan&&) noexcept = default;
LargePropagationPlan& LargePropagationPlan::operator=(LargePropagationPlan&&) noexcept = default;

void LargePropagationPlan::execute(const ReadRows& read, const WriteRows& write, Progress& progress) {
  state_->execute(read, write, progress);
}

void LargePropagationPlan::execute(View<const Complex, 2> input, View<Complex, 2> output, Progress& progress) {
  const auto shape = state_->options.grid.shape();
  const std::int64_t nx = shape[1];
  require_view("LargePropagationPlan::execute", "input", input, shape, Device{});
  require_view("LargePropagationPlan::execute", "output", output, shape, Device{});
  state_->execute(
      [&](std::int64_t first, View<Complex, 2> rows) {
        copy_rows(rows.data(), nx, input.data() + first * nx, nx, nx, rows.shape()[0]);
      },
      [&](std::int64_t first, View<const Complex, 2> rows) {
        copy_rows(output.data() + first * nx, nx, rows.data(), nx, nx, rows.shape()[0]);
      },
      progress);
}

LargePropagationInfo LargePropagationPlan::info() const { return state_->info(); }

LargePropagationInfo large_propagation_info(const LargePropagationOptions& options,
                                            const std::vector<Device>& devices) {
  validate(options, devices);
  Job job = make_job(options);
  const Share share = choose_share(options, job, devices);
  set_blocks(job, share.lane_bytes, share.values);
  return make_info(job, share, devices);
}

}  // namespace holotone
