#include <algorithm>
#include <bit>
#include <cli/common/device_option.hpp>
#include <cli/common/hologram_inputs.hpp>
#include <cli/common/output_check.hpp>
#include <cli/common/paths.hpp>
#include <cli/options/compression_option.hpp>
#include <cli/options/option_value.hpp>
#include <cli/options/panel_options.hpp>
#include <cli/options/values.hpp>
#include <cli/options/viewer_option.hpp>
#include <cli/quantize/quantize_job.hpp>
#include <cmath>
#include <holotone/io/fields/field_rows.hpp>
#include <holotone/io/file_format_detail.hpp>
#include <holotone/io/guarded/guarded.hpp>
#include <holotone/optics/field.hpp>

namespace holotone::cli {
namespace {

/// Viewing window that the first file states, if any. Errors in the rest of the file are reported later.
std::optional<Viewer> stated_viewer(const std::string& path) {
  if (!io::has_format(path, io::FileFormat::hdf5)) return {};
  Metadata metadata;
  try {
    metadata = FieldRowsReader(path, current_program()).metadata();
  } catch (const Error&) {
    return {};
  }
  const auto entry = metadata.find("viewer");
  if (entry == metadata.end()) return {};
  try {
    return viewer_of("viewer", entry->second);
  } catch (const Error& error) {
    throw FileError(path, error);
  }
}

void set_order(QuantizeJob& job) {
  const bool serpentine = job.diffusion.serpentine;
  if (serpentine && job.weights.parallelism > 0) {
    reject<&ErrorDiffusionOptions::serpentine>("raster with --p", "serpentine");
  }
  if (serpentine && job.method == QuantizeMethod::truncate)
    reject<&ErrorDiffusionOptions::serpentine>("raster for --method truncate", "serpentine");
  job.weights.serpentine = serpentine;
  job.devices = devices_option(job.device_name, job.console, OperationId::error_diffusion);
  job.device = job.devices.front();
  if (serpentine && job.diffusion.borders == HogelBorders::carry) {
    reject<&ErrorDiffusionOptions::serpentine>("raster for --borders carry", "serpentine");
  }
  if (!serpentine || job.device.backend == Backend::cpu) return;
  if (job.device_name != "auto") reject<&ErrorDiffusionOptions::serpentine>("raster on a GPU", "serpentine");
  job.device = Device{};
  job.devices = {job.device};
}

/// Levels of a look-up table, and the bits they require.
void set_table(QuantizeJob& job) {
  auto& diffusion = job.diffusion;
  const bool amplitude = diffusion.modulation == Modulation::amplitude;
  if (amplitude && job.lut_unit != PhaseUnit::automatic) {
    reject("--lut-unit", "auto for amplitudes", std::string(name_of(job.lut_unit)));
  }
  diffusion.levels = read_phase_table(job.lut, amplitude ? PhaseUnit::rad : job.lut_unit);
  const std::size_t count = diffusion.levels.size();
  for (std::size_t code = 0; code < count; ++code) {
    const double level = diffusion.levels[code];
    const bool rises = code == 0 || level > diffusion.levels[code - 1];
    if (amplitude ? level >= 0 && level <= 1 && rises : std::isfinite(level)) continue;
    throw_io(job.lut,
             amplitude ? "rising amplitudes from 0 to 1 for --encode amplitude" : "a phase for every code from 0 on",
             std::isnan(level) ? fmt::format("none for code {}", code) : fmt::format("{:g} for code {}", level, code));
  }
  const auto needed = std::max<int>(1, static_cast<int>(std::bit_width(count - 1)));
  if (count < 2 || needed > 8) throw_io(job.lut, "2 to 256 levels", fmt::format("{}", count));
  if (!job.bits) diffusion.bits = needed;
  if (needed > diffusion.bits) {
    reject<&QuantizeJob::bits>(fmt::format("enough for the {} codes of {}", count, job.lut),
                               fmt::format("{}", diffusion.bits));
  }
}

void set_levels(QuantizeJob& job) {
  const Panel panel = job.overrides.panel.value_or(Panel{});
  if (job.overrides.panel) job.panel_bits = panel.bits;
  auto levels = code_levels(panel, job.modulation, job.bits);
  job.diffusion.modulation = levels.modulation;
  job.diffusion.bits = levels.bits;
  job.diffusion.levels = std::move(levels.levels);
  if (!job.lut.empty()) set_table(job);
  job.writing.scaled_bits = scaled_bits_of(job.scale_codes, job.diffusion.bits);
}

void check_output_name(const QuantizeJob& job, const std::string& path) {
  constexpr auto silent_formats = io::FileFormat::bmp | io::FileFormat::npy;
  constexpr auto formats = io::formats::pictures_with_metadata | silent_formats;
  if (!io::has_format(path, formats)) reject_output(io::name_ending_in(formats) + " for codes", path);
  const bool silent = io::has_format(path, silent_formats);
  if (silent && job.diffusion.modulation == Modulation::amplitude && !job.diffusion.levels.empty()) {
    reject_output(io::name_ending_in(io::formats::pictures_with_metadata) + ", which store the amplitudes of the codes",
                  path);
  }
}

void set_tasks(QuantizeJob& job) {
  const auto [inputs, sequence, subframes] = hologram_inputs(job.inputs);
  if (!subframes.empty()) reject("IN", "a name without %t, which stands for subframes", job.inputs.front());
  require_known_counters(job.output, inputs.size() == 3);
  const auto pattern = frame_pattern(job.output);
  if (!sequence.empty() && !pattern) reject_output("a counter such as %04d for numbered holograms", job.output);
  if (sequence.empty() && pattern) reject_output("a name without a counter, as IN has none", job.output);
  const auto add = [&](const std::vector<std::string>& files, const std::string& output) {
    constexpr std::string_view channels[] = {"r", "g", "b"};
    const auto overrides = overrides_of_files(job.overrides, files);
    if (files.size() == 1) return job.tasks.push_back({files[0], output, "", overrides[0]});
    for (std::size_t i = 0; i < files.size(); ++i) {
      const std::string channel(channels[i]);
      job.tasks.push_back({files[i], channel_path(output, channel), channel, overrides[i]});
    }
  };
  if (sequence.empty()) add(inputs, job.output);
  for (const auto& frame : sequence) add(frame.inputs, pattern->name(frame.number));
  for (const auto& task : job.tasks) check_output_name(job, task.output);
  auto read = code_inputs(job.lut, {});
  for (const auto& task : job.tasks) read.push_back({"IN", task.input});
  std::ranges::copy(number_inputs(job.overrides), std::back_inserter(read));
  const auto name = [&](std::int64_t i) { return job.tasks[static_cast<std::size_t>(i)].output; };
  require_outputs({{output_name, std::ssize(job.tasks), name}}, read);
}

}  // namespace

QuantizeMethod chosen_method(QuantizeJob& job) {
  if (job.method_chosen) return job.method;
  if (!job.viewer && !job.inputs.empty()) {
    job.viewer = stated_viewer(hologram_inputs(job.inputs).inputs.front());
    job.viewer_stated = job.viewer.has_value();
  }
  job.method = job.stated_method.value_or(job.viewer ? QuantizeMethod::vded : QuantizeMethod::floyd_steinberg);
  job.method_chosen = true;
  return job.method;
}

void complete(QuantizeJob& job) {
  job.overrides.distance_given = true;  // quantization needs no distance
  if (has_windows(chosen_method(job)) && !job.viewer) {
    reject<&QuantizeJob::viewer>(
        fmt::format("a viewing window such as 36mm:9.2mm for --method {}", name_of(job.method)), "none");
  }
  if (job.weights.kept > job.weights.taps) {
    reject<&WeightOptions::kept>(fmt::format("a whole number from 1 to {}", job.weights.taps),
                                 fmt::format("{}", job.weights.kept));
  }
  if (!job.beam && !job.viewer) reject<&QuantizeJob::beam>("angles, or --viewer for auto", "auto");
  set_levels(job);
  set_order(job);
  set_tasks(job);
}

}  // namespace holotone::cli
