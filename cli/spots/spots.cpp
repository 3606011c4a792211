#include <algorithm>
#include <cli/common/cancel.hpp>
#include <cli/common/code_levels.hpp>
#include <cli/common/command.hpp>
#include <cli/common/device_option.hpp>
#include <cli/common/hologram_encoder.hpp>
#include <cli/common/hologram_job.hpp>
#include <cli/common/hologram_overrides.hpp>
#include <cli/common/output_check.hpp>
#include <cli/common/picture_file.hpp>
#include <cli/options/beam_option.hpp>
#include <cli/options/compression_option.hpp>
#include <cli/spots/spot_bench.hpp>
#include <cli/spots/spot_source.hpp>
#include <cli/spots/spots_frames.hpp>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/units.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/recipes/hologram_file.hpp>
#include <holotone/recipes/metadata_keys.hpp>
#include <holotone/recipes/retrieval/panel_camera.hpp>
#include <holotone/recipes/retrieval/panel_light.hpp>
#include <holotone/recipes/spot_picture.hpp>
#include <holotone/recipes/spots.hpp>
#include <holotone/recipes/write_hologram.hpp>
#include <holotone/retrieval/spots/spot_limits.hpp>
#include <memory>
#include <nlohmann/json.hpp>

namespace holotone::cli {
namespace {

struct SpotsJob {
  HologramJob hologram;
  SpotSource source;
  SpotBench bench;
  std::optional<double> focal_length_m;
  double magnification = 1;
  std::optional<double> pupil_m;
  BeamChoice beam;
  SpotOptions options;
  SpotSteps steps;
  std::string predict;  ///< codes whose light is asked for
  std::string table;
  MotionChoice motion;
  std::string picture;
  CameraMap map{};  ///< of --camera-map
};

/// Light in the lens's back focal plane; empty: even.
Array<Complex, 2> focal_light(const SpotsJob& job) {
  PictureRetrievalOptions source;
  source.model.grid = job.options.grid;
  source.beam_diameter_m = job.beam.diameter_m;
  Array<float, 2> beam;
  if (!job.beam.path.empty()) {
    const auto& console = job.hologram.console;
    beam = camera_amplitude(job.beam.path, read_measured_picture(console, job.beam.path), -1);
    source.beam = beam.view();
  }
  auto light = beam_light(source);
  if (job.pupil_m) clip_to_pupil(light, job.options.grid, *job.pupil_m);
  return light;
}

nlohmann::json describe_lens(const SpotsJob& job, View<const Complex, 2> light) {
  const auto& panel = job.hologram.panel;
  return {{"software", "holotone " HOLOTONE_VERSION},
          {"panel", panel.name},
          {"resolution", {panel.nx, panel.ny}},
          {"pitch_m", panel.pitch_m},
          {"wavelength_m", job.options.grid.wavelength_m},
          {"focal_length_m", job.options.focal_length_m},
          {"bits", job.hologram.encode.bits},
          {"spot_width_m", spot_width_m(job.options, light)},
          {"device", to_string(job.hologram.device)},
          {"seed", job.options.seed}};
}

nlohmann::json make_json(const SpotsJob& job, const SpotList& spots, const SpotHologram& made,
                         View<const Complex, 2> focal_light, double seconds) {
  const auto& light = made.report.light;
  auto object = describe_lens(job, focal_light);
  if (job.predict.empty()) {
    object["outputs"] = {job.hologram.output};
    object.update({{"free_steps", made.report.free_steps},
                   {"kept_steps", made.report.kept_steps},
                   {"rounded_steps", made.report.rounded_steps}});
  } else {
    object["codes"] = job.predict;
  }
  if (!spots.phase_rad.empty()) object["phase_error_rad"] = light.phase_error_rad;
  object.update({{"spots", spots.position_m.size()},
                 {"efficiency", light.efficiency},
                 {"deviation", light.deviation},
                 {"worst", light.worst},
                 {"contrast", light.contrast},
                 {"reached", made.report.reached},
                 {"time_s", seconds}});
  if (!job.table.empty()) object["table"] = job.table;
  if (!job.picture.empty()) object["picture"] = job.picture;
  return object;
}

Metadata codes_metadata(const SpotsJob& job) {
  const auto& hologram = job.hologram;
  const auto& channel = hologram.channels.front();
  auto metadata = panel_metadata(hologram.panel, channel);
  set_metadata(metadata, "distance_m", 0.0);
  set_metadata(metadata, "seed", static_cast<double>(job.options.seed));
  // Of the lens that shows the spots of the panel itself at the same places.
  set_metadata(metadata, "focal_length_m", job.options.focal_length_m / job.magnification);
  if (!hologram.correction.empty()) set_metadata(metadata, "correction", hologram.correction);
  describe_encoding(metadata, hologram.encode_options(channel), {}, hologram.packed16);
  return metadata;
}

std::string panel_text(const SpotsJob& job) {
  const auto& panel = job.hologram.panel;
  return panel.name == "custom" ? fmt::format("{} x {} pixels", panel.nx, panel.ny) : panel.name;
}

/// The light of the codes of --predict.
SpotHologram predict_light(const SpotsJob& job, const SpotList& spots, View<const Complex, 2> light) {
  const auto& path = job.predict;
  const auto& hologram = job.hologram;
  const auto& channel = hologram.channels.front();
  const auto encoding = hologram.encode_options(channel);
  std::vector<std::string_view> replaced;  // keys of what the options state
  if (hologram.given.contains("--bits")) replaced = {"bits"};
  if (hologram.given.contains("--lut") || hologram.given.contains("--phase-range")) {
    replaced.insert(replaced.end(), {"phase_range_rad", "level_phase_rad"});
  }
  const auto as_panel = [&](const StatedHologram& stated) {
    auto& metadata = stated.metadata;
    const bool is_bare = !stated.is_field && !metadata.contains("encoding") && !metadata.contains("software");
    if (!is_bare) require_phase_codes(stated);
    require_same_optics(stated, job.bench.lens);
    if (metadata.contains("correction") && hologram.correction.empty()) {
      warn(hologram.console, fmt::format("{} states a correction in its codes, {}: without --correction their light is "
                                         "that of a panel without the error",
                                         path, metadata.at("correction")));
    }
    auto of_options = codes_metadata(job);
    if (is_bare) {
      remark(hologram.console, fmt::format("{} states no encoding: read as phase codes of {} bits of {}", path,
                                           encoding.bits, panel_text(job)));
    } else {
      for (const auto key : replaced) metadata.erase(std::string(key));
      auto kept = replaced;
      kept.insert(kept.end(), {"wavelength_m", "pitch_m"});
      std::erase_if(of_options, [&](const auto& entry) { return std::ranges::find(kept, entry.first) == kept.end(); });
    }
    metadata.merge(of_options);
  };
  const auto note = [&](const std::string& words) { warn(hologram.console, words); };
  const auto phases = stored_phases({path}, hologram.grid(channel), encoding, {.adjust = as_panel, .note = note});
  SpotHologram seen;
  seen.shown_rad = Array<float, 2>(job.options.grid.shape());
  std::ranges::copy(phases.host(), seen.shown_rad.data());
  seen.report.light = plan_for_codes(spots, job.options, encoding, light, Queue::create(hologram.device))
                          .light_in_spots(seen.shown_rad.view());
  seen.report.reached = holotone::spots::reaches(seen.report.light, job.steps);
  return seen;
}

/// Writes the codes of one panel.
void write_codes(const SpotsJob& job, const std::string& path, View<const std::uint16_t, 2> codes) {
  const auto& hologram = job.hologram;
  const auto& channel = hologram.channels.front();
  UnfinishedRun::will_write(path);
  write_hologram(path, codes, hologram.grid(channel), hologram.encode_options(channel), {},
                 {.metadata = codes_metadata(job), .packed16 = hologram.packed16, .image = hologram.writing});
}

int run_moving(SpotsJob& job, const std::vector<InputFile>& inputs) {
  const auto& source = job.source;
  if (source.array.shape || source.ring.count || !job.hologram.input.empty() || !source.picture.empty()) {
    reject("--trajectory", "no SPOTS, --array, --ring and --from beside it", job.motion.trajectory);
  }
  if (job.bench.is_used() || !job.picture.empty() || !job.predict.empty()) {
    reject("--trajectory", "no --camera, --start, --predict or --picture beside it", job.motion.trajectory);
  }
  if (!job.focal_length_m) reject("--focal-length", "a length, for spots that move", "none");
  job.options.focal_length_m = *job.focal_length_m;
  const auto light = focal_light(job);
  return run_spot_frames({.console = job.hologram.console,
                          .motion = job.motion,
                          .output = job.hologram.output,
                          .shown = job.hologram.shown.get(),
                          .table = job.table,
                          .unit_m = unit_size(job.source),
                          .lens = job.options,
                          .device = job.hologram.device,
                          .steps = job.steps,
                          .encoding = job.hologram.encode_options(job.hologram.channels.front()),
                          .light = light.view(),
                          .inputs = inputs,
                          .write = [&](const auto& path, auto codes) { write_codes(job, path, codes); },
                          .describe = [&] { return describe_lens(job, light.view()); }});
}

nlohmann::json make_json(const MeasuredSpots& measured) {
  return {{"deviation", measured.light.deviation}, {"reached", measured.reached},       {"worst", measured.light.worst},
          {"contrast", measured.light.contrast},   {"first_deviation", measured.first}, {"round", measured.round}};
}

/// "measured deviation 0.8 % (12 % at first), worst 2 %"
std::string measured_text(const SpotBench& bench, const MeasuredSpots& measured) {
  const auto& light = measured.light;
  if (bench.camera.empty()) {
    return fmt::format("{}: measured deviation {:.2g} %, worst {:.2g} %: their targets are changed by it", bench.start,
                       100 * light.deviation, 100 * light.worst);
  }
  return fmt::format("measured deviation {:.2g} % after {} ({:.2g} % at first), worst {:.2g} %", 100 * light.deviation,
                     counted(measured.round, "round"), 100 * measured.first, 100 * light.worst);
}

std::string percent(double share) {
  return share < 1 ? fmt::format("{:.2g} %", 100 * share) : fmt::format("{:.0f} %", 100 * share);
}

/// "deviation 0.09 %, worst 0.3 %, (max - min) / (max + min) 0.2 %", with phases their error.
std::string evenness_text(const SpotList& spots, const SpotLight& light) {
  auto text = fmt::format("deviation {}, worst {}, (max - min) / (max + min) {}", percent(light.deviation),
                          percent(light.worst), percent(light.contrast));
  if (!spots.phase_rad.empty()) text += fmt::format(", phases to {:.2g} rad (rms)", light.phase_error_rad);
  return text;
}

/// The spots; sets the focal length and the map of --camera-map.
SpotList placed_spots(SpotsJob& job, const FieldGrid& panel) {
  auto& options = job.options;
  options.focal_length_m = job.focal_length_m.value_or(1);
  job.source.file = job.hologram.input;
  const SpotLens lens{panel.wavelength_m, options.focal_length_m, panel.pitch_m, job.magnification,
                      options.refractive_index};
  job.map = read_map(job.source, lens);
  auto spots = spots_of(job.source, lens, job.map, job.hologram.console);
  job.bench.unit_m = unit_size(job.source);
  job.bench.lens = lens;
  if (job.focal_length_m) return spots;
  if (!spots.are_angles) reject("--focal-length", "a length, for spots that have places in lengths", "none");
  remark(job.hologram.console, "no --focal-length: lengths are those behind a lens of 1 m, where 1 mm is 1 mrad");
  return spots;
}

int run_spots(SpotsJob& job) {
  const Stopwatch watch;
  auto& hologram = job.hologram;
  hologram.device = device_option(hologram.device_name, hologram.console, OperationId::spots);
  if (const auto& frame_s = job.motion.frames.frame_time_s) {
    if (hologram.showing.fps) reject("--fps", "no --frame-time beside it", fmt::format("{:g}", *hologram.showing.fps));
    if (names_monitor(hologram.output)) hologram.showing.frame_time_s = *frame_s;
  }
  complete(hologram);
  const auto& channel = hologram.channels.front();
  auto& grid = job.options.grid;
  grid = hologram.grid(channel);
  grid.pitch_m *= job.magnification;
  const auto encoding = hologram.encode_options(channel);
  for (const auto& words : unit_warnings(hologram)) warn(hologram.console, words);
  const bool predicts = !job.predict.empty();
  if (predicts && !hologram.output.empty()) reject("--predict", "no --output beside it", job.predict);
  if (!predicts && hologram.output.empty()) reject("--output", "a file for the codes, or monitor:N", "none");
  const std::vector<InputFile> inputs{{"SPOTS", hologram.input},
                                      {"--predict", job.predict},
                                      {"--correction", hologram.correction},
                                      {"--lut", hologram.lut},
                                      {"--camera-map", job.source.camera_map},
                                      {"--from", job.source.picture},
                                      {"--start", job.bench.start},
                                      {"--measured", job.bench.measured},
                                      {"--camera-picture", job.bench.picture},
                                      {"--source", job.beam.path}};
  if (!job.motion.trajectory.empty()) return run_moving(job, inputs);
  require_one_name(hologram.output, false, "a name without a counter unless spots move (--trajectory)");
  if (predicts && job.bench.is_used()) reject("--predict", "no --camera or --start beside it", job.predict);
  const auto spots = placed_spots(job, hologram.grid(channel));
  std::vector<OutputFiles> outputs;
  if (!hologram.shown && !predicts) outputs.push_back({"--output", 1, [&](std::int64_t) { return hologram.output; }});
  if (!job.table.empty()) outputs.push_back({"--table", 1, [&](std::int64_t) { return job.table; }});
  if (!job.picture.empty()) outputs.push_back({"--picture", 1, [&](std::int64_t) { return job.picture; }});
  require_outputs(outputs, inputs);
  const auto light = focal_light(job);
  if (!job.picture.empty()) require_drawable(spots, job.options, light.view());
  ProgressBar bar(hologram.console);
  const UnfinishedRun unfinished;
  check_bench(job.bench, has_map(job.map));
  if (hologram.shown) hologram.shown->open();
  if (!hologram.correction.empty() && job.options.response.zero_order != 0) {
    warn(hologram.console, "the light of --zero-order is taken as free of the wavefront error of --correction");
  }
  std::optional<MeasuredSpots> measured;
  auto made = predicts ? predict_light(job, spots, light.view())
                       : make_spots_by(job.bench, hologram, spots, job.map, job.options, light.view(), job.steps,
                                       codes_metadata(job), measured, bar);
  for (const auto& text : spot_remarks(spots, job.options, light.view())) warn(hologram.console, text);
  check_cancelled("writing");
  if (hologram.shown) {
    hologram.shown->show(made.codes.view());
  } else if (!predicts) {
    write_codes(job, hologram.output, made.codes.view());
  }
  if (!job.table.empty()) {
    UnfinishedRun::will_write(job.table);
    // What --measured says is of the codes before.
    const bool by_camera = measured && !job.bench.camera.empty();
    write_spots(job.table, spots, made.report.light, by_camera ? measured->measured : std::vector<float>());
  }
  if (!job.picture.empty()) {
    UnfinishedRun::will_write(job.picture);
    const auto drawn = draw_spots(spots, made.shown_rad.view(), job.options, light.view());
    Array<std::uint8_t, 3> pixels({drawn.shape()[0], drawn.shape()[1], 1});
    std::ranges::copy(drawn.host(), pixels.data());
    write_image(job.picture, Image{std::move(pixels), {}});
  }
  UnfinishedRun::keep();
  const auto& seen = made.report.light;
  if (!made.report.reached && !measured) {
    warn(hologram.console, fmt::format("deviation or worst spot above the limits of {:g} and {:g}",
                                       job.steps.max_deviation, job.steps.max_worst));
  }
  constexpr double far_rad = 0.1;
  if (seen.phase_error_rad > far_rad) {
    warn(hologram.console,
         fmt::format("the spots' phases are {:.2g} rad (rms) from those asked for: spots nearer than a "
                     "width cannot have any",
                     seen.phase_error_rad));
  }
  if (seen.efficiency > 1) {
    remark(hologram.console, "spots that merge count the light that they share each: more than 100 % of it");
  }
  auto object = make_json(job, spots, made, light.view(), watch.seconds());
  if (measured) object["measured"] = make_json(*measured);
  report_json(hologram.console, object);
  if (!predicts) remark_few_bits(hologram.console, encoding.bits, hologram.writing, hologram.output);
  if (measured) report(hologram.console, measured_text(job.bench, *measured));
  const auto steps = predicts
                         ? std::string()
                         : fmt::format("{} free and {} kept steps, ", made.report.free_steps, made.report.kept_steps);
  report(hologram.console,
         fmt::format("{}: {} at {} on {} in {:.1f} % of the light, {}{}; {}{}, {}",
                     predicts ? job.predict : hologram.output, counted(std::ssize(spots.position_m), "spot"),
                     format_length(job.options.grid.wavelength_m), panel_text(job), 100 * seen.efficiency,
                     measured ? "at the panel " : "", evenness_text(spots, seen), steps, to_string(hologram.device),
                     format_duration(watch.seconds())));
  return hologram.shown ? until_closed([&] { hologram.shown->stay(); }) : exit_ok;
}

std::vector<OptionRow> main_options(SpotsJob& job) {
  auto& h = job.hologram;
  std::vector<OptionRow> rows{
      {.names = "SPOTS",
       .target = &h.input,
       .help = "Spots: CSV or JSON with x, y and, if any, z and intensity; units in the header (x_um, kx_per_mm)"},
      {.names = "-o,--output",
       .target = &h.output,
       .value = "FILE",
       .help =
           "Codes as PNG, TIFF or BMP; with a counter (slm_%04d.png) for spots that move; or monitor:N, a panel that "
           "shows the codes",
       .otherwise = "required without --predict",
       .common = true,
       .feeds = "find_monitor.monitor"},
      {.names = "--focal-length",
       .target = number(job.focal_length_m, ValueUnit::length, bounds_of<&SpotOptions::focal_length_m>),
       .value = "LENGTH",
       .help = "Focal length of the lens between panel and spots",
       .otherwise = "1m for spots by frequencies or angles alone",
       .common = true,
       .feeds = "SpotPlan.focal_length_m"},
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
      {.names = "--table",
       .target = &job.table,
       .value = "FILE",
       .help = "CSV of every spot's share of the light",
       .common = true},
      device_row({.target = &h.device_name}),
      {.names = "--picture",
       .target = &job.picture,
       .value = "FILE",
       .help = "Picture of the light in the focal plane, z = 0, around the spots, with a scale bar",
       .feeds = "draw_spots.spots"},
      {.names = "--predict",
       .target = &job.predict,
       .value = "FILE",
       .help = "Codes of any program whose light in the spots is asked for, in place of --output"},
      scale_codes_option(h.scale_codes, h.output),
      compression_option(h.writing.compression, &h.output)};
  rows.push_back(wavelength_options(h).front());
  return rows;
}

/// Of one colour.
OptionGroup monitor_options(HologramJob& job) {
  auto group = monitor_output_options(job.showing, job.output);
  std::erase_if(group.rows, [](const OptionRow& row) { return row.names == "--field-sequence"; });
  return group;
}

std::vector<OptionRow> step_options(SpotsJob& job) {
  const Applies finds{[&job] { return job.predict.empty(); }, "--output, codes that are found",
                      [&job] { return "--predict " + job.predict; }};
  auto seed = seed_option(job.options.seed);
  seed.applies = finds;
  return {{.names = "--free-steps",
           .target = member<&SpotSteps::free_steps>(job.steps),
           .value = "N",
           .help = "Weighted steps that leave the spots' phases free",
           .otherwise = "2, up to 30 while the light in the spots grows",
           .applies = finds},
          {.names = "--kept-steps",
           .target = member<&SpotSteps::kept_steps>(job.steps),
           .value = "N",
           .help = "Steps that keep the panel's field and add what the spots lack",
           .otherwise = "until both limits hold, at most 40",
           .applies = finds},
          {.names = "--max-deviation",
           .target = member<&SpotSteps::max_deviation>(job.steps),
           .value = "SHARE",
           .help = "Limit of the standard deviation of intensity over target"},
          {.names = "--max-worst",
           .target = member<&SpotSteps::max_worst>(job.steps),
           .value = "SHARE",
           .help = "Limit of the largest difference of intensity over target from its mean"},
          seed};
}

std::vector<OptionRow> light_options(SpotsJob& job) {
  std::vector<OptionRow> rows{
      {.names = "--source",
       .target = parsed(job.beam, parse_beam, "flat"),
       .value = "BEAM",
       .help = "Light on the panel's image: flat, gaussian:DIAMETER (1/e^2), or a picture whose "
               "codes are proportional to it",
       .feeds = "retrieve_picture.beam"},
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
  // Spots have places.
  std::erase_if(rows, [](const OptionRow& row) { return row.names == "--carrier"; });
  return rows;
}

}  // namespace

Command spots_command() {
  const auto shared = std::make_shared<SpotsJob>();
  auto& job = *shared;
  job.hologram.encoding = {true, Encoding::phase};
  return {.name = "spots",
          .purpose = "Find the phase of a panel whose light is spots at any places behind a lens",
          .examples = {"holotone spots --array 10x10 --spacing 100um --centre 600um,200um --focal-length 4cm "
                       "--wavelength 1064nm -o slm.png",
                       "holotone spots traps.csv --focal-length 10cm --wavelength 1064nm -o slm.png --table light.csv",
                       "holotone spots --trajectory moves.csv --step 0.1 --focal-length 10cm --wavelength 1064nm -o "
                       "slm_%04d.png"},
          .groups = {{"", main_options(job)},
                     {"Spots that move", motion_options(job.motion)},
                     {"Spots", source_options(job.source)},
                     {"Steps", step_options(job)},
                     {"Light and codes", light_options(job)},
                     {"Measured light", bench_options(job.bench)},
                     {"Panel", panel_options(job.hologram.panel_choice)},
                     monitor_options(job.hologram),
                     console_options(job.hologram.console)},
          .run = [shared] { return run_spots(*shared); },
          .given = &job.hologram.given};
}

}  // namespace holotone::cli
