#include <cli/common/console.hpp>
#include <cli/common/output_check.hpp>
#include <cli/common/paths.hpp>
#include <cli/common/smoe_file.hpp>
#include <cli/common/values.hpp>
#include <cli/smoe/smoe_command.hpp>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

namespace holotone::cli {
namespace {

struct SmoeConvertArguments {
  std::string input;
  std::string output;
  std::string quality;
  std::string bytes;
  bool lossless = false;
  ConsoleOptions console;
};

/// Bytes of a .smoe file under the given options; without them, with the input's steps, or lossless.
std::vector<std::byte> encoded(const SmoeConvertArguments& arguments, const StoredModel& stored) {
  if (!arguments.bytes.empty()) {
    return encode_smoe_bytes(stored.model, byte_count("--bytes", arguments.bytes)).bytes;
  }
  SmoeCodecOptions options;
  if (!arguments.quality.empty()) {
    options.steps = smoe_steps(stored.model, number_between("--quality", arguments.quality, quality_range));
  } else if (stored.info && !stored.info->lossless && !arguments.lossless) {
    options.steps = stored.info->steps;
  } else {
    options.lossless = true;
  }
  return encode_smoe(stored.model, options);
}

int run_smoe_convert(const SmoeConvertArguments& arguments) {
  const Stopwatch watch;
  require_input(arguments.input);
  require_known_counters("--output", arguments.output, false);
  require_model_name("--output", arguments.output);
  require_outputs({{"--output", 1, [&](std::int64_t) { return arguments.output; }}}, {{"IN", arguments.input}});
  const bool smoe = extension_of(arguments.output) == ".smoe";
  if (!smoe && (arguments.lossless || !arguments.quality.empty() || !arguments.bytes.empty())) {
    reject("--output", "a name ending in .smoe for --quality, --bytes or --lossless", arguments.output);
  }
  const StoredModel stored = read_model(arguments.input);
  const UnfinishedRun unfinished;
  if (smoe) {
    write_smoe(arguments.output, encoded(arguments, stored));
  } else {
    write_model_floats(arguments.output, stored.model);
  }
  UnfinishedRun::keep();
  const auto bytes = static_cast<std::int64_t>(std::filesystem::file_size(arguments.output));
  report(arguments.console,
         fmt::format("{}: {} in {} bytes, {}", arguments.output, counted(stored.model.count(), "component"), bytes,
                     format_duration(watch.seconds())));
  report_json(arguments.console, {{"software", "holotone " HOLOTONE_VERSION},
                                  {"input", arguments.input},
                                  {"output", arguments.output},
                                  {"components", stored.model.count()},
                                  {"input_bytes", stored.bytes},
                                  {"bytes", bytes},
                                  {"time_s", watch.seconds()}});
  return exit_ok;
}

}  // namespace

Command smoe_convert_command() {
  const auto arguments = std::make_shared<SmoeConvertArguments>();
  auto& a = *arguments;
  return {.name = "convert",
          .purpose = "Convert a model to another file format or size",
          .examples = {"holotone smoe convert photo.smoe -o small.smoe --bytes 20k",
                       "holotone smoe convert photo.smoe -o photo.npz"},
          .groups = {{"",
                      {{.names = "IN", .target = &a.input, .help = "Model: .smoe, .json or .npz", .required = true},
                       {.names = "-o,--output",
                        .target = &a.output,
                        .value = "MODEL",
                        .help = "Model: .smoe, .json or .npz",
                        .required = true},
                       {.names = "--bytes",
                        .target = &a.bytes,
                        .value = "N",
                        .help = "Maximum size of a .smoe file, such as 40k",
                        .common = true,
                        .feeds = "encode_smoe_bytes.most_bytes"},
                       {.names = "--quality",
                        .target = &a.quality,
                        .value = "Q",
                        .help = "Quality of a .smoe file; 10 more halve the quantization steps",
                        .range = quality_range,
                        .otherwise = "IN's steps",
                        .common = true,
                        .excludes = "--bytes",
                        .feeds = "smoe_steps.quality|encode_smoe.steps"},
                       {.names = "--lossless",
                        .target = &a.lossless,
                        .help = "Store every float exactly in a .smoe file",
                        .common = true,
                        .excludes = "--bytes --quality"}}},
                     console_options(a.console)},
          .run = [arguments] { return run_smoe_convert(*arguments); }};
}

}  // namespace holotone::cli
