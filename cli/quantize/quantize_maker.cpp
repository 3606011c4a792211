#include <algorithm>
#include <cli/common/band_memory.hpp>
#include <cli/common/bands_words.hpp>
#include <cli/common/cancel.hpp>
#include <cli/common/console.hpp>
#include <cli/common/device_option.hpp>
#include <cli/common/hologram_file.hpp>
#include <cli/common/memory_limit.hpp>
#include <cli/common/paths.hpp>
#include <cli/common/ranks.hpp>
#include <cli/options/option_value.hpp>
#include <cli/options/panel_options.hpp>
#include <cli/options/values.hpp>
#include <cli/options/viewer_option.hpp>
#include <cli/quantize/quantize_maker.hpp>
#include <cmath>
#include <fmt/format.h>
#include <holotone/bands/digest_detail.hpp>
#include <holotone/core/error.hpp>
#include <holotone/core/units.hpp>
#include <holotone/io/fields/field_rows.hpp>
#include <holotone/io/file_format_detail.hpp>
#include <holotone/io/guarded/guarded.hpp>
#include <holotone/recipes/codes/codes_writer_detail.hpp>
#include <holotone/recipes/codes/field_blocks_detail.hpp>
#include <holotone/recipes/hologram_file.hpp>
#include <holotone/recipes/quantized_file.hpp>
#include <list>
#include <mutex>
#include <utility>

namespace holotone::cli {
namespace {

constexpr std::int64_t truncated_rows = 512;  ///< block rows are a multiple

/// Throws if --panel names a panel of other pixels than the field's: its codes would focus elsewhere.
void require_panel_of_field(const QuantizeTask& task, const FieldRowsReader& reader) {
  const auto& overrides = task.overrides;
  if (!overrides.panel) return;
  const Panel& panel = *overrides.panel;
  const auto [ny, nx] = reader.shape();
  const double pitch = overrides.pitch_m
                           ? panel.pitch_m
                           : checked_number(task.input, reader.metadata(), "pitch_m").value_or(panel.pitch_m);
  constexpr double same_pitch = 1e-3;
  if (nx == panel.nx && ny == panel.ny && std::abs(pitch - panel.pitch_m) <= same_pitch * panel.pitch_m) return;
  reject<&HologramOverrides::panel>(
      fmt::format("a panel of {} x {} pixels of {}, as {} has, because the field was computed for it", nx, ny,
                  format_length(pitch), task.input),
      fmt::format("{}, {} x {} of {}", panel.name, panel.nx, panel.ny, format_length(panel.pitch_m)));
}

/// Metadata of the file with the overrides from the command line.
Metadata make_metadata(const QuantizeJob& job, const QuantizeTask& task, const FieldRowsReader& reader) {
  Metadata metadata = reader.metadata();
  const auto& overrides = task.overrides;
  require_panel_of_field(task, reader);
  apply_overrides(metadata, overrides);
  if (job.distance_m) set_metadata(metadata, "distance_m", *job.distance_m);
  if (!task.channel.empty()) metadata.emplace("channel", task.channel);
  require_stated(task.input, metadata, overrides, true);
  (void)checked_number(task.input, metadata, "distance_m");  // the codes state it again
  return metadata;
}

/// Side of hogels with their own windows: as typed, else as the file states it, else default_hogel_px.
std::int64_t window_side(const QuantizeJob& job, const std::string& path, const Metadata& metadata, double pitch_m) {
  if (job.hogel_px) return *job.hogel_px;
  if (const auto stated = checked_number(path, metadata, "hogel_px")) return static_cast<std::int64_t>(*stated);
  return default_hogel_px(job.viewer.value_or(Viewer{}), pitch_m);
}

/// Side of hogels that are quantized independently; 0: the panel.
std::int64_t hogel_side(const QuantizeJob& job, std::int64_t window_side) {
  if (job.method == QuantizeMethod::truncate) return 0;
  if (job.hogel_px || job.method == QuantizeMethod::vded) return window_side;
  return 0;
}

/// Rows per read. Several devices and processes get four blocks each: the codes do not depend on it.
std::int64_t rows_at_once(const QuantizeJob& job, const FieldGrid& grid, std::int64_t side) {
  if (job.diffusion.borders == HogelBorders::carry) return grid.ny;
  return find_block_rows(grid, job.method == QuantizeMethod::truncate ? truncated_rows : side,
                         std::ssize(job.devices) * Ranks::all().count());
}

FieldBlocks::Read read_rows(const FieldRowsReader& reader) {
  return [&reader](std::int64_t first_row, View<Complex, 2> rows) { reader.read(first_row, rows); };
}

/// Option text of a beam's angles; empty: not tilted.
std::string angle_text(const ReferenceBeam& beam) {
  if (beam == ReferenceBeam{}) return {};
  return fmt::format("{}rad,{}rad", beam.angle_x_rad, beam.angle_y_rad);
}

/// Records the quantization and the values that undo it.
void describe(Metadata& metadata, const QuantizeJob& job, const QuantizeRecord& row) {
  set_metadata(metadata, "software", "holotone " HOLOTONE_VERSION);
  set_metadata(metadata, "source", row.input);
  Quantization made{name_of(job.method), job.diffusion, row.scale, has_windows(job.method) ? &job.weights : nullptr,
                    &row.weights,        row.beam};
  made.diffusion.hogel_px = row.hogel_px;
  describe_quantization(metadata, made);
  set_metadata(metadata, "field_energy", row.energy);
  if (job.scale == 0) set_metadata(metadata, "clip", job.diffusion.clip);
  metadata.erase("viewer");
  if (job.viewer) set_metadata(metadata, "viewer", to_text(*job.viewer));
}

void require_memory_for(const QuantizeJob& job, const QuantizeRecord& row, std::int64_t rows) {
  const bool carry = job.diffusion.borders == HogelBorders::carry;
  const double pixels = static_cast<double>(row.grid.nx) * static_cast<double>(row.grid.ny);
  const double block = static_cast<double>(row.grid.nx) * static_cast<double>(rows);
  const bool by_rows = CodesWriter::takes_rows(row.output) || CodesWriter::takes_any_order(row.output, job.writing);
  const bool at_once = rows == row.grid.ny || !by_rows;
  // The codes, the file's buffer while it is written, and the next codes meanwhile.
  const double codes = at_once ? 2 * pixels : 3 * block;
  constexpr double constant_bytes = 96 << 20;
  const bool one = rows == row.grid.ny && pixels > static_cast<double>(max_block_pixels);
  const auto devices = static_cast<double>(job.devices.size());
  require_memory(row.input, constant_bytes + devices * block * sizeof(Complex) + codes,
                 fmt::format("{} x {} pixels{}", row.grid.nx, row.grid.ny,
                             !one    ? ""
                             : carry ? " at once, for which --borders separate takes less"
                                     : " as one hogel, for which --hogel takes less"));
}

/// Options of the error diffusion for a field.
ErrorDiffusionOptions diffusion_of(const QuantizeJob& job, const QuantizeRecord& row, std::int64_t rows) {
  ErrorDiffusionOptions options = job.diffusion;
  // Truncation: each pixel by itself, in blocks of any rows.
  options.hogel_px = job.method == QuantizeMethod::truncate ? rows : row.hogel_px;
  options.scale = row.scale;
  options.cache_folder = kernel_folder(job.console);
  return options;
}

/// A field to be quantized: its blocks, and the metadata of its codes.
struct QuantizedField {
  const FieldRowsReader& reader;
  std::int64_t rows;  ///< of a block
  Metadata metadata;
  std::uint64_t digest;  ///< of the values
  const FieldReadOptions& numbers;
};

/// One device that reads and quantizes blocks.
struct Quantizer {
  FieldRowsReader reader;
  FieldBlocks blocks;
  Queue queue;
  BlockQuantizer quantizer;

  Quantizer(const QuantizedField& field, const QuantizeRecord& row, const ErrorDiffusionOptions& options,
            Queue given_queue)
      : reader(row.input, current_program(), field.numbers),
        blocks(read_rows(reader), row.grid, row.beam, field.rows),
        queue(std::move(given_queue)),
        quantizer(options, row.weights.weights, row.grid, blocks.rows(), queue) {}
};

/// Quantizes, measures and writes the field by blocks, in any order, on all devices.
void make_codes_by_rows(const QuantizeJob& job, QuantizeRecord& row, const QuantizedField& field,
                        std::optional<WindowMeter>& meter, ProgressBar& bar) {
  BandsRun<std::uint8_t> run(
      {row.output, row.grid.shape(), field.metadata,
       fmt::format("quantize {:016x} {}", field.digest, backend_of(job.device)), field.rows, "quantising"},
      bands_options(job.console, bar), bar);
  row.resumed = run.resumed();
  // What other runs and processes make is not measured, and a part does not tell of the whole.
  if (row.resumed > 0 || Ranks::all().several()) meter.reset();
  std::list<Quantizer> devices;
  std::vector<Queue> queues;
  for (const auto& device : job.devices) {
    queues.push_back(Queue::create(device));
    devices.emplace_back(field, row, diffusion_of(job, row, field.rows), queues.back());
  }
  std::mutex measuring;
  run.write(queues, [&](std::size_t device, std::int64_t first_row, View<std::uint8_t, 2> codes, Progress&) {
    auto& device_state = *std::next(devices.begin(), static_cast<std::ptrdiff_t>(device));
    const auto values = device_state.blocks.at(first_row / field.rows);
    device_state.quantizer.execute(first_row, values, codes);
    if (!meter) return;
    const auto here = codes.device() == Device{} ? Array<std::uint8_t, 2>{} : copy_of<std::uint8_t, 2>(codes, Device{});
    const std::scoped_lock lock(measuring);
    meter->add_rows(first_row, values, here.empty() ? codes : here.view(), row.scale);
  });
  run.finish();
  row.rates = run.rates();
}

/// The same from top to bottom on one device.
void make_codes_in_order(const QuantizeJob& job, const QuantizeRecord& row, const QuantizedField& field,
                         std::optional<WindowMeter>& meter, Progress& progress) {
  FieldBlocks blocks(read_rows(field.reader), row.grid, row.beam, field.rows);
  BlockQuantizer quantizer(diffusion_of(job, row, field.rows), row.weights.weights, row.grid, blocks.rows(),
                           Queue::create(job.device));
  CodesWriter writer(row.output, row.grid.shape(), field.metadata, blocks.count() > 1, job.writing);
  for (std::int64_t block = 0; block < blocks.count(); ++block) {
    progress.step("quantising", block, blocks.count());
    const auto values = blocks.at(block);
    const auto codes = writer.next(values.shape()[0]);
    quantizer.execute_to_host(blocks.first_row(block), values, codes);
    if (meter) meter->add_rows(blocks.first_row(block), values, codes, row.scale);
    check_cancelled("quantising");
    writer.write();
  }
  check_cancelled("writing");
  UnfinishedRun::will_write(row.output);
  writer.finish();
}

void make_codes(const QuantizeJob& job, QuantizeRecord& row, const QuantizedField& field, ProgressBar& bar) {
  std::optional<WindowMeter> meter;
  if (job.viewer) meter.emplace(diffusion_of(job, row, field.rows), row.grid, *job.viewer, row.beam);
  if (CodesWriter::takes_any_order(row.output, job.writing)) {
    make_codes_by_rows(job, row, field, meter, bar);
  } else {
    make_codes_in_order(job, row, field, meter, bar);
  }
  if (meter) row.window = meter->measured();
}

}  // namespace

QuantizeRecord quantize_field(const QuantizeJob& job, const QuantizeTask& task,
                              const std::function<void(const QuantizeRecord&)>& before, ProgressBar& bar) {
  const Stopwatch watch;
  const auto& numbers = task.overrides.numbers;
  if (!is_hologram_field(task.input, numbers)) {
    throw_io(task.input, "a complex field, as hologram -o NAME.h5 writes",
             "a picture: its codes are quantized already");
  }
  const FieldRowsReader reader = with_remedy([&] { return FieldRowsReader(task.input, current_program(), numbers); });
  for (const auto& note : reader.notes()) warn(job.console, note);
  if (reader.metadata().contains("block_of_rows")) {
    throw_io(task.input, "a whole field", "a part of one: holotone join puts parts together");
  }
  Metadata metadata = make_metadata(job, task, reader);
  QuantizeRecord row;
  row.input = task.input;
  row.output = task.output;
  row.channel = task.channel;
  row.grid = stated_grid(task.input, metadata, reader.shape());
  const bool windows = job.viewer.has_value() || job.method == QuantizeMethod::vded;
  std::int64_t window_px =
      windows ? window_side(job, task.input, metadata, row.grid.pitch_m) : job.hogel_px.value_or(0);
  if (window_px >= std::max(row.grid.nx, row.grid.ny)) window_px = 0;
  row.window_px = window_px;
  row.hogel_px = hogel_side(job, window_px);
  row.hogels = hogels_of(row.grid.shape(), row.hogel_px);
  constexpr std::int64_t max_hogels = 1 << 18;  // each has a set of weights
  if (const std::int64_t count = row.hogels[0] * row.hogels[1]; has_windows(job.method) && count > max_hogels) {
    const auto expected = fmt::format("hogels for at most {} sets of weights", max_hogels);
    const auto got = fmt::format("{} of {} pixels a side", count, row.hogel_px);
    if (job.hogel_px) reject<&QuantizeJob::hogel_px>(expected, got);
    throw_io(task.input, expected, got);
  }
  row.beam = reference_beam(job, task.input, row.grid, window_px);
  row.weights = hogel_weights(job, task.input, row.grid, row.hogel_px, row.beam);
  const std::int64_t rows = rows_at_once(job, row.grid, row.hogel_px);
  require_memory_for(job, row, rows);
  if (!CodesWriter::takes_any_order(row.output, job.writing)) {
    require_one_device(job.devices, "codes in a .tif or .npy without --compression, or one device", row.output);
  }
  before(row);
  FieldBlocks blocks(read_rows(reader), row.grid, row.beam, rows);
  FieldScaleOptions scaling{job.diffusion.modulation, job.diffusion.clip, job.scale};
  std::uint64_t digest = first_digest;  // where rows of an earlier run may be continued
  if (CodesWriter::takes_any_order(row.output, job.writing)) {
    scaling.each = [&](View<const Complex, 2> block) { digest = digest_of_pieces<Complex>(block.host(), digest); };
    BandMemory::all().allocate_ahead(job.devices,
                                     static_cast<std::size_t>(std::min(blocks.rows(), row.grid.ny) * row.grid.nx));
  }
  const auto [scale, energy] = find_scale(task.input, blocks, row.grid, scaling, bar);
  row.scale = scale;
  row.energy = energy;
  row.dark = energy == 0;
  if (row.scale == 0) row.scale = 1;
  describe(metadata, job, row);
  row.reconstruct_flags = flags_for(row.output, metadata, {job.lut, {}, angle_text(row.beam), {}, job.lut_unit});
  if (metadata.count("distance_m") == 0)
    std::erase_if(row.reconstruct_flags, [](const auto& flag) { return flag.first == "--distance"; });
  make_codes(job, row, {reader, blocks.rows(), std::move(metadata), digest, numbers}, bar);
  row.seconds = watch.seconds();
  return row;
}

}  // namespace holotone::cli
