#include <algorithm>
#include <cli/common/cancel.hpp>
#include <cli/common/digest.hpp>
#include <cli/common/field_rows_run.hpp>
#include <cli/common/memory_limit.hpp>
#include <cli/common/values.hpp>
#include <cli/hologram/common/memory_estimate.hpp>
#include <cli/hologram/points/empty_hologram.hpp>
#include <cli/hologram/points/points_bands.hpp>
#include <holotone/recipes/metadata_keys.hpp>
#include <list>
#include <mutex>
#include <utility>

namespace holotone::cli {
namespace {

/// Memory of a whole panel, on every machine, and its share of the free memory, above which it is computed by bands.
constexpr double most_whole_bytes = 2.0 * (1U << 30U);
constexpr double most_share_of_free = 0.25;
/// Pixels of a band: 128 MiB of field, and large enough that points and factors are rarely prepared.
constexpr std::int64_t band_pixels = std::int64_t{1} << 24;

bool is_written_by_rows(const HologramJob& job) {
  const auto extension = extension_of(job.output);
  return job.complex_field && (extension == ".h5" || extension == ".hdf5" || extension == ".npy");
}

bool is_moving(const HologramJob& job) { return job.spin_frames > 0 || frame_pattern("--output", job.output); }

/// Identity of the rows beyond the file's metadata: rows of other points or of another device are not continued.
std::string key_of(const HologramJob& job, const PointSources& points) {
  std::uint64_t digest = first_digest;
  const auto add = [&](const auto& view) { digest = digest_of<float>(view.host(), digest); };
  add(points.position_m);
  add(points.amplitude);
  add(points.phase_rad);
  const auto device = to_string(job.device);
  return fmt::format("points {:016x} {}", digest, device.substr(0, device.find(':')));
}

/// Rows that all devices have computed.
class AllRows {
 public:
  explicit AllRows(Progress& all) : all_(all) {}
  void begin(std::int64_t rows) { rows_ = rows; }
  bool add(std::int64_t rows) {
    const std::scoped_lock lock(mutex_);
    done_ += rows;
    return all_.update("summing points by bands of rows", done_, rows_);
  }

 private:
  Progress& all_;
  std::int64_t rows_ = 0;
  std::mutex mutex_;
  std::int64_t done_ = 0;
};

/// Converts the progress of a device's bands to that of all rows that this run computes.
class BandProgress final : public Progress {
 public:
  explicit BandProgress(AllRows& all) : all_(all) {}
  void begin_band(std::int64_t rows) {
    begin_ += band_;
    band_ = rows;
  }
  bool update(std::string_view, std::int64_t done, std::int64_t total) override {
    const double share = total > 0 ? static_cast<double>(done) / static_cast<double>(total) : 0;
    // Some methods process their points twice: the bar must not go back.
    const auto reached = std::max(shown_, begin_ + static_cast<std::int64_t>(share * static_cast<double>(band_)));
    return all_.add(reached - std::exchange(shown_, reached));
  }

 private:
  AllRows& all_;
  std::int64_t begin_ = 0;
  std::int64_t band_ = 0;
  std::int64_t shown_ = 0;
};

/// A device that sums bands.
struct BandDevice {
  BandDevice(const PointCloudOptions& options, Queue own, std::int64_t rows, AllRows& all)
      : queue(std::move(own)), plan(options, queue, rows), progress(all) {}
  Queue queue;
  PointCloudPlan plan;
  BandProgress progress;
};

class BandWork {
 public:
  BandWork(const HologramJob& job, FrameSource& source, const BeforeSum& before)
      : job_(job), source_(source), frame_(source.prepare(0)), bar_(job.console) {
    check_cancelled("reading");
    require_light(job, frame_.input, frame_.dark);
    before(rows_before_sum(job, source, frame_));
  }

  std::vector<PointsRow> operator()() {
    const UnfinishedRun run;
    std::vector<PointsRow> rows;
    for (std::size_t c = 0; c < job_.channels.size(); ++c) rows.push_back(make(c));
    for (auto& written : written_) written.finish();
    // All rows are written: a cancellation from here on keeps the file.
    UnfinishedRun::keep();
    return rows;
  }

 private:
  PointsRow make(std::size_t c) {
    const Stopwatch watch;
    const auto& channel = job_.channels[c];
    const bool part = job_.rows.rows > 0;
    const RowRange rows_made = part ? job_.rows : RowRange{0, job_.panel.ny};
    const std::int64_t at_once = job_.rows_at_once;
    const ChannelPoints points(frame_.points.cloud, channel.colour);
    PointsHologram made;
    made.output = source_.output(frame_.number, channel);
    AllRows all(bar_);
    std::list<BandDevice> devices;
    std::vector<Queue> queues;
    for (const auto& device : job_.devices) {
      auto& own = devices.emplace_back(job_.sum_options(channel), Queue::create(device), at_once, all);
      own.plan.set_points(points.sources());
      queues.push_back(own.queue);
    }
    made.info = devices.front().plan.info();
    made.fresnel_deviation_rad = frame_.fresnel_deviation_rad[c];
    Metadata metadata = points_metadata(job_, c, frame_, points, made.info);
    set_metadata(metadata, "encoding", "complex");
    set_metadata(metadata, "rows_at_once", std::to_string(at_once));
    if (part) {
      set_metadata(metadata, "block_first_row", std::to_string(rows_made.first_row));
      set_metadata(metadata, "block_of_rows", std::to_string(job_.panel.ny));
    }
    auto& run = written_.emplace_back(
        FieldRows{made.output, {rows_made.rows, job_.panel.nx}, metadata, key_of(job_, points.sources()), at_once},
        job_.console, bar_);
    all.begin(run.missing());
    run.write(queues, [&](std::size_t device, std::int64_t first, View<Complex, 2> band) {
      auto& own = *std::next(devices.begin(), static_cast<std::ptrdiff_t>(device));
      const std::int64_t rows = band.shape()[0];
      own.progress.begin_band(rows);
      own.progress.step("", 0, 1);
      own.plan.execute({rows_made.first_row + first, rows}, {band, {}, {}}, own.progress);
    });
    made.compute_s = watch.seconds();
    made.reconstruct_flags = flags_for(job_.output, metadata, {});
    PointsRow row = row_of(frame_, c, made);
    row.bands = (rows_made.rows + at_once - 1) / at_once;
    row.resumed = run.resumed();
    return row;
  }

  const HologramJob& job_;
  FrameSource& source_;
  PreparedFrame frame_;
  ProgressBar bar_;
  std::list<FieldRowsRun> written_;  ///< finished together at the end: a resumed run finds the first colours too
};

std::int64_t rows_at_once_for(const HologramJob& job, const std::string& typed, bool in_parts) {
  constexpr std::string_view option = "--rows-at-once";
  constexpr std::int64_t most_rows = 1 << 24;
  if (!typed.empty()) {
    const auto rows = whole_number(option, typed, 1, most_rows);
    if (!is_written_by_rows(job)) reject(option, "the complex field in a file .h5, .hdf5 or .npy", job.output);
    if (is_moving(job)) reject(option, "one hologram, not moving pictures", job.output);
    return std::min(rows, job.panel.ny);
  }
  const bool several = job.devices.size() > 1;
  if (several && !is_written_by_rows(job)) {
    reject("--device", "one device, except for a complex field in a file .h5, .hdf5 or .npy",
           fmt::format("{} for {}", job.devices.size(), job.output));
  }
  if (several && is_moving(job))
    reject("--device", "one device for moving pictures", std::to_string(job.devices.size()));
  if (!is_written_by_rows(job) || is_moving(job)) return 0;
  const double whole = bytes_for_whole(job);
  if (!several && !in_parts && whole <= most_whole_bytes && whole <= most_share_of_free * free_memory()) return 0;
  const std::int64_t bands = (job.panel.ny * job.panel.nx + band_pixels - 1) / band_pixels;
  return (job.panel.ny + bands - 1) / bands;
}

/// Part K of N, typed as "K/N": whole bands.
RowRange rows_of_block(const HologramJob& job, const std::string& typed) {
  constexpr std::string_view option = "--block";
  constexpr std::string_view expected = "K/N such as 3/40, K from 1 to N";
  const auto extension = extension_of(job.output);
  if (!job.complex_field || (extension != ".h5" && extension != ".hdf5")) {
    reject(option, "the complex field in a file .h5 or .hdf5", job.output);
  }
  if (is_moving(job)) reject(option, "one hologram, not moving pictures", job.output);
  const auto slash = typed.find('/');
  if (slash == std::string::npos) reject(option, expected, typed);
  const std::int64_t bands = (job.panel.ny + job.rows_at_once - 1) / job.rows_at_once;
  constexpr std::int64_t most_parts = 1 << 24;
  const auto parts = whole_number(option, typed.substr(slash + 1), 1, most_parts);
  const auto part = whole_number(option, typed.substr(0, slash), 1, most_parts);
  if (part > parts) reject(option, expected, typed);
  if (parts > bands) {
    reject(option,
           fmt::format("at most {} of {} rows; --rows-at-once makes them smaller", counted(bands, "part"),
                       job.rows_at_once),
           typed);
  }
  const std::int64_t first = bands * (part - 1) / parts * job.rows_at_once;
  const std::int64_t end = std::min(bands * part / parts * job.rows_at_once, job.panel.ny);
  return {first, end - first};
}

}  // namespace

void set_bands(HologramJob& job, const std::string& rows_at_once, const std::string& block) {
  job.rows_at_once = rows_at_once_for(job, rows_at_once, !block.empty());
  if (block.empty()) return;
  if (job.rows_at_once == 0) job.rows_at_once = job.panel.ny;
  job.rows = rows_of_block(job, block);
}

std::vector<PointsRow> make_bands(const HologramJob& job, FrameSource& source, const BeforeSum& before) {
  return BandWork(job, source, before)();
}

}  // namespace holotone::cli
