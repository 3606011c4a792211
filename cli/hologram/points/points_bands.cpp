#include <algorithm>
#include <cli/common/band_memory.hpp>
#include <cli/common/bands_words.hpp>
#include <cli/common/cancel.hpp>
#include <cli/common/device_option.hpp>
#include <cli/common/memory_limit.hpp>
#include <cli/common/ranks.hpp>
#include <cli/common/values.hpp>
#include <cli/hologram/common/memory_estimate.hpp>
#include <cli/hologram/points/empty_hologram.hpp>
#include <cli/hologram/points/points_bands.hpp>
#include <holotone/bands/device_threads.hpp>
#include <holotone/bands/digest_detail.hpp>
#include <holotone/io/rows_file_detail.hpp>
#include <holotone/recipes/hologram_file.hpp>
#include <holotone/recipes/metadata_keys.hpp>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>

namespace holotone::cli {
namespace {

/// Memory of a whole panel, on every machine, and its share of the free memory, above which it is computed by bands.
constexpr double max_whole_bytes = 2.0 * (1U << 30U);
constexpr double max_share_of_free = 0.25;
/// Rows of a band: a 64th of the panel, so that points and factors are rarely prepared, but 256 MiB to 1 GiB of field;
/// of more than 256 rows a multiple of these, the extent of the tiles of coarse sums.
std::int64_t band_rows(const Panel& panel) {
  constexpr std::int64_t tile = 256;
  const std::int64_t pixels = std::clamp(panel.ny * panel.nx / 64, std::int64_t{1} << 25, std::int64_t{1} << 27);
  const std::int64_t bands = (panel.ny * panel.nx + pixels - 1) / pixels;
  const std::int64_t rows = (panel.ny + bands - 1) / bands;
  return rows <= tile ? rows : std::min((rows + tile - 1) / tile * tile, panel.ny);
}

/// True if no range has to be measured in the field.
bool is_ranged(const HologramJob& job) {
  const auto& encode = job.encode;
  return job.complex_field || encode.encoding == Encoding::phase || encode.amplitude_min != 0 ||
         encode.amplitude_max != 0;
}

/// What a job lacks to be written by rows, and what it has instead.
struct Lack {
  std::string expected;  ///< empty: nothing is lacking
  std::string got;
};
Lack lack_for_rows(const HologramJob& job) {
  const auto extension = extension_of(job.output);
  if (job.complex_field) {
    const bool by_rows = extension == ".h5" || extension == ".hdf5" || extension == ".npy";
    return by_rows ? Lack{} : Lack{"a file .h5, .hdf5 or .npy for the complex field", job.output};
  }
  if (extension != ".tif" && extension != ".tiff") {
    return {"a file .tif for codes, or .h5 or .npy for the complex field", job.output};
  }
  if (job.packed16) return {"codes without --packed16", "--packed16"};
  if (const int level = job.writing.compression.value_or(0); level > 0) {
    return {"a .tif without --compression", fmt::format("--compression {}", level)};
  }
  const std::string encoding = fmt::format("--encode {}", to_string(job.encode.encoding));
  if (job.encode.encoding == Encoding::single_sideband) return {"an encoding other than single-sideband", encoding};
  // A range that is measured has to be the same when a stopped run goes on.
  const bool same_bits =
      job.sum.deterministic || job.sum.method == PointMethod::direct || job.sum.method == PointMethod::recurrence;
  if (is_ranged(job) || same_bits) return {};
  return {"--amplitude-range, --deterministic or --method direct or recurrence for this encoding", encoding};
}

bool is_written_by_rows(const HologramJob& job) { return lack_for_rows(job).expected.empty(); }

bool is_moving(const HologramJob& job) { return job.spin.frames > 0 || frame_pattern("--output", job.output); }

/// Identity of the rows beyond the file's metadata: rows of other points or of another device are not continued.
std::string key_of(const HologramJob& job, const PointSources& points) {
  std::uint64_t digest = first_digest;
  const auto add = [&](const auto& view) { digest = digest_of<float>(view.host(), digest); };
  add(points.position_m);
  add(points.amplitude);
  add(points.phase_rad);
  add(job.correction_rad.view());
  return fmt::format("points {:016x} {}", digest, backend_of(job.device));
}

/// A device that sums bands, and encodes them.
template <class Value>
class BandDevice {
 public:
  BandDevice(const HologramJob& job, const Channel& channel, Queue own)
      : queue_(std::move(own)), plan_(job.sum_options(channel), queue_, job.rows_at_once) {
    if constexpr (is_codes) {
      encode_ = job.encode_options(channel);
      grid_ = job.grid(channel);
      codes_from_sum_ = sum_gives_codes(job, encode_);
      if (codes_from_sum_) return;
      encoder_.emplace(encode_, grid_, queue_);
      field_ = Array<Complex, 2>({job.rows_at_once, job.panel.nx}, queue_);
    }
  }

  [[nodiscard]] PointCloudPlan& plan() { return plan_; }
  [[nodiscard]] const Queue& queue() const { return queue_; }
  /// The range that the codes stand for.
  [[nodiscard]] EncodeReport report() const { return encoder_ ? encoder_->report() : EncodeReport{}; }

  /// The largest value that has to be mapped to codes in these rows.
  float peak(const RowRange& rows, Progress& progress) {
    return encoder_->measure(rows, summed(rows, progress)).amplitude_max;
  }
  void set_range(const EncodeReport& range) {
    encode_.amplitude_min = range.amplitude_min;
    encode_.amplitude_max = range.amplitude_max;
    encoder_.emplace(encode_, grid_, queue_);
  }

  void make(const RowRange& rows, View<Value, 2> band, Progress& progress) {
    if constexpr (!is_codes) {
      plan_.execute(rows, {band, {}, {}}, progress);
    } else {
      if constexpr (sizeof(Value) == 1) {
        if (codes_from_sum_) return plan_.execute(rows, {{}, {}, band}, progress);
      }
      encoder_->execute(rows, summed(rows, progress), band);
    }
  }

 private:
  static constexpr bool is_codes = !std::is_same_v<Value, Complex>;

  View<const Complex, 2> summed(const RowRange& rows, Progress& progress) {
    const View<Complex, 2> field(field_.data(), {rows.rows, field_.shape()[1]}, queue_.device());
    plan_.execute(rows, {field, {}, {}}, progress);
    return field;
  }

  Queue queue_;
  PointCloudPlan plan_;
  EncodeOptions encode_;
  FieldGrid grid_;
  bool codes_from_sum_ = false;
  std::optional<EncodePlan> encoder_;
  Array<Complex, 2> field_;
};

template <class Value>
class BandWork {
 public:
  BandWork(const HologramJob& job, FrameSource& source, const BeforeSum& before)
      : job_(job), source_(source), frame_(read(job, source)), bar_(job.console) {
    check_cancelled("reading");
    require_light(job, frame_.input, frame_.dark);
    before(rows_before_sum(job, source, frame_));
  }

  std::vector<PointsRow> operator()() {
    const UnfinishedRun run;
    hold_outputs();
    std::vector<PointsRow> rows;
    for (std::size_t c = 0; c < job_.channels.size(); ++c) rows.push_back(make(c));
    for (auto& written : written_) written.finish();
    // All rows are written: a cancellation from here on keeps the file.
    UnfinishedRun::keep();
    std::size_t c = 0;
    for (const auto& written : written_) rows[c++].rates = written.rates();
    return rows;
  }

 private:
  static PreparedFrame read(const HologramJob& job, FrameSource& source) {
    const std::int64_t values = std::min(job.rows_at_once, job.panel.ny) * job.panel.nx;
    BandMemory::all().allocate_ahead(job.devices, static_cast<std::size_t>(values) * sizeof(Value));
    return source.prepare(0);
  }

  [[nodiscard]] RowRange rows_made() const { return job_.rows.rows > 0 ? job_.rows : RowRange{0, job_.panel.ny}; }

  /// Checks space, locks and names of all outputs before the first sum, which may take hours.
  void hold_outputs() {
    Ranks::all().together([&] {
      if (!Ranks::all().first()) return;
      const io::RowsContent content{{}, rows_made().rows, static_cast<std::uint64_t>(job_.panel.nx) * sizeof(Value)};
      std::uint64_t beside = 0;
      for (const auto& channel : job_.channels) {
        const auto& own =
            held_.emplace_back(std::make_unique<io::RowsFile>(source_.output(frame_.number, channel), content, beside));
        beside += own->bytes_needed();
      }
    });
  }

  [[nodiscard]] Metadata metadata_of(std::size_t c, const ChannelPoints& points, const PointCloudInfo& info,
                                     const EncodeReport& report) const {
    Metadata metadata = points_metadata(job_, c, frame_, points, info);
    if (job_.complex_field) {
      set_metadata(metadata, "encoding", "complex");
    } else {
      if (!job_.correction.empty()) set_metadata(metadata, "correction", job_.correction);
      describe_encoding(metadata, job_.encode_options(job_.channels[c]), report, false);
    }
    set_metadata(metadata, "rows_at_once", std::to_string(job_.rows_at_once));
    if (job_.rows.rows > 0) {
      set_metadata(metadata, "block_first_row", std::to_string(job_.rows.first_row));
      set_metadata(metadata, "block_of_rows", std::to_string(job_.panel.ny));
      set_metadata(metadata, "block_source", key_of(job_, points.sources()));
    }
    return metadata;
  }

  /// Measures the range of the whole panel in a first pass over its bands, which all processes share.
  void set_range(std::list<BandDevice<Value>>& devices) {
    auto& ranks = Ranks::all();
    const std::int64_t at_once = job_.rows_at_once;
    const std::int64_t bands = (job_.panel.ny + at_once - 1) / at_once;
    const std::int64_t own = (bands - ranks.rank() + ranks.count() - 1) / ranks.count();
    std::mutex mutex;
    float largest = 0;
    std::int64_t done = 0;
    ranks.together([&] {
      share_among(devices.size(), own, [&](std::size_t device, std::int64_t item) {
        const std::int64_t first = (ranks.rank() + item * ranks.count()) * at_once;
        const RowRange rows{first, std::min(at_once, job_.panel.ny - first)};
        QuietProgress cancelled_alone;
        const float peak = std::next(devices.begin(), static_cast<std::ptrdiff_t>(device))->peak(rows, cancelled_alone);
        const std::scoped_lock lock(mutex);
        largest = std::max(largest, peak);
        bar_.step("measuring the range by bands of rows", ++done, own);
      });
    });
    largest = ranks.largest(largest);
    if (largest == 0) largest = 1;  // as EncodePlan takes a dark field
    const bool symmetric = job_.encode.encoding == Encoding::amplitude;
    for (auto& device : devices) device.set_range({symmetric ? -largest : 0, largest});
  }

  PointsRow make(std::size_t c) {
    const Stopwatch watch;
    const auto& channel = job_.channels[c];
    const ChannelPoints points(frame_.points.cloud, channel.colour);
    PointsHologram made;
    made.output = source_.output(frame_.number, channel);
    std::list<BandDevice<Value>> devices;
    std::vector<Queue> queues;
    for (const auto& device : job_.devices) {
      auto& own = devices.emplace_back(job_, channel, Queue::create(device));
      own.plan().set_points(points.sources());
      queues.push_back(own.queue());
    }
    made.info = devices.front().plan().info();
    made.fresnel_deviation_rad = frame_.fresnel_deviation_rad[c];
    const RowRange rows = rows_made();
    if (!is_ranged(job_)) set_range(devices);
    const Metadata metadata = metadata_of(c, points, made.info, devices.front().report());
    if (!held_.empty()) held_[c].reset();
    auto& run =
        written_.emplace_back(BandsFile{made.output,
                                        {rows.rows, job_.panel.nx},
                                        metadata,
                                        key_of(job_, points.sources()),
                                        job_.rows_at_once,
                                        "summing points by bands of rows",
                                        job_.rows.rows > 0 ? "block_crc32" : ""},
                              bands_options(job_.console, bar_, "; --rows-at-once makes more and smaller ones"), bar_);
    run.write(queues, [&](std::size_t device, std::int64_t first, View<Value, 2> band, Progress& progress) {
      auto& own = *std::next(devices.begin(), static_cast<std::ptrdiff_t>(device));
      own.make({rows.first_row + first, band.shape()[0]}, band, progress);
    });
    made.compute_s = watch.seconds();
    made.reconstruct_flags = flags_for(
        job_.output, metadata, {job_.lut, job_.phase_range_rad.text, job_.reference_angle_rad.text, job_.carrier});
    PointsRow row = row_of(frame_, c, made);
    row.bands = (rows.rows + job_.rows_at_once - 1) / job_.rows_at_once;
    row.resumed = run.resumed();
    return row;
  }

  const HologramJob& job_;
  FrameSource& source_;
  PreparedFrame frame_;
  ProgressBar bar_;
  std::vector<std::unique_ptr<io::RowsFile>> held_;  ///< of outputs that are not yet begun
  std::list<BandsRun<Value>> written_;  ///< finished together at the end: a resumed run finds the first colours too
};

std::int64_t rows_at_once_for(const HologramJob& job) {
  constexpr std::string_view option = "--rows-at-once";
  if (job.band_rows) {
    if (const auto lack = lack_for_rows(job); !lack.expected.empty()) reject(option, lack.expected, lack.got);
    if (is_moving(job)) reject(option, "one hologram, not moving pictures", job.output);
    return std::min(*job.band_rows, job.panel.ny);
  }
  const bool several = job.devices.size() > 1 || Ranks::all().several();
  if (const auto lack = lack_for_rows(job); !lack.expected.empty()) {
    require_one_device(job.devices, fmt::format("{}, or one device", lack.expected), job.output);
  }
  if (is_moving(job)) require_one_device(job.devices, "one device for moving pictures", job.output);
  if (!is_written_by_rows(job) || is_moving(job)) return 0;
  const double whole = bytes_for_whole(job);
  if (!several && !job.block.given() && whole <= max_whole_bytes && whole <= max_share_of_free * free_memory())
    return 0;
  return band_rows(job.panel);
}

/// Rows of part K of N: whole bands.
RowRange rows_of_block(const HologramJob& job) {
  constexpr std::string_view option = "--block";
  const auto lack = lack_for_rows(job);
  const auto extension = extension_of(job.output);
  if (extension != ".h5" && extension != ".hdf5" && extension != ".tif" && extension != ".tiff") {
    reject(option, "a file .h5, .hdf5 or .tif, which states the rows that it holds", job.output);
  }
  if (!lack.expected.empty()) reject(option, lack.expected, lack.got);
  if (is_moving(job)) reject(option, "one hologram, not moving pictures", job.output);
  const std::int64_t bands = (job.panel.ny + job.rows_at_once - 1) / job.rows_at_once;
  const auto [part, parts] = job.block.value;
  if (parts > bands) {
    reject(option,
           fmt::format("at most {} of {} rows; --rows-at-once makes them smaller", counted(bands, "part"),
                       job.rows_at_once),
           job.block.text);
  }
  const std::int64_t first = bands * (part - 1) / parts * job.rows_at_once;
  const std::int64_t end = std::min(bands * part / parts * job.rows_at_once, job.panel.ny);
  return {first, end - first};
}

}  // namespace

void set_bands(HologramJob& job) {
  job.rows_at_once = rows_at_once_for(job);
  if (!job.block.given()) return;
  if (job.rows_at_once == 0) job.rows_at_once = job.panel.ny;
  job.rows = rows_of_block(job);
}

std::vector<PointsRow> make_bands(const HologramJob& job, FrameSource& source, const BeforeSum& before) {
  if (job.complex_field) return BandWork<Complex>(job, source, before)();
  if (job.encode.bits <= 8) return BandWork<std::uint8_t>(job, source, before)();
  return BandWork<std::uint16_t>(job, source, before)();
}

}  // namespace holotone::cli
