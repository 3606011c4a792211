#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <functional>
#include <holotone/bands/device_threads.hpp>
#include <holotone/bands/digest_detail.hpp>
#include <holotone/core/error.hpp>
#include <holotone/io/rows_file_detail.hpp>
#include <holotone/recipes/hologram_file.hpp>
#include <holotone/recipes/metadata_keys.hpp>
#include <holotone/recipes/point_hologram.hpp>
#include <holotone/recipes/prints.hpp>
#include <limits>
#include <memory>
#include <mutex>
#include <utility>

namespace holotone {
namespace {

constexpr const char* where = "print_points";
constexpr auto any = static_cast<double>(std::numeric_limits<std::int64_t>::max());

/// True if no range has to be measured in the field.
bool is_ranged(const std::optional<EncodeOptions>& encoding) {
  if (!encoding || encoding_traits(encoding->encoding).range == EncodingTraits::Range::none) return true;
  return encoding->amplitude_min != 0 || encoding->amplitude_max != 0;
}

std::size_t value_bytes(const PointPrint& print) {
  if (!print.encoding) return sizeof(Complex);
  return print.encoding->bits <= 8 ? sizeof(std::uint8_t) : sizeof(std::uint16_t);
}

void check(const std::vector<PointPrint>& prints, const PrintOptions& options) {
  if (prints.empty()) throw_argument(where, "prints", "at least one", "none");
  if (options.devices.empty()) throw_argument(where, "devices", "at least one", "none");
  for (const Device device : options.devices) {
    if (device.backend == options.devices.front().backend) continue;
    throw_argument(where, "devices", "devices of one backend",
                   to_string(options.devices.front()) + " and " + to_string(device));
  }
  if (options.rows_at_once != 0) {
    require_range(where, "rows_at_once", static_cast<double>(options.rows_at_once), 1, any);
  }
  for (const auto& print : prints) {
    if (options.rows.rows > 0) require_rows(where, options.rows, print.sum.shape[0]);
    if (has_steady_range(print.sum, print.encoding)) continue;
    throw_argument(
        where, "encoding.amplitude_max",
        "a range, or a sum that is deterministic, direct or recurrence, which measures the same in every run",
        fmt::format("none for {} by {}", to_string(print.encoding->encoding), to_string(print.sum.method)));
  }
}

/// Identity of the rows beyond the file's metadata: rows of other points or of another backend are not resumed.
std::string key_of(const PointPrint& print, const PointSources& points, Device device) {
  std::uint64_t digest = first_digest;
  const auto add = [&](const auto& view) { digest = digest_of<float>(view.host(), digest); };
  add(points.position_m);
  add(points.amplitude);
  add(points.phase_rad);
  if (print.encoding) add(print.encoding->correction_rad);
  const auto name = to_string(device);
  return fmt::format("points {:016x} {}", digest, name.substr(0, name.find(':')));
}

/// The bands that all devices have measured. A band's own progress only cancels.
class MeasuredBands final : public Progress {
 public:
  MeasuredBands(Progress& progress, std::int64_t bands) : progress_(progress), bands_(bands) {}

  bool update(std::string_view, std::int64_t, std::int64_t) override {
    const std::scoped_lock lock(mutex_);
    return report();
  }
  void add(float largest) {
    const std::scoped_lock lock(mutex_);
    largest_ = std::max(largest_, largest);
    ++done_;
    if (!report()) throw Error(ErrorCode::cancelled, std::string(stage) + ": cancelled");
  }
  [[nodiscard]] float largest() const { return largest_; }

 private:
  static constexpr std::string_view stage = "measuring the range by bands of rows";
  bool report() { return progress_.update(stage, done_, bands_); }

  Progress& progress_;
  std::int64_t bands_;
  std::mutex mutex_;
  float largest_ = 0;
  std::int64_t done_ = 0;
};

class PrintRun {
 public:
  PrintRun(const PointCloud& cloud, const std::vector<PointPrint>& prints, const PrintOptions& options,
           BandsOptions bands, Progress& progress)
      : cloud_(cloud), prints_(prints), options_(options), bands_(std::move(bands)), progress_(progress) {
    if (bands_.ranks == nullptr) bands_.ranks = &one_process_;
    if (bands_.memory == nullptr) bands_.memory = &own_memory_;
  }

  std::vector<PrintedHologram> operator()() {
    hold_outputs();
    std::vector<PrintedHologram> made;
    for (std::size_t i = 0; i < prints_.size(); ++i) {
      const auto& print = prints_[i];
      if (!print.encoding) {
        made.push_back(make<Complex>(i));
      } else if (print.encoding->bits <= 8) {
        made.push_back(make<std::uint8_t>(i));
      } else {
        made.push_back(make<std::uint16_t>(i));
      }
    }
    for (std::size_t i = 0; i < made.size(); ++i) made[i].rates = finish_[i]();
    return made;
  }

 private:
  [[nodiscard]] RowRange band_rows(const PointPrint& print) const {
    return options_.rows.rows > 0 ? options_.rows : RowRange{0, print.sum.shape[0]};
  }
  [[nodiscard]] std::int64_t at_once(const PointPrint& print) const {
    const std::int64_t rows = options_.rows_at_once > 0 ? options_.rows_at_once : rows_of_bands(print.sum.shape);
    return std::min(rows, print.sum.shape[0]);
  }

  /// Checks space, locks and names of all outputs before the first sum, which may take hours.
  void hold_outputs() {
    bands_.ranks->together([&] {
      if (!bands_.ranks->first()) return;
      std::uint64_t beside = 0;
      for (const auto& print : prints_) {
        const auto row_bytes = static_cast<std::uint64_t>(print.sum.shape[1]) * value_bytes(print);
        const io::RowsContent content{{}, band_rows(print).rows, row_bytes};
        const auto& file = held_.emplace_back(std::make_unique<io::RowsFile>(print.output, content, beside));
        beside += file->bytes_needed();
      }
    });
  }

  [[nodiscard]] Metadata metadata_of(const PointPrint& print, const PointSources& points, const PointHologramPlan& plan,
                                     const std::string& key) const {
    Metadata metadata = print.metadata;
    describe_points(metadata, points, print.sum, plan.info(), prints_.size() > 1);
    if (print.encoding) {
      describe_encoding(metadata, *print.encoding, plan.report(), false);
    } else {
      set_metadata(metadata, "encoding", "complex");
    }
    set_metadata(metadata, "rows_at_once", std::to_string(at_once(print)));
    if (options_.rows.rows > 0) {
      set_metadata(metadata, "block_first_row", std::to_string(options_.rows.first_row));
      set_metadata(metadata, "block_of_rows", std::to_string(print.sum.shape[0]));
      set_metadata(metadata, "block_source", key);
    }
    return metadata;
  }

  /// Measures the range of the whole panel in a first pass over its bands, which all processes share.
  void set_range(const PointPrint& print, std::vector<PointHologramPlan>& devices) {
    auto& ranks = *bands_.ranks;
    const std::int64_t ny = print.sum.shape[0];
    const std::int64_t rows = at_once(print);
    const std::int64_t bands = (ny + rows - 1) / rows;
    const std::int64_t here = (bands - ranks.rank() + ranks.count() - 1) / ranks.count();
    MeasuredBands measured(progress_, here);
    ranks.together([&] {
      share_among(devices.size(), here, [&](std::size_t device, std::int64_t item) {
        const std::int64_t first = (ranks.rank() + item * ranks.count()) * rows;
        measured.add(devices[device].measure({first, std::min(rows, ny - first)}, measured).amplitude_max);
      });
    });
    float largest = ranks.largest(measured.largest());
    if (largest == 0) largest = 1;  // as EncodePlan takes a dark field
    const bool symmetric = encoding_traits(print.encoding->encoding).range == EncodingTraits::Range::symmetric;
    for (auto& device : devices) device.set_range({symmetric ? -largest : 0, largest});
  }

  template <class Value>
  PrintedHologram make(std::size_t index) {
    const auto start = std::chrono::steady_clock::now();
    const auto& print = prints_[index];
    const CloudSources points(cloud_, print.colour);
    const PointHologramOptions hologram{print.sum, print.encoding, at_once(print)};
    std::vector<PointHologramPlan> devices;
    std::vector<Queue> queues;
    for (const Device device : options_.devices) {
      auto& plan = devices.emplace_back(hologram, Queue::create(device));
      plan.set_points(points.sources());
      queues.push_back(plan.queue());
    }
    const RowRange rows = band_rows(print);
    if (!is_ranged(print.encoding)) set_range(print, devices);
    const auto key = key_of(print, points.sources(), options_.devices.front());
    PrintedHologram made;
    made.info = devices.front().info();
    made.metadata = metadata_of(print, points.sources(), devices.front(), key);
    made.bands = (rows.rows + at_once(print) - 1) / at_once(print);
    if (!held_.empty()) held_[index].reset();
    const auto run =
        std::make_shared<BandsRun<Value>>(BandsFile{.output = print.output,
                                                    .shape = {rows.rows, print.sum.shape[1]},
                                                    .metadata = made.metadata,
                                                    .key = key,
                                                    .rows_at_once = at_once(print),
                                                    .stage = "summing points by bands of rows",
                                                    .checksum_key = options_.rows.rows > 0 ? "block_crc32" : ""},
                                          bands_, progress_);
    made.resumed_rows = run->resumed();
    // Finished together at the end: a resumed run finds the first colours too.
    finish_.emplace_back([run] {
      run->finish();
      return run->rates();
    });
    run->write(queues, [&](std::size_t device, std::int64_t first, View<Value, 2> band, Progress& progress) {
      devices[device].execute({rows.first_row + first, band.shape()[0]}, band, progress);
    });
    made.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return made;
  }

  const PointCloud& cloud_;
  const std::vector<PointPrint>& prints_;
  const PrintOptions& options_;
  BandsOptions bands_;
  Progress& progress_;
  Ranks one_process_;
  BandMemory own_memory_;
  std::vector<std::unique_ptr<io::RowsFile>> held_;  ///< of outputs that are not yet begun
  std::vector<std::function<BandRates()>> finish_;
};

}  // namespace

bool has_steady_range(const PointCloudOptions& sum, const std::optional<EncodeOptions>& encoding) {
  if (is_ranged(encoding) || sum.deterministic) return true;
  return sum.method == PointMethod::direct || sum.method == PointMethod::recurrence;
}

std::int64_t rows_of_bands(Shape<2> shape) {
  constexpr std::int64_t tile = 256;
  const auto [ny, nx] = shape;
  const std::int64_t pixels = std::clamp(ny * nx / 64, std::int64_t{1} << 25, std::int64_t{1} << 27);
  const std::int64_t bands = (ny * nx + pixels - 1) / pixels;
  const std::int64_t rows = (ny + bands - 1) / bands;
  return rows <= tile ? rows : std::min((rows + tile - 1) / tile * tile, ny);
}

RowRange part_of_bands(std::int64_t ny, std::int64_t rows_at_once, std::int64_t part, std::int64_t parts) {
  constexpr const char* here = "part_of_bands";
  require_range(here, "ny", static_cast<double>(ny), 1, any);
  require_range(here, "rows_at_once", static_cast<double>(rows_at_once), 1, any);
  const std::int64_t bands = (ny + rows_at_once - 1) / rows_at_once;
  require_range(here, "parts", static_cast<double>(parts), 1, static_cast<double>(bands));
  require_range(here, "part", static_cast<double>(part), 1, static_cast<double>(parts));
  const std::int64_t first = bands * (part - 1) / parts * rows_at_once;
  return {first, std::min(bands * part / parts * rows_at_once, ny) - first};
}

std::vector<PrintedHologram> print_points(const PointCloud& cloud, const std::vector<PointPrint>& prints,
                                          const PrintOptions& options, Progress& progress) {
  return print_points_by_ranks(cloud, prints, options, {}, progress);
}

std::vector<PrintedHologram> print_points_by_ranks(const PointCloud& cloud, const std::vector<PointPrint>& prints,
                                                   const PrintOptions& options, const BandsOptions& bands,
                                                   Progress& progress) {
  check(prints, options);
  return PrintRun(cloud, prints, options, bands, progress)();
}

}  // namespace holotone
