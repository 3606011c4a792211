#include <algorithm>
#include <cli/common/cancel.hpp>
#include <cli/common/command.hpp>
#include <cli/common/console.hpp>
#include <cli/common/output_check.hpp>
#include <cli/common/paths.hpp>
#include <cli/common/points_options.hpp>
#include <cli/common/values.hpp>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/hologram/sample_scene.hpp>
#include <holotone/hologram/scene.hpp>
#include <holotone/io/points/points.hpp>
#include <memory>
#include <nlohmann/json.hpp>

namespace holotone::cli {
namespace {

struct SampleArguments {
  std::string name;
  std::string output;
  std::int64_t points = 50'000;
  std::uint64_t seed = 0;
  ConsoleOptions console;
};

int run_sample(const SampleArguments& arguments) {
  const auto& names = sample_scene_names();
  if (std::find(names.begin(), names.end(), arguments.name) == names.end()) {
    throw Error(ErrorCode::invalid_argument, fmt::format("NAME: expected {}, got '{}'{}", alternatives(names),
                                                         arguments.name, suggestion(arguments.name, names)));
  }
  if (extension_of(arguments.output) != ".ply") reject("--output", "a name ending in .ply", arguments.output);
  require_known_counters("--output", arguments.output, false);
  if (frame_pattern("--output", arguments.output)) reject("--output", "no counter for one file", arguments.output);
  require_outputs({{"--output", 1, [&](std::int64_t) { return arguments.output; }}}, {});
  require_memory_for(arguments.points);
  QuietProgress progress;
  const auto cloud = sample_surface(sample_scene(arguments.name), arguments.points, arguments.seed, progress);
  write_points(arguments.output, cloud, progress);
  report_json(arguments.console,
              {{"sample", arguments.name}, {"points", cloud.size()}, {"outputs", {arguments.output}}});
  report(arguments.console,
         fmt::format("{}: {} of the {}", arguments.output, counted(arguments.points, "point"), arguments.name));
  return exit_ok;
}

}  // namespace

Command sample_command() {
  const auto arguments = std::make_shared<SampleArguments>();
  auto& a = *arguments;
  return {
      .name = "sample",
      .purpose = "Sample points on the surface of a built-in object",
      .examples = {"holotone sample teapot -o teapot.ply", "holotone sample knot -o knot.ply --points 200k"},
      .groups = {{"",
                  {{.names = "NAME", .target = &a.name, .help = "Object: teapot or knot", .required = true},
                   {.names = "-o,--output", .target = &a.output, .value = "FILE", .help = "PLY file", .required = true},
                   {.names = "--points",
                    .target = number(a.points, ValueUnit::count, {1, static_cast<double>(max_samples)}),
                    .value = "N",
                    .help = "Number of points, uniform on the surface",
                    .common = true,
                    .feeds = "sample_surface.count"},
                   seed_option(a.seed)}},
                 console_options(a.console)},
      .run = [arguments] { return run_sample(*arguments); }};
}

}  // namespace holotone::cli
