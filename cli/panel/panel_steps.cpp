#include <algorithm>
#include <cli/common/cancel.hpp>
#include <cli/common/compression_option.hpp>
#include <cli/common/new_folder.hpp>
#include <cli/common/output_check.hpp>
#include <cli/common/paths.hpp>
#include <cli/common/values.hpp>
#include <cli/panel/panel_command.hpp>
#include <cli/panel/panel_job.hpp>
#include <cli/panel/panel_output.hpp>
#include <filesystem>
#include <holotone/optics/test_chart.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

namespace holotone::cli {
namespace {

constexpr std::int64_t usual_levels = 256;

struct StepsArguments {
  HologramJob hologram;
  std::string levels;
  std::string layout = "full";
  std::string reference = "0";
  std::string period = "8";
};

struct StepsJob {
  HologramJob hologram;
  ResponseStepOptions step;
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
  require_known_counters("--output", output, false);
  if (const auto pattern = frame_pattern("--output", output)) {
    job.names = *pattern;
    return;
  }
  if (!extension_of(output).empty()) {
    reject("--output", "a folder, or a counter such as %03d for the level", output);
  }
  job.folder = output;
  job.names = {"level_", ".png", 3};
  job.hologram.output = "level_.png";
}

StepsJob steps_job(StepsArguments& arguments) {
  static constexpr Choice<ResponseLayout> layouts[] = {
      {"full", ResponseLayout::full}, {"halves", ResponseLayout::halves}, {"stripes", ResponseLayout::stripes}};
  StepsJob job;
  job.hologram = std::move(arguments.hologram);
  set_names(job);
  complete_codes(job.hologram);
  const std::int64_t largest = (std::int64_t{1} << job.hologram.encode.bits) - 1;
  if (!job.folder.empty()) job.names.digits = static_cast<int>(std::to_string(largest).size());
  const auto levels = arguments.levels.empty() ? std::min(largest + 1, usual_levels)
                                               : whole_number("--levels", arguments.levels, 2, largest + 1);
  job.codes = spread(levels, largest);
  job.step.layout = choose("--layout", arguments.layout, layouts);
  job.step.reference = static_cast<std::uint16_t>(whole_number("--reference", arguments.reference, 0, largest));
  job.step.period_px = whole_number("--period", arguments.period, 2, largest_grid_side);
  if (job.step.period_px % 2 != 0) reject("--period", "an even number of pixels", arguments.period);
  if (job.folder.empty()) {
    const auto name = [&](std::int64_t i) { return job.names.name(job.codes[static_cast<std::size_t>(i)]); };
    require_outputs({{"--output", levels, name}}, {});
  }
  return job;
}

std::string pattern_of(const StepsArguments& arguments, std::uint16_t code) {
  std::string text = fmt::format("level {} {}", code, arguments.layout);
  if (arguments.layout != "full") text += fmt::format(" --reference {}", arguments.reference);
  if (arguments.layout == "stripes") text += fmt::format(" --period {}", arguments.period);
  return text;
}

/// Writes all pictures. `path_of(name)`: where a file is written.
template <class PathOf>
std::vector<std::string> write_steps(const StepsJob& job, const StepsArguments& arguments, const PathOf& path_of) {
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
    write_codes(path, pixels, code_metadata(hologram, {0, 1}, pattern_of(arguments, code)),
                [&](const RowRange& part) { return response_step(step, pixels.shape, part); });
  }
  check_cancelled("writing");
  return names;
}

int run_steps(StepsArguments& arguments) {
  const StepsJob job = steps_job(arguments);
  std::vector<std::string> outputs;
  if (job.folder.empty()) {
    const UnfinishedRun run;
    outputs = write_steps(job, arguments, [](const std::string& name) { return name; });
    UnfinishedRun::keep();
  } else {
    NewFolder folder("--output", job.folder);
    try {
      outputs = write_steps(job, arguments, [&](const std::string& name) { return folder.file(name); });
    } catch (const Error& error) {
      throw folder.named(error);
    }
    folder.commit();
    for (auto& name : outputs) name = (std::filesystem::path(folder.path()) / name).string();
  }
  const auto& panel = job.hologram.panel;
  report_json(job.hologram.console, {{"pattern", "steps"},
                                     {"layout", arguments.layout},
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
  const auto arguments = std::make_shared<StepsArguments>();
  auto& a = *arguments;
  auto output = panel_output_option(a.hologram);
  output.value = "FOLDER";
  output.help = "New folder for level_000.png ..., or names with a counter that is the code (level_%03d.png)";
  return {.name = "steps",
          .purpose = "Make a picture of each level, to measure the response of a panel",
          .examples = {"holotone panel steps -o levels", "holotone panel steps -o level_%03d.png --layout halves",
                       "holotone panel steps -o levels --layout stripes --period 16 --levels 32"},
          .groups = {{"",
                      {output,
                       {.names = "--levels",
                        .target = &a.levels,
                        .value = "N",
                        .help = "Number of codes, evenly from 0 to the largest",
                        .otherwise = "all, at most 256",
                        .common = true},
                       {.names = "--layout",
                        .target = &a.layout,
                        .value = "NAME",
                        .help = "full: one code; halves: left the reference, right the code (interferometer); stripes: "
                                "a binary grating of both (first order)",
                        .common = true},
                       {.names = "--reference",
                        .target = &a.reference,
                        .value = "CODE",
                        .help = "Code of the reference in halves and stripes",
                        .common = true},
                       {.names = "--period",
                        .target = &a.period,
                        .value = "N",
                        .help = "Period of the stripes in pixels, even",
                        .common = true,
                        .feeds = "response_step.period_px"},
                       panel_bits_option(a.hologram),
                       panel_packed_option(a.hologram),
                       compression_option(a.hologram.writing.compression)}},
                     {"Panel", panel_options(a.hologram.panel_choice)},
                     console_options(a.hologram.console)},
          .run = [arguments] { return run_steps(*arguments); }};
}

}  // namespace holotone::cli
