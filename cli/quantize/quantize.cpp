#include <CLI/CLI.hpp>
#include <algorithm>
#include <cli/common/cancel.hpp>
#include <cli/common/command.hpp>
#include <cli/common/paths.hpp>
#include <cli/common/values.hpp>
#include <cli/common/viewer_option.hpp>
#include <cli/quantize/quantize_maker.hpp>
#include <cmath>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

namespace holotone::cli {
namespace {

double decibels(double ratio) { return 10 * std::log10(ratio); }

/// In a window, what of its light is not noise; rounded up to nothing where all of it is.
double signal_to_noise(double light, double noise) { return decibels(std::max(light - noise, 1e-30) / noise); }

bool is_measured(const QuantizeRow& row) { return row.window.squares > 0 && row.window.truncated > 0; }

nlohmann::json json_of(const QuantizeJob& job, const QuantizeRow& row) {
  nlohmann::json object{{"input", row.input},
                        {"output", row.output},
                        {"resolution", {row.grid.nx, row.grid.ny}},
                        {"wavelength_m", row.grid.wavelength_m},
                        {"pitch_m", row.grid.pitch_m},
                        {"hogel_px", row.hogel_px},
                        {"hogels", {row.hogels[1], row.hogels[0]}},
                        {"scale", row.scale},
                        {"time_s", row.seconds}};
  if (job.method != QuantizeMethod::truncate) {
    object["weights_used"] = {row.weights.least_used, row.weights.most_used};
    object["weights_sum"] = {row.weights.least_sum, row.weights.most_sum};
  }
  if (job.method == QuantizeMethod::vded) {
    object["hogels_clipped"] = row.weights.clipped;
    object["hogels_unreached"] = row.weights.unreached;
  }
  if (is_measured(row)) {
    object["window"] = {{"squares", row.window.squares},
                        {"noise", row.window.noise},
                        {"noise_db", decibels(row.window.noise / row.window.truncated)},
                        {"truncated_noise", row.window.truncated},
                        {"efficiency", row.window.light},
                        {"truncated_efficiency", row.window.truncated_light},
                        {"signal_to_noise_db", signal_to_noise(row.window.light, row.window.noise)}};
  }
  if (!row.reconstruct_flags.empty()) object["reconstruct_flags"] = line_of(row.reconstruct_flags);
  return object;
}

/// The last hogels of a panel that they do not divide.
std::string padding_of(const QuantizeRow& row) {
  const auto rest = [&](std::int64_t all) { return all % row.hogel_px == 0 ? row.hogel_px : all % row.hogel_px; };
  if (row.hogel_px == 0 || (row.grid.nx % row.hogel_px == 0 && row.grid.ny % row.hogel_px == 0)) return {};
  return fmt::format(
      "hogels of {} pixels do not divide {} x {}: those at the right are {} wide, those at the bottom {} high, the "
      "rest of "
      "them is padding beyond the panel",
      row.hogel_px, row.grid.nx, row.grid.ny, rest(row.grid.nx), rest(row.grid.ny));
}

/// What is asked for and hardly meant, of one field, as far as it is known before its numbers are read.
std::vector<std::string> early_warnings(const QuantizeRow& row) {
  std::vector<std::string> warnings;
  if (auto words = padding_of(row); !words.empty()) warnings.push_back(std::move(words));
  const std::int64_t hogels = row.hogels[0] * row.hogels[1];
  if (row.weights.clipped > 0) {
    warnings.push_back(
        fmt::format("the viewing window is in part beyond the diffraction angle of {} of {}, which keep noise out of "
                    "the rest of it",
                    row.weights.clipped, counted(hogels, "hogel")));
  }
  if (row.weights.unreached > 0) {
    warnings.push_back(
        fmt::format("the viewing window is beyond the diffraction angle of {} of {}, which take the nearest levels",
                    row.weights.unreached, counted(hogels, "hogel")));
  }
  if (row.weights.most_sum < 1e-6 && is_measured(row) && row.weights.most_used > 0) {
    warnings.emplace_back(
        "the viewing window takes in all directions of light: noise can go nowhere else, every pixel takes its nearest "
        "level");
  }
  if (auto words = wavelength_warning(row.grid.wavelength_m); !words.empty()) warnings.push_back(std::move(words));
  return warnings;
}

std::vector<std::string> late_warnings(const QuantizeRow& row) {
  if (!row.dark) return {};
  return {fmt::format("{} holds no light", row.input)};
}

std::vector<std::string> warnings_of(const QuantizeRow& row) {
  auto warnings = late_warnings(row);
  for (auto& words : early_warnings(row)) warnings.push_back(std::move(words));
  return warnings;
}

/// Of all fields, each once.
std::vector<std::string> warnings_of(const std::vector<QuantizeRow>& rows) {
  std::vector<std::string> all;
  for (const auto& row : rows) {
    for (auto& words : warnings_of(row)) {
      if (std::find(all.begin(), all.end(), words) == all.end()) all.push_back(std::move(words));
    }
  }
  return all;
}

nlohmann::json json_of(const QuantizeJob& job, const std::vector<QuantizeRow>& rows, double seconds) {
  nlohmann::json object{{"software", "holotone " HOLOTONE_VERSION},
                        {"device", to_string(job.device)},
                        {"method", to_string(job.method)},
                        {"encoding", job.diffusion.modulation == Modulation::phase ? "phase" : "amplitude"},
                        {"bits", job.diffusion.bits},
                        {"clip", job.diffusion.clip},
                        {"order", job.diffusion.serpentine ? "serpentine" : "raster"},
                        {"warnings", warnings_of(rows)},
                        {"time_s", seconds}};
  if (has_windows(job.method)) {
    object["rule"] = to_string(job.weights.rule);
    object["weights"] = job.weights.taps;
    object["p"] = job.weights.parallelism;
    object["kappa"] = job.weights.kappa;
  }
  if (job.viewer) object["viewer"] = text_of(*job.viewer);
  object["outputs"] = nlohmann::json::array();
  object["holograms"] = nlohmann::json::array();
  for (const auto& row : rows) {
    object["outputs"].push_back(row.output);
    object["holograms"].push_back(json_of(job, row));
  }
  return object;
}

/// "vded by least-squares, 27 weights, p free, sum of moduli 1.8 to 2.1"
std::string method_text(const QuantizeJob& job, const QuantizeRow& row) {
  std::string text(to_string(job.method));
  if (job.method == QuantizeMethod::truncate) return text;
  const auto range = [](auto low, auto high, int digits) {
    const auto number = [&](auto value) { return fmt::format("{:.{}g}", static_cast<double>(value), digits); };
    return number(low) == number(high) ? number(high) : number(low) + " to " + number(high);
  };
  if (has_windows(job.method)) text += fmt::format(" by {}", to_string(job.weights.rule));
  text += fmt::format(", {} weights", range(row.weights.least_used, row.weights.most_used, 4));
  if (has_windows(job.method))
    text += job.weights.parallelism > 0 ? fmt::format(", p = {}", job.weights.parallelism) : ", p free";
  text += fmt::format(", sum of moduli {}", range(row.weights.least_sum, row.weights.most_sum, 3));
  if (row.hogel_px > 0)
    text += fmt::format(", {} of {} pixels", counted(row.hogels[0] * row.hogels[1], "hogel"), row.hogel_px);
  return text;
}

/// How to look at BMP files, which hold no metadata: those of the first hologram.
void tell_flags(const QuantizeJob& job, const std::vector<QuantizeRow>& rows) {
  if (extension_of(rows.front().output) != ".bmp") return;
  const std::size_t channels = rows.front().channel.empty() ? 1 : 3;
  std::string files;
  std::vector<Flags> flags;
  for (std::size_t i = 0; i < channels; ++i) {
    files += rows[i].output + " ";
    flags.push_back(rows[i].reconstruct_flags);
  }
  remark(job.console,
         fmt::format("BMP holds no metadata, reconstruct {} with: holotone reconstruct {}-o PICTURE.png {}",
                     rows.size() > channels ? "the first" : "it", files, line_of(merged(flags))));
}

void tell(const QuantizeJob& job, const std::vector<QuantizeRow>& rows) {
  for (const auto& row : rows) {
    for (const auto& warning : late_warnings(row)) warn(job.console, warning);
  }
  for (const auto& row : rows) {
    report(job.console, fmt::format("{}: {} x {} pixels, {} of {}, {}, on {}, {}", row.output, row.grid.nx, row.grid.ny,
                                    counted(job.diffusion.bits, "bit"),
                                    job.diffusion.modulation == Modulation::phase ? "phase" : "amplitude",
                                    method_text(job, row), to_string(job.device), format_duration(row.seconds)));
    if (is_measured(row)) {
      report(
          job.console,
          fmt::format("in the viewing window: signal to noise {:.1f} dB, of truncation {:.1f}; noise {:.1f} dB below "
                      "truncation's; {:.3g} % of the codes' light, of truncation {:.3g} % ({})",
                      signal_to_noise(row.window.light, row.window.noise),
                      signal_to_noise(row.window.truncated_light, row.window.truncated),
                      decibels(row.window.truncated / row.window.noise), 100 * row.window.light,
                      100 * row.window.truncated_light, counted(row.window.squares, "square") + " measured"));
    }
  }
  if (job.method == QuantizeMethod::floyd_steinberg && !job.viewer) {
    remark(job.console,
           "the noise is in directions away from the axis: what goes on axis is clean for an eye whose pupil stops the "
           "rest (reconstruct --viewer); --viewer keeps it out of a window anywhere");
  }
  if (job.viewer_stated) {
    remark(job.console, fmt::format("--viewer {}, as {} states", text_of(*job.viewer), job.tasks.front().input));
  }
  tell_flags(job, rows);
}

int run_quantize(const QuantizeArguments& arguments) {
  const Stopwatch watch;
  const QuantizeJob job = quantize_job(arguments);
  const UnfinishedRun unfinished;
  std::vector<QuantizeRow> rows;
  std::set<std::string> told;  // fields of a sequence mostly have the same warnings
  const auto before = [&](const QuantizeRow& row) {
    for (const auto& warning : early_warnings(row)) {
      if (told.insert(warning).second) warn(job.console, warning);
    }
  };
  {
    ProgressBar bar(job.console);
    for (const auto& task : job.tasks) {
      check_cancelled("reading");
      if (job.tasks.size() > 1) bar.set_detail(fmt::format("{} of {}", rows.size() + 1, job.tasks.size()));
      rows.push_back(quantize_field(job, task, before, bar));
    }
  }
  check_cancelled("writing");
  UnfinishedRun::keep();
  report_json(job.console, json_of(job, rows, watch.seconds()));
  tell(job, rows);
  return exit_ok;
}

void add_weight_options(CLI::App& command, QuantizeArguments& arguments) {
  command.add_option("--viewer", arguments.viewer,
                     "Where an eye may be: DISTANCE:SIZE[@X,Y] in front of the panel, such as 36mm:9.2mm@2,0mm");
  command.add_option("--rule", arguments.rule, "least-squares (default) or eq1, the paper's");
  command.add_option("--weights", arguments.weights, "Weights chosen for all hogels; default 27");
  command.add_option("--kept", arguments.kept, "Of these for each hogel, the largest; default all");
  command.add_option("--p", arguments.p,
                     "Columns by which a row has to be ahead of the next, 1 to 24; default as the weights need");
  command.add_option(
      "--kappa", arguments.kappa,
      "Side of the square of frequencies, cycles a pixel, that noise may have, 0.1 to 1; default 1, all");
  command.add_option("--most-sum", arguments.most_sum,
                     "Most of the weights' moduli; default 0.98 for eq1, 2.2 for least-squares");
  command.add_option("--hogel", arguments.hogel,
                     "Pixels a side that have weights of their own; vded: default the file's, or by the viewer 64 to "
                     "2048; else the panel");
  command.add_option("--order", arguments.order, "raster, or serpentine: every second row back")->capture_default_str();
}

void add_level_options(CLI::App& command, QuantizeArguments& arguments) {
  command.add_option("--encode,--encoding,--modulation", arguments.encoding, "phase (default) or amplitude");
  command.add_option("--bits", arguments.bits, "Bits of a code, 1 to 8; default 8");
  command.add_option("--lut,--levels", arguments.lut,
                     "Text file: phase in radians, or amplitude from 0 to 1, of each code");
  command.add_option("--panel", arguments.overrides.panel, "Pitch, bits and unequal steps of a preset");
  command.add_option("--clip", arguments.clip, "Share of the pixels whose modulus is shown; larger ones are clipped")
      ->capture_default_str();
  command.add_option("--wavelength", arguments.overrides.wavelength, "Wavelength, instead of the file's");
  command.add_option("--pitch", arguments.overrides.pitch, "Pixel pitch, instead of the file's");
  command.add_option("--distance", arguments.distance, "Where to focus, instead of the file's");
  command.add_option("--device", arguments.device, "auto, cpu or cuda:N")->capture_default_str();
}

}  // namespace

void add_quantize(CLI::App& application, Action& action) {
  const auto arguments = std::make_shared<QuantizeArguments>();
  auto* command =
      application.add_subcommand("quantize", "A complex hologram to the levels of a panel, noise kept out of the view");
  command
      ->add_option(
          "IN", arguments->inputs,
          "HDF5, NPY or OHC, or three for red, green and blue (also out_%c.h5); spin/%04d.h5 for moving pictures")
      ->required();
  command->add_option("-o,--output", arguments->output, "PNG, TIFF or BMP of codes, or NPY (uint8)")->required();
  command->add_option("--method", arguments->method,
                      "truncate, floyd-steinberg, swed or vded; default vded with --viewer, else floyd-steinberg");
  add_weight_options(*command, *arguments);
  add_level_options(*command, *arguments);
  add_console_options(*command, arguments->console);
  command->callback([arguments, &action] { action = [arguments] { return run_quantize(*arguments); }; });
}

}  // namespace holotone::cli
