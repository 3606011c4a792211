#include <cli/common/cancel.hpp>
#include <cli/common/command.hpp>
#include <cli/common/console.hpp>
#include <cli/common/output_check.hpp>
#include <cli/common/paths.hpp>
#include <cli/common/points_options.hpp>
#include <cli/options/values.hpp>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/hologram/sample_scene.hpp>
#include <holotone/hologram/scene.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/file_format_detail.hpp>
#include <holotone/io/points/points.hpp>
#include <memory>
#include <nlohmann/json.hpp>

namespace holotone::cli {
namespace {

struct SampleJob {
  std::string name;
  std::string output;
  std::int64_t points = 50'000;
  std::uint64_t seed = 0;
  ConsoleOptions console;
};

std::vector<Choice<std::string>> objects() {
  std::vector<Choice<std::string>> choices;
  for (const auto name : sample_scene_names()) choices.push_back({name, std::string(name)});
  return choices;
}

int run_sample(const SampleJob& job) {
  constexpr auto ply = io::FileFormat::ply;
  if (!io::has_format(job.output, ply)) reject_output(io::name_ending_in(ply), job.output);
  require_one_name(job.output, false, "no counter for one file");
  require_output(job.output);
  require_memory_for_points(job.points);
  QuietProgress progress;
  const auto cloud = sample_surface(sample_scene(job.name), job.points, job.seed, progress);
  write_points(job.output, cloud, progress);
  report_json(job.console, {{"sample", job.name}, {"points", cloud.size()}, {"outputs", {job.output}}});
  report(job.console, fmt::format("{}: {} of the {}", job.output, counted(job.points, "point"), job.name));
  return exit_ok;
}

}  // namespace

Command sample_command() {
  const auto held = std::make_shared<SampleJob>();
  auto& job = *held;
  return {.name = "sample",
          .purpose = "Sample points on the surface of a built-in object",
          .examples = {"holotone sample teapot -o teapot.ply", "holotone sample knot -o knot.ply --points 200k"},
          .groups = {{"",
                      {{.names = "NAME",
                        .target = choice(job.name, objects()),
                        .help = "Object: teapot or knot",
                        .required = true},
                       output_option({.target = &job.output, .help = "PLY file"}),
                       {.names = "--points",
                        .target = number(job.points, ValueUnit::count, {1, static_cast<double>(max_samples)}),
                        .value = "N",
                        .help = "Number of points, uniform on the surface",
                        .common = true,
                        .feeds = "sample_surface.count|scene_points.points"},
                       seed_option(job.seed)}},
                     console_options(job.console)},
          .run = [held] { return run_sample(*held); }};
}

}  // namespace holotone::cli
