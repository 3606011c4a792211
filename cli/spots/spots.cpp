#include <cli/common/cancel.hpp>
#include <cli/common/code_levels.hpp>
#include <cli/common/command.hpp>
#include <cli/common/hologram_encoder.hpp>
#include <cli/common/hologram_job.hpp>
#include <cli/common/hologram_overrides.hpp>
#include <cli/common/output_check.hpp>
#include <cli/common/picture_file.hpp>
#include <cli/options/beam_option.hpp>
#include <cli/options/compression_option.hpp>
#include <cli/spots/spots_frames.hpp>
#include <cmath>
#include <fmt/format.h>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/recipes/hologram_file.hpp>
#include <holotone/recipes/metadata_keys.hpp>
#include <holotone/recipes/retrieval/panel_camera.hpp>
#include <holotone/recipes/retrieval/panel_light.hpp>
#include <holotone/recipes/spots.hpp>
#include <holotone/recipes/write_hologram.hpp>
#include <memory>
#include <nlohmann/json.hpp>

namespace holotone::cli {
namespace {

/// A lattice of spots in place of a file.
struct ArrayChoice {
  std::optional<std::array<std::int64_t, 2>> shape;  ///< columns, rows
  std::optional<double> spacing_m;
  SpotLattice lattice = SpotLattice::square;
  std::array<double, 3> centre_m{};
};

struct SpotsJob {
  HologramJob hologram;
  ArrayChoice array;
  double magnification = 1;
  std::optional<double> pupil_m;
  BeamChoice beam;
  std::string unit;  ///< of a file that states none
  SpotOptions options;
  SpotSteps steps;
  std::string table;
  MotionChoice motion;
};

/// "10x10": columns and rows.
std::array<std::int64_t, 2> parse_array(std::string_view option, const std::string& text) {
  const auto at = text.find('x');
  if (at == std::string::npos) reject(option, "COLUMNSxROWS such as 10x10", text);
  return {whole_number(option, text.substr(0, at), 1, 1'000'000),
          whole_number(option, text.substr(at + 1), 1, 1'000'000)};
}

/// "X,Y" or "X,Y,Z".
std::array<double, 3> parse_centre(std::string_view option, const std::string& text) {
  std::array<double, 3> place{};
  std::string_view rest = text;
  for (std::size_t axis = 0;; ++axis) {
    const auto end = rest.find(',');
    if (axis == place.size() || (axis == 0 && end == std::string_view::npos)) {
      reject(option, "X,Y or X,Y,Z such as 20um,-10um", text);
    }
    place[axis] = parse_length(option, rest.substr(0, end));
    if (end == std::string_view::npos) return place;
    rest.remove_prefix(end + 1);
  }
}

/// Metres in --unit; 0: none.
double unit_size(const SpotsJob& job) {
  return job.unit.empty() ? 0 : parse_length("--unit", fmt::format("1{}", job.unit));
}

SpotList spots_of(const SpotsJob& job) {
  const auto& array = job.array;
  const bool has_file = !job.hologram.input.empty();
  if (has_file == array.shape.has_value()) {
    reject("SPOTS", "a file of spots, or --array COLUMNSxROWS", has_file ? "both" : "neither");
  }
  if (has_file) {
    io::require_input(job.hologram.input);
    return read_spots(job.hologram.input, unit_size(job));
  }
  if (!array.spacing_m) reject("--spacing", "a length for --array", "none");
  return spot_lattice((*array.shape)[0], (*array.shape)[1], *array.spacing_m, array.lattice, array.centre_m);
}

/// Light in the lens's back focal plane; empty: even.
Array<Complex, 2> focal_light(const SpotsJob& job) {
  PictureRetrievalOptions source;
  source.model.grid = job.options.grid;
  source.beam_diameter_m = job.beam.diameter_m;
  Array<float, 2> beam;
  if (!job.beam.path.empty()) {
    const auto& console = job.hologram.console;
    beam = camera_amplitude(job.beam.path, read_picture_file(console, job.beam.path), -1);
    source.beam = beam.view();
  }
  auto light = beam_light(source);
  if (job.pupil_m) clip_to_pupil(light, job.options.grid, *job.pupil_m);
  return light;
}

nlohmann::json describe_lens(const SpotsJob& job) {
  const auto& panel = job.hologram.panel;
  return {{"software", "holotone " HOLOTONE_VERSION},
          {"panel", panel.name},
          {"resolution", {panel.nx, panel.ny}},
          {"pitch_m", panel.pitch_m},
          {"wavelength_m", job.options.grid.wavelength_m},
          {"focal_length_m", job.options.focal_length_m},
          {"bits", job.hologram.encode.bits},
          {"spot_width_m", spot_width_m(job.options)},
          {"seed", job.options.seed}};
}

nlohmann::json make_json(const SpotsJob& job, const SpotList& spots, const SpotHologram& made, double seconds) {
  const auto& light = made.report.light;
  auto object = describe_lens(job);
  object.update({{"outputs", {job.hologram.output}},
                 {"spots", spots.position_m.size()},
                 {"efficiency", light.efficiency},
                 {"deviation", light.deviation},
                 {"worst", light.worst},
                 {"contrast", light.contrast},
                 {"reached", made.report.reached},
                 {"free_steps", made.report.free_steps},
                 {"kept_steps", made.report.kept_steps},
                 {"rounded_steps", made.report.rounded_steps},
                 {"time_s", seconds}});
  if (!job.table.empty()) object["table"] = job.table;
  return object;
}

/// Writes the codes of one panel.
void write_codes(const SpotsJob& job, const std::string& path, View<const std::uint16_t, 2> codes) {
  const auto& hologram = job.hologram;
  const auto& channel = hologram.channels.front();
  const auto encoding = hologram.encode_options(channel);
  auto metadata = panel_metadata(hologram.panel, channel);
  set_metadata(metadata, "distance_m", 0.0);
  set_metadata(metadata, "seed", static_cast<double>(job.options.seed));
  // Of the lens that shows the spots of the panel itself at the same places.
  set_metadata(metadata, "focal_length_m", job.options.focal_length_m / job.magnification);
  if (!hologram.correction.empty()) set_metadata(metadata, "correction", hologram.correction);
  describe_encoding(metadata, encoding, {}, hologram.packed16);
  UnfinishedRun::will_write(path);
  write_hologram(path, codes, hologram.grid(channel), encoding, {},
                 {.metadata = metadata, .packed16 = hologram.packed16, .image = hologram.writing});
}

int run_moving(SpotsJob& job, const std::vector<InputFile>& inputs) {
  if (job.array.shape || !job.hologram.input.empty()) {
    reject("--trajectory", "no SPOTS and no --array beside it", job.motion.trajectory);
  }
  const auto light = focal_light(job);
  return run_spot_frames({.console = job.hologram.console,
                          .motion = job.motion,
                          .output = job.hologram.output,
                          .table = job.table,
                          .unit_m = unit_size(job),
                          .lens = job.options,
                          .steps = job.steps,
                          .encoding = job.hologram.encode_options(job.hologram.channels.front()),
                          .light = light.view(),
                          .inputs = inputs,
                          .write = [&](const auto& path, auto codes) { write_codes(job, path, codes); },
                          .describe = [&] { return describe_lens(job); }});
}

int run_spots(SpotsJob& job) {
  const Stopwatch watch;
  auto& hologram = job.hologram;
  complete(hologram);
  if (hologram.shown) reject("--output", "a file of codes", hologram.output);
  const auto& channel = hologram.channels.front();
  auto& grid = job.options.grid;
  grid = hologram.grid(channel);
  grid.pitch_m *= job.magnification;
  const auto encoding = hologram.encode_options(channel);
  for (const auto& words : unit_warnings(hologram)) warn(hologram.console, words);
  const std::vector<InputFile> inputs{{"SPOTS", hologram.input},
                                      {"--correction", hologram.correction},
                                      {"--lut", hologram.lut},
                                      {"--source", job.beam.path}};
  if (!job.motion.trajectory.empty()) return run_moving(job, inputs);
  require_one_name(hologram.output, false, "a name without a counter unless spots move (--trajectory)");
  const auto spots = spots_of(job);
  std::vector<OutputFiles> outputs{{"--output", 1, [&](std::int64_t) { return hologram.output; }}};
  if (!job.table.empty()) outputs.push_back({"--table", 1, [&](std::int64_t) { return job.table; }});
  require_outputs(outputs, inputs);
  ProgressBar bar(hologram.console);
  const UnfinishedRun unfinished;
  const auto light = focal_light(job);
  auto made = make_spots(spots, job.options, encoding, light.view(), job.steps, bar);
  for (const auto& text : spot_remarks(spots, job.options)) warn(hologram.console, text);
  check_cancelled("writing");
  write_codes(job, hologram.output, made.codes.view());
  if (!job.table.empty()) {
    UnfinishedRun::will_write(job.table);
    write_spots(job.table, spots, made.report.light);
  }
  UnfinishedRun::keep();
  const auto& seen = made.report.light;
  if (!made.report.reached) {
    warn(hologram.console, fmt::format("deviation or worst spot above the limits of {:g} and {:g}",
                                       job.steps.max_deviation, job.steps.max_worst));
  }
  report_json(hologram.console, make_json(job, spots, made, watch.seconds()));
  remark_few_bits(hologram.console, encoding.bits, hologram.writing, hologram.output);
  report(hologram.console,
         fmt::format("{}: {} in {:.1f} % of the light, deviation {:.2g} %, worst {:.2g} %, (max - min) / (max + min) "
                     "{:.2g} %; {} free and {} kept steps, {}",
                     hologram.output, counted(std::ssize(spots.position_m), "spot"), 100 * seen.efficiency,
                     100 * seen.deviation, 100 * seen.worst, 100 * seen.contrast, made.report.free_steps,
                     made.report.kept_steps, format_duration(watch.seconds())));
  return exit_ok;
}

std::vector<OptionRow> main_options(SpotsJob& job) {
  auto& h = job.hologram;
  const auto of_array = [&job] {
    return Applies{[&job] { return job.array.shape.has_value(); }, "--array", [] { return std::string("a file"); }};
  };
  std::vector<OptionRow> rows{
      {.names = "SPOTS",
       .target = &h.input,
       .help = "Spots: CSV or JSON with x, y and, if any, z and intensity; units in the header (x_um)"},
      {.names = "-o,--output",
       .target = &h.output,
       .value = "FILE",
       .help = "Codes as PNG, TIFF or BMP; with a counter (slm_%04d.png) for spots that move",
       .required = true},
      {.names = "--focal-length",
       .target = member<&SpotOptions::focal_length_m>(job.options),
       .value = "LENGTH",
       .help = "Focal length of the lens between panel and spots",
       .common = true,
       .required = true},
      {.names = "--magnification",
       .target = number(job.magnification, ValueUnit::none, {1e-3, 1e3}),
       .value = "M",
       .help = "Of the panel's image in the lens's back focal plane, by a telescope between them",
       .common = true,
       .feeds = "SpotPlan.pitch_m"},
      {.names = "--pupil",
       .target = number(job.pupil_m, ValueUnit::length, {1e-6, 1}),
       .value = "DIAMETER",
       .help = "Round pupil of the lens, 2 NA f of an objective, beyond which no light passes",
       .otherwise = "the panel's image",
       .feeds = "SpotPlan.light|clip_to_pupil.diameter_m"},
      {.names = "--unit",
       .target = &job.unit,
       .value = "UNIT",
       .help = "Unit of x, y and z in a file that states none, such as um",
       .common = true},
      {.names = "--array",
       .target = parsed(job.array.shape, parse_array),
       .value = "COLUMNSxROWS",
       .help = "A lattice of spots in place of a file",
       .common = true,
       .feeds = "spot_lattice.columns"},
      {.names = "--spacing",
       .target = number(job.array.spacing_m, ValueUnit::length, {min_length_m, max_length_m}),
       .value = "LENGTH",
       .help = "From spot to spot of --array",
       .common = true,
       .feeds = "spot_lattice.spacing_m",
       .applies = of_array()},
      {.names = "--lattice",
       .target = choice(job.array.lattice),
       .value = "NAME",
       .help = "square or hexagonal",
       .applies = of_array()},
      {.names = "--centre",
       .target = parsed(job.array.centre_m, parse_centre, "0um,0um"),
       .value = "X,Y[,Z]",
       .help = "Middle of --array",
       .common = true,
       .applies = of_array()},
      {.names = "--table",
       .target = &job.table,
       .value = "FILE",
       .help = "CSV of every spot's share of the light",
       .common = true},
      scale_codes_option(h.scale_codes, h.output),
      compression_option(h.writing.compression, &h.output)};
  append(rows, wavelength_options(h));
  return rows;
}

std::vector<OptionRow> step_options(SpotsJob& job) {
  return {{.names = "--free-steps",
           .target = member<&SpotSteps::free_steps>(job.steps),
           .value = "N",
           .help = "Weighted steps that leave the spots' phases free",
           .otherwise = "2, up to 30 while the light in the spots grows"},
          {.names = "--kept-steps",
           .target = member<&SpotSteps::kept_steps>(job.steps),
           .value = "N",
           .help = "Steps that keep the panel's field and add what the spots lack",
           .otherwise = "until both limits hold"},
          {.names = "--max-deviation",
           .target = member<&SpotSteps::max_deviation>(job.steps),
           .value = "SHARE",
           .help = "Limit of the standard deviation of intensity over target"},
          {.names = "--max-worst",
           .target = member<&SpotSteps::max_worst>(job.steps),
           .value = "SHARE",
           .help = "Limit of the largest difference of intensity over target from its mean"},
          seed_option(job.options.seed)};
}

std::vector<OptionRow> light_options(SpotsJob& job) {
  std::vector<OptionRow> rows{
      {.names = "--source",
       .target = parsed(job.beam, parse_beam, "flat"),
       .value = "BEAM",
       .help = "Light on the panel's image: flat, gaussian:DIAMETER (1/e^2), or a picture whose "
               "codes are proportional to it",
       .feeds = "retrieve_picture.beam_diameter_m"},
      {.names = "--refractive-index",
       .target = member<&SpotOptions::refractive_index>(job.options),
       .value = "N",
       .help = "Of the medium of the spots"},
      {.names = "--zero-order",
       .target = member<&PanelResponse::zero_order>(job.options.response),
       .value = "AMPLITUDE",
       .help = "Unmodulated light relative to the modulated"},
      {.names = "--fill-factor",
       .target = member<&PanelResponse::fill_factor>(job.options.response),
       .value = "SHARE",
       .help = "Share of a pixel's area that modulates; spots darken outwards"},
      bits_option(job.hologram)};
  append(rows, phase_code_options(job.hologram));
  return rows;
}

}  // namespace

Command spots_command() {
  const auto shared = std::make_shared<SpotsJob>();
  auto& job = *shared;
  job.hologram.encoding = {true, Encoding::phase};
  return {.name = "spots",
          .purpose = "Find the phase of a panel whose light is spots at any places behind a lens",
          .examples = {"holotone spots --array 10x10 --spacing 10um --centre 60um,20um --focal-length 4mm "
                       "--wavelength 1064nm -o slm.png",
                       "holotone spots traps.csv --focal-length 4mm --wavelength 1064nm -o slm.png --table light.csv",
                       "holotone spots --trajectory moves.csv --step 0.1 --focal-length 4mm --wavelength 1064nm -o "
                       "slm_%04d.png"},
          .groups = {{"", main_options(job)},
                     {"Spots that move", motion_options(job.motion)},
                     {"Steps", step_options(job)},
                     {"Light and codes", light_options(job)},
                     {"Panel", panel_options(job.hologram.panel_choice)},
                     console_options(job.hologram.console)},
          .run = [shared] { return run_spots(*shared); },
          .given = &job.hologram.given};
}

}  // namespace holotone::cli
