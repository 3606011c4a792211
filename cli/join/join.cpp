#include <cli/common/command.hpp>
#include <cli/common/console.hpp>
#include <cli/common/output_check.hpp>
#include <cli/common/paths.hpp>
#include <cli/options/values.hpp>
#include <fmt/format.h>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/guarded/guarded.hpp>
#include <holotone/recipes/joined_parts.hpp>
#include <memory>
#include <nlohmann/json.hpp>

namespace holotone::cli {
namespace {

struct JoinJob {
  std::vector<std::string> inputs;
  std::string output;
  ConsoleOptions console;
};

int run_join(const JoinJob& job) {
  const Stopwatch watch;
  std::vector<InputFile> inputs;
  for (const auto& input : job.inputs) {
    io::require_input(input);
    inputs.push_back({"FILE", input});
  }
  require_output(job.output, inputs);
  ProgressBar bar(job.console);
  const UnfinishedRun unfinished;
  const auto whole =
      join_parts(job.inputs, job.output,
                 {current_program(), [](const std::string& output) { UnfinishedRun::will_write(output); }}, bar);
  UnfinishedRun::keep();
  if (whole.unchecked > 0) {
    warn(job.console, fmt::format("{} of {} not checked for damage: without block_crc32, of an older Holotone",
                                  whole.unchecked, counted(whole.parts, "part")));
  }
  report_json(job.console, {{"software", "holotone " HOLOTONE_VERSION},
                            {"outputs", {job.output}},
                            {"parts", whole.parts},
                            {"unchecked_parts", whole.unchecked},
                            {"resolution", {whole.shape[1], whole.shape[0]}},
                            {"time_s", watch.seconds()}});
  report(job.console, fmt::format("{}: {} x {} pixels of {}, {}", job.output, whole.shape[1], whole.shape[0],
                                  counted(whole.parts, "part"), format_duration(watch.seconds())));
  return exit_ok;
}

}  // namespace

Command join_command() {
  const auto job = std::make_shared<JoinJob>();
  return {.name = "join",
          .purpose = "Join the parts that several runs of hologram --block have made",
          .examples = {"holotone join part_*.h5 -o whole.h5"},
          .groups = {{"",
                      {{.names = "FILE",
                        .target = &job->inputs,
                        .help = "All parts of one hologram, in any order",
                        .required = true},
                       output_option({.target = &job->output,
                                      .help = "The whole: .h5 or .npy of fields, .tif or .npy of codes",
                                      .common = true})}},
                     console_options(job->console)},
          .run = [job] { return run_join(*job); }};
}

}  // namespace holotone::cli
