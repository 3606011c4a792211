#include <CLI/CLI.hpp>
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

/// The bytes of a .smoe file as asked for; else with the steps of the input, or exactly.
std::vector<std::byte> encoded(const SmoeConvertArguments& arguments, const StoredModel& stored) {
  if (!arguments.bytes.empty()) {
    return encode_smoe_bytes(stored.model, byte_count("--bytes", arguments.bytes)).bytes;
  }
  SmoeCodecOptions options;
  if (!arguments.quality.empty()) {
    options.steps = smoe_steps(stored.model, number_between("--quality", arguments.quality, 0, best_smoe_quality));
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

void add_smoe_convert(CLI::App& smoe, Action& action) {
  const auto arguments = std::make_shared<SmoeConvertArguments>();
  auto* command = smoe.add_subcommand("convert", "A model to another format or size of file");
  command->add_option("IN", arguments->input, "A model: .smoe, .json or .npz")->required();
  command->add_option("-o,--output", arguments->output, "A model: .smoe, .json or .npz")->required();
  auto* quality = command->add_option(
      "--quality", arguments->quality,
      "Of .smoe, 0 to 100: each 10 halve the steps; default: IN's steps, or --lossless where it has none");
  auto* bytes = command->add_option("--bytes", arguments->bytes, "Of .smoe: the best quality in so many, such as 40k");
  auto* lossless = command->add_flag("--lossless", arguments->lossless, "Of .smoe: every float exactly");
  quality->excludes(bytes)->excludes(lossless);
  bytes->excludes(lossless);
  add_console_options(*command, arguments->console);
  command->callback([arguments, &action] { action = [arguments] { return run_smoe_convert(*arguments); }; });
}

}  // namespace holotone::cli
