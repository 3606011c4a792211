#include <cli/common/code_levels.hpp>
#include <cli/common/command.hpp>
#include <cli/common/memory_limit.hpp>
#include <cli/common/output_check.hpp>
#include <cli/common/paths.hpp>
#include <cli/options/values.hpp>
#include <cli/panel/codes_file.hpp>
#include <cli/panel/panel_run.hpp>
#include <cmath>
#include <holotone/recipes/codes/phase_sum_detail.hpp>

namespace holotone::cli {
namespace {

void check_name(const HologramJob& h, const std::vector<std::string>& added) {
  require_one_name(h.output);
  auto inputs = code_inputs(h.lut, h.correction);
  for (const auto& path : added) inputs.push_back({"--add", path});
  require_output(h.output, inputs);
}

PhaseSum sum_of(const PanelJob& job, const PhasePattern& pattern) {
  std::vector<PhaseSum::Added> added;
  for (const auto& one : job.added) {
    added.emplace_back([&one](std::int64_t first_row, View<Complex, 2> rows) { one.rows.read(first_row, rows); });
  }
  return {job.hologram.encode_options(job.hologram.channels.front()), job.grid(), pattern.turns, std::move(added)};
}

Metadata sum_metadata(const PanelJob& job, const PhasePattern& pattern) {
  const auto& encode = job.hologram.encode;
  std::string text = pattern_text(pattern.name, pattern.options);
  for (const auto& added : job.added) {
    const auto shown = metadata_text(added.rows.light().metadata, "pattern");
    text = fmt::format("{} + {}", shown.empty() ? "hologram" : shown, text);
  }
  Metadata metadata = job.kept;
  const std::string encoding = metadata_text(job.kept, "encoding");
  for (const char* key : {"bits", "packed16", "scaled_codes", "phase_range_rad", "level_phase_rad"})
    metadata.erase(key);
  for (const auto& [key, value] : code_metadata(job.hologram, {encode.amplitude_min, encode.amplitude_max}, text)) {
    metadata.insert_or_assign(key, value);
  }
  if (!encoding.empty()) metadata["encoding"] = encoding;  // double-phase keeps its stop
  if (const auto panel = metadata_text(job.kept, "panel"); !panel.empty()) metadata["panel"] = panel;
  set_metadata(metadata, "wavelength_m", job.grid().wavelength_m);
  if (!job.hologram.correction.empty()) set_metadata(metadata, "correction", job.hologram.correction);
  const bool placed = metadata.count("distance_m") + metadata.count("focal_length_m") != 0;
  if (pattern.focal_length_m && !placed) set_metadata(metadata, "distance_m", -*pattern.focal_length_m);
  return metadata;
}

/// Says where a lens moves the light of an added hologram, whose stated distance is kept.
void tell_focus(const PanelJob& job, const PhasePattern& pattern) {
  if (!pattern.focal_length_m || job.added.empty()) return;
  const auto distance_m = checked_number(job.added.front().path, job.kept, "distance_m");
  if (!distance_m || *distance_m == 0 || job.kept.count("focal_length_m") != 0) return;
  const double power = 1 / *distance_m - 1 / *pattern.focal_length_m;
  const std::string place = std::abs(power) < 1e-9 ? "infinity" : length_text(1 / power);
  remark(job.hologram.console,
         fmt::format("the lens moves the light of {} from {} to {}; the file keeps --distance {}",
                     job.added.front().path, length_text(*distance_m), place, length_text(*distance_m)));
}

nlohmann::json make_json(const PanelJob& job, const PhasePattern& pattern, double seconds) {
  const auto& panel = job.hologram.panel;
  auto added = nlohmann::json::array();
  for (const auto& one : job.added) added.push_back(one.path);
  nlohmann::json object{{"pattern", pattern.name},
                        {"outputs", {job.hologram.output}},
                        {"panel", panel.name},
                        {"resolution", {panel.nx, panel.ny}},
                        {"pitch_m", panel.pitch_m},
                        {"wavelength_m", job.grid().wavelength_m},
                        {"encoding", to_string(job.hologram.encode.encoding)},
                        {"bits", job.hologram.encode.bits},
                        {"added", added},
                        {"time_s", seconds}};
  object.update(pattern.facts);
  return object;
}

double bytes_of_inputs(const PanelJob& job) {
  const double pixels = static_cast<double>(job.shape()[0]) * static_cast<double>(job.shape()[1]);
  return pixels * (job.hologram.correction.empty() ? 0 : 4);
}

}  // namespace

std::string pattern_text(const std::string& name, const Flags& options) {
  std::string text = name;
  for (const auto& [option, value] : options) {
    text += fmt::format(" {}{}{}", option, value.empty() ? "" : " ", value);
  }
  return text;
}

namespace {

int run_phase_pattern(PanelPictureJob& shared, const MakePattern& make) {
  const Stopwatch watch;
  const PanelJob job = panel_job(shared);
  const auto& console = job.hologram.console;
  check_name(job.hologram, shared.add);
  const CodePixels pixels{job.shape(), job.hologram.encode.bits, job.hologram.packed16, job.hologram.writing};
  require_memory_for_codes(job.hologram.output, pixels, bytes_of_inputs(job));
  const PhasePattern pattern = make(job.grid());
  (void)pattern.turns(job.grid(), {0, 1});  // bad options are refused before the file is opened
  for (const auto& words : unit_warnings(job.hologram)) warn(console, words);
  for (const auto& one : job.added) {
    for (const auto& note : one.rows.light().notes) remark(console, note);
  }
  if (!pattern.warning.empty()) warn(console, pattern.warning);
  const UnfinishedRun run;
  PhaseSum summed = sum_of(job, pattern);
  write_codes(job.hologram.output, pixels, sum_metadata(job, pattern),
              [&](const RowRange& part) { return summed.codes(part); });
  UnfinishedRun::keep();
  report_json(console, make_json(job, pattern, watch.seconds()));
  tell_focus(job, pattern);
  remark_few_bits(console, pixels.bits, job.hologram.writing, job.hologram.output);
  const std::string sum = job.added.empty() ? "" : fmt::format(" and {}", counted(std::ssize(job.added), "hologram"));
  report(console, fmt::format("{}: {}{}, {} x {} pixels of {}, {}", job.hologram.output,
                              pattern_text(pattern.name, pattern.options), sum, pixels.shape[1], pixels.shape[0],
                              format_length(job.hologram.panel.pitch_m), counted(pixels.bits, "bit")));
  return exit_ok;
}

}  // namespace

Command phase_pattern_command(std::string_view name, std::string_view purpose, std::vector<std::string_view> examples,
                              std::vector<OptionRow> pattern_rows, PanelPictureJob& shared, MakePattern make) {
  auto run = [name, pattern_rows, &shared, make = std::move(make)] {
    return run_phase_pattern(shared, [&](const FieldGrid& grid) {
      PhasePattern pattern = make(grid);
      pattern.name = name;
      pattern.options = option_texts(pattern_rows, true);
      return pattern;
    });
  };
  auto rows = std::move(pattern_rows);
  append(rows, panel_picture_options(shared));
  return {.name = name,
          .purpose = purpose,
          .examples = std::move(examples),
          .groups = {{"", rows},
                     {"Codes", panel_code_options(shared)},
                     {"Panel", panel_options(shared.hologram.panel_choice)},
                     console_options(shared.hologram.console)},
          .run = std::move(run)};
}

}  // namespace holotone::cli
