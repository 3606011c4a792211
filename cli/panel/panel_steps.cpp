#include <algorithm>
#include <cli/common/cancel.hpp>
#include <cli/common/new_folder.hpp>
#include <cli/common/output_check.hpp>
#include <cli/common/paths.hpp>
#include <cli/options/compression_option.hpp>
#include <cli/options/values.hpp>
#include <cli/panel/codes_file.hpp>
#include <cli/panel/panel_command.hpp>
#include <cli/panel/panel_job.hpp>
#include <filesystem>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/file_format_detail.hpp>
#include <holotone/optics/test_chart.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

namespace holotone::cli {
namespace {

constexpr std::int64_t usual_levels = 256;

constexpr Bounds codes_of_16_bits{0, 65535};

struct StepsJob {
  HologramJob hologram;
  ResponseStepOptions step;
  std::optional<std::int64_t> levels;
  std::vector<std::uint16_t> codes;
  std::string folder;  ///< empty: names by the counter of --output
  FramePattern names;
};

/// `count` codes from 0 to the largest, evenly spread.
std::vector<std::uint16_t> spread(std::int64_t count, std::int64_t largest) {
  std::vector<std::uint16_t> codes;
  for (std::int64_t i = 0; i < count; ++i) {
    codes.push_back(static_cast<std::uint16_t>((2 * i * largest + count - 1) / (2 * (count - 1))));
  }
  return codes;
}

void set_names(StepsJob& job) {
  const std::string output = job.hologram.output;
  require_known_counters(output, false);
  if (const auto pattern = frame_pattern(output)) {
    job.names = *pattern;
    return;
  }
  if (!io::extension_of(output).empty()) {
    reject_output("a folder, or a counter such as %03d for the level", output);
  }
  job.folder = output;
  job.names = {"level_", ".png", 3};
  job.hologram.output = "level_.png";
}

/// Checks what the options say together.
void complete(StepsJob& job) {
  set_names(job);
  complete_codes(job.hologram);
  const std::int64_t largest = (std::int64_t{1} << job.hologram.encode.bits) - 1;
  if (!job.folder.empty()) job.names.digits = static_cast<int>(std::to_string(largest).size());
  const auto levels = job.levels.value_or(std::min(largest + 1, usual_levels));
  if (levels > largest + 1) reject<&StepsJob::levels>(fmt::format("2 to {}", largest + 1), std::to_string(levels));
  if (job.step.reference > largest) {
    reject<&ResponseStepOptions::reference>(fmt::format("0 to {}", largest), std::to_string(job.step.reference));
  }
  job.codes = spread(levels, largest);
  // An odd period is refused before a file is opened.
  (void)response_step(job.step, {job.hologram.panel.ny, job.hologram.panel.nx}, {0, 1});
  if (job.folder.empty()) {
    const auto name = [&](std::int64_t i) { return job.names.name(job.codes[static_cast<std::size_t>(i)]); };
    require_outputs({{output_name, levels, name}}, {});
  }
}

std::string step_text(const ResponseStepOptions& step) {
  std::string text = fmt::format("level {} {}", step.code, name_of(step.layout));
  if (step.layout != ResponseLayout::full) text += fmt::format(" --reference {}", step.reference);
  if (step.layout == ResponseLayout::stripes) text += fmt::format(" --period {}", step.period_px);
  return text;
}

/// Writes all pictures. `path_of(name)`: where a file is written.
template <class PathOf>
std::vector<std::string> write_steps(const StepsJob& job, const PathOf& path_of) {
  const auto& hologram = job.hologram;
  const CodePixels pixels{
      {hologram.panel.ny, hologram.panel.nx}, hologram.encode.bits, hologram.packed16, hologram.writing};
  std::vector<std::string> names;
  ProgressBar bar(hologram.console);
  for (const std::uint16_t code : job.codes) {
    bar.step("levels", std::ssize(names), std::ssize(job.codes));
    names.push_back(job.names.name(code));
    const std::string path = path_of(names.back());
    ResponseStepOptions step = job.step;
    step.code = code;
    if (code == job.codes.front()) require_memory_for_codes(path, pixels, 0);
    write_codes(path, pixels, code_metadata(hologram, {0, 1}, step_text(step)),
                [&](const RowRange& part) { return response_step(step, pixels.shape, part); });
  }
  check_cancelled("writing");
  return names;
}

int run_steps(StepsJob& job) {
  complete(job);
  std::vector<std::string> outputs;
  if (job.folder.empty()) {
    const UnfinishedRun run;
    outputs = write_steps(job, [](const std::string& name) { return name; });
    UnfinishedRun::keep();
  } else {
    NewFolder folder(output_name, job.folder);
    try {
      outputs = write_steps(job, [&](const std::string& name) { return folder.file(name); });
    } catch (const Error& error) {
      throw folder.named(error);
    }
    folder.commit();
    for (auto& name : outputs) name = (std::filesystem::path(folder.path()) / name).string();
  }
  const auto& panel = job.hologram.panel;
  report_json(job.hologram.console, {{"pattern", "steps"},
                                     {"layout", name_of(job.step.layout)},
                                     {"reference", job.step.reference},
                                     {"codes", job.codes},
                                     {"outputs", outputs},
                                     {"panel", panel.name},
                                     {"resolution", {panel.nx, panel.ny}},
                                     {"pitch_m", panel.pitch_m},
                                     {"bits", job.hologram.encode.bits}});
  report(job.hologram.console,
         fmt::format("{} to {}: {} of {} x {} pixels, codes 0 to {}", outputs.front(), outputs.back(),
                     counted(std::ssize(outputs), "picture"), panel.nx, panel.ny, job.codes.back()));
  return exit_ok;
}

}  // namespace

Command panel_steps_command() {
  const auto job = std::make_shared<StepsJob>();
  auto output = panel_output_option(job->hologram);
  output.value = "FOLDER";
  output.help = "New folder for level_000.png ..., or names with a counter that is the code (level_%03d.png)";
  return {.name = "steps",
          .purpose = "Make a picture of each level, to measure the response of a panel",
          .examples = {"holotone panel steps -o levels", "holotone panel steps -o level_%03d.png --layout halves",
                       "holotone panel steps -o levels --layout stripes --period 16 --levels 32"},
          .groups = {{"",
                      {output,
                       {.names = "--levels",
                        .target = member<&StepsJob::levels>(*job, {2, codes_of_16_bits.high + 1}),
                        .value = "N",
                        .help = "Number of codes, evenly from 0 to the largest",
                        .otherwise = "all, at most 256",
                        .common = true},
                       {.names = "--layout",
                        .target = member<&ResponseStepOptions::layout>(job->step),
                        .value = "NAME",
                        .help = "full: one code; halves: left the reference, right the code (interferometer); stripes: "
                                "a binary grating of both (first order)",
                        .common = true},
                       {.names = "--reference",
                        .target = member<&ResponseStepOptions::reference>(job->step, codes_of_16_bits),
                        .value = "CODE",
                        .help = "Code of the reference in halves and stripes",
                        .common = true},
                       {.names = "--period",
                        .target = member<&ResponseStepOptions::period_px>(job->step),
                        .value = "N",
                        .help = "Period of the stripes in pixels, even",
                        .common = true,
                        .feeds = "response_step.period_px"},
                       panel_bits_option(job->hologram),
                       panel_packed_option(job->hologram),
                       compression_option(job->hologram.writing.compression)}},
                     {"Panel", panel_options(job->hologram.panel_choice)},
                     console_options(job->hologram.console)},
          .run = [job] { return run_steps(*job); }};
}

}  // namespace holotone::cli
