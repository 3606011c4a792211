#include <cli/common/console.hpp>
#include <cli/common/output_check.hpp>
#include <cli/common/paths.hpp>
#include <cli/common/smoe_file.hpp>
#include <cli/options/values.hpp>
#include <cli/smoe/smoe_command.hpp>
#include <filesystem>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/file_format_detail.hpp>
#include <memory>
#include <nlohmann/json.hpp>

namespace holotone::cli {
namespace {

struct SmoeConvertJob {
  std::string input;
  std::string output;
  std::optional<double> quality;
  std::optional<std::int64_t> bytes;
  bool lossless = false;
  ConsoleOptions console;
};

/// Steps of a .smoe file; without options, those of the input; none: lossless.
std::optional<SmoeSteps> find_steps(const SmoeConvertJob& job, const MixtureFile& stored) {
  if (job.bytes) return smoe_steps(stored.model, encode_smoe_bytes(stored.model, *job.bytes).quality);
  if (job.quality) return smoe_steps(stored.model, *job.quality);
  if (stored.info && !stored.info->lossless && !job.lossless) return stored.info->steps;
  return std::nullopt;
}

int run_smoe_convert(const SmoeConvertJob& job) {
  const Stopwatch watch;
  io::require_input(job.input);
  require_known_counters(job.output, false);
  require_model_name(output_name, job.output);
  require_output(job.output, {{"IN", job.input}});
  const bool smoe = io::has_format(job.output, io::FileFormat::smoe);
  if (!smoe && (job.lossless || job.quality || job.bytes)) {
    reject_output("a name ending in .smoe for --quality, --bytes or --lossless", job.output);
  }
  const MixtureFile stored = read_model(job.input);
  const UnfinishedRun unfinished;
  UnfinishedRun::will_write(job.output);
  write_mixture(job.output, stored.model, smoe ? find_steps(job, stored) : std::nullopt);
  UnfinishedRun::keep();
  const auto bytes = static_cast<std::int64_t>(std::filesystem::file_size(job.output));
  report(job.console, fmt::format("{}: {} in {} bytes, {}", job.output, counted(stored.model.count(), "component"),
                                  bytes, format_duration(watch.seconds())));
  report_json(job.console, {{"software", "holotone " HOLOTONE_VERSION},
                            {"input", job.input},
                            {"output", job.output},
                            {"components", stored.model.count()},
                            {"input_bytes", stored.bytes},
                            {"bytes", bytes},
                            {"time_s", watch.seconds()}});
  return exit_ok;
}

}  // namespace

Command smoe_convert_command() {
  const auto job = std::make_shared<SmoeConvertJob>();
  auto& j = *job;
  return {.name = "convert",
          .purpose = "Convert a model to another file format or size",
          .examples = {"holotone smoe convert photo.smoe -o small.smoe --bytes 20k",
                       "holotone smoe convert photo.smoe -o photo.npz"},
          .groups = {{"",
                      {{.names = "IN", .target = &j.input, .help = "Model: .smoe, .json or .npz", .required = true},
                       output_option({.target = &j.output, .value = "MODEL", .help = "Model: .smoe, .json or .npz"}),
                       {.names = "--bytes",
                        .target = parsed(j.bytes, byte_count),
                        .value = "N",
                        .help = "Maximum size of a .smoe file, such as 40k",
                        .common = true,
                        .feeds = "encode_smoe_bytes.max_bytes"},
                       {.names = "--quality",
                        .target = number(j.quality, ValueUnit::none, bounds_of<&MixtureFitOptions::quality>),
                        .value = "Q",
                        .help = "Quality of a .smoe file; 10 more halve the quantization steps",
                        .otherwise = "IN's steps",
                        .common = true,
                        .excludes = "--bytes",
                        .feeds = "smoe_steps.quality|encode_smoe.steps"},
                       {.names = "--lossless",
                        .target = &j.lossless,
                        .help = "Store every float exactly in a .smoe file",
                        .common = true,
                        .excludes = "--bytes --quality"}}},
                     console_options(j.console)},
          .run = [job] { return run_smoe_convert(*job); }};
}

}  // namespace holotone::cli
