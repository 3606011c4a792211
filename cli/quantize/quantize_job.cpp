#include <algorithm>
#include <bit>
#include <cli/common/compression_option.hpp>
#include <cli/common/device_option.hpp>
#include <cli/common/hologram_inputs.hpp>
#include <cli/common/output_check.hpp>
#include <cli/common/panel_options.hpp>
#include <cli/common/paths.hpp>
#include <cli/common/values.hpp>
#include <cli/common/viewer_option.hpp>
#include <cli/quantize/quantize_job.hpp>
#include <cmath>
#include <holotone/io/fields/field_rows.hpp>
#include <holotone/io/guarded/guarded.hpp>
#include <holotone/optics/field.hpp>

namespace holotone::cli {
namespace {

constexpr Choice<QuantizeMethod> methods[] = {{"truncate", QuantizeMethod::truncate},
                                              {"floyd-steinberg", QuantizeMethod::floyd_steinberg},
                                              {"swed", QuantizeMethod::swed},
                                              {"vded", QuantizeMethod::vded}};
constexpr Choice<WeightRule> rules[] = {{"eq1", WeightRule::eq1}, {"least-squares", WeightRule::least_squares}};
constexpr Choice<WeightNormalization> normalizations[] = {{"none", WeightNormalization::none},
                                                          {"origin", WeightNormalization::origin},
                                                          {"modulus", WeightNormalization::modulus}};

/// Viewing window that the first file states, if any. Errors in the rest of the file are reported later.
std::optional<Viewer> stated_viewer(const std::string& path) {
  const auto extension = extension_of(path);
  if (extension != ".h5" && extension != ".hdf5") return {};
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

void set_method(QuantizeJob& job, const QuantizeArguments& arguments) {
  if (!arguments.viewer.empty()) {
    job.viewer = viewer_of("--viewer", arguments.viewer);
  } else if (!arguments.inputs.empty()) {
    job.viewer = stated_viewer(hologram_inputs(arguments.inputs).inputs.front());
    job.viewer_stated = job.viewer.has_value();
  }
  job.method = job.viewer ? QuantizeMethod::vded : QuantizeMethod::floyd_steinberg;
  if (!arguments.method.empty()) job.method = choose("--method", arguments.method, methods);
  if (has_windows(job.method) && !job.viewer) {
    reject("--viewer", fmt::format("a viewing window such as 36mm:9.2mm for --method {}", to_string(job.method)),
           "none");
  }
}

void set_kappa(WeightOptions& weights, const std::string& text) {
  const auto pieces = list("--kappa", text, "K or KX,KY");
  if (pieces.size() > 2) reject("--kappa", "K or KX,KY", text);
  weights.kappa_x = number_between("--kappa", pieces.front(), kappa_range);
  weights.kappa_y = number_between("--kappa", pieces.back(), kappa_range);
}

void set_weights(QuantizeJob& job, const QuantizeArguments& arguments) {
  const std::pair<std::string_view, const std::string&> own[] = {
      {"--weights", arguments.weights},    {"--kept", arguments.kept},   {"--p", arguments.p},
      {"--rule", arguments.rule},          {"--kappa", arguments.kappa}, {"--most-sum", arguments.most_sum},
      {"--normalize", arguments.normalize}};
  for (const auto& [option, text] : own) {
    if (text.empty() || has_windows(job.method)) continue;
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{}: expected --method swed or vded, got {}{}", option, to_string(job.method),
                            arguments.method.empty() ? ", the default without --viewer" : ""));
  }
  auto& weights = job.weights;
  weights.rule = WeightRule::least_squares;
  if (!arguments.rule.empty()) weights.rule = choose("--rule", arguments.rule, rules);
  if (!arguments.weights.empty())
    weights.taps = static_cast<int>(whole_number("--weights", arguments.weights, weights_range));
  if (!arguments.kept.empty()) weights.kept = static_cast<int>(whole_number("--kept", arguments.kept, 1, weights.taps));
  if (!arguments.p.empty()) weights.parallelism = static_cast<int>(whole_number("--p", arguments.p, lead_range));
  if (!arguments.kappa.empty()) set_kappa(weights, arguments.kappa);
  if (!arguments.normalize.empty()) {
    if (weights.rule != WeightRule::eq1) reject("--normalize", "--rule eq1 beside it", arguments.normalize);
    weights.normalization = choose("--normalize", arguments.normalize, normalizations);
  }
  if (!arguments.most_sum.empty()) weights.most_sum = number_between("--most-sum", arguments.most_sum, sum_range);
}

void set_beam(QuantizeJob& job, const QuantizeArguments& arguments) {
  const std::string& typed = arguments.reference_angle;
  if (typed.empty()) return;
  if (typed != "auto") {
    const auto [x, y] = angle_pair("--reference-angle", typed);
    job.beam = ReferenceBeam{x, y};
    return;
  }
  if (!job.viewer) reject("--reference-angle", "angles, or --viewer for auto", typed);
  job.beam.reset();
}

void set_order(QuantizeJob& job, const QuantizeArguments& arguments) {
  static constexpr Choice<bool> orders[] = {{"raster", false}, {"serpentine", true}};
  const bool serpentine = choose("--order", arguments.order, orders);
  if (serpentine && !arguments.p.empty()) {
    throw Error(ErrorCode::invalid_argument,
                "--order: expected raster with --p, got serpentine; they cannot be combined");
  }
  if (serpentine && job.method == QuantizeMethod::truncate)
    reject("--order", "raster for --method truncate", arguments.order);
  job.diffusion.serpentine = job.weights.serpentine = serpentine;
  job.devices = devices_option(arguments.device, arguments.console, "field to codes: error diffusion");
  job.device = job.devices.front();
  if (!serpentine || job.device.backend == Backend::cpu) return;
  if (arguments.device != "auto") reject("--order", "raster on a GPU", arguments.order);
  job.device = Device{};
  job.devices = {job.device};
}

void set_borders(QuantizeJob& job, const QuantizeArguments& arguments) {
  static constexpr Choice<HogelBorders> borders[] = {{"separate", HogelBorders::separate},
                                                     {"carry", HogelBorders::carry}};
  if (arguments.borders.empty()) return;
  if (job.method == QuantizeMethod::truncate) reject("--borders", "a method that diffuses errors", "truncate");
  job.diffusion.borders = choose("--borders", arguments.borders, borders);
  if (job.diffusion.borders == HogelBorders::carry && job.diffusion.serpentine)
    reject("--order", "raster for --borders carry", arguments.order);
}

/// Levels of a look-up table, and the bits they require.
void set_table(QuantizeJob& job, const QuantizeArguments& arguments) {
  auto& diffusion = job.diffusion;
  diffusion.levels = phase_table(arguments.lut);
  const std::size_t count = diffusion.levels.size();
  const bool amplitude = diffusion.modulation == Modulation::amplitude;
  for (std::size_t code = 0; code < count; ++code) {
    const double level = diffusion.levels[code];
    const bool rises = code == 0 || level > diffusion.levels[code - 1];
    if (amplitude ? level >= 0 && level <= 1 && rises : std::isfinite(level)) continue;
    throw_io(arguments.lut,
             amplitude ? "rising amplitudes from 0 to 1 for --encode amplitude" : "a phase for every code from 0 on",
             std::isnan(level) ? fmt::format("none for code {}", code) : fmt::format("{:g} for code {}", level, code));
  }
  const auto needed = std::max<int>(1, static_cast<int>(std::bit_width(count - 1)));
  if (count < 2 || needed > 8) throw_io(arguments.lut, "2 to 256 levels", fmt::format("{}", count));
  if (arguments.bits.empty()) diffusion.bits = needed;
  if (needed > diffusion.bits)
    reject("--bits", fmt::format("enough for the {} codes of {}", count, arguments.lut), arguments.bits);
}

void set_levels(QuantizeJob& job, const QuantizeArguments& arguments) {
  const Panel panel = arguments.overrides.panel.empty() ? Panel{} : parse_panel("--panel", arguments.overrides.panel);
  if (!arguments.overrides.panel.empty()) job.panel_bits = panel.bits;
  job.diffusion = code_levels(panel, arguments.encoding, arguments.bits);
  if (!arguments.lut.empty()) set_table(job, arguments);
  job.diffusion.clip = number_between("--clip", arguments.clip, clip_range);
  if (!arguments.scale.empty()) job.scale = number_between("--scale", arguments.scale, scale_range);
}

void check_output_name(const QuantizeJob& job, const std::string& path) {
  const auto extension = extension_of(path);
  static constexpr std::string_view known[] = {".png", ".tif", ".tiff", ".bmp", ".npy"};
  if (std::find(std::begin(known), std::end(known), extension) == std::end(known)) {
    reject("--output", "a name ending in .png, .tif, .tiff, .bmp or .npy for codes", path);
  }
  const bool silent = extension == ".bmp" || extension == ".npy";
  if (silent && job.diffusion.modulation == Modulation::amplitude && !job.diffusion.levels.empty()) {
    reject("--output", "a name ending in .png, .tif or .tiff, which store the amplitudes of the codes", path);
  }
}

/// One wavelength as typed, or one per file for three files.
std::vector<std::string> wavelengths_of(const std::string& typed, std::size_t files) {
  if (files == 1 || typed.empty()) return {files, typed};
  constexpr std::string_view expected = "three wavelengths such as 638nm,520nm,450nm for three files";
  auto pieces = list("--wavelength", typed, expected);
  if (pieces.size() != files) reject("--wavelength", expected, typed);
  return pieces;
}

void set_tasks(QuantizeJob& job, const QuantizeArguments& arguments) {
  const auto [inputs, sequence, subframes] = hologram_inputs(arguments.inputs);
  if (!subframes.empty()) reject("IN", "a name without %t, which stands for subframes", arguments.inputs.front());
  require_known_counters("--output", arguments.output, inputs.size() == 3);
  const auto pattern = frame_pattern("--output", arguments.output);
  if (!sequence.empty() && !pattern)
    reject("--output", "a counter such as %04d for numbered holograms", arguments.output);
  if (sequence.empty() && pattern) reject("--output", "a name without a counter, as IN has none", arguments.output);
  const auto add = [&](const std::vector<std::string>& own, const std::string& output) {
    constexpr std::string_view channels[] = {"r", "g", "b"};
    const auto wavelengths = wavelengths_of(arguments.overrides.wavelength, own.size());
    if (own.size() == 1) return job.tasks.push_back({own[0], output, "", wavelengths[0]});
    for (std::size_t i = 0; i < own.size(); ++i) {
      const std::string channel(channels[i]);
      job.tasks.push_back({own[i], channel_path(output, channel), channel, wavelengths[i]});
    }
  };
  if (sequence.empty()) add(inputs, arguments.output);
  for (const auto& frame : sequence) add(frame.inputs, pattern->name(frame.number));
  for (const auto& task : job.tasks) check_output_name(job, task.output);
  std::vector<InputFile> read{{"--lut", arguments.lut}};
  for (const auto& task : job.tasks) read.push_back({"IN", task.input});
  const auto name = [&](std::int64_t i) { return job.tasks[static_cast<std::size_t>(i)].output; };
  require_outputs({{"--output", std::ssize(job.tasks), name}}, read);
}

}  // namespace

std::string_view to_string(QuantizeMethod method) {
  return std::ranges::find(methods, method, &Choice<QuantizeMethod>::value)->name;
}

QuantizeJob quantize_job(const QuantizeArguments& arguments) {
  QuantizeJob job;
  job.console = arguments.console;
  job.overrides = arguments.overrides;
  job.overrides.distance_given = true;  // quantization needs no distance
  job.lut = arguments.lut;
  set_method(job, arguments);
  set_weights(job, arguments);
  set_beam(job, arguments);
  set_levels(job, arguments);
  job.writing.compression = compression_of(arguments.compression);
  set_order(job, arguments);
  set_borders(job, arguments);
  if (!arguments.hogel.empty()) job.hogel_px = whole_number("--hogel", arguments.hogel, hogel_range);
  if (!arguments.distance.empty()) job.distance_m = distance_of("--distance", arguments.distance);
  set_tasks(job, arguments);
  return job;
}

}  // namespace holotone::cli
