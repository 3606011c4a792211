#include <cli/common/command.hpp>
#include <cli/common/device_option.hpp>
#include <cli/common/output_check.hpp>
#include <cli/hologram/layers/layers_run.hpp>
#include <cli/hologram/points/points_run.hpp>
#include <cli/hologram/stereogram/stereogram_run.hpp>
#include <cli/options/compression_option.hpp>
#include <cli/options/values.hpp>
#include <holotone/core/units.hpp>
#include <memory>
#include <utility>
#include <vector>

namespace holotone::cli {
namespace {

std::vector<OptionRow> light_options(HologramJob& job) {
  auto rows = wavelength_options(job);
  rows.push_back(
      device_row({.target = &job.device_name,
                  .help = "auto, cpu, cuda:N or opencl:N; all or several, with commas, for what is written by bands"}));
  return rows;
}

Spin parse_spin(std::string_view option, const std::string& text) {
  const auto colon = text.find(':');
  if (colon == std::string::npos) reject(option, "an angle and a number of frames such as 360deg:120", text);
  return {parse_angle(option, text.substr(0, colon)), whole_number(option, text.substr(colon + 1), 1, 1'000'000)};
}

std::array<std::int64_t, 2> parse_block(std::string_view option, const std::string& text) {
  constexpr std::string_view expected = "K/N such as 3/40, K from 1 to N";
  constexpr std::int64_t max_parts = 1 << 24;
  const auto slash = text.find('/');
  if (slash == std::string::npos) reject(option, expected, text);
  const auto parts = whole_number(option, text.substr(slash + 1), 1, max_parts);
  const auto part = whole_number(option, text.substr(0, slash), 1, max_parts);
  if (part > parts) reject(option, expected, text);
  return {part, parts};
}

std::vector<OptionRow> sum_options(HologramJob& job) {
  return {{.names = "--method",
           .target = member<&PointCloudOptions::method>(job.sum),
           .value = "NAME",
           .help = "Summation: auto, direct, recurrence, separable or fast"},
          {.names = "--wave",
           .target = member<&PointCloudOptions::wave>(job.sum),
           .value = "NAME",
           .help = "Wave of a point: auto, fresnel, or spherical (exact)"},
          {.names = "--falloff",
           .target = member<&PointCloudOptions::falloff>(job.sum),
           .help = "Amplitudes fall as 1 / r from that at one metre; exact waves"},
          {.names = "--tolerance",
           .target = member<&PointCloudOptions::tolerance>(job.sum),
           .value = "T",
           .help = "Maximum relative l2 error of the field"},
          {.names = "--no-band-limit",
           .target = member<&PointCloudOptions::band_limit>(job.sum),
           .help = "Include fringes finer than two pixels, which alias"},
          {.names = "--deterministic",
           .target = member<&PointCloudOptions::deterministic>(job.sum),
           .help = "Give the same bits in every run, with any number of threads and devices"},
          {.names = "--spin",
           .target = parsed(job.spin, parse_spin),
           .value = "ANGLE:FRAMES",
           .help = "Turntable animation, such as 360deg:120; all frames are scaled as the first",
           .feeds = "turn.angle_rad"},
          {.names = "--rows-at-once",
           .target = number(job.band_rows, ValueUnit::count, {1, 1 << 24}),
           .value = "N",
           .help = "Rows of a field or of codes (.tif) that are summed and written at once",
           .otherwise = "all, fewer if memory is short"},
          {.names = "--block",
           .target = parsed(job.block, parse_block),
           .value = "K/N",
           .help = "Only part K of N of a field or of codes, of whole bands; holotone join makes them one"}};
}

std::vector<OptionRow> encoding_options(HologramJob& job) {
  const auto applies = [&job](std::string_view expected, auto suits) { return for_encodings(job, expected, suits); };
  std::vector<OptionRow> rows{encoding_option(job), bits_option(job)};
  append(rows, phase_code_options(job));
  append(rows, {{.names = "--amplitude-range",
                 .target = parsed(job.amplitude_range, rising_pair),
                 .value = "MIN,MAX",
                 .help = "Field values of the lowest and highest code",
                 .otherwise = "from the field",
                 .feeds = "EncodePlan.amplitude_min",
                 .applies = applies("an encoding that has amplitudes",
                                    [](const auto& traits) { return traits.range != EncodingTraits::Range::none; })},
                {.names = "--reference-angle",
                 .target = parsed(job.reference_angle_rad, angle_pair),
                 .value = "X[,Y]",
                 .help = "Tilt in x and y of the reference beam of --encode amplitude, such as 1.5deg",
                 .otherwise = "0deg",
                 .feeds = "EncodePlan.reference_angle",
                 .applies = applies("--encode amplitude", [](const auto& traits) { return traits.encodes_beam; })},
                scale_codes_option(job.scale_codes, job.output),
                compression_option(job.writing.compression, &job.output)});
  return rows;
}

}  // namespace

Command hologram_command() {
  const auto scene = std::make_shared<SceneJob>();
  auto& j = scene->hologram;
  std::vector<OptionRow> general{
      {.names = "IN",
       .target = &j.input,
       .help = "Points or mesh: PLY, STL, XYZ, CSV, NPY, OBJ, glTF; a counter (frames/%04d.ply) for frames",
       .required = true},
      output_option({.target = &j.output,
                     .help = "Codes as PNG, TIFF or BMP; complex field as HDF5, NPY or OHC; or monitor:N, a panel that "
                             "shows the codes",
                     .feeds = "find_monitor.monitor"})};
  auto placement = placement_options(j.scene.placement);
  for (auto& row : placement) {
    if (row.target.flag != nullptr) row.applies = scene->for_points();  // --keep-coordinates
  }
  append(general, placement);
  append(general, light_options(j));
  general.push_back(seed_option(j.scene.seed));
  auto points = scene_option_rows(j.scene);
  append(points, sum_options(j));
  return {.name = "hologram",
          .purpose = "Compute a hologram from points, a mesh, a picture with depth or the views of a light field",
          .examples = {"holotone hologram teapot.ply -o teapot.png --distance 20cm --size 8mm",
                       "holotone hologram --image left.png --depth depth.png --depth-range 18cm,22cm -o scene.h5",
                       "holotone hologram --views 'chess/view_%v_%u.png' -o chess.h5 --viewer 36mm:9.2mm"},
          .groups = {{"", std::move(general)},
                     {"Panel", panel_options(j.panel_choice)},
                     {"Points and meshes", std::move(points), scene->for_points()},
                     {"Pictures with depth", layer_options(*scene)},
                     {"Light fields, and pictures computed hogel by hogel", stereogram_options(*scene)},
                     {"Encoding for the panel", encoding_options(j)},
                     monitor_output_options(j.showing, j.output),
                     console_options(j.console)},
          .run =
              [scene] {
                if (scene->by_hogels()) return run_stereogram(*scene);
                return scene->of_pictures() ? run_layers(*scene) : run_points(*scene);
              },
          .given = &j.given,
          .by_ranks = true};
}

}  // namespace holotone::cli
