#include <algorithm>
#include <cli/common/bands_words.hpp>
#include <cli/common/cancel.hpp>
#include <cli/common/code_levels.hpp>
#include <cli/common/command.hpp>
#include <cli/common/device_option.hpp>
#include <cli/common/paths.hpp>
#include <cli/common/ranks.hpp>
#include <cli/options/values.hpp>
#include <cli/options/viewer_option.hpp>
#include <cli/quantize/quantize_maker.hpp>
#include <cli/quantize/quantize_seen.hpp>
#include <cmath>
#include <fmt/format.h>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/file_format_detail.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <numbers>
#include <numeric>
#include <set>

namespace holotone::cli {
namespace {

nlohmann::json make_json(const QuantizeJob& job, const QuantizeRecord& row) {
  nlohmann::json object{{"input", row.input},
                        {"output", row.output},
                        {"resolution", {row.grid.nx, row.grid.ny}},
                        {"wavelength_m", row.grid.wavelength_m},
                        {"pitch_m", row.grid.pitch_m},
                        {"hogel_px", row.hogel_px},
                        {"hogels", {row.hogels[1], row.hogels[0]}},
                        {"scale", row.scale},
                        {"reference_angle_rad", {row.beam.angle_x_rad, row.beam.angle_y_rad}},
                        {"resumed_rows", row.resumed},
                        {"time_s", row.seconds}};
  if (job.method != QuantizeMethod::truncate) {
    object["weights_used"] = {row.weights.min_used, row.weights.max_used};
    object["weights_sum"] = {row.weights.min_sum, row.weights.max_sum};
  }
  if (job.method == QuantizeMethod::vded) {
    object["hogels_clipped"] = row.weights.clipped;
    object["hogels_unreached"] = row.weights.unreached;
  }
  if (auto window = json_of_window(row); !window.empty()) object["window"] = std::move(window);
  if (!row.reconstruct_flags.empty()) object["reconstruct_flags"] = line_of(row.reconstruct_flags);
  return object;
}

/// Common divisor of the panel's sides nearest to the hogels' side.
std::int64_t divisor_near(const QuantizeRecord& row) {
  const std::int64_t common = std::gcd(row.grid.nx, row.grid.ny);
  std::int64_t nearest = common;
  for (std::int64_t side = 1; side <= common; ++side) {
    if (common % side == 0 && std::abs(side - row.hogel_px) < std::abs(nearest - row.hogel_px)) nearest = side;
  }
  return nearest;
}

/// Note on cropped last hogels if hogels do not divide the panel.
std::string padding_of(const QuantizeRecord& row) {
  const auto rest = [&](std::int64_t all) { return all % row.hogel_px == 0 ? row.hogel_px : all % row.hogel_px; };
  if (row.hogel_px == 0 || (row.grid.nx % row.hogel_px == 0 && row.grid.ny % row.hogel_px == 0)) return {};
  const std::int64_t divisor = divisor_near(row);
  return fmt::format(
      "hogels of {} pixels do not divide {} x {} pixels: the last column is cut to {}, the last row to {} pixels{}",
      row.hogel_px, row.grid.nx, row.grid.ny, rest(row.grid.nx), rest(row.grid.ny),
      2 * divisor > row.hogel_px ? fmt::format("; --hogel {} divides both", divisor) : "");
}

/// Warnings for one field that its metadata suffices for, before its values are read.
std::vector<std::string> early_warnings(const QuantizeJob& job, const QuantizeRecord& row) {
  std::vector<std::string> warnings;
  if (auto words = padding_of(row); !words.empty()) warnings.push_back(std::move(words));
  const std::int64_t hogels = row.hogels[0] * row.hogels[1];
  if (row.weights.clipped > 0) {
    warnings.push_back(
        fmt::format("part of the viewing window is beyond the diffraction angle of {} of {}: the noise is kept out of "
                    "the remaining part",
                    row.weights.clipped, counted(hogels, "hogel")));
  }
  if (row.weights.unreached > 0) {
    warnings.push_back(fmt::format(
        "the viewing window is beyond the diffraction angle of {} of {}: they are truncated to the nearest levels",
        row.weights.unreached, counted(hogels, "hogel")));
  }
  if (row.weights.max_sum < 1e-6 && row.weights.max_used > 0) {
    warnings.emplace_back(
        "the viewing window covers all diffraction angles: no noise can leave it, and every pixel gets the nearest "
        "level; use a smaller window");
  }
  if (auto words = wavelength_warning(row.grid.wavelength_m); !words.empty()) warnings.push_back(std::move(words));
  if (job.diffusion.modulation == Modulation::phase) {
    std::ranges::move(phase_table_notes(job.lut, job.lut_unit, {row.grid.wavelength_m}), std::back_inserter(warnings));
  }
  return warnings;
}

/// Says that the window is not measured; empty if it is, or not asked for.
std::string unmeasured(const QuantizeJob& job, const QuantizeRecord& row) {
  const bool partly_made = row.resumed > 0 || Ranks::all().several();
  if (!job.viewer || row.dark || row.window.squares > 0 || !partly_made) return {};
  return fmt::format("{}: the noise is not measured in the rows of other runs or processes", row.output);
}

nlohmann::json make_json(const QuantizeJob& job, const std::vector<QuantizeRecord>& rows, double seconds) {
  nlohmann::json object{{"software", "holotone " HOLOTONE_VERSION},
                        {"device", names_of(job.devices)},
                        {"method", name_of(job.method)},
                        {"encoding", name_of(job.diffusion.modulation)},
                        {"bits", job.diffusion.bits},
                        {"order", job.diffusion.serpentine ? "serpentine" : "raster"},
                        {"borders", name_of(job.diffusion.borders)},
                        {"time_s", seconds}};
  if (job.scale == 0) object["clip"] = job.diffusion.clip;
  if (has_windows(job.method)) {
    object["rule"] = to_string(job.weights.rule);
    object["weights"] = job.weights.taps;
    object["p"] = job.weights.parallelism;
    if (job.weights.kappa_x == job.weights.kappa_y) object["kappa"] = job.weights.kappa_x;
    object["kappa_x"] = job.weights.kappa_x;
    object["kappa_y"] = job.weights.kappa_y;
    if (job.weights.rule == WeightRule::eq1) object["normalization"] = to_string(job.weights.normalization);
  }
  if (job.viewer) object["viewer"] = to_text(*job.viewer);
  object["outputs"] = nlohmann::json::array();
  object["holograms"] = nlohmann::json::array();
  for (const auto& row : rows) {
    object["outputs"].push_back(row.output);
    object["holograms"].push_back(make_json(job, row));
  }
  return object;
}

/// "vded by least-squares, 27 weights, p free, sum of moduli 1.8 to 2.1"
std::string method_text(const QuantizeJob& job, const QuantizeRecord& row) {
  std::string text(name_of(job.method));
  if (job.method == QuantizeMethod::truncate) return text;
  const auto range = [](auto low, auto high, int digits) {
    const auto number = [&](auto value) { return fmt::format("{:.{}g}", static_cast<double>(value), digits); };
    return number(low) == number(high) ? number(high) : number(low) + " to " + number(high);
  };
  if (has_windows(job.method)) text += fmt::format(" by {}", to_string(job.weights.rule));
  text += fmt::format(", {} weights", range(row.weights.min_used, row.weights.max_used, 4));
  if (has_windows(job.method))
    text += job.weights.parallelism > 0 ? fmt::format(", p = {}", job.weights.parallelism) : ", p free";
  text += fmt::format(", sum of |weights| {}", range(row.weights.min_sum, row.weights.max_sum, 3));
  if (row.hogel_px > 0)
    text += fmt::format(", {} of {} pixels", counted(row.hogels[0] * row.hogels[1], "hogel"), row.hogel_px);
  return text;
}

/// ", beam tilted by 0, -3.59 deg"; empty: not tilted.
std::string beam_text(const ReferenceBeam& beam) {
  constexpr double degrees = 180 / std::numbers::pi;
  if (beam == ReferenceBeam{}) return {};
  return fmt::format(", beam tilted by {:.3g}, {:.3g} deg", degrees * beam.angle_x_rad, degrees * beam.angle_y_rad);
}

/// Prints flags to reconstruct BMP files, which hold no metadata; for the first hologram.
void tell_flags(const QuantizeJob& job, const std::vector<QuantizeRecord>& rows) {
  remark_few_bits(job.console, job.diffusion.bits, job.writing, rows.front().output);
  if (!io::has_format(rows.front().output, io::FileFormat::bmp)) return;
  const std::size_t channels = rows.front().channel.empty() ? 1 : 3;
  std::string files;
  std::vector<Flags> flags;
  for (std::size_t i = 0; i < channels; ++i) {
    files += rows[i].output + " ";
    flags.push_back(rows[i].reconstruct_flags);
  }
  remark(job.console,
         fmt::format("BMP holds no metadata; reconstruct {} with: holotone reconstruct {}-o PICTURE.png {}",
                     rows.size() > channels ? "the first" : "it", files, line_of(merged(flags))));
}

void tell(const QuantizeJob& job, const std::vector<QuantizeRecord>& rows) {
  for (const auto& row : rows) {
    report(job.console, fmt::format("{}: {} x {} pixels, {} of {}, {}, scale {:.6g}{}, on {}, {}", row.output,
                                    row.grid.nx, row.grid.ny, counted(job.diffusion.bits, "bit"),
                                    name_of(job.diffusion.modulation), method_text(job, row), row.scale,
                                    beam_text(row.beam), all_names_of(job.devices), format_duration(row.seconds)));
    if (const auto text = to_text(row.rates, job.devices); !text.empty()) report(job.console, text);
    if (row.resumed > 0) remark(job.console, fmt::format("{}: resumed after {} rows", row.output, row.resumed));
    if (const auto text = seen_text(job, row); !text.empty()) report(job.console, text);
  }
  for (const auto& text : remarks_on_window(job, rows)) remark(job.console, text);
  if (job.method == QuantizeMethod::floyd_steinberg && !job.viewer) {
    remark(
        job.console,
        "error diffusion moves the noise away from the axis, where a small pupil stops it; --viewer keeps it out of a "
        "viewing window anywhere");
  }
  if (job.viewer_stated) {
    remark(job.console,
           fmt::format("viewing window of {}: --viewer {}", job.tasks.front().input, to_text(*job.viewer)));
  }
  if (job.panel_bits > job.diffusion.bits) {
    remark(job.console, fmt::format("the codes have {} bits; {} shows {}", job.diffusion.bits,
                                    job.overrides.panel->name, job.panel_bits));
  }
  tell_flags(job, rows);
}

int run_quantize(QuantizeJob& job) {
  const Stopwatch watch;
  complete(job);
  const UnfinishedRun unfinished;
  std::vector<QuantizeRecord> rows;
  std::set<std::string> reported;  // fields of a sequence mostly have the same warnings
  const auto before = [&](const QuantizeRecord& row) {
    for (const auto& warning : early_warnings(job, row)) {
      if (reported.insert(warning).second) warn(job.console, warning);
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
  for (const auto& row : rows) {
    if (row.dark) warn(job.console, fmt::format("{} holds no light", row.input));
    if (const auto text = unmeasured(job, row); !text.empty()) warn(job.console, text);
  }
  report_json(job.console, make_json(job, rows, watch.seconds()));
  tell(job, rows);
  return exit_ok;
}

}  // namespace

Command quantize_command() {
  const auto job = std::make_shared<QuantizeJob>();
  return {.name = "quantize",
          .purpose = "Quantize a complex hologram to the levels of a panel, with the noise outside the viewing window",
          .examples = {"holotone quantize scene.h5 -o slm.png --viewer 36mm:9.2mm",
                       "holotone quantize scene.h5 -o slm.png --viewer 36mm:9.2mm --bits 4 --weights 27",
                       "holotone quantize scene.h5 -o dmd.png --encode amplitude --bits 1"},
          .groups = quantize_options(*job),
          .run = [job] { return run_quantize(*job); },
          .by_ranks = true};
}

}  // namespace holotone::cli
