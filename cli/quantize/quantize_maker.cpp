#include <algorithm>
#include <cli/common/cancel.hpp>
#include <cli/common/codes_writer.hpp>
#include <cli/common/console.hpp>
#include <cli/common/memory_limit.hpp>
#include <cli/common/panel_options.hpp>
#include <cli/common/paths.hpp>
#include <cli/common/values.hpp>
#include <cli/common/viewer_option.hpp>
#include <cli/quantize/quantize_maker.hpp>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/core/parallel.hpp>
#include <holotone/core/units.hpp>
#include <holotone/io/field_rows.hpp>
#include <holotone/io/guarded.hpp>
#include <holotone/quantize/modulus_share.hpp>
#include <holotone/recipes/hologram_file.hpp>
#include <holotone/recipes/quantized_file.hpp>
#include <numeric>

namespace holotone::cli {
namespace {

constexpr std::int64_t most_default_hogel_px = 2048;
constexpr std::int64_t least_default_hogel_px = 64;
constexpr std::int64_t pixels_at_once = 1 << 22;  ///< most pixels of a field read at once; target for a block
constexpr std::int64_t truncated_rows = 512;      ///< block rows are a multiple

/// A field without the reference beam, in blocks of rows; a block stays valid until another is requested.
class FieldBlocks {
 public:
  FieldBlocks(const FieldRowsReader& reader, const FieldGrid& grid, const ReferenceBeam& beam, std::int64_t rows)
      : reader_(reader), grid_(grid), beam_(beam), rows_(rows) {}

  [[nodiscard]] std::int64_t rows() const { return std::min(rows_, reader_.shape()[0]); }
  [[nodiscard]] std::int64_t count() const { return (reader_.shape()[0] + rows_ - 1) / rows_; }
  [[nodiscard]] std::int64_t first_row(std::int64_t block) const { return block * rows_; }

  View<const Complex, 2> at(std::int64_t block) {
    if (block == held_) return values_.view();
    const auto [ny, nx] = reader_.shape();
    const Shape<2> shape{std::min(rows_, ny - first_row(block)), nx};
    held_ = -1;
    if (values_.shape() != shape) values_ = Array<Complex, 2>(shape);
    reader_.read(first_row(block), values_.view());
    remove_beam(beam_, grid_, first_row(block), values_.view());
    held_ = block;
    return values_.view();
  }

 private:
  const FieldRowsReader& reader_;
  FieldGrid grid_;
  ReferenceBeam beam_;
  std::int64_t rows_;
  std::int64_t held_ = -1;
  Array<Complex, 2> values_;
};

/// Throws if --panel names a panel of other pixels than the field's: its codes would focus elsewhere.
void require_panel_of_field(const QuantizeTask& task, const FieldRowsReader& reader,
                            const HologramOverrides& overrides) {
  if (overrides.panel.empty()) return;
  const Panel panel = chosen_panel({overrides.panel, {}, {}, {}});
  const auto [ny, nx] = reader.shape();
  const double pitch = overrides.pitch.empty()
                           ? checked_number(task.input, reader.metadata(), "pitch_m").value_or(panel.pitch_m)
                           : panel.pitch_m;
  constexpr double same_pitch = 1e-3;
  if (nx == panel.nx && ny == panel.ny && std::abs(pitch - panel.pitch_m) <= same_pitch * panel.pitch_m) return;
  reject("--panel",
         fmt::format("a panel of {} x {} pixels of {}, as {} has, because the field was computed for it", nx, ny,
                     format_length(pitch), task.input),
         fmt::format("{}, {} x {} of {}", panel.name, panel.nx, panel.ny, format_length(panel.pitch_m)));
}

/// Metadata of the file with the overrides from the command line.
Metadata metadata_of(const QuantizeJob& job, const QuantizeTask& task, const FieldRowsReader& reader) {
  Metadata metadata = reader.metadata();
  HologramOverrides overrides = job.overrides;
  overrides.wavelength = task.wavelength;
  require_panel_of_field(task, reader, overrides);
  apply_overrides(metadata, overrides);
  if (job.distance_m) set_metadata(metadata, "distance_m", *job.distance_m);
  if (!task.channel.empty()) metadata.emplace("channel", task.channel);
  require_stated(task.input, metadata, overrides, true);
  (void)checked_number(task.input, metadata, "distance_m");  // the codes state it again
  return metadata;
}

/// Largest power of two up to 2048, at least 64, with a window shift of at most 1/8 of the window's smaller side. The
/// shift is that from a hogel's centre to its edge.
std::int64_t default_hogel_side(const Viewer& viewer, double pitch_m) {
  const double most = std::min(viewer.width_m, viewer.height_m) / (4 * pitch_m);
  std::int64_t side = most_default_hogel_px;
  while (side > least_default_hogel_px && static_cast<double>(side) > most) side /= 2;
  return side;
}

/// Side of hogels with their own windows: as typed, else as the file states it, else default_hogel_side.
std::int64_t window_side(const QuantizeJob& job, const std::string& path, const Metadata& metadata, double pitch_m) {
  if (job.hogel_px) return *job.hogel_px;
  if (const auto stated = checked_number(path, metadata, "hogel_px")) return static_cast<std::int64_t>(*stated);
  return default_hogel_side(job.viewer.value_or(Viewer{}), pitch_m);
}

/// Side of hogels that are quantized independently; 0: the panel.
std::int64_t hogel_side(const QuantizeJob& job, std::int64_t window_side) {
  if (job.method == QuantizeMethod::truncate) return 0;
  if (job.hogel_px || job.method == QuantizeMethod::vded) return window_side;
  return 0;
}

/// Rows per read: all rows, or whole rows of hogels up to a block's size.
std::int64_t rows_at_once(const QuantizeJob& job, const FieldGrid& grid, std::int64_t side) {
  if (job.method == QuantizeMethod::truncate) side = truncated_rows;
  const bool whole = side == 0 || job.diffusion.borders == HogelBorders::carry;
  if (whole || side >= grid.ny || grid.nx * grid.ny <= pixels_at_once) return grid.ny;
  return side * std::max<std::int64_t>(1, pixels_at_once / (side * grid.nx));
}

double sum_of_squares(View<const Complex, 2> field) {
  const auto [ny, nx] = field.shape();
  std::vector<double> rows(static_cast<std::size_t>(ny));
  parallel_for(0, ny, [&, width = nx](std::int64_t row) {
    double sum = 0;
    for (std::int64_t x = 0; x < width; ++x) sum += std::norm(std::complex<double>(field(row, x)));
    rows[static_cast<std::size_t>(row)] = sum;
  });
  return std::accumulate(rows.begin(), rows.end(), 0.0);
}

/// Divisor of the field, and the field's mean square.
struct FieldScale {
  double scale;
  double energy;
};
FieldScale scale_of(const QuantizeJob& job, const std::string& path, FieldBlocks& blocks, const FieldGrid& grid,
                    Progress& progress) {
  ModulusShare share(job.diffusion.modulation, job.diffusion.clip);
  const std::int64_t nx = grid.nx;
  double squares = 0;
  bool first = true;
  do {
    for (std::int64_t block = 0; block < blocks.count(); ++block) {
      progress.step("looking for the scale", block, blocks.count());
      share.add(blocks.at(block));
      if (first) squares += sum_of_squares(blocks.at(block));
    }
    first = false;
    if (const std::int64_t broken = share.broken(); broken >= 0) {
      throw_io(path, "finite values", fmt::format("one that is not at row {}, column {}", broken / nx, broken % nx));
    }
  } while (job.scale == 0 && share.another_pass());
  const double energy = squares / (static_cast<double>(grid.nx) * static_cast<double>(grid.ny));
  const double scale = job.scale > 0 ? job.scale : share.modulus();
  if (const double typical = std::max(scale, std::sqrt(energy)); typical > most_field_value)
    throw_io(path, fmt::format("values of at most {:g}", most_field_value), fmt::format("{:g}", typical));
  return {scale, energy};
}

/// Quantizes blocks of rows on the job's device.
class BlockQuantizer {
 public:
  BlockQuantizer(ErrorDiffusionOptions options, const DiffusionWeights& weights, const FieldGrid& grid,
                 std::int64_t rows, Queue queue)
      : queue_(std::move(queue)), plan_(at_once(std::move(options), rows), weights, grid.shape(), queue_) {
    if (queue_.device().backend == Backend::cpu) return;
    values_ = Array<Complex, 2>({rows, grid.nx}, queue_);
    levels_ = Array<std::uint8_t, 2>({rows, grid.nx}, queue_);
  }

  void execute(std::int64_t first_row, View<const Complex, 2> field, View<std::uint8_t, 2> codes) {
    const RowRange part{first_row, field.shape()[0]};
    if (queue_.device().backend == Backend::cpu) return plan_.execute(part, field, codes);
    // The last block may have fewer rows.
    const View<Complex, 2> values(values_.data(), field.shape(), queue_.device());
    const View<std::uint8_t, 2> levels(levels_.data(), field.shape(), queue_.device());
    copy<Complex, 2>(values, field, queue_);
    plan_.execute(part, values, levels);
    copy<std::uint8_t, 2>(codes, levels, queue_);
    queue_.synchronize();
  }

 private:
  static ErrorDiffusionOptions at_once(ErrorDiffusionOptions options, std::int64_t rows) {
    options.rows_at_once = rows;
    return options;
  }

  Queue queue_;
  ErrorDiffusionPlan plan_;
  Array<Complex, 2> values_;  ///< device buffer, unused on the host
  Array<std::uint8_t, 2> levels_;
};

/// Option text of a beam's angles; empty: not tilted.
std::string angle_text(const ReferenceBeam& beam) {
  if (beam == ReferenceBeam{}) return {};
  return fmt::format("{}rad,{}rad", beam.angle_x_rad, beam.angle_y_rad);
}

/// Records the quantization and the values that undo it.
void describe(Metadata& metadata, const QuantizeJob& job, const QuantizeRow& row) {
  set_metadata(metadata, "software", "holotone " HOLOTONE_VERSION);
  set_metadata(metadata, "source", row.input);
  Quantization made{to_string(job.method), job.diffusion, row.scale, has_windows(job.method) ? &job.weights : nullptr,
                    &row.weights,          row.beam};
  made.diffusion.hogel_px = row.hogel_px;
  describe_quantization(metadata, made);
  set_metadata(metadata, "field_energy", row.energy);
  if (job.scale == 0) set_metadata(metadata, "clip", job.diffusion.clip);
  metadata.erase("viewer");
  if (job.viewer) set_metadata(metadata, "viewer", text_of(*job.viewer));
}

void require_memory_for(const QuantizeRow& row, std::int64_t rows, bool carry) {
  const double pixels = static_cast<double>(row.grid.nx) * static_cast<double>(row.grid.ny);
  const double block = static_cast<double>(row.grid.nx) * static_cast<double>(rows);
  const bool at_once = rows == row.grid.ny || !CodesWriter::takes_rows(row.output);
  const double codes = at_once ? 2 * pixels : block;  // the codes, and the file's buffer while it is written
  constexpr double constant_bytes = 96 << 20;
  const bool one = rows == row.grid.ny && pixels > static_cast<double>(pixels_at_once);
  require_memory(row.input, constant_bytes + block * sizeof(Complex) + codes,
                 fmt::format("{} x {} pixels{}", row.grid.nx, row.grid.ny,
                             !one    ? ""
                             : carry ? " at once, for which --borders separate takes less"
                                     : " as one hogel, for which --hogel takes less"));
}

/// Quantizes, measures and writes the field block by block.
void make_codes(const QuantizeJob& job, QuantizeRow& row, FieldBlocks& blocks, const Metadata& metadata,
                Progress& progress) {
  ErrorDiffusionOptions options = job.diffusion;
  // Truncation: each pixel by itself, in blocks of any rows.
  options.hogel_px = job.method == QuantizeMethod::truncate ? blocks.rows() : row.hogel_px;
  options.scale = row.scale;
  options.cache_folder = cache_folder();
  std::optional<WindowMeter> meter;
  if (job.viewer) meter.emplace(options, row.grid, *job.viewer, row.beam);
  BlockQuantizer quantizer(options, row.weights.weights, row.grid, blocks.rows(), Queue::create(job.device));
  CodesWriter writer(row.output, row.grid.shape(), metadata, blocks.count() > 1, job.writing);
  for (std::int64_t block = 0; block < blocks.count(); ++block) {
    progress.step("quantising", block, blocks.count());
    const auto field = blocks.at(block);
    const auto codes = writer.next(field.shape()[0]);
    quantizer.execute(blocks.first_row(block), field, codes);
    if (meter) meter->add_rows(blocks.first_row(block), field, codes, row.scale);
    check_cancelled("quantising");
    writer.write();
  }
  if (meter) row.window = meter->measured();
  check_cancelled("writing");
  UnfinishedRun::will_write(row.output);
  writer.finish();
}

}  // namespace

QuantizeRow quantize_field(const QuantizeJob& job, const QuantizeTask& task,
                           const std::function<void(const QuantizeRow&)>& before, Progress& progress) {
  const Stopwatch watch;
  constexpr std::string_view pictures[] = {".png", ".tif", ".tiff", ".bmp", ".jpg", ".jpeg"};
  if (std::ranges::find(pictures, extension_of(task.input)) != std::end(pictures)) {
    throw_io(task.input, "a complex field, as hologram -o NAME.h5 writes",
             "a picture: its codes are quantized already");
  }
  const FieldRowsReader reader(task.input, current_program());
  Metadata metadata = metadata_of(job, task, reader);
  QuantizeRow row;
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
  constexpr std::int64_t most_hogels = 1 << 18;  // each has a set of weights
  if (const std::int64_t count = row.hogels[0] * row.hogels[1]; has_windows(job.method) && count > most_hogels) {
    const auto expected = fmt::format("hogels for at most {} sets of weights", most_hogels);
    const auto got = fmt::format("{} of {} pixels a side", count, row.hogel_px);
    if (job.hogel_px) reject("--hogel", expected, got);
    throw_io(task.input, expected, got);
  }
  row.beam = reference_beam(job, task.input, row.grid, window_px);
  row.weights = hogel_weights(job, task.input, row.grid, row.hogel_px, row.beam);
  const std::int64_t rows = rows_at_once(job, row.grid, row.hogel_px);
  require_memory_for(row, rows, job.diffusion.borders == HogelBorders::carry);
  before(row);
  FieldBlocks blocks(reader, row.grid, row.beam, rows);
  const auto [scale, energy] = scale_of(job, task.input, blocks, row.grid, progress);
  row.scale = scale;
  row.energy = energy;
  row.dark = energy == 0;
  if (row.scale == 0) row.scale = 1;
  describe(metadata, job, row);
  row.reconstruct_flags = flags_for(row.output, metadata, {job.lut, {}, angle_text(row.beam), {}});
  if (metadata.count("distance_m") == 0)
    std::erase_if(row.reconstruct_flags, [](const auto& flag) { return flag.first == "--distance"; });
  make_codes(job, row, blocks, metadata, progress);
  row.seconds = watch.seconds();
  return row;
}

}  // namespace holotone::cli
