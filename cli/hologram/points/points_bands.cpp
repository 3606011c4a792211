#include <algorithm>
#include <cli/common/band_memory.hpp>
#include <cli/common/bands_words.hpp>
#include <cli/common/cancel.hpp>
#include <cli/common/device_option.hpp>
#include <cli/common/memory_limit.hpp>
#include <cli/common/ranks.hpp>
#include <cli/hologram/common/memory_estimate.hpp>
#include <cli/hologram/points/empty_hologram.hpp>
#include <cli/hologram/points/points_bands.hpp>
#include <cli/options/values.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/file_format_detail.hpp>
#include <holotone/recipes/metadata_keys.hpp>
#include <holotone/recipes/prints.hpp>
#include <optional>

namespace holotone::cli {
namespace {

/// Memory of a whole panel, on every machine, and its share of the free memory, above which it is computed by bands.
constexpr double max_whole_bytes = 2.0 * (1U << 30U);
constexpr double max_share_of_free = 0.25;

/// What a job lacks to be written by rows, and what it has instead.
struct Lack {
  std::string expected;  ///< empty: nothing is lacking
  std::string got;
};
Lack lack_for_rows(const HologramJob& job) {
  if (job.complex_field) {
    return io::has_format(job.output, io::formats::fields_by_rows)
               ? Lack{}
               : Lack{"a file .h5, .hdf5 or .npy for the complex field", job.output};
  }
  if (!io::has_format(job.output, io::FileFormat::tiff)) {
    return {"a file .tif for codes, or .h5 or .npy for the complex field", job.output};
  }
  if (job.packed16) return {"codes without --packed16", "--packed16"};
  if (const int level = job.writing.compression.value_or(0); level > 0) {
    return {"a .tif without --compression", fmt::format("--compression {}", level)};
  }
  if (job.writing.scaled_bits > 0) return {"codes without --scale-codes", "--scale-codes"};
  const std::string encoding = fmt::format("--encode {}", to_string(job.encode.encoding));
  if (!encoding_traits(job.encode.encoding).by_rows) return {"an encoding other than single-sideband", encoding};
  if (has_steady_range(job.sum, job.encode)) return {};
  return {"--amplitude-range, --deterministic or --method direct or recurrence for this encoding", encoding};
}

bool is_written_by_rows(const HologramJob& job) { return lack_for_rows(job).expected.empty(); }

bool is_moving(const HologramJob& job) { return job.spin.frames > 0 || frame_pattern("--output", job.output); }

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
  return rows_of_bands({job.panel.ny, job.panel.nx});
}

/// Rows of part K of N: whole bands.
RowRange rows_of_block(const HologramJob& job) {
  constexpr std::string_view option = "--block";
  const auto lack = lack_for_rows(job);
  if (!io::has_format(job.output, io::FileFormat::hdf5 | io::FileFormat::tiff)) {
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
  return part_of_bands(job.panel.ny, job.rows_at_once, part, parts);
}

}  // namespace

void set_bands(HologramJob& job) {
  job.rows_at_once = rows_at_once_for(job);
  if (!job.block.given()) return;
  if (job.rows_at_once == 0) job.rows_at_once = job.panel.ny;
  job.rows = rows_of_block(job);
}

std::vector<PointsRecord> make_bands(const HologramJob& job, FrameSource& source, const BeforeSum& before) {
  const std::size_t value_bytes = job.complex_field ? sizeof(Complex) : job.encode.bits <= 8 ? 1 : 2;
  const std::int64_t values = std::min(job.rows_at_once, job.panel.ny) * job.panel.nx;
  BandMemory::all().allocate_ahead(job.devices, static_cast<std::size_t>(values) * value_bytes);
  const PreparedFrame frame = source.prepare(0);
  check_cancelled("reading");
  require_light(job, frame.input, frame.dark);
  auto rows = rows_before_sum(job, source, frame);
  before(rows);
  const Wave wave = wave_of_run(job, frame);
  std::vector<PointPrint> prints;
  for (std::size_t c = 0; c < job.channels.size(); ++c) {
    const auto& channel = job.channels[c];
    auto& print = prints.emplace_back(PointPrint{rows[c].output, job.sum_options(channel), std::nullopt, channel.colour,
                                                 scene_metadata(job, c, frame)});
    print.sum.wave = wave;
    if (job.complex_field) continue;
    print.encoding = job.encode_options(channel);
    if (!job.correction.empty()) set_metadata(print.metadata, "correction", job.correction);
  }
  ProgressBar bar(job.console);
  const UnfinishedRun run;
  const auto made =
      print_points_by_ranks(frame.points.cloud, prints, {job.devices, job.rows_at_once, job.rows},
                            bands_options(job.console, bar, "; --rows-at-once makes more and smaller ones"), bar);
  // All rows are written: a cancellation from here on keeps the file.
  UnfinishedRun::keep();
  for (std::size_t c = 0; c < rows.size(); ++c) {
    auto& row = rows[c];
    row.info = made[c].info;
    row.fresnel_deviation_rad = frame.fresnel_deviation_rad[c];
    row.compute_s = made[c].seconds;
    row.reconstruct_flags = flags_of(job, made[c].metadata);
    row.bands = made[c].bands;
    row.resumed = made[c].resumed_rows;
    row.rates = made[c].rates;
  }
  return rows;
}

}  // namespace holotone::cli
